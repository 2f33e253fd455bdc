//! A picture of a window, drawn by its views into memory: what lies over it on the screen is not
//! in it.

use agent_core::{Frame, Marks, Standings};
use agent_inspect::{Hide, Looker, No, Picture, Pixel, find};
use objc2_app_kit::{
    NSBitmapFormat, NSBitmapImageRep, NSCalibratedRGBColorSpace, NSView, NSWindow,
};

use super::{
    super::{
        finding::{Look, Thing},
        live,
        table::Node,
        tagging::HasNode,
        widget::Widget,
    },
    IN_A_MENU, place,
};

const BLACK: Pixel = [0, 0, 0, 255];

/// Takes one, in the turn that it is asked for: what is blacked out is what is drawn.
pub(super) fn take(look: &Look, node: Option<u64>, hide: Hide) -> Result<Picture, No> {
    let node = match node {
        Some(node) => find(look, node)?,
        None => first_window(look).ok_or(No::NotFound)?,
    };
    let (view, part) = place(look, node).ok_or(No::Unsupported(IN_A_MENU))?;
    let window = view.window().ok_or(No::NotFound)?;
    let mut picture = draw(&window)?;
    let mut found = Looker::default().look(look);
    for node in &mut found.nodes {
        // What is scrolled out of sight shows nothing, and must not uncover what is there.
        if node.is_shown() && !node.is_secret() {
            let seen = place_of(look, node.handle);
            node.frame = seen.filter(|_| node.frame.is_some());
        }
    }
    picture.black_out(&found, window.agent_node().number(), hide);
    for node in &found.nodes {
        if let Some(view) = look.view(Node::from_number(node.handle))
            && view.window().is_some_and(|it| std::ptr::eq(&*it, &*window))
            && shows_what_is_kept_back(look, &view)
            && let Some(frame) = live::in_window(&view, view.bounds())
        {
            picture.fill(frame, BLACK);
        }
    }
    if matches!(look.thing(node), Thing::Window(_)) {
        return Ok(picture);
    }
    let frame = live::in_window(&view, part).ok_or(No::NotFound)?;
    Ok(picture.crop(frame))
}

fn first_window(look: &Look) -> Option<Node> {
    let mut standings = Standings::new(look);
    let windows = look.windows().iter();
    windows.copied().find(|node| {
        let excluded = standings.of(*node).is_none_or(|it| it.is_excluded());
        !excluded && matches!(look.thing(*node), Thing::Window(_))
    })
}

fn place_of(look: &Look, handle: u64) -> Option<Frame> {
    let (view, seen) = place(look, Node::from_number(handle))?;
    live::in_window(&view, seen)
}

/// Whether a view draws the title of something inside that has no place of its own, and that is
/// secret or excluded: a pop-up its chosen item, tabs their labels.
fn shows_what_is_kept_back(look: &Look, view: &NSView) -> bool {
    match Widget::of(view) {
        Widget::PopUp(button) => {
            let chosen = button.selectedItem();
            chosen.is_some_and(|item| live::is_kept_back(look, &item))
        }
        Widget::Tabs => {
            let mut standings = Standings::new(look);
            let tabs = look.children(view.agent_node());
            tabs.iter().any(|tab| {
                let kept = |marks: Marks| marks.intersects(Marks::SECRET | Marks::EXCLUDED);
                matches!(look.thing(*tab), Thing::Tab(_))
                    && standings.of(*tab).is_some_and(|tab| kept(tab.marks))
            })
        }
        _ => false,
    }
}

/// Pictures don't grow beyond this, in pixels.
const MOST: usize = 64 << 20;

const CANT: No = No::Unsupported("its window can't be drawn into a picture here");

fn draw(window: &NSWindow) -> Result<Picture, No> {
    let view = window.contentView().ok_or(CANT)?;
    // GNUstep reads what was drawn last.
    window.displayIfNeeded();
    let bounds = view.bounds();
    let bitmap = view
        .bitmapImageRepForCachingDisplayInRect(bounds)
        .ok_or(CANT)?;
    view.cacheDisplayInRect_toBitmapImageRep(bounds, &bitmap);
    let pixels = read(&bitmap, backdrop(window)).ok_or(CANT)?;
    let (width, height) = size(&bitmap).ok_or(CANT)?;
    Ok(Picture {
        width,
        height,
        pixels,
        scale: width as f64 / bounds.size.width.max(1.0),
        from: (0.0, 0.0),
    })
}

fn size(bitmap: &NSBitmapImageRep) -> Option<(usize, usize)> {
    let width = usize::try_from(bitmap.pixelsWide()).ok()?;
    let height = usize::try_from(bitmap.pixelsHigh()).ok()?;
    let fits = width > 0 && height > 0 && width.checked_mul(height)? <= MOST;
    fits.then_some((width, height))
}

/// The colour of the window behind its views, as it is drawn where they draw nothing.
#[expect(deprecated, reason = "what came after it is not on GNUstep")]
fn backdrop(window: &NSWindow) -> Pixel {
    let colour = window.backgroundColor();
    // SAFETY: a constant.
    let space = unsafe { NSCalibratedRGBColorSpace };
    let Some(colour) = colour.colorUsingColorSpaceName(space) else {
        return [255; 4];
    };
    let byte = |part: f64| (part.clamp(0.0, 1.0) * 255.0).round() as u8;
    [
        byte(colour.redComponent()),
        byte(colour.greenComponent()),
        byte(colour.blueComponent()),
        255,
    ]
}

/// Its pixels on an opaque ground. `None`: it keeps them in a way that is not read here.
fn read(bitmap: &NSBitmapImageRep, ground: Pixel) -> Option<Vec<Pixel>> {
    let (width, height) = size(bitmap)?;
    let row = usize::try_from(bitmap.bytesPerRow()).ok()?;
    let bytes = usize::try_from(bitmap.bitsPerPixel()).ok()? / 8;
    let understood = bitmap.bitsPerSample() == 8
        && !bitmap.isPlanar()
        && matches!((bitmap.samplesPerPixel(), bytes), (3, 3) | (3 | 4, 4))
        && row >= width * bytes;
    let data = bitmap.bitmapData();
    if !understood || data.is_null() {
        return None;
    }
    // SAFETY: a bitmap that is not planar has one block of so many rows, and is kept meanwhile.
    let all = unsafe { std::slice::from_raw_parts(data, row * height) };
    let format = bitmap.bitmapFormat();
    let has_alpha = bitmap.hasAlpha() && bitmap.samplesPerPixel() == 4;
    let pixels = all.chunks_exact(row).flat_map(|row| {
        let pixels = row.chunks_exact(bytes).take(width);
        pixels.map(|bytes| on_ground(bytes, format, has_alpha, ground))
    });
    Some(pixels.collect())
}

fn on_ground(bytes: &[u8], format: NSBitmapFormat, has_alpha: bool, ground: Pixel) -> Pixel {
    let mut bytes: Pixel = match bytes {
        [a, b, c, d] => [*a, *b, *c, *d],
        [a, b, c] => [*a, *b, *c, 255],
        _ => return ground,
    };
    if format.contains(NSBitmapFormat::ThirtyTwoBitLittleEndian) {
        bytes.reverse();
    }
    if format.contains(NSBitmapFormat::AlphaFirst) {
        bytes.rotate_left(1);
    }
    let [red, green, blue, alpha] = bytes;
    if !has_alpha {
        return [red, green, blue, 255];
    }
    let alpha = u32::from(alpha);
    let multiplied = !format.contains(NSBitmapFormat::AlphaNonpremultiplied);
    let over = |part: u8, under: u8| {
        let part = if multiplied {
            u32::from(part)
        } else {
            u32::from(part) * alpha / 255
        };
        let all = part + u32::from(under) * (255 - alpha) / 255;
        u8::try_from(all).unwrap_or(u8::MAX)
    };
    [
        over(red, ground[0]),
        over(green, ground[1]),
        over(blue, ground[2]),
        255,
    ]
}
