//! Colours, sizes and text of the panels: the dark and the light theme of the window, and the dark theme in the size of
//! the headset. Sizes of the headset are in pixels of a panel's image.

use egui::epaint::text::{LayoutJob, TextWrapping};
use egui::style::{ScrollStyle, WidgetVisuals};
use egui::{
    Align2, Color32, CornerRadius, FontFamily, FontId, Margin, Painter, Pos2, Rect, Stroke, StrokeKind,
    Style, TextStyle, Theme, Visuals, pos2, vec2,
};

/// Pixels of a panel's image per degree of the headset user's view.
pub(super) const PER_DEGREE: f32 = 20.0;
/// Distance between a panel's edge and its content in the headset, pixels.
pub(super) const MARGIN: f32 = 20.0;
/// Gap between tiles, pixels.
pub(super) const GAP: f32 = 8.0;
/// Height of a row of tiles, pixels: 3 degrees.
pub(super) const ROW: f32 = 60.0;
/// Sizes of the headset's text, pixels.
pub(super) const SMALL: f32 = 20.0;
pub(super) const BODY: f32 = 24.0;
pub(super) const LARGE: f32 = 40.0;
/// Smallest size of text in the headset, pixels: 39 arcminutes.
const LEAST: f32 = 13.0;

/// Colour of chosen items and handles.
pub(super) const ACCENT: Color32 = Color32::from_rgb(47, 111, 224);
pub(super) const GOOD: Color32 = Color32::from_rgb(70, 170, 105);
pub(super) const FAIR: Color32 = Color32::from_rgb(224, 160, 46);
pub(super) const BAD: Color32 = Color32::from_rgb(228, 88, 84);

/// Colours of the X, Y and Z axes: red, green, blue.
pub(super) const AXES: [Color32; 3] =
    [Color32::from_rgb(236, 84, 84), Color32::from_rgb(110, 200, 90), Color32::from_rgb(80, 140, 246)];

/// Background of the headset's panels.
const GLASS: Color32 = Color32::from_rgba_premultiplied(18, 20, 26, 242);
pub(super) const ACCENT_HOVER: Color32 = Color32::from_rgb(72, 134, 243);
/// Text of second rank in the headset.
pub(super) const SOFT: Color32 = Color32::from_rgb(168, 177, 193);
/// Items that cannot be pressed.
pub(super) const FAINT: Color32 = Color32::from_rgb(98, 106, 122);

/// Background and text colours of a theme.
pub(super) struct Tones {
    pub panel: Color32,
    pub window: Color32,
    pub well: Color32,
    pub tile: Color32,
    pub hover: Color32,
    pub press: Color32,
    pub edge: Color32,
    pub text: Color32,
    pub strong: Color32,
}

pub(super) const DARK: Tones = Tones {
    panel: Color32::from_rgb(30, 33, 40),
    window: Color32::from_rgb(36, 39, 47),
    well: Color32::from_rgb(21, 23, 28),
    tile: Color32::from_rgb(46, 51, 62),
    hover: Color32::from_rgb(60, 67, 82),
    press: Color32::from_rgb(76, 86, 108),
    edge: Color32::from_rgb(52, 57, 69),
    text: Color32::from_rgb(202, 208, 219),
    strong: Color32::from_rgb(242, 245, 250),
};

const LIGHT: Tones = Tones {
    panel: Color32::from_rgb(236, 238, 242),
    window: Color32::from_rgb(247, 248, 250),
    well: Color32::from_rgb(255, 255, 255),
    tile: Color32::from_rgb(216, 220, 228),
    hover: Color32::from_rgb(201, 207, 219),
    press: Color32::from_rgb(182, 191, 208),
    edge: Color32::from_rgb(203, 208, 218),
    text: Color32::from_rgb(58, 64, 76),
    strong: Color32::from_rgb(18, 21, 28),
};

/// Creates an egui context with the themes of the window.
pub(super) fn context() -> egui::Context {
    let context = egui::Context::default();
    // Sinew implements the zoom by its own key table.
    context.options_mut(|o| o.zoom_with_keyboard = false);
    context.style_mut_of(Theme::Dark, |style| dress(style, Visuals::dark(), &DARK, 1.0));
    context.style_mut_of(Theme::Light, |style| dress(style, Visuals::light(), &LIGHT, 1.0));
    context
}

/// Height of a target in the window, logical pixels.
const TARGET: f32 = 22.0;

/// Gives a context of the headset the dark theme with targets of this height, pixels.
pub(super) fn enlarge(context: &egui::Context, target: f32) {
    context.set_theme(Theme::Dark);
    context.style_mut_of(Theme::Dark, |style| {
        dress(style, Visuals::dark(), &DARK, target / TARGET);
        // The headset has no clipboard for selected text.
        style.interaction.selectable_labels = false;
    });
}

/// Returns the scale of the style; 1 in the window.
pub(super) fn scale(ui: &egui::Ui) -> f32 {
    ui.spacing().interact_size.y / TARGET
}

/// Whether the style is the headset's.
pub(super) fn is_large(ui: &egui::Ui) -> bool {
    scale(ui) > 1.5
}

/// Returns the height of a line of a list.
pub(super) fn row(ui: &egui::Ui) -> f32 {
    let target = ui.spacing().interact_size.y;
    if is_large(ui) { target } else { target - 2.0 }
}

fn dress(style: &mut Style, mut v: Visuals, t: &Tones, scale: f32) {
    let corner = CornerRadius::same(5);
    let widget = |fill: Color32, ink: Color32, edge: Color32| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: Stroke::new(1.0, edge),
        corner_radius: corner,
        fg_stroke: Stroke::new(1.2, ink),
        expansion: 0.0,
    };
    v.widgets.noninteractive = widget(t.panel, t.text, t.edge);
    v.widgets.inactive = widget(t.tile, t.text, t.tile);
    v.widgets.hovered = widget(t.hover, t.strong, t.hover);
    v.widgets.active = widget(t.press, t.strong, t.press);
    v.widgets.open = widget(t.hover, t.strong, t.edge);
    v.selection.bg_fill = ACCENT;
    v.selection.stroke = Stroke::new(1.0, Color32::WHITE);
    v.panel_fill = t.panel;
    v.window_fill = t.window;
    v.window_stroke = Stroke::new(1.0, t.edge);
    v.window_corner_radius = CornerRadius::same(9);
    v.menu_corner_radius = CornerRadius::same(7);
    v.extreme_bg_color = t.well;
    v.faint_bg_color = t.window;
    v.warn_fg_color = FAIR;
    v.error_fg_color = BAD;
    v.slider_trailing_fill = true;
    v.handle_shape = egui::style::HandleShape::Circle;
    v.striped = false;
    // A blinking caret would redraw an idle window twice a second.
    v.text_cursor.blink = false;
    style.visuals = v;
    // Whole pixels, so that edges and text are sharp.
    style.spacing.item_spacing = (vec2(7.0, 5.0) * scale).round();
    style.spacing.button_padding = (vec2(8.0, 4.0) * scale).round();
    style.spacing.interact_size.y = (TARGET * scale).round();
    style.spacing.slider_width = (110.0 * scale).round();
    style.spacing.slider_rail_height = (5.0 * scale).round();
    style.spacing.icon_width *= scale;
    style.spacing.icon_width_inner *= scale;
    style.spacing.combo_height *= scale;
    style.spacing.window_margin = Margin::same(12);
    let thin = ScrollStyle::thin();
    style.spacing.scroll = ScrollStyle {
        bar_width: thin.bar_width * scale,
        floating_width: thin.floating_width * scale,
        floating_allocated_width: 6.0 * scale,
        handle_min_length: thin.handle_min_length * scale,
        ..thin
    };
    for (name, size) in [
        (TextStyle::Small, 11.0),
        (TextStyle::Body, 13.0),
        (TextStyle::Button, 13.0),
        (TextStyle::Heading, 15.5),
    ] {
        style.text_styles.insert(name, FontId::new(size * scale, FontFamily::Proportional));
    }
    // Animations would redraw an idle window.
    style.animation_time = 0.0;
}

/// Draws the rounded background and the edge of a panel of the headset. Returns the room for the panel's content.
pub(super) fn glass(ui: &egui::Ui) -> Rect {
    let whole = ui.max_rect();
    // The outer two pixels stay transparent, so that texture filtering smooths the panel's edge.
    let (rect, corner) = (whole.shrink(2.0), CornerRadius::same(30));
    ui.painter().rect_filled(rect, corner, GLASS);
    ui.painter().rect_stroke(rect, corner, Stroke::new(2.0, DARK.edge), StrokeKind::Inside);
    whole.shrink(MARGIN)
}

/// A text for panels of the headset. It is drawn twice, slightly offset, because egui's light default font is hard to
/// read in a headset.
pub(super) struct BoldText<'a> {
    text: &'a str,
    size: f32,
    color: Color32,
}

/// Returns a text of this size, pixels.
pub(super) fn line(text: &str, size: f32, color: Color32) -> BoldText<'_> {
    BoldText { text, size, color }
}

impl BoldText<'_> {
    fn font(&self) -> FontId {
        FontId::new(self.size, FontFamily::Proportional)
    }

    /// Draws one line, cut with an ellipsis if it is wider than `width`. Returns the text's rectangle.
    pub fn print(&self, painter: &Painter, at: Pos2, anchor: Align2, width: f32) -> Rect {
        let mut job = LayoutJob::simple_singleline(self.text.to_owned(), self.font(), self.color);
        job.wrap = TextWrapping::truncate_at_width(width.max(1.0));
        self.draw(painter, job, |size| anchor.anchor_size(at, size))
    }

    /// Draws one line, smaller if it is wider than `width`. Returns the text's rectangle.
    pub fn fitted(&self, painter: &Painter, at: Pos2, anchor: Align2, width: f32) -> Rect {
        let wide = self.width(painter).max(1.0);
        // Whole pixels, so that few sizes of glyphs are in the atlas.
        let size = (self.size * (width / wide).min(1.0)).floor().max(LEAST);
        Self { size, ..*self }.print(painter, at, anchor, width)
    }

    /// Draws at most `rows` lines of wrapped text, left-aligned and vertically centred in `rect`.
    pub fn paragraph(&self, painter: &Painter, rect: Rect, rows: usize) {
        let mut job = LayoutJob::simple(self.text.to_owned(), self.font(), self.color, rect.width());
        job.wrap.max_rows = rows;
        self.draw(painter, job, |size| Align2::LEFT_CENTER.anchor_size(rect.left_center(), size));
    }

    /// Returns the width of the text in one line, pixels.
    pub fn width(&self, painter: &Painter) -> f32 {
        painter.layout_no_wrap(self.text.to_owned(), self.font(), self.color).size().x
    }

    fn draw(&self, painter: &Painter, job: LayoutJob, place: impl Fn(egui::Vec2) -> Rect) -> Rect {
        let galley = painter.layout_job(job);
        let rect = place(galley.size());
        let corner = pos2(rect.min.x.round(), rect.min.y.round());
        painter.galley(corner, galley.clone(), self.color);
        painter.galley(corner + vec2(self.size * 0.03, 0.0), galley, self.color);
        rect
    }
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
