//! The panel of the tools and the settings of the chosen tool.

use super::widgets::{Print, Slide};
use super::{Pressed, Shows, WindowPanelMemory, widgets};
use crate::document::FRAME_RATES;
use crate::pose::Lengths;
use crate::scene::Measurement;
use crate::ui::icons::Icon;
use crate::ui::panels;
use crate::ui::panels::keys::INTERPOLATIONS;
use crate::ui::window::choices::{Choices, Plane};
use crate::ui::window::keys::Act;
use crate::workbench::{Command, GrabBy, MarkBy, MeasureBy, Pen, RADIUS_RANGE, Tool};
use egui::{Frame, Margin, Panel, ScrollArea, Ui};

/// Logical pixels of the window per metre of the brush radius.
const POINTS: f32 = 1.0 / crate::ui::window::pointer::PER_POINT;

pub(super) fn show(
    ui: &mut Ui,
    shows: &Shows<'_>,
    shared: &panels::Shows<'_>,
    memory: &mut WindowPanelMemory,
    pressed: &mut Pressed,
) {
    let bench = shared.bench;
    let frame = Frame::new().fill(ui.visuals().panel_fill).inner_margin(Margin::same(8));
    Panel::left("tools").frame(frame).resizable(false).exact_size(186.0).show(ui, |ui| {
        ScrollArea::vertical().show(ui, |ui| {
            let p = bench.preferences();
            widgets::caption(ui, "Tool");
            for tool in Tool::ALL {
                let tile = widgets::tile(ui, Icon::of(tool), tool.label(), p.tool == tool, true);
                shared.give(tile, &mut pressed.shared, Command::Tool(tool));
            }
            widgets::caption(ui, "Brush");
            let range = RADIUS_RANGE.map(|r| f64::from(r * POINTS));
            let brush = Slide { label: "", range, logarithmic: true, print: Print::Unit(0, "px") };
            let slid = widgets::slide(ui, &brush, f64::from(p.radius * POINTS), &mut memory.shared.held);
            slid.answer.on_hover_text(shows.tip(Act::BrushSize));
            if let Some((points, _)) = slid.moved {
                pressed.shared.commands.push(Command::Radius(points as f32 / POINTS));
            }
            widgets::caption(ui, "A grab moves");
            let follows = GrabBy::ALL.map(|by| (by.word(), p.grab == by, Command::GrabBy(by)));
            shared.choices(ui, &mut pressed.shared, follows);
            if p.tool == Tool::Measure {
                measures(ui, shared, pressed);
            } else {
                plane(ui, shows, pressed);
            }
            if p.tool == Tool::Skin {
                widgets::caption(ui, "On the skin");
                let marks = MarkBy::ALL.map(|by| (by.label(), p.marks == by, Command::MarkBy(by)));
                shared.choices(ui, &mut pressed.shared, marks);
            }
            widgets::caption(ui, "Strokes");
            let pens = Pen::ALL.map(|pen| (pen.word(), p.pen == pen, Command::Pen(pen)));
            shared.choices(ui, &mut pressed.shared, pens);
            let lengths = [(Lengths::Keep, "Keep lengths"), (Lengths::Stretch, "Stretch")];
            let lengths = lengths.map(|(one, text)| (text, p.lengths == one, Command::Lengths(one)));
            shared.choices(ui, &mut pressed.shared, lengths);
            let strokes = bench.session().document().strokes().len();
            let marks = bench.session().document().marks().len();
            let shapes = bench.session().document().sculpts().len();
            let bones = bench.session().document().bones().len();
            let offsets = if p.tool == Tool::Skin && p.marks == MarkBy::Offset { marks } else { 0 };
            let measures = if p.tool == Tool::Measure { bench.measures().len() } else { 0 };
            let toggles = [
                (Act::Mirror, Icon::Mirror, "Mirror", p.mirror, true),
                (Act::Roll, Icon::Roll, "Roll twists", p.roll, true),
            ];
            let presses = [
                (Act::RedrawOffset, Icon::Redraw, "Draw offset again", false, strokes + offsets > 0),
                (
                    Act::Remove,
                    Icon::Remove,
                    "Remove newest",
                    false,
                    strokes + marks + shapes + measures + bones > 0,
                ),
                (Act::Pin, Icon::Pin, "Pin joint", false, bench.selected().is_some()),
            ];
            for (act, icon, label, on, enabled) in toggles.into_iter().chain(presses) {
                let tile = widgets::tile(ui, icon, label, on, enabled).on_hover_text(shows.tip(act));
                pressed.act(act, tile.clicked());
            }
            keys(ui, shared, memory, pressed);
        });
    });
}

/// Draws the settings of keys: auto key, frame rate, interpolation.
fn keys(ui: &mut Ui, shared: &panels::Shows<'_>, memory: &mut WindowPanelMemory, pressed: &mut Pressed) {
    let timeline = shared.bench.timeline();
    widgets::caption(ui, "Keys");
    let rates = FRAME_RATES.map(|r| (format!("{r} fps"), timeline.sheet.rate == r, Command::Rate(r)));
    shared.choices(ui, &mut pressed.shared, rates);
    let now = timeline.interpolation;
    let ways = INTERPOLATIONS.map(|(way, text)| (text, now == Some(way), Command::Interpolation(way)));
    shared.choices(ui, &mut pressed.shared, ways);
    shared.button(ui, &mut pressed.shared, "Key the stroke as drawn", Command::KeyStroke);
    if let (Some(column), Some([least, most])) = (timeline.column, timeline.between()) {
        let range = [least, most.min(column + timeline.length)];
        let key = Slide::even("key", range, Print::Unit(2, "s"));
        pressed.shared.slide(ui, &key, column, &mut memory.shared.held, Command::MoveKey);
    }
}

/// Draws the choice of the drawing plane.
fn plane(ui: &mut Ui, shows: &Shows<'_>, pressed: &mut Pressed) {
    widgets::caption(ui, "Strokes are drawn");
    let fixed = matches!(shows.choices.plane, Plane::Fixed { .. });
    ui.horizontal(|ui| {
        if widgets::choice(ui, !fixed, "Facing me", "At the depth of the joint where they begin") {
            pressed.choices = Some(Choices { plane: Plane::Camera, ..shows.choices.clone() });
        }
        let tip =
            "On a plane that stays where it is now: through the selected joint or the root, facing this view";
        pressed.act(Act::FixPlane, widgets::choice(ui, fixed, "On a plane", tip));
    });
    if fixed {
        let moved = widgets::choice(ui, shows.moves_plane, "Move the plane", shows.tip(Act::MovePlane));
        pressed.act(Act::MovePlane, moved);
    }
}

/// Draws the choice of the measured quantity and the list of measures.
fn measures(ui: &mut Ui, shared: &panels::Shows<'_>, pressed: &mut Pressed) {
    widgets::caption(ui, "Measures");
    let (bench, by) = (shared.bench, shared.bench.preferences().measure);
    let all = MeasureBy::ALL.map(|one| (one.label(), by == one, Command::Measure(one)));
    shared.choices(ui, &mut pressed.shared, all);
    let nodes = &bench.character().skeleton.nodes;
    for (i, measure) in bench.measures().iter().enumerate() {
        let [text, along] = measure.text();
        let what = match &measure.measurement {
            _ if measure.awaits_reading() => "is measured",
            Measurement::Distance(_) => "apart",
            Measurement::Thickness(_) if text.is_empty() => "nothing is opposite",
            Measurement::Thickness(_) => "thick",
            Measurement::Angle(node) => nodes.get(node.index()).map_or("", |n| n.name.as_str()),
        };
        ui.horizontal(|ui| {
            let lines = if along.is_empty() {
                format!("{text} {what}")
            } else {
                format!("{text} {what}\n{along} along the skin")
            };
            ui.label(lines.trim());
            if widgets::remove(ui, "Remove") {
                pressed.measure = Some(i);
            }
        });
    }
}
