//! The panels without buttons: wrist panel, strain and message.

use super::state::{PanelState, Strain};
use super::theme;
use super::theme::{BODY, LARGE, MARGIN, SMALL};
use crate::ui::icons::Icon;
use crate::ui::panels::deformer::method_label;
use crate::workbench::Control;
use egui::{Align2, Color32, CornerRadius, Rect, Ui, pos2, vec2};

pub(super) const WRIST: [u32; 2] = [380, 176];
pub(super) const STRAIN: [u32; 2] = [320, 300];
pub(super) const MESSAGE: [u32; 2] = [640, 112];

/// Draws world scale, current tool and button names.
pub(super) fn wrist(ui: &Ui, state: &PanelState) {
    let whole = ui.max_rect();
    let painter = ui.painter();
    theme::glass(painter, whole);
    let room = whole.shrink(MARGIN);
    let scale = scale_text(state.magnification);
    let at = room.left_top() + vec2(0.0, -4.0);
    let big = theme::print(painter, at, Align2::LEFT_TOP, &scale, LARGE, theme::TEXT, 170.0);
    let note = if (state.magnification - 1.0).abs() < 0.005 { "life size" } else { "of life size" };
    theme::print(painter, pos2(room.min.x, big.max.y), Align2::LEFT_TOP, note, SMALL, theme::SOFT, 170.0);
    let p = &state.preferences;
    Icon::of(p.tool).draw(painter, pos2(room.min.x + 196.0, room.min.y + 30.0), 22.0, theme::TEXT);
    let beside = pos2(room.min.x + 230.0, room.min.y + 2.0);
    let width = room.max.x - beside.x;
    theme::print(painter, beside, Align2::LEFT_TOP, p.tool.word(), BODY, theme::TEXT, width);
    let radius = format!("{:.1} cm", p.radius * 100.0);
    theme::print(painter, beside + vec2(0.0, 30.0), Align2::LEFT_TOP, &radius, SMALL, theme::SOFT, width);
    if let Some(mark) = &state.mark {
        let at = pos2(room.min.x, room.max.y - 62.0);
        theme::print(painter, at, Align2::LEFT_TOP, mark, SMALL, theme::TEXT, room.width());
    }
    if p.mirror {
        Icon::Mirror.draw(painter, room.right_top() + vec2(-16.0, 30.0), 15.0, theme::SOFT);
    }
    // Draws as many button names as fit into the line.
    let y = room.max.y - 17.0;
    let mut x = room.min.x;
    for (button, does) in hints(state) {
        let font = egui::FontId::proportional(SMALL);
        let measure =
            |text: &str| painter.layout_no_wrap(text.to_owned(), font.clone(), theme::TEXT).size().x;
        let (key, word) = (measure(button).max(14.0) + 20.0, measure(does));
        if x + key + word + 8.0 > room.max.x + 8.0 {
            continue;
        }
        let cap = Rect::from_center_size(pos2(x + key / 2.0, y), vec2(key, 34.0));
        painter.rect_filled(cap, CornerRadius::same(17), theme::HOVER);
        theme::print(painter, cap.center(), Align2::CENTER_CENTER, button, SMALL, theme::TEXT, key);
        let at = pos2(cap.max.x + 8.0, y);
        theme::print(painter, at, Align2::LEFT_CENTER, does, SMALL, theme::SOFT, word + 4.0);
        x = at.x + word + 18.0;
    }
}

/// Returns name and effect of the buttons that work in every tool. Buttons of the tool hand have priority.
fn hints(state: &PanelState) -> impl Iterator<Item = (&'static str, &'static str)> {
    let tool = state.preferences.tool_hand();
    let labels = [state.labels[tool], state.labels[1 - tool]];
    let known = [Control::Undo, Control::Redo, Control::Menu].into_iter();
    known.filter_map(move |c| Some((labels[0].of(c).or(labels[1].of(c))?, c.label())))
}

/// Formats a scale, e.g. life size as `1.00×` and half size as `0.50×`.
fn scale_text(magnification: f32) -> String {
    let m = if magnification.is_finite() { magnification.clamp(1e-3, 1e3) } else { 1.0 };
    match m {
        m if m >= 99.5 => format!("{m:.0}×"),
        m if m >= 9.95 => format!("{m:.1}×"),
        _ => format!("{m:.2}×"),
    }
}

/// Draws the measurements of the deformation.
pub(super) fn strain(ui: &Ui, state: &PanelState) {
    let whole = ui.max_rect();
    let painter = ui.painter();
    theme::glass(painter, whole);
    let room = whole.shrink(MARGIN);
    let none = Strain::default();
    let s = state.strain.as_ref().unwrap_or(&none);
    let title = method_label(&s.method);
    theme::print(
        painter,
        room.left_top(),
        Align2::LEFT_TOP,
        title,
        BODY + 2.0,
        theme::TEXT,
        room.width() * 0.45,
    );
    if let Some(n) = s.iterations {
        let text = format!("{n} iterations");
        theme::print(
            painter,
            room.right_top() + vec2(0.0, 4.0),
            Align2::RIGHT_TOP,
            &text,
            SMALL,
            theme::SOFT,
            150.0,
        );
    }
    let judged = |value: f64, fair: f64, bad: f64| match value {
        v if v >= bad => theme::BAD,
        v if v >= fair => theme::FAIR,
        _ => theme::GOOD,
    };
    let volume = s.volume_ratio.map_or_else(
        || ("no volume".to_owned(), theme::FAINT),
        |v| (format!("{:.1} %", v * 100.0), judged((v - 1.0).abs(), 0.02, 0.05)),
    );
    let percent = |v: f32| format!("{:.1} %", v * 100.0);
    let rows: [(&str, (String, Color32)); 5] = [
        ("Volume", volume),
        ("Stretch, most", (percent(s.stretch_max), judged(s.stretch_max.into(), 0.5, 1.0))),
        ("Stretch, mean", (percent(s.stretch_mean), judged(s.stretch_mean.into(), 0.03, 0.08))),
        ("Inverted", (s.flipped.to_string(), judged(s.flipped as f64, 1.0, 50.0))),
        ("Crossings", (s.crossings.to_string(), judged(s.crossings as f64, 1.0, 50.0))),
    ];
    let top = room.min.y + 48.0;
    let step = (room.max.y - top) / rows.len() as f32;
    for (index, (label, (value, color))) in rows.into_iter().enumerate() {
        let y = top + step * (index as f32 + 0.5);
        painter.circle_filled(pos2(room.min.x + 8.0, y), 7.0, color);
        let at = pos2(room.min.x + 26.0, y);
        theme::print(painter, at, Align2::LEFT_CENTER, label, SMALL + 1.0, theme::SOFT, 150.0);
        theme::print(painter, pos2(room.max.x, y), Align2::RIGHT_CENTER, &value, BODY, theme::TEXT, 130.0);
    }
}

/// Draws a message of one line with its advice.
pub(super) fn message(ui: &Ui, state: &PanelState) {
    let whole = ui.max_rect();
    let painter = ui.painter();
    theme::glass(painter, whole);
    let room = whole.shrink(MARGIN);
    Icon::Warning.draw(painter, pos2(room.min.x + 26.0, room.center().y), 24.0, theme::FAIR);
    let text = room.with_min_x(room.min.x + 72.0);
    theme::paragraph(
        painter,
        text,
        state.message.as_deref().unwrap_or_default(),
        SMALL + 2.0,
        theme::TEXT,
        3,
    );
}

#[cfg(test)]
mod tests {
    use super::scale_text;

    #[test]
    fn scales_are_told_with_three_digits() {
        let texts = [1.0, 0.5, 12.34, 250.0, f32::NAN].map(scale_text);
        assert_eq!(texts, ["1.00×", "0.50×", "12.3×", "250×", "1.00×"]);
    }
}
