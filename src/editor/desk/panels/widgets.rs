//! What several panels are made of.

use super::theme;
use crate::editor::panels::Icon;
use egui::{Align2, Color32, FontId, Id, Response, Sense, Ui, vec2};

/// A square with an icon.
pub(super) fn icon(ui: &mut Ui, icon: Icon, size: f32, on: bool, enabled: bool) -> Response {
    let sense = if enabled { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(size, size), sense);
    let visuals = ui.style().interact(&response);
    let fill = match (on, enabled && response.hovered()) {
        (true, false) => theme::ACCENT,
        (true, true) => theme::ACCENT.gamma_multiply(1.2),
        (false, true) => visuals.bg_fill,
        (false, false) => Color32::TRANSPARENT,
    };
    let ink = match (on, enabled) {
        (true, _) => Color32::WHITE,
        (false, true) => visuals.fg_stroke.color,
        (false, false) => ui.visuals().weak_text_color().gamma_multiply(0.6),
    };
    ui.painter().rect_filled(rect, visuals.corner_radius, fill);
    icon.draw(ui.painter(), rect.center(), size * 0.27, ink);
    response
}

/// A wide button with an icon and words.
pub(super) fn tile(ui: &mut Ui, icon: Icon, text: &str, on: bool, enabled: bool) -> Response {
    let sense = if enabled { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 30.0), sense);
    let visuals = ui.style().interact(&response);
    let fill = match (on, enabled && response.hovered()) {
        (true, _) => theme::ACCENT,
        (false, true) => visuals.bg_fill,
        (false, false) => Color32::TRANSPARENT,
    };
    let ink = match (on, enabled) {
        (true, _) => Color32::WHITE,
        (false, true) => visuals.fg_stroke.color,
        (false, false) => ui.visuals().weak_text_color().gamma_multiply(0.6),
    };
    let painter = ui.painter();
    painter.rect_filled(rect, visuals.corner_radius, fill);
    icon.draw(painter, rect.left_center() + vec2(17.0, 0.0), 8.0, ink);
    painter.text(
        rect.left_center() + vec2(36.0, 0.0),
        Align2::LEFT_CENTER,
        text,
        FontId::proportional(13.0),
        ink,
    );
    response
}

/// Whether a slider was moved, and if so whether that belongs to the move before: as long as it is held, its edits are one
/// step. `held` is the slider that is.
pub(super) fn moved(answer: &Response, held: &mut Option<Id>) -> Option<bool> {
    let continues = *held == Some(answer.id);
    if answer.changed() {
        *held = Some(answer.id);
        return Some(continues);
    }
    if continues && !answer.dragged() {
        *held = None;
    }
    None
}

/// A heading in small letters over a group.
pub(super) fn caption(ui: &mut Ui, text: &str) {
    ui.add_space(6.0);
    ui.label(egui::RichText::new(text.to_uppercase()).size(10.5).weak());
}

/// A section that folds, open at first where `open`.
pub(super) fn section(ui: &mut Ui, title: &str, open: bool, content: impl FnOnce(&mut Ui)) {
    let heading = egui::RichText::new(title).strong();
    egui::CollapsingHeader::new(heading).id_salt(title.split(" (").next()).default_open(open).show(
        ui,
        |ui| {
            content(ui);
            ui.add_space(4.0);
        },
    );
    ui.separator();
}

/// A line of a list: the whole width answers.
pub(super) fn row(ui: &mut Ui, indent: f32, text: egui::RichText, on: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 20.0), Sense::click());
    let visuals = ui.style().interact(&response);
    if on {
        ui.painter().rect_filled(rect, visuals.corner_radius, theme::ACCENT.gamma_multiply(0.9));
    } else if response.hovered() {
        ui.painter().rect_filled(rect, visuals.corner_radius, visuals.bg_fill.gamma_multiply(0.7));
    }
    let color = if on { Color32::WHITE } else { visuals.fg_stroke.color };
    let job = egui::WidgetText::from(text).into_galley(
        ui,
        Some(egui::TextWrapMode::Truncate),
        (rect.width() - indent - 8.0).max(8.0),
        egui::TextStyle::Body,
    );
    let at = rect.left_center() + vec2(indent + 6.0, -job.size().y * 0.5);
    ui.painter().galley(at, job, color);
    response
}
