//! Settings of the skinning methods that have more than numbers: shares of the blend, influences of IRS, crease angle.

use super::super::{PanelMemory, Pressed, Shows, widgets};
use super::{Number, name_of, number, numbers, with};
use crate::base::JointId;
use crate::deform::blend::Painted;
use crate::deform::irs::{self, IrsParams};
use crate::deform::surface::Crease;
use crate::document::{DeformerSettings, Edit};
use crate::scene::{FactorSource, SkinColors};
use crate::workbench::{Command, MarkBy, Tool};
use egui::Ui;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Influences of all joints in IRS.
const IRS: [Number; 2] = [
    number(
        "reach.as_parent",
        "Own bones",
        [0.0, 1.0],
        "On the bones that start at a joint: vertices up to here rotate with it",
    ),
    number(
        "reach.as_child",
        "Parent's bone",
        [0.0, 1.0],
        "On the bone that ends at a joint: vertices beyond this place rotate with it",
    ),
];

/// Crease angle that is set first, degrees.
const CREASE: u32 = 60;

/// Draws the choice of the edges across which normals are continuous.
pub(super) fn normals(
    ui: &mut Ui,
    settings: &DeformerSettings,
    crease: Crease,
    memory: &mut PanelMemory,
    pressed: &mut Pressed,
) {
    widgets::caption(ui, "Normals");
    ui.horizontal(|ui| {
        let tip = "As in the file: its hard edges stay hard";
        if widgets::choice(ui, crease == Crease::Source, "Of the file", tip) {
            pressed.edit(with(settings, "crease", Value::Null), false);
        }
        let tip = "Edges are smooth if the normals of their faces differ by less than the crease angle";
        if widgets::choice(ui, crease != Crease::Source, "By angle", tip) && crease == Crease::Source {
            pressed.edit(with(settings, "crease", Value::from(CREASE)), false);
        }
    });
    if let Crease::Angle(angle) = crease {
        let field = [Number {
            whole: true,
            ..number("crease", "Crease", [0.0, 180.0], "Degrees; 0: every edge is hard, 180: all are smooth")
        }];
        numbers(ui, &field, &json!({ "crease": angle.to_degrees().round() }), settings, memory, pressed);
    }
}

/// Draws the controls for the share of DQS per vertex: painting, and loading from vertex colours or an image.
pub(super) fn of_blend(
    ui: &mut Ui,
    shows: &Shows<'_>,
    painted: &Painted,
    memory: &mut PanelMemory,
    pressed: &mut Pressed,
) {
    let (settings, p) = (shows.bench.session().document().deformer(), shows.bench.preferences());
    widgets::caption(ui, "DQS share per vertex");
    let paints = p.tool == Tool::Skin && p.marks == MarkBy::Paint;
    ui.horizontal_wrapped(|ui| {
        let paint = widgets::choice(ui, paints, "Paint", "Strokes on the skin paint the share");
        pressed.command(Command::MarkBy(MarkBy::Paint), paint);
        let shown = p.colors == SkinColors::Blend;
        let view = if shown { SkinColors::Off } else { SkinColors::Blend };
        pressed.command(Command::Colors(view), widgets::choice(ui, shown, "Show", "Blue is LBS, red is DQS"));
        if widgets::offer(ui, !painted.is_empty(), "Forget", "One share for all vertices") {
            pressed.edit(with(settings, "painted", Value::Null), false);
        }
    });
    let slide = widgets::Slide::even("painted share", [0.0, 1.0], widgets::Print::Decimals(2));
    pressed.slide(ui, &slide, p.paint, &mut memory.held, |now| Command::PaintShare(now as f32));
    ui.horizontal_wrapped(|ui| {
        shows.button(ui, pressed, "From vertex colours", Command::LoadFactors(FactorSource::Colors));
        shows.button(ui, pressed, "From NAME.blend.png", Command::LoadFactors(FactorSource::Beside));
    });
    if shows.window {
        ui.label("Or drop an image on the window: its red channel is the share.");
    }
}

/// Draws the settings of IRS: the influence of all joints, and that of the selected joint.
pub(super) fn of_irs(
    ui: &mut Ui,
    shows: &Shows<'_>,
    params: &IrsParams,
    memory: &mut PanelMemory,
    pressed: &mut Pressed,
) {
    let settings = shows.bench.session().document().deformer();
    let now = json!({ "reach.as_parent": params.reach.as_parent, "reach.as_child": params.reach.as_child });
    numbers(ui, &IRS, &now, settings, memory, pressed);
    let mut correct = params.length_correction;
    let tip = "Vertices keep their distance from the bones";
    if ui.checkbox(&mut correct, "Keep lengths").on_hover_text(tip).changed() {
        let value = if correct { Value::from(true) } else { Value::Null };
        pressed.edit(with(settings, "length_correction", value), false);
    }
    widgets::caption(ui, "Influence of the joint");
    let skeleton = &shows.bench.character().skeleton;
    let Some(joint) = shows.joint() else {
        ui.label("Select a joint.");
        return;
    };
    let own = params.joints.get(&joint);
    ui.horizontal(|ui| {
        ui.label(&skeleton.nodes[skeleton.joints[joint.index()].node.index()].name);
        let reset = ui.add_enabled_ui(own.is_some(), |ui| widgets::small(ui, "As all joints")).inner;
        if reset.clicked() {
            let mut joints = params.joints.clone();
            joints.remove(&joint);
            pressed.edit(with_joints(settings, &joints), false);
        }
    });
    let reach = params.reach_of(joint);
    for (field, value) in IRS.iter().zip([reach.as_parent, reach.as_child]) {
        ui.horizontal(|ui| {
            let label = if field.name == IRS[0].name { "Own bones" } else { "Parent's bone" };
            name_of(ui, label).on_hover_text(field.tip);
            let slide = widgets::Slide::even("", field.range, widgets::Print::Decimals(3));
            let moved = widgets::slide(ui, &slide, f64::from(value), &mut memory.held).moved;
            if let Some((value, continues)) = moved {
                // Rounds to four decimals, so that files show short numbers.
                let value = (value as f32 * 1e4).round() / 1e4;
                let mut new = reach;
                if field.name == IRS[0].name {
                    new.as_parent = value
                } else {
                    new.as_child = value
                }
                let mut joints = params.joints.clone();
                joints.insert(joint, new);
                pressed.edit(with_joints(settings, &joints), continues);
            }
        });
    }
}

/// Returns the edit that sets the influences of single joints.
fn with_joints(settings: &DeformerSettings, joints: &BTreeMap<JointId, irs::Reach>) -> Edit {
    let value =
        if joints.is_empty() { Value::Null } else { serde_json::to_value(joints).unwrap_or_default() };
    with(settings, "joints", value)
}
