//! The part of the panel Transform about limits: the range of rotation of the selected joint.

use super::widgets::{self, Print};
use super::{PanelMemory, Pressed, Shows};
use crate::base::NodeId;
use crate::base::math::Trs;
use crate::rig::{Limit, limit_angles, rotation_of_angles};
use crate::workbench::{Command, LimitChange, Workbench};
use egui::{RichText, Ui};

/// Change of an angle per logical pixel of a drag, degrees.
const TURN: f64 = 0.5;
/// Largest angle, degrees.
const MOST: f64 = 180.0;

/// A range of a limit: its label, its help, and its ends in degrees, from -180..=0 to 0..=180.
struct Range {
    label: &'static str,
    help: &'static str,
    ends: [f64; 2],
}

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let bench = shows.bench;
    let limits = bench.session().document().limits();
    widgets::caption(ui, "Limits");
    let joint = bench.selected().filter(|n| bench.posable().contains(n));
    let limit = joint.and_then(|n| limits.get(&n));
    if joint.is_some() {
        let mut on = limit.is_some();
        let switched = ui.checkbox(&mut on, "Limit this joint").changed();
        pressed.command(Command::Limit(LimitChange::On(on), false), switched);
    }
    if let Some(limit) = limit {
        let degrees = |radians: f32| f64::from(radians).to_degrees();
        let ([low, high], [right, left, up, down]) = (limit.twist.map(degrees), limit.swing.map(degrees));
        let twist =
            Range { label: "Twist", help: "Range of the turn about the bone, degrees", ends: [low, high] };
        if let Some((ends, continues)) = range(ui, &twist, memory) {
            let change = LimitChange::Twist(ends.map(|v| v as f32));
            pressed.commands.push(Command::Limit(change, continues));
        }
        let help = "Range of the swing about the joint's bend axis, degrees; a range of 0 makes a hinge";
        let bend = range(ui, &Range { label: "Bend", help, ends: [-left, right] }, memory);
        let help = "Range of the swing to the sides, degrees; a range of 0 makes a hinge";
        let side = range(ui, &Range { label: "Sideways", help, ends: [-down, up] }, memory);
        if let Some((_, continues)) = bend.or(side) {
            let ([left, right], [down, up]) =
                (bend.map_or([-left, right], |b| b.0), side.map_or([-down, up], |s| s.0));
            let change = LimitChange::Swing([right, -left, up, -down].map(|v| v as f32));
            pressed.commands.push(Command::Limit(change, continues));
        }
        if let Some(node) = joint {
            angles(ui, (bench, node, limit), memory, pressed);
        }
    }
    ui.horizontal_wrapped(|ui| {
        let (own, any, clips) = (limit.is_some(), !limits.is_empty(), !bench.character().skeleton.clips.is_empty());
        for (label, help, enabled, change) in [
            (
                "From clips",
                "Limits every joint that a clip of the file rotates to the range that the clips use, plus 5 degrees",
                clips,
                LimitChange::FromClips,
            ),
            ("Extend to this pose", "Extends the limit of this joint so that it allows the pose", own, LimitChange::ToPose),
            ("Forget all", "Removes the limits of all joints", any, LimitChange::Forget),
        ] {
            pressed.command(Command::Limit(change, false), widgets::offer(ui, enabled, label, help));
        }
    });
    if limit.is_some() {
        let shown = bench.preferences().limit_cone;
        shows.choices(ui, pressed, [("Draw the cone", shown, Command::LimitCone(!shown))]);
    }
    if !limits.is_empty() {
        let joints = if limits.len() == 1 {
            "1 joint has a limit.".to_owned()
        } else {
            format!("{} joints have limits.", limits.len())
        };
        ui.label(RichText::new(joints).small().weak());
    }
}

/// Draws the angles of the joint in the displayed pose; a change of one leaves the others.
fn angles(
    ui: &mut Ui,
    (bench, node, limit): (&Workbench, NodeId, &Limit),
    memory: &mut PanelMemory,
    pressed: &mut Pressed,
) {
    let (skeleton, local) = (&bench.character().skeleton, bench.pose().local[node.index()]);
    let mut now = limit_angles(skeleton, node, limit, local.rotation()).map(f64::to_degrees);
    widgets::caption(ui, "This pose: bend, sideways, twist");
    let fields = (&["bend", "side", "twist"][..], Print::Decimals(1), TURN);
    let help = "Angle in the displayed pose, degrees; drag, or click and type";
    let Some((index, value, continues)) = widgets::axes(ui, fields, &now, help, &mut memory.held) else {
        return;
    };
    now[index] = value.clamp(-MOST, MOST);
    let rotation = rotation_of_angles(skeleton, node, limit, now.map(f64::to_radians));
    let local = Trs { rotation: rotation.into(), ..local };
    pressed.commands.push(Command::Place(node, Box::new(local), continues));
}

/// Draws a range as two numbers. Returns its new ends, and whether the change belongs to the previous history step.
fn range(ui: &mut Ui, range: &Range, memory: &mut PanelMemory) -> Option<([f64; 2], bool)> {
    widgets::caption(ui, range.label);
    let fields = (&["from", "to"][..], Print::Decimals(1), TURN);
    let moved = widgets::axes(ui, fields, &range.ends, range.help, &mut memory.held);
    moved.map(|(end, value, continues)| {
        let mut ends = range.ends;
        ends[end] = if end == 0 { value.clamp(-MOST, 0.0) } else { value.clamp(0.0, MOST) };
        (ends, continues)
    })
}
