//! A picture of the inspected window, read.

use agent_wire::inspector::Screenshot;
use base64::Engine as _;

/// More pixels than any screen has.
const MOST: usize = 64 << 20;

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// In pixels: width and height.
    pub size: [usize; 2],
    /// Red, green, blue, opacity, row by row.
    pub rgba: Vec<u8>,
    /// Pixels in a point of the window.
    pub scale: f64,
}

impl Picture {
    /// Reads what the app sent.
    ///
    /// # Errors
    /// If it is no picture.
    pub fn read(screenshot: &Screenshot) -> Result<Self, String> {
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(&screenshot.png)
            .map_err(|why| format!("no picture: {why}"))?;
        let limits = png::Limits { bytes: MOST * 4 };
        let decoder = png::Decoder::new_with_limits(std::io::Cursor::new(bytes), limits);
        let mut reader = decoder
            .read_info()
            .map_err(|why| format!("no picture: {why}"))?;
        let size = reader.output_buffer_size().filter(|size| *size <= MOST * 4);
        let mut rgba = vec![0; size.ok_or("the picture is too large")?];
        let info = reader
            .next_frame(&mut rgba)
            .map_err(|why| format!("no picture: {why}"))?;
        if (info.color_type, info.bit_depth) != (png::ColorType::Rgba, png::BitDepth::Eight) {
            return Err("the picture is of another kind than asked for".to_owned());
        }
        Ok(Self {
            size: [info.width as usize, info.height as usize],
            rgba,
            scale: screenshot.scale,
        })
    }
}
