//! Drags a key on the motion path. The solver of a grab moves the joint, at the time of the key.
//!
//! During the drag the pose is a preview, as in a grab. A copy of the document already has the dragged key, so that the
//! motion path follows the hand. When the user releases the key, the tool writes it as one undo step.

use super::EditContext;
use super::grab::{Following, GrabTool, LEASH, MISSED};
use crate::base::NodeId;
use crate::base::math::{DQuat, DVec3, Vec3};
use crate::document::{Context, Document, Edit, KeyEdit, KeyValue, Target};
use crate::pose::Goal;
use crate::render::Lines;
use crate::rig::{Plane, Pose};
use crate::workbench::GrabBy;

/// A key in a hand.
pub struct KeyDrag {
    /// The joint of the path.
    pub node: NodeId,
    /// Time of the key, seconds.
    pub time: f64,
    solver: Following,
    /// Place of the joint at the start, world space, metres.
    start: DVec3,
    goal: DVec3,
    /// Place of the mirrored joint at the start, and the plane of symmetry.
    mirrored: Option<(DVec3, Plane)>,
    /// The pose at the key before the drag.
    before: Pose,
    /// Times and poses of the neighbouring keys of the path. They keep their poses.
    beside: Vec<(f64, Pose)>,
    /// The document with the dragged key.
    preview: Document,
    /// The edit that removes the dragged key from `preview`.
    undo: Option<Edit>,
}

impl KeyDrag {
    /// Takes the key at a time of the displayed motion. `beside` are the times of the neighbouring keys of the path.
    pub fn new(
        context: &mut EditContext,
        grab: &mut GrabTool,
        (by, mirror): (GrabBy, bool),
        (node, time): (NodeId, f64),
        beside: impl Iterator<Item = f64>,
    ) -> Self {
        let mut solver = grab.following(context, by, std::iter::once(node));
        let place = |node: NodeId| Vec3::from(context.rig.world[node.index()].translation).as_dvec3();
        // A bone that rotates alone moves the joint at its end, not its own joint.
        let held = |node: NodeId| {
            let posable = |n: &NodeId| context.body.posable.contains(n);
            let above = |n: &NodeId| context.character.skeleton.nodes[n.index()].parent;
            let bone = std::iter::successors(above(&node), above).find(posable);
            bone.filter(|_| by == GrabBy::Bone).unwrap_or(node)
        };
        let start = place(node);
        solver.hold(held(node), start);
        let symmetry = context.body.mirror.as_ref().filter(|_| mirror);
        let mirrored = symmetry.and_then(|m| Some((m.partner(node)?, m.plane(&context.rig))));
        let mirrored = mirrored.filter(|(other, _)| held(*other) != held(node)).map(|(other, plane)| {
            solver.hold(held(other), place(other));
            (place(other), plane)
        });
        let document = context.session.document();
        let skeleton = &context.character.skeleton;
        let beside = beside.map(|t| (t, document.state(skeleton, Some(t)).pose)).collect();
        Self {
            node,
            time,
            solver,
            start,
            goal: start,
            mirrored,
            before: context.pose.clone(),
            beside,
            preview: document.clone(),
            undo: None,
        }
    }

    /// Moves the joint to a place, world space, metres, and shows the pose. Returns the remaining distance; `None` if the
    /// place is unchanged or the solver fails.
    pub fn follow(&mut self, context: &mut EditContext, to: Vec3) -> Option<f64> {
        let goal = to.as_dvec3();
        if goal == self.goal || !goal.is_finite() {
            return None;
        }
        self.goal = goal;
        let turn = DQuat::IDENTITY;
        let mut goals = vec![Goal { position: goal, turn }];
        if let Some((from, plane)) = &self.mirrored {
            goals.push(Goal { position: *from + plane.direction(goal - self.start), turn });
        }
        match self.solver.solve(&context.character.skeleton, &goals) {
            Ok((pose, missed)) => {
                context.show(&pose);
                self.put(context);
                Some(missed)
            }
            Err(error) => {
                context.refuse(&error);
                None
            }
        }
    }

    /// Puts the displayed pose into the copy of the document.
    fn put(&mut self, context: &EditContext) {
        let own = Context { skeleton: &context.character.skeleton, triangles: None };
        if let Some(undo) = self.undo.take() {
            // Cannot fail: it reverts the last edit of the copy.
            let _ = undo.apply(&mut self.preview, &own);
        }
        self.undo = self.edit(context).and_then(|edit| edit.apply(&mut self.preview, &own).ok());
    }

    /// The document as the release would leave it.
    pub fn preview(&self) -> &Document {
        &self.preview
    }

    /// Start and end of the part of the motion that the key changes, seconds.
    pub fn span(&self) -> [f64; 2] {
        let times = || self.beside.iter().map(|b| b.0);
        let before = times().filter(|t| *t < self.time).fold(f64::NEG_INFINITY, f64::max);
        [before, times().filter(|t| *t > self.time).fold(f64::INFINITY, f64::min)]
    }

    /// The edit that keys the displayed pose; `None` if the pose is that before the drag. A property without a key at a
    /// neighbouring key of the path gets one there with its value, so that the other keys of the path stay in place.
    pub fn edit(&self, context: &EditContext) -> Option<Edit> {
        let KeyEdit::Insert { time, keys } = KeyEdit::of_change(self.time, &self.before, &context.pose)?
        else {
            return None;
        };
        let motion = context.session.document().motion();
        let mut edits = Vec::new();
        for (at, pose) in &self.beside {
            let open = |target: &&Target| motion.channel(target).is_none_or(|c| c.key_at(*at).is_err());
            let value = |target: &Target| {
                let value = target.of_pose(pose)?.to_vec();
                Some(KeyValue { target: target.clone(), value })
            };
            let keys: Vec<KeyValue> = keys.iter().map(|k| &k.target).filter(open).filter_map(value).collect();
            if !keys.is_empty() {
                edits.push(Edit::Keys(KeyEdit::Insert { time: *at, keys }));
            }
        }
        edits.push(Edit::Keys(KeyEdit::Insert { time, keys }));
        Some(if edits.len() > 1 { Edit::Group(edits) } else { edits.remove(0) })
    }

    /// Draws the line from the joint to the hand where the joint cannot follow.
    pub fn lines(&self, context: &EditContext, out: &mut Lines) {
        let at: Vec3 = context.rig.world[self.node.index()].translation.into();
        let goal = self.goal.as_vec3();
        if at.distance(goal) > MISSED * context.character.control.aabb.diagonal() {
            out.polyline(&[at, goal], LEASH, 3.0, 1.0);
            out.dot(goal, [255, 255, 255, 255], 10.0);
        }
    }
}
