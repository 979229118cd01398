//! Text as line segments in the scene, for headset and window. Only the characters that occur in measurements are
//! available.

use crate::base::math::{Quat, Vec3};
use crate::render::Lines;

/// Width of a character, and its strokes as polylines; all lengths are in character heights, with +Y up.
type Glyph = (f32, &'static [&'static [[f32; 2]]]);

/// Stroke width, points; `GROUND` is the colour of the outline.
const INK: f32 = 1.9;
const GROUND: [u8; 4] = [16, 18, 24, 255];
/// Gap between characters, in character heights.
const GAP: f32 = 0.26;

/// A table: one letter a line.
#[rustfmt::skip]
fn glyph(letter: char) -> Glyph {
    match letter {
        '0' => (0.6, &[&[[0.0, 0.2], [0.0, 0.8], [0.15, 1.0], [0.45, 1.0], [0.6, 0.8], [0.6, 0.2], [0.45, 0.0], [0.15, 0.0], [0.0, 0.2]]]),
        '1' => (0.35, &[&[[0.0, 0.8], [0.25, 1.0], [0.25, 0.0]]]),
        '2' => (0.6, &[&[[0.0, 0.8], [0.15, 1.0], [0.45, 1.0], [0.6, 0.82], [0.6, 0.62], [0.0, 0.0], [0.6, 0.0]]]),
        '3' => (0.6, &[&[[0.0, 0.85], [0.15, 1.0], [0.45, 1.0], [0.6, 0.85], [0.6, 0.67], [0.45, 0.53], [0.2, 0.53]], &[[0.45, 0.53], [0.6, 0.38], [0.6, 0.15], [0.45, 0.0], [0.15, 0.0], [0.0, 0.15]]]),
        '4' => (0.65, &[&[[0.45, 0.0], [0.45, 1.0], [0.0, 0.3], [0.65, 0.3]]]),
        '5' => (0.6, &[&[[0.55, 1.0], [0.06, 1.0], [0.0, 0.52], [0.15, 0.6], [0.42, 0.6], [0.6, 0.42], [0.6, 0.18], [0.42, 0.0], [0.15, 0.0], [0.0, 0.13]]]),
        '6' => (0.6, &[&[[0.5, 1.0], [0.2, 0.85], [0.0, 0.5], [0.0, 0.18], [0.15, 0.0], [0.45, 0.0], [0.6, 0.18], [0.6, 0.4], [0.45, 0.55], [0.15, 0.55], [0.0, 0.4]]]),
        '7' => (0.6, &[&[[0.0, 1.0], [0.6, 1.0], [0.2, 0.0]]]),
        '8' => (0.6, &[&[[0.15, 0.53], [0.03, 0.68], [0.03, 0.85], [0.17, 1.0], [0.43, 1.0], [0.57, 0.85], [0.57, 0.68], [0.45, 0.53], [0.15, 0.53], [0.0, 0.38], [0.0, 0.15], [0.15, 0.0], [0.45, 0.0], [0.6, 0.15], [0.6, 0.38], [0.45, 0.53]]]),
        '9' => (0.6, &[&[[0.1, 0.0], [0.4, 0.15], [0.6, 0.5], [0.6, 0.82], [0.45, 1.0], [0.15, 1.0], [0.0, 0.82], [0.0, 0.6], [0.15, 0.45], [0.45, 0.45], [0.6, 0.6]]]),
        '.' => (0.08, &[&[[0.0, 0.0], [0.08, 0.0], [0.08, 0.08], [0.0, 0.08], [0.0, 0.0]]]),
        'm' => (0.8, &[&[[0.0, 0.0], [0.0, 0.62]], &[[0.0, 0.45], [0.15, 0.62], [0.3, 0.62], [0.4, 0.48], [0.4, 0.0]], &[[0.4, 0.45], [0.55, 0.62], [0.7, 0.62], [0.8, 0.48], [0.8, 0.0]]]),
        '°' => (0.3, &[&[[0.0, 0.85], [0.15, 1.0], [0.3, 0.85], [0.15, 0.7], [0.0, 0.85]]]),
        _ => (0.2, &[]),
    }
}

/// Draws digits, `.`, `m` and `°` centred above a point, facing a reader of orientation `reader`. `height` is in
/// world metres. The text is visible through surfaces.
pub fn print(text: &str, at: Vec3, reader: Quat, height: f32, color: [u8; 4], out: &mut Lines) {
    let (right, up) = (reader * Vec3::X * height, reader * Vec3::Y * height);
    let width = |t: &str| t.chars().map(|c| glyph(c).0 + GAP).sum::<f32>() - GAP;
    // Lower left corner of the text, half a character height above the point.
    let mut corner = at - right * (0.5 * width(text)) + up * 0.5;
    let first = out.segments.len();
    // Draw all outlines first, so that no outline covers another stroke.
    let begin = corner;
    for (width, color) in [(INK + 2.6, GROUND), (INK, color)] {
        corner = begin;
        for letter in text.chars() {
            let (room, strokes) = glyph(letter);
            for pair in strokes.iter().flat_map(|s| s.windows(2)) {
                let [a, b] = [pair[0], pair[1]].map(|[x, y]| corner + right * x + up * y);
                out.polyline(&[a, b], color, width, 0.0);
            }
            corner += right * (room + GAP);
        }
    }
    out.segments[first..].iter_mut().for_each(|s| s.hidden = 1.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_letter_by_letter_above_their_point() {
        let mut lines = Lines::default();
        for letter in "0123456789.m°".chars() {
            lines.clear();
            print(&letter.to_string(), Vec3::Y, Quat::IDENTITY, 0.1, [255; 4], &mut lines);
            assert!(!lines.segments.is_empty(), "{letter}");
            for p in lines.segments.iter().flat_map(|s| [s.a, s.b]) {
                assert!(
                    p.x.abs() <= 0.0401 && (1.0499..=1.1501).contains(&p.y) && p.z == 0.0,
                    "{letter} {p}"
                );
            }
        }
        lines.clear();
        print("0.432 m", Vec3::ZERO, Quat::IDENTITY, 1.0, [255; 4], &mut lines);
        let x = || lines.segments.iter().flat_map(|s| [s.a.x, s.b.x]);
        assert!(
            (x().fold(f32::MAX, f32::min) + x().fold(f32::MIN, f32::max)).abs() < 1e-5,
            "not in the middle"
        );
    }
}
