//! The timeline: playback, the ruler with the playhead, and the dope sheet, which opens to its tools and more rows.

use super::{Pressed, Shows, WindowPanelMemory, theme, widgets};
use crate::ui::icons::Icon;
use crate::ui::panels::keys::{self, LATEST, RULER, curves};
use crate::ui::window::keys::Act;
use crate::workbench::{Command, Workbench};
use egui::{DragValue, Frame, Margin, Panel, RichText, TextStyle, Ui, vec2};

/// Gap between rows, logical pixels.
const GAP: f32 = 2.0;
/// Height of the panel's margins and borders, logical pixels.
const MARGIN: f32 = 12.0;
/// Maximum number of rows that the timeline shows without scrolling: first while the dope sheet is closed, then while
/// it is open.
const ROWS: [usize; 2] = [4, 10];

pub(super) fn show(
    ui: &mut Ui,
    shows: &Shows<'_>,
    bench: &Workbench,
    memory: &mut WindowPanelMemory,
    pressed: &mut Pressed,
) {
    let state = &mut memory.shared.keys;
    state.follow(bench);
    let open = state.open;
    let frame = Frame::new().fill(ui.visuals().panel_fill).inner_margin(Margin::symmetric(8, 5));
    // A timeline with keys sets the panel's exact size. Otherwise egui would keep the size that the panel had before
    // the first key.
    let rows = bench.timeline().sheet.rows.len().min(ROWS[usize::from(open)]);
    let name = if rows == 0 && !open { "timeline" } else { "keys" };
    let mut panel = Panel::bottom(name).frame(frame).resizable(false);
    let curves = open && state.curves.on;
    let height = if curves { curves::HEIGHT[0] } else { (theme::row(ui) + GAP) * rows as f32 };
    if rows > 0 || open {
        let summary = if rows > 0 && !curves { theme::row(ui) + GAP } else { 0.0 };
        let tools = if open { state.tools_height + GAP } else { 0.0 };
        panel = panel.exact_size(RULER + GAP + RULER + GAP + summary + height + tools + MARGIN);
    }
    panel.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = GAP;
        ui.allocate_ui(vec2(ui.available_width(), RULER), |ui| {
            ui.set_min_height(RULER);
            ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
            ui.horizontal_centered(|ui| controls(ui, shows, bench, state, pressed));
        });
        let header = keys::ruler(ui, bench, state, &mut pressed.shared);
        if curves {
            curves::show(ui, bench, state, &mut pressed.shared, (header, height));
        } else {
            keys::rows(ui, bench, state, &mut pressed.shared, header, height);
        }
        if open {
            let top = ui.cursor().min.y;
            keys::tools(ui, bench, state, &mut pressed.shared);
            state.tools_height = ui.cursor().min.y - top;
        }
    });
}

fn controls(
    ui: &mut Ui,
    shows: &Shows<'_>,
    bench: &Workbench,
    state: &mut keys::SheetState,
    pressed: &mut Pressed,
) {
    let timeline = bench.timeline();
    let playhead = timeline.playhead;
    let icon = if playhead.playing { Icon::Pause } else { Icon::Play };
    for (act, icon, on) in [(Act::Play, icon, playhead.playing), (Act::Key, Icon::Key, false)] {
        let answer = widgets::icon(ui, icon, 24.0, on, true).on_hover_text(shows.tip(act));
        pressed.act(act, answer.clicked());
    }
    let (time, rate) = (playhead.time, f64::from(timeline.sheet.rate));
    // Room for the last frame, so that the buttons stay where they are.
    let last = timeline.sheet.duration.max(time);
    let [seconds, frames] = [format!("{last:.2}"), format!("{:.0}", last * rate)].map(|t| t.len());
    let mut frame = time * rate;
    let number = DragValue::new(&mut frame)
        .range(0.0..=LATEST * rate)
        .speed(0.2)
        .prefix("frame ")
        .update_while_editing(false)
        .custom_formatter(move |v, _| format!("{v:frames$.0}"));
    let tip = "Moves the playhead: drag sideways, or click and type a frame";
    ui.style_mut().drag_value_text_style = TextStyle::Monospace;
    if ui.add(number).on_hover_text(tip).changed() && frame.round() != (time * rate).round() {
        pressed.shared.commands.push(Command::Scrub(frame.round() / rate));
    }
    let text = format!("at {rate}, {time:seconds$.2} s");
    ui.label(RichText::new(text).monospace().size(12.0));
    let path = bench.preferences().path;
    let tip = "Shows the path of the selected joint through the motion";
    pressed.command(Command::MotionPath(!path), widgets::choice(ui, path, "Motion path", tip));
    let auto = playhead.auto_key;
    let tip = "Every change sets a key at the playhead";
    pressed.command(Command::AutoKey(!auto), widgets::choice(ui, auto, "Auto key", tip));
    let record = playhead.record;
    let tip = "A grab sets keys in real time, from the playhead on";
    pressed.command(Command::Record(!record), widgets::choice(ui, record, "Record", tip));
    let onion = bench.preferences().onion.on;
    pressed.act(Act::Onion, widgets::choice(ui, onion, "Onion skins", shows.tip(Act::Onion)));
    let tip = "Shows all rows, and tools that copy, retime and ease the selected keys";
    widgets::toggle(ui, &mut state.open, "Edit keys", tip);
    let says = |ui: &mut Ui, text: &str| ui.label(RichText::new(text).color(theme::FAIR).small());
    if bench.shows_rest() {
        ui.separator();
        says(ui, "shows the rest pose, for the cage");
    } else if bench.shown_time().is_none() && bench.session().document().moves() {
        ui.separator();
        says(ui, "shows the edited pose, not the motion");
    } else if bench.shown_time().is_some() {
        ui.separator();
        says(ui, "shows the motion");
        let tip = shows.tip(Act::TakePose);
        pressed.act(Act::TakePose, ui.small_button("Edit this pose").on_hover_text(tip).clicked());
        pressed.act(Act::Cancel, ui.small_button("Back to the pose").on_hover_text("Escape").clicked());
    }
}
