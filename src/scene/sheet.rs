//! Contact sheets: pictures in a grid with captions.

use font8x8::UnicodeFonts;
use image::{Rgba, RgbaImage};

/// A picture and the lines of text above it.
pub struct Cell {
    /// Those of a row should have one size.
    pub picture: RgbaImage,
    /// One line each.
    pub caption: Vec<String>,
}

const BACKGROUND: Rgba<u8> = Rgba([24, 26, 30, 255]);
const INK: Rgba<u8> = Rgba([228, 230, 234, 255]);
/// Glyphs are 8x8 pixels, drawn twice as large.
const SCALE: u32 = 2;
const LINE: u32 = 10 * SCALE;
const MARGIN: u32 = 10;

/// Puts cells into rows; all rows have the width of the longest.
pub fn sheet(rows: &[Vec<Cell>]) -> RgbaImage {
    let cells = || rows.iter().flatten();
    let width = cells().map(|c| c.picture.width()).max().unwrap_or(0) + MARGIN;
    let text = cells().map(|c| c.caption.len() as u32).max().unwrap_or(0) * LINE + MARGIN;
    let height = cells().map(|c| c.picture.height()).max().unwrap_or(0) + text;
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0) as u32;
    let mut out =
        RgbaImage::from_pixel(columns * width + MARGIN, rows.len() as u32 * height + MARGIN, BACKGROUND);
    for (r, row) in rows.iter().enumerate() {
        for (c, cell) in row.iter().enumerate() {
            let (x, y) = (MARGIN + c as u32 * width, MARGIN + r as u32 * height);
            for (l, line) in cell.caption.iter().enumerate() {
                write(&mut out, x, y + l as u32 * LINE, line, width - MARGIN);
            }
            image::imageops::replace(&mut out, &cell.picture, i64::from(x), i64::from(y + text - MARGIN));
        }
    }
    out
}

/// Writes one line, cut to `width` pixels; characters without a glyph show as `?`.
fn write(out: &mut RgbaImage, x: u32, y: u32, text: &str, width: u32) {
    let fits = (width / (8 * SCALE)) as usize;
    for (i, c) in text.chars().take(fits).enumerate() {
        let glyph = font8x8::BASIC_FONTS
            .get(c)
            .or_else(|| font8x8::LATIN_FONTS.get(c))
            .or_else(|| font8x8::BASIC_FONTS.get('?'))
            .unwrap_or_default();
        for (row, bits) in glyph.iter().enumerate() {
            for column in (0..8).filter(|b| bits & (1 << b) != 0) {
                for (dx, dy) in (0..SCALE).flat_map(|dx| (0..SCALE).map(move |dy| (dx, dy))) {
                    let px = x + (i as u32 * 8 + column) * SCALE + dx;
                    let py = y + row as u32 * SCALE + dy;
                    if px < out.width() && py < out.height() {
                        out.put_pixel(px, py, INK);
                    }
                }
            }
        }
    }
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
        assert!((0..20).any(|y| (0..60).any(|x| *out.get_pixel(10 + x, 10 + y) == INK)));
    }
}
