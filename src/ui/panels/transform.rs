//! The panel of the selected joint's transform: location, rotation and scale as numbers, commands that copy, paste,
//! mirror and reset the pose, and the limits of the joint.

use super::widgets::{self, Print, XYZ};
use super::{Pressed, Shows};
use crate::base::NodeId;
use crate::base::math::{DQuat, DVec3, Trs, euler_of_rotation, rotation_of, rotation_of_euler};
use crate::rig::local_from_world;
use crate::workbench::{Command, Workbench};
use egui::{RichText, Ui};

/// Change of an angle per logical pixel of a drag, degrees.
const TURN: f64 = 0.5;
/// Relative change of a scale of 1 per logical pixel of a drag.
const GROWTH: f64 = 0.005;
/// Change of a location per logical pixel of a drag, as a fraction of the character's size.
const WAY: f64 = 5e-4;
/// Largest difference of two quaternions that are the same rotation, in each component. Rotations are stored as `f32`.
const SAME: f64 = 1e-5;

const ROTATION: &str =
    "Euler angles in degrees, order XYZ as Blender's default: rotates about X, then about Y, then about Z";

/// State of the panel between frames.
#[derive(Default)]
pub(in crate::ui) struct TransformState {
    /// Whether location and rotation are those in the world.
    world: bool,
    /// The displayed angles.
    angles: Option<Angles>,
}

/// Euler angles of a joint. A rotation has several triples of angles; the panel keeps the user's triple for as long as
/// the joint has the same rotation.
struct Angles {
    node: NodeId,
    world: bool,
    /// Degrees about X, Y and Z.
    degrees: [f64; 3],
}

/// Returns the rotation of angles in degrees.
fn rotation(degrees: [f64; 3]) -> DQuat {
    rotation_of_euler(degrees.map(f64::to_radians))
}

impl TransformState {
    /// Returns the angles to display for a rotation.
    fn degrees(&mut self, node: NodeId, now: DQuat) -> [f64; 3] {
        let same = |a: &&Angles| {
            let kept = rotation(a.degrees);
            let apart = |q: DQuat| (q - now).to_array().iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            (a.node, a.world) == (node, self.world) && apart(kept).min(apart(-kept)) < SAME
        };
        if let Some(angles) = self.angles.as_ref().filter(same) {
            return angles.degrees;
        }
        let degrees = euler_of_rotation(now).map(f64::to_degrees);
        self.angles = Some(Angles { node, world: self.world, degrees });
        degrees
    }
}

/// A row of three numbers, one per axis.
struct Row {
    label: &'static str,
    help: &'static str,
    print: Print,
    /// Change per logical pixel of a drag.
    speed: f64,
}

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut super::PanelMemory, pressed: &mut Pressed) {
    let bench = shows.bench;
    match bench.selected() {
        Some(node) => numbers(ui, bench, node, memory, pressed),
        None => {
            let advice = if shows.window {
                "Click a joint in the picture or in the outliner to set its transform."
            } else {
                "Touch a joint, or choose one in the outliner, to set its transform."
            };
            ui.label(RichText::new(advice).small().weak());
        }
    }
    ui.add_space(4.0);
    buttons(ui, bench, pressed);
    super::limits::show(ui, shows, memory, pressed);
}

fn numbers(
    ui: &mut Ui,
    bench: &Workbench,
    node: NodeId,
    memory: &mut super::PanelMemory,
    pressed: &mut Pressed,
) {
    let skeleton = &bench.character().skeleton;
    let pose = bench.pose();
    let (Some(of_node), Some(local)) = (skeleton.nodes.get(node.index()), pose.local.get(node.index()))
    else {
        return;
    };
    let super::PanelMemory { held, transform, .. } = memory;
    ui.label(RichText::new(&of_node.name).strong());
    ui.horizontal(|ui| {
        for (world, label, help) in [
            (false, "Local", "Location and rotation relative to the parent node"),
            (true, "World", "Location and rotation in the world"),
        ] {
            if widgets::choice(ui, transform.world == world, label, help) {
                transform.world = world;
            }
        }
    });
    let mut place = |local: Trs, continues| {
        pressed.commands.push(Command::Place(node, Box::new(local), continues));
    };
    let mut tell = None;
    let world = bench.rig().world.get(node.index()).filter(|_| transform.world);

    let location = world.map_or(DVec3::from(local.translation()), |w| w.translation.as_dvec3());
    let speed = WAY * f64::from(bench.bounds().diagonal()) / unit(bench, node, world.is_none());
    let speed = if speed.is_finite() && speed > 0.0 { speed } else { 1e-3 };
    let decimals = (-speed.log10()).round().clamp(1.0, 6.0) as usize;
    let row = Row {
        label: "Location",
        help: if world.is_some() {
            "Metres"
        } else {
            "Units of the parent node; metres if no parent is scaled"
        },
        print: Print::Decimals(decimals),
        speed,
    };
    if let Some((axis, value, continues)) = draw(ui, &row, location.to_array(), held) {
        if world.is_some() {
            let mut to = location;
            to[axis] = value;
            match local_from_world(skeleton, pose, node, Some(to), None) {
                Ok(local) => place(local, continues),
                Err(error) => tell = Some(error.to_string()),
            }
        } else {
            let mut local = *local;
            local.translation[axis] = value as f32;
            place(local, continues);
        }
    }

    let now = world.map_or(local.rotation(), rotation_of).as_dquat();
    let degrees = transform.degrees(node, now);
    let row = Row { label: "Rotation", help: ROTATION, print: Print::Decimals(2), speed: TURN };
    if let Some((axis, value, continues)) = draw(ui, &row, degrees, held) {
        let mut degrees = degrees;
        degrees[axis] = value;
        let wanted = rotation(degrees);
        let local = if world.is_some() {
            local_from_world(skeleton, pose, node, None, Some(wanted))
        } else {
            Ok(Trs { rotation: wanted.as_quat().into(), ..*local })
        };
        match local {
            Ok(local) => {
                transform.angles = Some(Angles { node, world: transform.world, degrees });
                place(local, continues);
            }
            Err(error) => tell = Some(error.to_string()),
        }
    }

    let scale = local.scale().as_dvec3();
    let speed = GROWTH * scale.abs().max_element().max(1e-3);
    let help = "Factor along each axis of the joint, always local";
    let row = Row { label: "Scale", help, print: Print::Decimals(3), speed };
    if let Some((axis, value, continues)) = draw(ui, &row, scale.to_array(), held) {
        let mut local = *local;
        local.scale[axis] = value as f32;
        place(local, continues);
    }
    pressed.tell = tell.or(pressed.tell.take());
}

/// Returns the length of a unit of the location in the world, metres.
fn unit(bench: &Workbench, node: NodeId, local: bool) -> f64 {
    let parent = bench.character().skeleton.nodes[node.index()].parent.filter(|_| local);
    let world = parent.and_then(|p| bench.rig().world.get(p.index()));
    world.map_or(1.0, |w| f64::from(w.matrix3.determinant().abs()).cbrt())
}

/// Draws a row. Returns the axis of the number that changed, its value, and whether the change belongs to the previous
/// history step.
fn draw(
    ui: &mut Ui,
    row: &Row,
    values: [f64; 3],
    held: &mut widgets::SliderDrag,
) -> Option<(usize, f64, bool)> {
    widgets::caption(ui, row.label);
    widgets::axes(ui, (&XYZ, row.print, row.speed), &values, row.help, held)
}

fn buttons(ui: &mut Ui, bench: &Workbench, pressed: &mut Pressed) {
    let (selected, sided) = (bench.selected(), bench.has_sides());
    let copied = bench.has_copied_pose();
    let rows = [
        &[
            (
                "Copy",
                "Copies the pose of this joint and of all joints below it",
                selected.is_some(),
                Command::CopyPose,
            ),
            ("Paste", "Gives the copied pose to the same joints", copied, Command::PastePose(false)),
            (
                "Paste mirrored",
                "Gives the copied pose, reflected, to the joints of the other side",
                copied && sided,
                Command::PastePose(true),
            ),
        ][..],
        &[
            ("Mirror pose", "Exchanges left and right of the whole pose", sided, Command::MirrorPose),
            (
                "Reset",
                "Gives this joint the transform of the rest pose",
                selected.is_some(),
                Command::ResetPose(selected),
            ),
            ("Reset all", "Gives all joints the transform of the rest pose", true, Command::ResetPose(None)),
        ],
        &[(
            "Key joint",
            "Sets a key at the playhead for this joint alone",
            selected.is_some(),
            Command::KeyJoint,
        )],
    ];
    for row in rows {
        ui.horizontal_wrapped(|ui| {
            for (label, help, enabled, command) in row {
                pressed.command(command.clone(), widgets::offer(ui, *enabled, label, help));
            }
        });
    }
}
