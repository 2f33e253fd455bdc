//! Pixels, from the screen or from an app's own picture.

use base64::Engine as _;
use serde_json::Value;

/// Red, green, blue.
pub(crate) type Colour = [u8; 3];

pub(crate) const EXPOSED: Colour = [0, 200, 0];
pub(crate) const UNTAGGED: Colour = [200, 0, 200];
pub(crate) const SECRET: Colour = [200, 200, 0];
pub(crate) const EXCLUDED: Colour = [200, 0, 0];
pub(crate) const IN_POPUP: Colour = [0, 0, 200];
/// The ground of a window that is excluded.
pub(crate) const QUESTION: Colour = [200, 100, 0];
pub(crate) const GROUND: Colour = [0, 120, 120];
pub(crate) const BLACK: Colour = [0, 0, 0];
/// Of what an inspector has drawn over a node.
pub(crate) const HIGHLIGHT: Colour = [0xE8, 0x6A, 0x17];

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<Colour>,
}

impl Image {
    /// The picture in a reply to `inspector.screenshot`, which is of the size that it says.
    pub(crate) fn of(reply: &Value) -> Self {
        let png = base64::engine::general_purpose::STANDARD
            .decode(reply["png"].as_str().unwrap())
            .unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(png))
            .read_info()
            .unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgba);
        let (width, height) = (info.width as usize, info.height as usize);
        assert_eq!(
            (reply["width"].as_u64(), reply["height"].as_u64()),
            (Some(width as u64), Some(height as u64))
        );
        let pixels = bytes.chunks_exact(4);
        Self {
            width,
            height,
            pixels: pixels.map(|it| [it[0], it[1], it[2]]).collect(),
        }
    }

    /// How many pixels have this colour.
    pub(crate) fn count(&self, colour: Colour) -> usize {
        self.pixels.iter().filter(|it| **it == colour).count()
    }

    /// The pixels of a rectangle, its edges left out by so much.
    pub(crate) fn inside(&self, [x, y, width, height]: [f64; 4], inset: f64) -> Self {
        let edge = |at: f64| at.max(0.0) as usize;
        let (left, top) = (edge((x + inset).ceil()), edge((y + inset).ceil()));
        let right = edge((x + width - inset).floor()).min(self.width);
        let bottom = edge((y + height - inset).floor()).min(self.height);
        assert!(left < right && top < bottom, "nothing is in it");
        let rows = self.pixels.chunks(self.width).skip(top).take(bottom - top);
        Self {
            width: right - left,
            height: bottom - top,
            pixels: rows.flat_map(|row| &row[left..right]).copied().collect(),
        }
    }

    /// Whether it is of one colour.
    pub(crate) fn is_all(&self, colour: Colour) -> bool {
        self.pixels.iter().all(|it| *it == colour)
    }
}

/// Not thousands of pixels.
impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {} pixels", self.width, self.height)
    }
}
