//! The panel of the display: how the figure is shown, and the options of the headset.

use super::widgets::{Print, Slide};
use super::{PanelMemory, Pressed, Shows, widgets};
use crate::render::{Occlusion, Shading};
use crate::workbench::{Command, RENDER_SCALE_RANGE, Travel};
use egui::Ui;

/// Options that the runtime of a connected headset offers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeadsetOffers {
    /// Width and height of an eye's picture that the runtime recommends, pixels.
    pub eye: [u32; 2],
    /// Refresh rates, hertz; empty if programs cannot choose.
    pub rates: Vec<f32>,
    /// Whether the runtime says which pixels the lenses hide.
    pub hidden_area: bool,
    /// Whether the headset can show the room.
    pub passthrough: bool,
}

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let p = shows.bench.preferences();
    widgets::caption(ui, "Skin");
    let all = Shading::ALL.map(|one| (one.label(), p.shading == one, Command::Shading(one)));
    shows.choices(ui, pressed, all);
    widgets::caption(ui, "Ambient occlusion");
    let all = Occlusion::ALL.map(|one| (one.label(), p.occlusion == one, Command::Occlusion(one)));
    shows.choices(ui, pressed, all);
    if p.occlusion == Occlusion::Auto {
        ui.label("Auto: on a GPU only.");
    }
    widgets::caption(ui, "Kept views");
    for (caption, keeps) in [("Go to", false), ("Keep", true)] {
        ui.horizontal_wrapped(|ui| {
            ui.label(caption);
            for (slot, kept) in p.viewpoints.iter().enumerate() {
                let command = if keeps { Command::KeepView(slot) } else { Command::GoToView(slot) };
                let button = egui::Button::new((slot + 1).to_string());
                let button = ui.add_enabled(keeps || kept.is_some(), button);
                shows.give(button, pressed, command);
            }
        });
    }
    widgets::caption(ui, "Stick of the free hand");
    let all = Travel::ALL.map(|one| (one.label(), p.travel == one, Command::Travel(one)));
    shows.choices(ui, pressed, all);
    widgets::caption(ui, "Size of the headset's pictures");
    let slide = Slide::even("size", RENDER_SCALE_RANGE.map(f64::from), Print::Percent);
    pressed.slide(ui, &slide, p.render_scale, &mut memory.held, |now| Command::RenderScale(now as f32));
    if let Some(headset) = shows.headset {
        let [w, h] = headset.eye.map(|n| (n as f32 * p.render_scale).round());
        ui.label(format!("{w} x {h} pixels per eye"));
    }
    refresh_rate(ui, shows, pressed);
    widgets::caption(ui, "Pixels hidden by the lenses");
    let lacks = shows.headset.is_some_and(|h| !h.hidden_area);
    let all = [(true, "Omitted"), (false, "Drawn")];
    let all = all.map(|(on, text)| (text, p.hidden_area == on, Command::HiddenArea(on)));
    ui.add_enabled_ui(!lacks, |ui| shows.choices(ui, pressed, all));
    if lacks {
        ui.label("The runtime lacks XR_KHR_visibility_mask.");
    }
    widgets::caption(ui, "Around the figure");
    let lacks = shows.headset.is_some_and(|h| !h.passthrough);
    let all = [(false, "Backdrop"), (true, "Your room")];
    let all = all.map(|(on, text)| (text, p.passthrough == on, Command::Passthrough(on)));
    ui.add_enabled_ui(!lacks, |ui| shows.choices(ui, pressed, all));
    if lacks {
        ui.label("The headset cannot show the room.");
    }
}

/// Draws the choice of the headset's refresh rate.
fn refresh_rate(ui: &mut Ui, shows: &Shows<'_>, pressed: &mut Pressed) {
    let chosen = shows.bench.preferences().refresh_rate;
    widgets::caption(ui, "Refresh rate");
    match shows.headset {
        None => drop(ui.label("The headset lists its rates here.")),
        Some(headset) if headset.rates.is_empty() => {
            ui.label("The runtime lacks XR_FB_display_refresh_rate.");
        }
        Some(headset) => {
            let rates = headset.rates.iter().map(|rate| Some(*rate));
            let all = std::iter::once(None).chain(rates).map(|rate| {
                let text = rate.map_or_else(|| "Auto".to_owned(), |rate| format!("{rate:.0} Hz"));
                (text, chosen == rate, Command::RefreshRate(rate))
            });
            shows.choices(ui, pressed, all);
        }
    }
}
