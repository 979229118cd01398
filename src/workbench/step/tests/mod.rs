//! Tests with scripted hands on a small biped and a capsule, without GPU, files or clock.

mod any_input;
mod binding;
mod bones;
mod controls;
mod film;
mod fingers;
mod firm;
mod grips;
mod holds;
mod limits;
mod marks;
mod morphs;
mod motion;
mod other_side;
mod pens;
mod pins;
mod shape;
mod shells;
mod silhouettes;
mod strokes;
mod tour;
mod transform;
mod travel;
mod views;

use super::*;
use crate::asset::Influences;
use crate::base::math::{DVec3, Quat};
use crate::bind::shapes::capsule;
use crate::document::{AssetRef, Edit};
use crate::pose::{Lengths, Stroke, StrokeLayer};
use crate::scene::SurfaceSample;
use crate::workbench::{GrabBy, MarkBy, Pen, Tracked};
use proptest::prelude::*;

const HIPS: usize = 0;
const ARM: usize = 4;
const ELBOW: usize = 5;
const HAND: usize = 6;
const OTHER_HAND: usize = 9;
const FOOT: usize = 12;
const RIGHT: usize = 1;
const DT: f64 = 1.0 / 90.0;

/// Hips, chest, neck, head; arms along x at a height of 1.5 m; legs. A small octahedron surrounds each joint.
pub(crate) fn biped() -> Arc<Character> {
    biped_with(&[])
}

/// The biped with additional joints, which move no skin.
fn biped_with(controls: &[(Vec3, Option<usize>)]) -> Arc<Character> {
    let mut joints: Vec<(Vec3, Option<usize>)> = [
        (0.0, 1.0, None),
        (0.0, 1.4, Some(0)),
        (0.0, 1.6, Some(1)),
        (0.0, 1.75, Some(2)),
        (0.2, 1.5, Some(1)),
        (0.5, 1.5, Some(4)),
        (0.75, 1.5, Some(5)),
        (-0.2, 1.5, Some(1)),
        (-0.5, 1.5, Some(7)),
        (-0.75, 1.5, Some(8)),
        (0.1, 0.95, Some(0)),
        (0.1, 0.5, Some(10)),
        (0.1, 0.05, Some(11)),
        (-0.1, 0.95, Some(0)),
        (-0.1, 0.5, Some(13)),
        (-0.1, 0.05, Some(14)),
    ]
    .map(|(x, y, parent)| (Vec3::new(x, y, 0.0), parent))
    .to_vec();
    let (mut positions, mut triangles, mut influences) = (Vec::new(), Vec::new(), Influences::default());
    for (j, (at, _)) in joints.iter().enumerate() {
        let first = positions.len() as u32;
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            positions.extend([*at + axis * 0.03, *at - axis * 0.03]);
        }
        (0..6).for_each(|_| influences.push([(j as u16, 1.0)]));
        for (x, y, z) in
            [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
        {
            triangles.push([first + x, first + y, first + z]);
        }
    }
    joints.extend(controls);
    Arc::new(Character::from_parts(positions, triangles, &joints, influences).unwrap())
}

/// Gives a node of the biped morph targets of these names. At rest, the second target has the weight 0.25.
pub(crate) fn with_morphs(node: usize, names: impl IntoIterator<Item = String>) -> Arc<Character> {
    let mut character = biped();
    let node = &mut Arc::make_mut(&mut character).skeleton.nodes[node];
    node.targets = names.into_iter().collect();
    node.weights = (0..node.targets.len()).map(|i| if i == 1 { 0.25 } else { 0.0 }).collect();
    character
}

pub(crate) fn session(character: &Arc<Character>) -> Session<'static> {
    let skeleton = Arc::new(character.skeleton.clone());
    let mut session = Session::new(Box::new(move |_| Ok(skeleton.clone())));
    session
        .apply(Edit::Open { asset: AssetRef { path: "biped.glb".into(), hash: "00".repeat(32) } })
        .unwrap();
    session
}

/// A workbench with scripted input. Without a tracked head, room space equals world space.
struct Script {
    bench: Workbench,
    input: Input,
    frames: Vec<Input>,
}

impl Script {
    fn new(character: &Arc<Character>) -> Self {
        // Grab limbs only; the tests in `pins` and `holds` cover the other grab modes.
        let preferences = Preferences { grab: GrabBy::Limb, ..Preferences::default() };
        let bench = Workbench::new(session(character), character.clone(), preferences);
        Self { bench, input: Input { focused: true, ..Input::default() }, frames: Vec::new() }
    }

    fn biped() -> Self {
        Self::new(&biped())
    }

    fn step(&mut self) -> &Output {
        self.input.time += DT;
        self.frames.push(self.input.clone());
        self.bench.step(&self.input)
    }

    /// Puts a hand's tip and palm at a room position.
    fn at(&mut self, hand: usize, place: Vec3) {
        self.turned(hand, place, Quat::IDENTITY);
    }

    fn turned(&mut self, hand: usize, place: Vec3, orientation: Quat) {
        let pose = |position| Tracked { pose: Rigid { position, orientation }, tracking: Tracking::Tracked };
        self.input.hands[hand].aim = pose(place + orientation * Vec3::Z * crate::workbench::tools::TIP);
        self.input.hands[hand].grip = pose(place);
    }

    /// Draws through room positions with the trigger held.
    fn draw(&mut self, hand: usize, places: &[Vec3]) {
        self.at(hand, places[0]);
        self.step();
        self.input.hands[hand].draw = 1.0;
        for place in places {
            self.at(hand, *place);
            self.step();
        }
        self.input.hands[hand].draw = 0.0;
        self.step();
    }

    /// Squeezes at the first position, moves through the others, and releases.
    fn pull(&mut self, hand: usize, places: &[Vec3]) {
        self.at(hand, places[0]);
        self.step();
        self.input.hands[hand].grab = 1.0;
        for place in places {
            self.at(hand, *place);
            self.step();
        }
        self.input.hands[hand].grab = 0.0;
        self.step();
    }

    fn strokes(&self) -> &[StrokeLayer] {
        self.bench.session().document().strokes()
    }

    fn joint(&self, node: usize) -> Vec3 {
        self.bench.rig().world[node].translation.into()
    }

    fn hash(&self) -> String {
        self.bench.session().document().hash()
    }
}

fn line(a: Vec3, b: Vec3, count: usize) -> Vec<Vec3> {
    (0..count).map(|i| a.lerp(b, i as f32 / (count - 1) as f32)).collect()
}

/// Points along the left arm from the shoulder, raised by an angle (radians).
fn arm(angle: f32) -> Vec<Vec3> {
    let shoulder = Vec3::new(0.2, 1.5, 0.0);
    line(Vec3::ZERO, Vec3::X * 0.55, 30)
        .into_iter()
        .map(|p| shoulder + Quat::from_rotation_z(angle) * p)
        .collect()
}
