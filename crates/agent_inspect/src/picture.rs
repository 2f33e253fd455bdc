//! Pictures of a window, and what is blacked out of them before anybody has them.

use std::ops::Range;

use agent_core::{Frame, States};

use crate::look::{Look, Node};

/// Red, green, blue, opaque.
pub type Pixel = [u8; 4];

const BLACK: Pixel = [0, 0, 0, 255];

/// What a picture must not show, beyond what is excluded or secret, which none ever does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Hide {
    /// No more than that.
    #[default]
    Secrets,
    /// Whatever is not exposed: what is left is what agents may know of.
    Unexposed,
}

/// A picture of a part of a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// In pixels.
    pub width: usize,
    /// In pixels.
    pub height: usize,
    /// Row by row, from the top.
    pub pixels: Vec<Pixel>,
    /// Pixels in a point of the window.
    pub scale: f64,
    /// Where its left upper corner is, in points of the window.
    pub from: (f64, f64),
}

impl Picture {
    /// A picture of one colour, whose left upper corner is that of the window.
    pub fn new(width: usize, height: usize, scale: f64, colour: Pixel) -> Self {
        Self {
            width,
            height,
            pixels: vec![colour; width * height],
            scale,
            from: (0.0, 0.0),
        }
    }

    /// The pixels that a frame covers, and one more on each side: what is drawn may bleed over
    /// its edge.
    fn covered(&self, frame: Frame) -> (Range<usize>, Range<usize>) {
        let more = 1.0 / self.scale;
        self.whole(Frame {
            x: frame.x - more,
            y: frame.y - more,
            width: frame.width + 2.0 * more,
            height: frame.height + 2.0 * more,
        })
    }

    /// The pixels that a frame touches: columns and rows, ends excluded.
    fn whole(&self, frame: Frame) -> (Range<usize>, Range<usize>) {
        let range = |at: f64, size: f64, from: f64, most: usize| {
            let first = ((at - from) * self.scale).floor();
            let last = ((at + size - from) * self.scale).ceil();
            // A frame outside of the picture covers nothing of it.
            let clamp = |value: f64| value.clamp(0.0, most as f64) as usize;
            clamp(first)..clamp(last)
        };
        (
            range(frame.x, frame.width, self.from.0, self.width),
            range(frame.y, frame.height, self.from.1, self.height),
        )
    }

    /// Fills what a frame covers.
    pub fn fill(&mut self, frame: Frame, colour: Pixel) {
        let (columns, rows) = self.covered(frame);
        self.paint(columns, rows, colour);
    }

    fn paint(&mut self, columns: Range<usize>, rows: Range<usize>, colour: Pixel) {
        for row in rows {
            let from = row * self.width;
            if let Some(line) = self
                .pixels
                .get_mut(from + columns.start..from + columns.end)
            {
                line.fill(colour);
            }
        }
    }

    /// Draws the edge of a frame.
    pub fn outline(&mut self, frame: Frame, colour: Pixel) {
        let Frame {
            x,
            y,
            width,
            height,
        } = frame;
        let one = 1.0 / self.scale;
        let mut line = |x, y, width, height| {
            let (columns, rows) = self.whole(Frame {
                x,
                y,
                width,
                height,
            });
            self.paint(columns, rows, colour);
        };
        line(x, y, width, one);
        line(x, y + height - one, width, one);
        line(x, y, one, height);
        line(x + width - one, y, one, height);
    }

    /// Blacks out what must not be seen, by what was there when it was taken. Of `window`, what
    /// is in others not being in the picture.
    pub fn black_out(&mut self, look: &Look, window: u64, hide: Hide) {
        if !look.complete {
            // What is secret may be among what was left out.
            self.pixels.fill(BLACK);
            return;
        }
        let mut inside = std::collections::HashSet::from([window]);
        let nodes: Vec<_> = look
            .nodes
            .iter()
            .filter(|node| {
                let within = node.parent.is_some_and(|parent| inside.contains(&parent));
                within && inside.insert(node.handle)
            })
            .collect();
        if hide == Hide::Unexposed {
            let whole = self.clone();
            self.pixels.fill(BLACK);
            self.show_exposed(&whole, &nodes, None);
            // A popup hides what is exposed below it, be anything in it exposed or not.
            for (at, layer) in look.layers.iter().enumerate() {
                if layer.window == window {
                    self.fill(layer.frame, BLACK);
                    self.show_exposed(&whole, &nodes, Some(at));
                }
            }
        }
        for node in &nodes {
            if let Some(frame) = node.frame.filter(|_| node.is_secret()) {
                self.fill(frame, BLACK);
            }
        }
        let excluded = look.excluded.iter();
        let excluded = excluded.filter(|(parent, _)| inside.contains(parent));
        for frame in excluded
            .map(|(_, frame)| *frame)
            .chain(look.wholly_excluded(window))
        {
            self.fill(frame, BLACK);
        }
    }

    /// What of a layer is exposed, from the outside in: an exposed group shows, and what is in it
    /// and not exposed doesn't.
    fn show_exposed(&mut self, whole: &Self, nodes: &[&Node], layer: Option<usize>) {
        for node in nodes.iter().filter(|node| node.layer == layer) {
            let Some(frame) = node.frame else { continue };
            if node.is_shown() {
                // Scrolled out of sight, something else is drawn where it would be.
                if !node.states.contains(States::OFFSCREEN) {
                    self.copy(whole, frame);
                }
            } else {
                self.fill(frame, BLACK);
            }
        }
    }

    fn copy(&mut self, from: &Self, frame: Frame) {
        let (columns, rows) = self.covered(frame);
        for row in rows {
            let (first, last) = (
                row * self.width + columns.start,
                row * self.width + columns.end,
            );
            if let (Some(to), Some(from)) = (
                self.pixels.get_mut(first..last),
                from.pixels.get(first..last),
            ) {
                to.copy_from_slice(from);
            }
        }
    }

    /// Half as wide and half as high: every other pixel.
    #[must_use]
    pub fn halved(&self) -> Self {
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let rows = self.pixels.chunks(self.width.max(1)).step_by(2);
        Self {
            width,
            height,
            pixels: rows
                .flat_map(|row| row.iter().step_by(2))
                .copied()
                .collect(),
            scale: self.scale / 2.0,
            from: self.from,
        }
    }

    /// What a frame covers of it.
    #[must_use]
    pub fn crop(&self, frame: Frame) -> Self {
        let (columns, rows) = self.covered(frame);
        let pixels = rows.clone().flat_map(|row| {
            let from = row * self.width;
            self.pixels
                .get(from + columns.start..from + columns.end)
                .unwrap_or_default()
        });
        Self {
            width: columns.len(),
            height: rows.len(),
            pixels: pixels.copied().collect(),
            scale: self.scale,
            from: (
                self.from.0 + columns.start as f64 / self.scale,
                self.from.1 + rows.start as f64 / self.scale,
            ),
        }
    }
}
