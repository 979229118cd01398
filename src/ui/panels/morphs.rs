//! The panel of the morph targets: a slider per target, by node and by the first word of the names. The weights are those of
//! the displayed pose.

mod list;
#[cfg(test)]
mod tests;

use super::keys::diamond;
use super::widgets::{Print, Slide};
use super::{PanelMemory, Pressed, Shows, theme, widgets};
use crate::base::NodeId;
use crate::workbench::{Command, Workbench};
use egui::{
    Align, Color32, Id, Label, Layout, RichText, Sense, Shape, Stroke, TextStyle, Ui, UiBuilder, vec2,
};
use list::{Filter, Group, List, Listed, Row, weight};

/// Height of the list in the window, logical pixels.
const HEIGHT: f32 = 320.0;
/// Indent of each level of the list, logical pixels at scale 1.
const INDENT: f32 = 10.0;
/// Width of a name as a share of the row.
const NAME: f32 = 0.42;
/// Width right of a slider for the weight in numbers, logical pixels at scale 1: a number field in the window, text in the
/// headset.
const NUMBER: [f32; 2] = [55.0, 46.0];

/// State of the panel between frames.
#[derive(Default)]
pub(in crate::ui) struct MorphState {
    list: List,
    search: String,
    /// `search` in lower case.
    text: String,
    /// Whether the list shows only targets whose weight is not zero.
    in_use: bool,
    /// The target whose slider is being dragged.
    held: Option<HeldSlider>,
}

/// A slider that is being dragged.
struct HeldSlider {
    target: (NodeId, usize),
    /// The slider's range at the start of the drag. A range that followed the weight would move the handle.
    range: [f64; 2],
}

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let (bench, state) = (shows.bench, &mut memory.morphs);
    state.list.know(bench.character());
    if state.list.nodes.is_empty() {
        ui.label("The character has no morph targets.");
        return;
    }
    if !ui.input(|i| i.pointer.any_down() || i.pointer.any_released()) {
        state.held = None;
    }
    ui.horizontal(|ui| {
        ui.checkbox(&mut state.in_use, "In use").on_hover_text("Shows only targets whose weight is not zero");
        let search = widgets::field(ui, &mut state.search, "Search by name");
        if ui.add(search.desired_width(f32::INFINITY)).changed() {
            state.text = state.search.trim().to_lowercase();
        }
    });
    let MorphState { list, text, in_use, held, .. } = state;
    let filter = Filter { text, in_use: *in_use, held: held.as_ref().map(|h| h.target) };
    list.find_rows(bench.pose(), &filter);
    let List { nodes, rows, .. } = list;
    if rows.is_empty() {
        let none = if text.is_empty() { "All weights are zero." } else { "No target fits the search." };
        ui.label(RichText::new(none).small().weak());
    }
    let folds = !filter.is_flat();
    let indent = INDENT * theme::scale(ui);
    widgets::list(ui, "morphs", (HEIGHT, false), rows.len(), |ui, range| {
        for &row in &rows[range] {
            match row {
                Row::Node(n) => heading(ui, bench, &mut nodes[n], folds, pressed),
                Row::Group(n, g) => {
                    let node = nodes[n].node;
                    group(ui, bench, node, &mut nodes[n].groups[g]);
                }
                Row::Target(n, t) => {
                    let target = Target {
                        node: &nodes[n],
                        index: t,
                        indent: if folds { 2.0 * indent } else { indent },
                    };
                    slider(ui, bench, &target, (&mut memory.held, held), pressed);
                }
            }
        }
    });
}

/// Allocates a row and returns a `Ui` for its content. The ids of its widgets do not depend on the rows that show.
fn line(ui: &mut Ui, id: Id, indent: f32) -> Ui {
    let (_, rect) = ui.allocate_space(vec2(ui.available_width(), theme::row(ui)));
    let rect = rect.with_min_x(rect.min.x + indent);
    ui.new_child(UiBuilder::new().id(id).max_rect(rect).layout(Layout::left_to_right(Align::Center)))
}

/// Draws the name of a node, the mark of its key, and the buttons that key and reset its weights.
fn heading(ui: &mut Ui, bench: &Workbench, listed: &mut Listed, folds: bool, pressed: &mut Pressed) {
    let mut line = line(ui, ui.id().with(("node", listed.node)), 0.0);
    line.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let reset = widgets::offer(ui, true, "Reset", "Sets all weights to those of the rest pose");
        pressed.command(Command::ResetMorphs(listed.node), reset);
        let key = widgets::offer(ui, true, "Key", "Keys these weights at the playhead");
        pressed.command(Command::KeyMorphs(listed.node), key);
        if let Some(here) = bench.morph_key(listed.node) {
            mark(ui, here);
        }
        let name = ui.available_rect_before_wrap();
        let mut ui = ui.new_child(UiBuilder::new().max_rect(name).layout(Layout::top_down(Align::Min)));
        let text = RichText::new(&listed.name).strong();
        if fold(&mut ui, 0.0, text, folds.then_some(listed.open)) {
            listed.open = !listed.open;
        }
    });
}

/// Draws the mark of a node that has keys; it is filled if a key is at the playhead.
fn mark(ui: &mut Ui, here: bool) {
    let size = 14.0 * theme::scale(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(size, size), Sense::hover());
    let (fill, tip) = match here {
        true => (theme::FAIR, "A key is at the playhead"),
        false => (Color32::TRANSPARENT, "There are keys, but none at the playhead"),
    };
    ui.painter().add(diamond(rect.center(), 0.42 * size, fill, Stroke::new(0.1 * size, theme::FAIR)));
    response.on_hover_text(tip);
}

/// Draws the name of a group, and how many of its targets are in use.
fn group(ui: &mut Ui, bench: &Workbench, node: NodeId, group: &mut Group) {
    let mut line = line(ui, ui.id().with(("group", node, &group.title)), INDENT * theme::scale(ui));
    let used = group.members.iter().filter(|&&t| weight(bench.pose(), node, t) != 0.0).count();
    line.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if used > 0 {
            ui.label(RichText::new(format!("{used} in use")).small().weak());
        }
        let name = ui.available_rect_before_wrap();
        let mut ui = ui.new_child(UiBuilder::new().max_rect(name).layout(Layout::top_down(Align::Min)));
        if fold(&mut ui, 0.0, RichText::new(&group.title), Some(group.open)) {
            group.open = !group.open;
        }
    });
}

/// Draws a name with a triangle that says whether the rows below it are open; `None` for a name without rows of its own.
/// Returns true if it was clicked.
fn fold(ui: &mut Ui, indent: f32, text: RichText, open: Option<bool>) -> bool {
    let room = INDENT * theme::scale(ui);
    let clicked = widgets::row(ui, indent + room, text, false).clicked();
    let Some(open) = open else { return false };
    let rect = ui.min_rect();
    let (c, r) = (rect.left_center() + vec2(indent + 0.6 * room, 0.0), 0.32 * room);
    let corners = match open {
        true => vec![c + vec2(-r, -0.6 * r), c + vec2(r, -0.6 * r), c + vec2(0.0, 0.8 * r)],
        false => vec![c + vec2(-0.6 * r, -r), c + vec2(0.8 * r, 0.0), c + vec2(-0.6 * r, r)],
    };
    let color = ui.visuals().text_color();
    ui.painter().add(Shape::convex_polygon(corners, color, Stroke::NONE));
    clicked
}

/// A target to draw.
struct Target<'a> {
    node: &'a Listed,
    index: usize,
    indent: f32,
}

/// Draws the name of a target and the slider of its weight.
fn slider(
    ui: &mut Ui,
    bench: &Workbench,
    target: &Target<'_>,
    (dragged, held): (&mut widgets::SliderDrag, &mut Option<HeldSlider>),
    pressed: &mut Pressed,
) {
    let Target { node: listed, index, indent } = *target;
    let (node, name) = (listed.node, &listed.targets[index]);
    let mut ui = line(ui, ui.id().with(("target", node, index)), indent);
    let width = NAME * ui.available_width();
    let letter = widgets::LETTER * TextStyle::Body.resolve(ui.style()).size;
    let label =
        Label::new(widgets::elided(name.short(), (width / letter) as usize)).truncate().selectable(false);
    let size = vec2(width, theme::row(&ui));
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        ui.set_width(width);
        ui.add(label).on_hover_text(&name.name);
    });
    let number = NUMBER[usize::from(theme::is_large(&ui))] * theme::scale(&ui);
    ui.spacing_mut().slider_width = (ui.available_width() - number).max(40.0);
    let value = f64::from(weight(bench.pose(), node, index));
    let own = held.as_ref().filter(|h| h.target == (node, index)).map(|h| h.range);
    let range = own.unwrap_or([value.min(0.0), value.max(1.0)]);
    let slide = Slide::even("", range, Print::Decimals(2));
    if let Some((weight, continues)) = widgets::slide(&mut ui, &slide, value, dragged).moved {
        let (target, weight) = (index as u32, weight as f32);
        pressed.slides.push((Command::Morph { node, target, weight, continues }, continues));
        *held = Some(HeldSlider { target: (node, index), range });
    }
}
