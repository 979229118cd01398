//! Colours, sizes and text of the panels: large text on dark glass. Sizes are in pixels of the panel's image.

use egui::epaint::text::{LayoutJob, TextWrapping};
use egui::{Align2, Color32, CornerRadius, FontFamily, FontId, Painter, Pos2, Rect, Stroke, pos2};

/// Pixels of a panel's image per degree of the user's view.
pub(super) const PER_DEGREE: f32 = 20.0;
/// Distance between a panel's edge and its content, pixels.
pub(super) const MARGIN: f32 = 20.0;
/// Gap between tiles, pixels.
pub(super) const GAP: f32 = 8.0;
/// Height of a row, pixels: 3 degrees.
pub(super) const ROW: f32 = 60.0;

pub(super) const GLASS: Color32 = Color32::from_rgba_premultiplied(18, 20, 26, 242);
pub(super) const EDGE: Color32 = Color32::from_rgb(62, 68, 82);
pub(super) const TILE: Color32 = Color32::from_rgb(38, 42, 52);
pub(super) const TILE_FAINT: Color32 = Color32::from_rgb(27, 30, 38);
pub(super) const HOVER: Color32 = Color32::from_rgb(56, 63, 79);
pub(super) const PRESSED: Color32 = Color32::from_rgb(76, 86, 108);
pub(super) const ACCENT: Color32 = Color32::from_rgb(47, 111, 224);
pub(super) const ACCENT_HOVER: Color32 = Color32::from_rgb(72, 134, 243);
pub(super) const TEXT: Color32 = Color32::from_rgb(240, 243, 248);
pub(super) const SOFT: Color32 = Color32::from_rgb(168, 177, 193);
pub(super) const FAINT: Color32 = crate::ui::icons::FAINT;
pub(super) const GOOD: Color32 = Color32::from_rgb(92, 205, 134);
pub(super) const FAIR: Color32 = Color32::from_rgb(245, 190, 82);
pub(super) const BAD: Color32 = Color32::from_rgb(255, 108, 104);

pub(super) const SMALL: f32 = 20.0;
pub(super) const BODY: f32 = 24.0;
pub(super) const LARGE: f32 = 40.0;

/// Draws the rounded background and the edge of a panel.
pub(super) fn glass(painter: &Painter, rect: Rect) {
    // The outer two pixels stay transparent, so that texture filtering smooths the panel's edge.
    let rect = rect.shrink(2.0);
    painter.rect_filled(rect, CornerRadius::same(30), GLASS);
    painter.rect_stroke(rect, CornerRadius::same(30), Stroke::new(2.0, EDGE), egui::StrokeKind::Inside);
}

/// Draws one line of text, cut with an ellipsis if it is wider than `width`. The text is drawn twice, slightly
/// offset, because egui's light default font is hard to read in a headset. Returns the text's rectangle.
pub(super) fn print(
    painter: &Painter,
    at: Pos2,
    anchor: Align2,
    text: &str,
    size: f32,
    color: Color32,
    width: f32,
) -> Rect {
    let mut job =
        LayoutJob::simple_singleline(text.to_owned(), FontId::new(size, FontFamily::Proportional), color);
    job.wrap = TextWrapping::truncate_at_width(width.max(1.0));
    let galley = painter.layout_job(job);
    let rect = anchor.anchor_size(at, galley.size());
    let corner = pos2(rect.min.x.round(), rect.min.y.round());
    painter.galley(corner, galley.clone(), color);
    painter.galley(corner + egui::vec2(size * 0.03, 0.0), galley, color);
    rect
}

/// Smallest size of text, pixels: 39 arcminutes.
const LEAST: f32 = 13.0;

/// Draws one line of text like [`print`], smaller if it is wider than `width`.
pub(super) fn fitted(
    painter: &Painter,
    at: Pos2,
    anchor: Align2,
    text: &str,
    size: f32,
    color: Color32,
    width: f32,
) -> Rect {
    let font = FontId::new(size, FontFamily::Proportional);
    let wide = painter.layout_no_wrap(text.to_owned(), font, color).size().x.max(1.0);
    // Whole pixels, so that few sizes of glyphs are in the atlas.
    let size = (size * (width / wide).min(1.0)).floor().max(LEAST);
    print(painter, at, anchor, text, size, color, width)
}

/// Draws at most `rows` lines of wrapped text, left-aligned and vertically centred in `rect`.
pub(super) fn paragraph(painter: &Painter, rect: Rect, text: &str, size: f32, color: Color32, rows: usize) {
    let font = FontId::new(size, FontFamily::Proportional);
    let mut job = LayoutJob::simple(text.to_owned(), font, color, rect.width());
    job.wrap.max_rows = rows;
    let galley = painter.layout_job(job);
    let y = rect.center().y - galley.size().y / 2.0;
    let corner = pos2(rect.min.x.round(), y.round());
    painter.galley(corner, galley.clone(), color);
    painter.galley(corner + egui::vec2(size * 0.03, 0.0), galley, color);
}

/// Splits `rect` into columns with these relative widths and gaps between them.
pub(super) fn columns(rect: Rect, weights: &[f32]) -> Vec<Rect> {
    let total: f32 = weights.iter().sum();
    let room = rect.width() - GAP * weights.len().saturating_sub(1) as f32;
    let mut x = rect.min.x;
    let cut = |w: &f32| {
        let width = room * w / total;
        let column = Rect::from_min_max(pos2(x.round(), rect.min.y), pos2((x + width).round(), rect.max.y));
        x += width + GAP;
        column
    };
    weights.iter().map(cut).collect()
}
