//! The bar above the picture with actions on the document, and the bar below it with hints and messages.

use super::{Pressed, Shows, theme, widgets};
use crate::ui::icons::Icon;
use crate::ui::window::choices::{Choices, Stereo, Theme};
use crate::ui::window::keys::Act;
use crate::workbench::{Command, Notice, NoticeKind, Workbench};
use egui::{Align, Frame, Layout, Margin, Panel, RichText, Ui};

fn frame(ui: &Ui) -> Frame {
    Frame::new().fill(ui.visuals().panel_fill).inner_margin(Margin::symmetric(8, 5))
}

pub(super) fn top(ui: &mut Ui, shows: &Shows<'_>, pressed: &mut Pressed) {
    Panel::top("bar").frame(frame(ui)).show(ui, |ui| {
        ui.horizontal(|ui| {
            let (done, all) = shows.bench.map_or((0, 0), |b| b.session().history());
            let there = shows.bench.is_some();
            for (act, icon, enabled) in [
                (Act::Open, Icon::Folder, true),
                (Act::Save, Icon::Save, there),
                (Act::Export, Icon::Export, there),
                (Act::Undo, Icon::Undo, done > 1),
                (Act::Redo, Icon::Redo, done < all),
            ] {
                let pressed_now = widgets::icon(ui, icon, 28.0, false, enabled).on_hover_text(shows.tip(act));
                pressed.act(act, pressed_now.clicked());
            }
            ui.separator();
            let name = shows.facts.file.as_deref().and_then(|f| f.file_name());
            let name = name.map_or("Sinew".into(), |n| n.to_string_lossy().into_owned());
            ui.label(RichText::new(name).strong());
            if shows.facts.unsaved {
                ui.label(RichText::new("changed").color(theme::FAIR).small());
            }
            if let Some(busy) = &shows.facts.busy {
                ui.label(RichText::new(busy).weak());
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| right(ui, shows, pressed));
        });
    });
}

fn right(ui: &mut Ui, shows: &Shows<'_>, pressed: &mut Pressed) {
    let text = |ui: &mut Ui, act: Act, label: &str, on: bool| widgets::choice(ui, on, label, shows.tip(act));
    let clicked = text(ui, Act::Help, " ? ", false);
    pressed.act(Act::Help, clicked);
    if let Some(on) = shows.bench.map(|b| b.tour().is_some()) {
        let tour = widgets::choice(ui, on, "Tour", "Shows the first steps, one at a time");
        pressed.command(Command::Tour(!on), tour);
    }
    let (name, next) = match shows.choices.theme {
        Theme::Dark => ("Dark", Theme::Light),
        Theme::Light => ("Light", Theme::System),
        Theme::System => ("As the system", Theme::Dark),
    };
    if widgets::choice(ui, false, name, "Dark, light, or as the system") {
        pressed.choices = Some(Choices { theme: next, ..shows.choices.clone() });
    }
    let stereo = shows.choices.stereo;
    let clicked = text(ui, Act::Stereo, stereo.label(), stereo != Stereo::Off);
    pressed.act(Act::Stereo, clicked);
    if let Some(p) = shows.bench.map(Workbench::preferences) {
        let clicked = text(ui, Act::Lens, shows.lens.label(), false);
        pressed.act(Act::Lens, clicked);
        for (act, label, on) in [
            (Act::Turntable, "Turntable", p.turntable),
            (Act::Binding, "Binding", p.binding),
            (Act::Crossings, "Crossings", p.crossings),
            (Act::Wire, "Bones", p.wire),
        ] {
            let clicked = text(ui, act, label, on);
            pressed.act(act, clicked);
        }
    }
    let clicked = text(ui, Act::Panels, "Panels", shows.choices.panels);
    pressed.act(Act::Panels, clicked);
}

pub(super) fn bottom(ui: &mut Ui, shows: &Shows<'_>) {
    Panel::bottom("message").frame(frame(ui)).show(ui, |ui| {
        ui.horizontal(|ui| {
            let notice = shows.bench.and_then(Workbench::told);
            match shows.facts.message.as_ref().or(notice) {
                Some(Notice { kind: NoticeKind::Fact, text }) => ui.label(RichText::new(text)),
                Some(Notice { kind: NoticeKind::Problem, text }) => {
                    ui.label(RichText::new(text).color(theme::FAIR))
                }
                None => {
                    if let Some(mark) = shows.bench.and_then(Workbench::drawn_mark) {
                        ui.label(mark);
                    }
                    ui.label(RichText::new(&shows.hint).weak())
                }
            };
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if let Some((name, pinned)) = shows.bench.and_then(Workbench::touched_joint) {
                    let state = if pinned { ", pinned" } else { "" };
                    ui.label(RichText::new(format!("{name}{state}")).weak());
                }
            });
        });
    });
}
