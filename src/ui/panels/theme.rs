//! Colours, sizes and fonts of the panels, for the dark and the light theme.

use egui::style::{ScrollStyle, WidgetVisuals};
use egui::{
    Color32, CornerRadius, FontFamily, FontId, Margin, Stroke, Style, TextStyle, Theme, Visuals, vec2,
};

/// Colour of chosen items and handles.
pub(in crate::ui) const ACCENT: Color32 = Color32::from_rgb(47, 111, 224);
pub(in crate::ui) const GOOD: Color32 = Color32::from_rgb(70, 170, 105);
pub(in crate::ui) const FAIR: Color32 = Color32::from_rgb(224, 160, 46);
pub(in crate::ui) const BAD: Color32 = Color32::from_rgb(228, 88, 84);

/// Background and text colours of a theme.
struct Tones {
    panel: Color32,
    window: Color32,
    well: Color32,
    tile: Color32,
    hover: Color32,
    press: Color32,
    edge: Color32,
    text: Color32,
    strong: Color32,
}

const DARK: Tones = Tones {
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
pub(in crate::ui) fn context() -> egui::Context {
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
pub(in crate::ui) fn enlarge(context: &egui::Context, target: f32) {
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
pub(in crate::ui) fn row(ui: &egui::Ui) -> f32 {
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
    style.spacing.item_spacing = vec2(7.0, 5.0) * scale;
    style.spacing.button_padding = vec2(8.0, 4.0) * scale;
    style.spacing.interact_size.y = TARGET * scale;
    style.spacing.slider_width = 110.0 * scale;
    style.spacing.slider_rail_height = 5.0 * scale;
    style.spacing.icon_width *= scale;
    style.spacing.icon_width_inner *= scale;
    style.spacing.combo_height *= scale;
    style.spacing.window_margin = Margin::same(12);
    style.spacing.scroll = ScrollStyle { floating_allocated_width: 6.0 * scale, ..ScrollStyle::thin() };
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
