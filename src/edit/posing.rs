//! Posing by a baseline and an offset stroke (thesis 7.2; methods 7): every selected joint is moved by the warp
//! between the two, and the hierarchy is turned, root first, so that bones point that way.
//!
//! **(differs)** from the thesis where lengths are kept: a bone is turned to the *direction between the new
//! positions* of its two joints. Aimed at the new position itself it would turn around and point backwards as
//! soon as the offset stroke is drawn shorter than the baseline.

use super::select::marked_parents;
use super::world::{best_turn, is_regular, local_affine, turn_in, world, world_from_parent};
use super::{Selected, Stroke, Warp};
use crate::base::NodeId;
use crate::base::math::{DAffine3, DQuat, DVec3, Trs};
use crate::rig::{Pose, Skeleton};

/// Turns below this (radians) and moves below this share of the stroke's length are rounding, and leave the
/// pose as it is, to the bit.
const NOTHING: f64 = 1e-9;

/// What a stroke does to bone lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lengths {
    /// Bones keep their lengths; joints follow the stroke's shape.
    #[default]
    Keep,
    /// Joints land on their new positions; bones stretch.
    Stretch,
}

/// Whether the topmost selected joint of a chain moves, or stays and turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RootMotion {
    /// It moves where it carries the whole character (see [`carries_all`]): hips move, an arm is not torn off.
    #[default]
    Auto,
    /// It stays.
    Fixed,
    /// It moves.
    Free,
}

/// How a stroke poses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Posing {
    /// Bone lengths.
    pub lengths: Lengths,
    /// The topmost joint.
    pub root: RootMotion,
    /// Whether the controller's roll twists.
    pub roll: bool,
}

/// The pose with the selected joints moved from the baseline to the offset stroke. Everything not selected
/// follows its parent rigidly. Equal strokes give an equal pose.
///
/// Joints under a node that flattens space (a zero scale) cannot be turned and stay as they are.
pub fn pose_by_stroke(
    skeleton: &Skeleton,
    pose: &Pose,
    selection: &[Selected],
    baseline: &Stroke,
    offset: &Stroke,
    posing: Posing,
) -> Pose {
    let warp = Warp::new(baseline, offset, posing.roll);
    let before = world(skeleton, pose);
    let count = skeleton.nodes.len();
    let mut marked = vec![false; count];
    let mut turn = vec![DQuat::IDENTITY; count];
    let mut target = vec![DVec3::ZERO; count];
    for s in selection.iter().filter(|s| s.node.index() < count) {
        let i = s.node.index();
        marked[i] = true;
        turn[i] = warp.rotation(s.t);
        target[i] = warp.point(s.t, before[i].translation);
    }
    let parents = marked_parents(skeleton, &marked);
    let mut children = vec![Vec::new(); count];
    for &id in skeleton.order.iter().filter(|id| marked[id.index()]) {
        match parents[id.index()] {
            Some(p) => {
                target[id.index()] += target_shift(&before, &target, p, posing, skeleton, &parents);
                children[p.index()].push(id);
            }
            None => {}
        }
    }
    let mut solver = Solver { skeleton, pose: pose.clone(), world: before.clone() };
    let nothing = NOTHING * f64::from(baseline.length());
    for &id in &skeleton.order {
        let i = id.index();
        solver.refresh(id);
        if !marked[i] {
            continue;
        }
        let moves = match parents[i] {
            None => root_moves(skeleton, id, posing.root),
            Some(_) => posing.lengths == Lengths::Stretch,
        };
        if moves && (target[i] - before[i].translation).length() > nothing {
            solver.place(id, target[i]);
        }
        let bones: Vec<(NodeId, DVec3)> =
            children[i].iter().map(|&c| (c, target[c.index()] - target[i])).collect();
        solver.turn(id, turn[i], &bones, nothing);
    }
    solver.pose
}
