//! The panels without buttons: wrist panel, strain and message.

use super::state::{PanelState, Strain};
use super::theme;
use super::theme::{BODY, LARGE, SMALL};
use crate::ui::icons::Icon;
use crate::ui::panels::deformer::method_label;
use crate::workbench::Control;
use egui::{Align2, CornerRadius, Rect, Ui, pos2, vec2};

pub(super) const WRIST: [u32; 2] = [380, 176];
pub(super) const STRAIN: [u32; 2] = [320, 300];
pub(super) const MESSAGE: [u32; 2] = [640, 112];

/// Draws world scale, current tool and button names.
pub(super) fn wrist(ui: &Ui, state: &PanelState) {
    let (room, painter) = (theme::glass(ui), ui.painter());
    let scale = scale_text(state.magnification);
    let at = room.left_top() + vec2(0.0, -4.0);
    let big = theme::line(&scale, LARGE, theme::DARK.strong).print(painter, at, Align2::LEFT_TOP, 170.0);
    let note = if (state.magnification - 1.0).abs() < 0.005 { "life size" } else { "of life size" };
    theme::line(note, SMALL, theme::SOFT).print(
        painter,
        pos2(room.min.x, big.max.y),
        Align2::LEFT_TOP,
        170.0,
    );
    let p = &state.preferences;
    Icon::of(p.tool).draw(painter, pos2(room.min.x + 196.0, room.min.y + 30.0), 22.0, theme::DARK.strong);
    let beside = pos2(room.min.x + 230.0, room.min.y + 2.0);
    let width = room.max.x - beside.x;
    theme::line(p.tool.word(), BODY, theme::DARK.strong).print(painter, beside, Align2::LEFT_TOP, width);
    let radius = format!("{:.1} cm", p.radius * 100.0);
    theme::line(&radius, SMALL, theme::SOFT).print(
        painter,
        beside + vec2(0.0, 30.0),
        Align2::LEFT_TOP,
        width,
    );
    if let Some(drawn) = &state.drawn {
        let at = pos2(room.min.x, room.max.y - 62.0);
        theme::line(drawn, SMALL, theme::DARK.strong).fitted(painter, at, Align2::LEFT_TOP, room.width());
    }
    if p.mirror {
        Icon::Mirror.draw(painter, room.right_top() + vec2(-16.0, 30.0), 15.0, theme::SOFT);
    }
    // Draws as many button names as fit into the line.
    let y = room.max.y - 17.0;
    let mut x = room.min.x;
    for (button, does) in hints(state) {
        let button = theme::line(button, SMALL, theme::DARK.strong);
        let does = theme::line(does, SMALL, theme::SOFT);
        let (key, word) = (button.width(painter).max(14.0) + 20.0, does.width(painter));
        if x + key + word + 8.0 > room.max.x + 8.0 {
            continue;
        }
        let cap = Rect::from_center_size(pos2(x + key / 2.0, y), vec2(key, 34.0));
        painter.rect_filled(cap, CornerRadius::same(17), theme::DARK.hover);
        button.print(painter, cap.center(), Align2::CENTER_CENTER, key);
        let at = pos2(cap.max.x + 8.0, y);
        does.print(painter, at, Align2::LEFT_CENTER, word + 4.0);
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
    let (room, painter) = (theme::glass(ui), ui.painter());
    let none = Strain::default();
    let s = state.strain.as_ref().unwrap_or(&none);
    let title = method_label(&s.method);
    theme::line(title, BODY + 2.0, theme::DARK.strong).print(
        painter,
        room.left_top(),
        Align2::LEFT_TOP,
        room.width() * 0.45,
    );
    if let Some(n) = s.iterations {
        let text = format!("{n} iterations");
        theme::line(&text, SMALL, theme::SOFT).print(
            painter,
            room.right_top() + vec2(0.0, 4.0),
            Align2::RIGHT_TOP,
            150.0,
        );
    }
    let rows = s.rows();
    let top = room.min.y + 48.0;
    let step = (room.max.y - top) / rows.len() as f32;
    for (index, (label, value, color)) in rows.into_iter().enumerate() {
        let y = top + step * (index as f32 + 0.5);
        painter.circle_filled(pos2(room.min.x + 8.0, y), 7.0, color);
        let at = pos2(room.min.x + 26.0, y);
        theme::line(label, SMALL + 1.0, theme::SOFT).print(painter, at, Align2::LEFT_CENTER, 150.0);
        theme::line(&value, BODY, theme::DARK.strong).print(
            painter,
            pos2(room.max.x, y),
            Align2::RIGHT_CENTER,
            130.0,
        );
    }
}

/// Draws a message with its icon. Without a message, draws the instruction of the tour.
pub(super) fn message(ui: &Ui, state: &PanelState, message: Option<(Icon, &str)>) {
    let (room, painter) = (theme::glass(ui), ui.painter());
    let text = room.with_min_x(room.min.x + 72.0);
    let middle = pos2(room.min.x + 26.0, room.center().y);
    let words = match (message, state.tour) {
        (None, Some((number, all, instruction))) => {
            let count = format!("{number} / {all}");
            theme::line(&count, BODY, theme::ACCENT_HOVER).print(
                painter,
                middle,
                Align2::CENTER_CENTER,
                64.0,
            );
            instruction
        }
        (message, _) => {
            let (icon, text) = message.unwrap_or((Icon::Warning, ""));
            let color = if icon == Icon::Warning { theme::FAIR } else { theme::GOOD };
            icon.draw(painter, middle, 24.0, color);
            text
        }
    };
    theme::line(words, SMALL + 2.0, theme::DARK.strong).paragraph(painter, text, 3);
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
