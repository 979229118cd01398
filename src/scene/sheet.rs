//! Contact sheets: images in a grid with captions.

use egui::epaint::text::{FontDefinitions, Fonts, TextOptions};
use egui::{Color32, FontId};
use image::{Rgba, RgbaImage};

/// An image with a caption above it.
pub struct Cell {
    /// The image; images in a row should have equal size.
    pub picture: RgbaImage,
    /// Lines of the caption.
    pub caption: Vec<String>,
}

const BACKGROUND: Rgba<u8> = Rgba([24, 26, 30, 255]);
const INK: Rgba<u8> = Rgba([228, 230, 234, 255]);
/// Font size and line height, pixels.
const LETTER: f32 = 16.0;
const LINE: u32 = 20;
const MARGIN: u32 = 10;

/// Arranges cells in rows; all rows get the width of the longest.
pub fn sheet(rows: &[Vec<Cell>]) -> RgbaImage {
    let cells = || rows.iter().flatten();
    let width = cells().map(|c| c.picture.width()).max().unwrap_or(0) + MARGIN;
    let text = cells().map(|c| c.caption.len() as u32).max().unwrap_or(0) * LINE + MARGIN;
    let height = cells().map(|c| c.picture.height()).max().unwrap_or(0) + text;
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0) as u32;
    let mut out =
        RgbaImage::from_pixel(columns * width + MARGIN, rows.len() as u32 * height + MARGIN, BACKGROUND);
    let mut pen = Pen::new();
    for (r, row) in rows.iter().enumerate() {
        for (c, cell) in row.iter().enumerate() {
            let (x, y) = (MARGIN + c as u32 * width, MARGIN + r as u32 * height);
            for (l, line) in cell.caption.iter().enumerate() {
                pen.write(&mut out, [x, y + l as u32 * LINE], line, width - MARGIN);
            }
            image::imageops::replace(&mut out, &cell.picture, i64::from(x), i64::from(y + text - MARGIN));
        }
    }
    out
}

/// Writes text in the font of the user interface.
struct Pen(Fonts);

impl Pen {
    fn new() -> Self {
        Self(Fonts::new(TextOptions::default(), FontDefinitions::default()))
    }

    /// Writes one line from its upper left corner, clipped to `width` pixels.
    fn write(&mut self, out: &mut RgbaImage, [x, y]: [u32; 2], text: &str, width: u32) {
        let mut fonts = self.0.with_pixels_per_point(1.0);
        let line = fonts.layout_no_wrap(text.to_owned(), FontId::proportional(LETTER), Color32::WHITE);
        let atlas = fonts.image();
        for row in &line.rows {
            for glyph in row.glyphs.iter().filter(|g| g.max_x() <= width as f32) {
                let (uv, at) = (glyph.uv_rect, row.pos + glyph.pos.to_vec2() + glyph.uv_rect.offset);
                let corner = [x as f32 + at.x, y as f32 + at.y].map(|v| v.round() as i64);
                for (v, py) in (uv.min[1]..uv.max[1]).zip(corner[1]..) {
                    for (u, px) in (uv.min[0]..uv.max[0]).zip(corner[0]..) {
                        let cover = atlas[(usize::from(u), usize::from(v))].a();
                        let pixel = u32::try_from(px).ok().zip(u32::try_from(py).ok());
                        if let Some(pixel) = pixel.and_then(|(px, py)| out.get_pixel_mut_checked(px, py)) {
                            *pixel = blend(*pixel, cover);
                        }
                    }
                }
            }
        }
    }
}

/// Blends text colour over a pixel.
fn blend(ground: Rgba<u8>, cover: u8) -> Rgba<u8> {
    let mix = |a: u8, b: u8| {
        let (a, b, t) = (u32::from(a), u32::from(b), u32::from(cover));
        ((a * (255 - t) + b * t) / 255) as u8
    };
    Rgba([0, 1, 2, 3].map(|i| mix(ground.0[i], INK.0[i])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_and_pictures_have_their_places() {
        let cell = |shade| Cell {
            picture: RgbaImage::from_pixel(80, 40, Rgba([shade, 0, 0, 255])),
            caption: vec!["LBS".into()],
        };
        let out = sheet(&[vec![cell(10), cell(20)], vec![cell(30)]]);
        assert_eq!(out.dimensions(), (2 * 90 + 10, 2 * (40 + 30) + 10));
        assert_eq!(out.get_pixel(15, 10 + 20 + 5).0[0], 10);
        assert_eq!(out.get_pixel(105, 10 + 20 + 5).0[0], 20);
        let bright = |x: u32| (0..20).any(|y| out.get_pixel(10 + x, 10 + y).0[0] > 150);
        assert!((0..40).any(bright) && !(40..70).any(bright), "three letters and nothing behind them");
    }
}
