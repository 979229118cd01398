//! The grab tool. The squeeze button of either hand grabs the nearest bone; while this tool is active, the trigger does
//! the same. If no bone is near the hand, the hand grabs the world.
//!
//! During a grab the pose is a preview. When the user releases the bone, the pose becomes one undo step. A pull of the
//! trigger during a grab by the squeeze ends the grab and pins the joint, or removes its pin.

use super::grip::follows_grips;
use super::{EditContext, Moment, held_color};
use crate::base::math::{DVec3, Vec3};
use crate::base::{JointId, NodeId};
use crate::bind::Character;
use crate::deform::fast;
use crate::pose::{Adjustment, FullBodyGrab, Goal, Grab};
use crate::render::Lines;
use crate::rig::{GripHold, Limits, Plane, Pose, Skeleton};
use crate::workbench::{GrabBy, Haptic, Notice, Rigid, Rules, Tool, Tracking};
use std::sync::Arc;

/// Maximum distance from palm or tip to the soft tissue for a grab, room metres.
pub const REACH: f32 = 0.035;
/// Distance between a held point and its goal from which the hand feels a limit, room metres.
const LIMIT: f32 = 0.03;

/// Distance between a held point and its goal beyond which a line connects them, as a fraction of the diagonal of the
/// character's bounding box.
pub(super) const MISSED: f32 = 2e-3;
pub(super) const LEASH: [u8; 4] = [255, 200, 0, 230];

/// The object in a hand.
#[derive(Clone, Copy, Debug)]
enum Held {
    Nothing,
    World,
    Body {
        node: NodeId,
        /// Grabbed point, in the node's space.
        point: Vec3,
        /// Pose of the hand at the grab.
        start: Rigid,
        goal: Goal,
    },
}

/// The solver of a grab.
pub(super) enum Following {
    /// Rotates bones or limbs (FK or IK).
    Chains(Box<Grab>),
    /// Poses the full body.
    Whole(Box<FullBodyGrab>),
}

impl Following {
    pub(super) fn hold(&mut self, node: NodeId, point: DVec3) {
        match self {
            Self::Chains(grab) => grab.hold(node, point),
            Self::Whole(grab) => grab.hold(node, point),
        }
    }

    fn restart(&mut self, skeleton: &Skeleton, pose: &Pose, limits: &Limits) {
        match self {
            Self::Chains(grab) => grab.restart(skeleton, pose, limits),
            Self::Whole(grab) => grab.restart(skeleton, pose, limits),
        }
    }

    pub(super) fn solve(&mut self, skeleton: &Skeleton, goals: &[Goal]) -> crate::base::Result<(Pose, f64)> {
        match self {
            Self::Chains(grab) => Ok(grab.solve(skeleton, goals)),
            Self::Whole(grab) => grab.solve(skeleton, goals),
        }
    }
}

/// State of the grab tool, for both hands.
pub struct GrabTool {
    held: [Held; 2],
    /// Whether each hand holds with the trigger instead of the squeeze.
    by_trigger: [bool; 2],
    /// Whether each hand has pinned a joint and has not released its buttons yet.
    pinning: [bool; 2],
    hover: [Option<usize>; 2],
    grab: Option<Following>,
    /// The character's FAST body for full-body grabs; cached after the first use.
    body: Option<(Arc<Character>, Arc<fast::Body>)>,
    /// For each mirrored grab: index of the hand, and the initial position of the mirrored point.
    mirrored: Vec<(usize, DVec3)>,
    plane: Option<Plane>,
    /// How the body differed from the motion beneath it when the solver started.
    over: Vec<Adjustment>,
    /// Pose from which the solver starts while a motion plays.
    base: Pose,
    goals: Vec<Goal>,
    at_limit: bool,
    moved: bool,
    rules: Rules,
}

impl Default for GrabTool {
    fn default() -> Self {
        Self {
            held: [Held::Nothing; 2],
            by_trigger: [false; 2],
            pinning: [false; 2],
            hover: [None; 2],
            grab: None,
            body: None,
            mirrored: Vec::new(),
            plane: None,
            over: Vec::new(),
            base: Pose::default(),
            goals: Vec::new(),
            at_limit: false,
            moved: false,
            rules: Rules::default(),
        }
    }
}

impl GrabTool {
    /// Sets the FAST body for full-body grabs. The first grab then need not compute the binding of FAST.
    pub fn set_full_body(&mut self, character: Arc<Character>, body: Arc<fast::Body>) {
        self.body = Some((character, body));
    }

    /// Sets the rules of an earlier version of takes.
    pub fn keep_to(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// Whether a hand holds the body.
    pub fn is_busy(&self) -> bool {
        self.grab.is_some()
    }

    /// Whether a hand holds the body or the world, or has just pinned a joint.
    pub fn holds(&self, hand: usize) -> bool {
        self.pinning[hand] || !matches!(self.held[hand], Held::Nothing)
    }

    /// Releases everything and restores the body's pose.
    pub fn cancel(&mut self, context: &mut EditContext) {
        self.held = [Held::Nothing; 2];
        if self.grab.take().is_some() {
            context.show_document();
        }
        self.moved = false;
    }

    /// Resets the hover state after a change of the document.
    pub fn document_changed(&mut self) {
        self.hover = [None; 2];
    }

    /// Room positions of the hands that pull the world.
    pub fn pulls(&self, moment: &Moment) -> [Option<Vec3>; 2] {
        std::array::from_fn(|h| matches!(self.held[h], Held::World).then(|| moment.hands.hands[h].palm_room))
    }

    /// Starts and ends grabs. `busy` says for each hand whether another tool uses the hand. Returns the node that a
    /// pull of the trigger pins or frees, if the trigger `pins`.
    pub fn take(
        &mut self,
        context: &mut EditContext,
        moment: &mut Moment,
        busy: [bool; 2],
        pins: bool,
    ) -> Option<NodeId> {
        let (mut changed, mut pinned) = (false, None);
        for (h, busy) in busy.into_iter().enumerate() {
            let hand = &moment.hands.hands[h];
            let trigger = moment.preferences.tool == Tool::Grab;
            self.pinning[h] &= hand.trigger.down || hand.squeeze.down;
            if self.pinning[h] {
                continue;
            }
            if matches!(self.held[h], Held::Nothing) {
                self.by_trigger[h] = trigger && (hand.trigger.pressed || !hand.squeeze.pressed);
                let (at, tracking) = self.place(h, moment);
                let usable = tracking > Tracking::Lost && !busy;
                let touch = if usable && !hand.on_panel {
                    context.body.touch(&context.character, &context.rig, at.position, REACH * moment.scale)
                } else {
                    None
                };
                let hovered = touch.map(|t| t.bone);
                if hovered.is_some() && hovered != self.hover[h] {
                    moment.feel(h, Haptic::Hover);
                }
                self.hover[h] = hovered;
                let pressed = hand.squeeze.pressed || (trigger && hand.trigger.pressed);
                if !pressed || !usable || tracking < Tracking::Tracked {
                    continue;
                }
                self.held[h] = match touch {
                    Some(touch) => {
                        changed = true;
                        moment.feel(h, Haptic::Selection);
                        let node = self.node_at(context, moment, h).unwrap_or(touch.node);
                        Held::Body { node, point: Vec3::ZERO, start: at, goal: goal_of(&at, &at) }
                    }
                    None => Held::World,
                };
            } else {
                let button = if self.by_trigger[h] { hand.trigger } else { hand.squeeze };
                if let Held::Body { node, .. } = self.held[h]
                    && pins
                    && !self.by_trigger[h]
                    && hand.trigger.pressed
                {
                    (pinned, self.pinning[h]) = (Some(node), true);
                    moment.feel(h, Haptic::Selection);
                }
                if !button.down || self.pinning[h] {
                    changed |= matches!(self.held[h], Held::Body { .. });
                    self.held[h] = Held::Nothing;
                }
            }
        }
        if changed {
            self.begin(context, moment);
        }
        pinned
    }

    /// The node that moves the skin seen by the hand's probe camera, if the skin is within reach.
    fn node_at(&self, context: &EditContext, moment: &Moment, h: usize) -> Option<NodeId> {
        let (at, _) = self.place(h, moment);
        let seen = moment.hands.hands[h].surface?;
        let near = seen.position.distance(at.position) <= 2.0 * REACH * moment.scale;
        near.then(|| context.body.node_of(&context.character, seen.triangle)).flatten()
    }

    fn place(&self, h: usize, moment: &Moment) -> (Rigid, Tracking) {
        let hand = &moment.hands.hands[h];
        if self.by_trigger[h] { (hand.tip, hand.tip_tracking) } else { (hand.palm, hand.palm_tracking) }
    }

    /// Restarts the solver from the displayed pose with the current grabs; without grabs, commits the pose.
    fn begin(&mut self, context: &mut EditContext, moment: &Moment) {
        let held = |held: &Held| if let Held::Body { node, .. } = held { Some(*node) } else { None };
        let nodes = [held(&self.held[0]), held(&self.held[1])];
        if nodes == [None; 2] {
            self.grab = None;
            return self.commit(context);
        }
        let holds = context.pose.grips.iter().filter(|grip| grip.hold != GripHold::Free).count();
        if holds > 0 && follows_grips(context) {
            let grips = if holds == 1 { "1 grip holds" } else { &format!("{holds} grips hold") };
            context.notice = Some(Notice::fact(format!("{grips} the skin in place while the bones move")));
        }
        self.mirrored.clear();
        self.over = context.over_motion();
        let mut grab = self.following(context, moment.preferences.grab, nodes.into_iter().flatten());
        for h in 0..2 {
            let (now, _) = self.place(h, moment);
            if let Held::Body { node, point, start, goal } = &mut self.held[h] {
                (*start, *goal) = (now, goal_of(&now, &now));
                *point = context.rig.world[node.index()].inverse().transform_point3(now.position);
                grab.hold(*node, goal.position);
            }
        }
        if let Some(mirror) = context.body.mirror.as_ref().filter(|_| moment.preferences.mirror) {
            self.plane = Some(mirror.plane(&context.rig));
            for h in 0..2 {
                let Held::Body { node, goal, .. } = self.held[h] else { continue };
                let other = mirror.partner(node).filter(|p| !nodes.contains(&Some(*p)));
                let skinning = |node: NodeId| {
                    let joint: JointId = context.character.skeleton.nodes[node.index()].joint?;
                    context.rig.skinning.get(joint.index()).copied()
                };
                let Some((own, other, to)) = other.and_then(|o| Some((skinning(node)?, o, skinning(o)?)))
                else {
                    continue;
                };
                let bind = own.inverse().transform_point3(goal.position.as_vec3());
                let there = to.transform_point3(mirror.reflect_bind(bind.as_dvec3()).as_vec3()).as_dvec3();
                if there.is_finite() {
                    grab.hold(other, there);
                    self.mirrored.push((h, there));
                }
            }
        }
        self.grab = Some(grab);
    }

    /// Creates the solver for a grab of nodes of the displayed pose. Falls back to limbs if the FAST bind fails.
    pub(super) fn following(
        &mut self,
        context: &mut EditContext,
        by: GrabBy,
        mut nodes: impl Iterator<Item = NodeId>,
    ) -> Following {
        if by == GrabBy::Body
            && self.body.as_ref().is_none_or(|(character, _)| !Arc::ptr_eq(character, &context.character))
        {
            match fast::Body::bind(&context.character, &fast::Params::grab()) {
                Ok(body) => self.body = Some((context.character.clone(), Arc::new(body))),
                Err(error) => {
                    self.body = None;
                    context.refuse(&error);
                }
            }
        }
        let (skeleton, document) = (&context.character.skeleton, context.session.document());
        let (pins, limits) = (document.pins(), document.limits());
        let old = self.rules < Rules::Thirteenth;
        // A joint above all skin moves the whole body as it is.
        let is_above = |body: &fast::Body, node: NodeId| {
            let joint = skeleton.nodes[node.index()].joint;
            joint.is_none_or(|j| body.carrying_handle(skeleton, j).is_none())
        };
        match &self.body {
            Some((_, body)) if by == GrabBy::Body && (old || !nodes.all(|n| is_above(body, n))) => {
                let grab = FullBodyGrab::new(skeleton, body, &context.pose, pins).limited(skeleton, limits);
                let turns = self.rules < Rules::Ninth;
                Following::Whole(Box::new(if turns { grab.turning_below_pins() } else { grab }))
            }
            _ => {
                let grab = Grab::new(skeleton, &context.pose, pins).limited(skeleton, limits);
                let grab = if old { grab.bending_straight() } else { grab };
                Following::Chains(Box::new(if by == GrabBy::Bone { grab.alone() } else { grab }))
            }
        }
    }

    /// Moves the grabbed points to the hands. The rest of the body follows the motion, if one plays.
    pub fn step(&mut self, context: &mut EditContext, moment: &mut Moment) {
        let Some(grab) = &mut self.grab else { return };
        let mut news = context.beneath_into(&self.over, &mut self.base);
        if news {
            grab.restart(&context.character.skeleton, &self.base, context.session.document().limits());
        }
        let mut stirs = self.rules < Rules::Thirteenth;
        for h in 0..2 {
            let (now, tracking) = self.place(h, moment);
            if let Held::Body { start, goal, .. } = &mut self.held[h]
                && tracking == Tracking::Tracked
            {
                let new = goal_of(start, &now);
                news |= new != *goal;
                stirs |= !moment.is_tap(new.turn, new.position - start.position.as_dvec3());
                *goal = new;
            }
        }
        if !news {
            return;
        }
        self.goals.clear();
        self.goals.extend(
            self.held.iter().filter_map(|h| if let Held::Body { goal, .. } = h { Some(*goal) } else { None }),
        );
        for (h, from) in &self.mirrored {
            let (Held::Body { start, goal, .. }, Some(plane)) = (&self.held[*h], &self.plane) else {
                continue;
            };
            let moved = goal.position - start.position.as_dvec3();
            self.goals.push(Goal { position: *from + plane.direction(moved), turn: plane.turn(goal.turn) });
        }
        let Some(grab) = &mut self.grab else { return };
        let (pose, missed) = match grab.solve(&context.character.skeleton, &self.goals) {
            Ok(solved) => solved,
            Err(error) => return context.refuse(&error),
        };
        let at_limit = missed > f64::from(LIMIT * moment.scale);
        if at_limit && !self.at_limit {
            for h in (0..2).filter(|h| matches!(self.held[*h], Held::Body { .. })) {
                moment.feel(h, Haptic::Limit);
            }
        }
        self.at_limit = at_limit;
        self.moved |= stirs && pose != context.pose;
        context.show(&pose);
    }

    /// Commits the displayed pose as an adjustment of the newest stroke, or of the base pose without strokes.
    fn commit(&mut self, context: &mut EditContext) {
        if !std::mem::take(&mut self.moved) {
            return context.show_document();
        }
        let (wanted, now) = (context.pose.clone(), context.session.posed());
        if let Some(edit) = context.adjustment(context.session.document().strokes(), &now, &wanted) {
            context.apply(edit);
        }
    }

    /// Draws grabbed points, red while they are recorded, and the hovered bone.
    pub fn lines(&self, context: &EditContext, records: bool, out: &mut Lines) {
        for h in 0..2 {
            let bone = self.hover[h].filter(|_| !matches!(self.held[h], Held::World));
            if let Some(bone) = bone.and_then(|b| context.rig.bones.get(b)) {
                out.bone(bone.head, bone.tail, 14.0);
            }
            if let Held::Body { node, point, goal, .. } = &self.held[h] {
                let goal = goal.position.as_vec3();
                let held = context.rig.world[node.index()].transform_point3(*point);
                // Bones, pins and limits can stop a held point short of its goal.
                if held.distance(goal) > MISSED * context.character.control.aabb.diagonal() {
                    out.polyline(&[held, goal], LEASH, 3.0, 1.0);
                    out.dot(held, LEASH, 8.0);
                }
                out.dot(goal, held_color(records), 10.0);
            }
        }
    }
}

fn goal_of(start: &Rigid, now: &Rigid) -> Goal {
    let turn = now.orientation.as_dquat() * start.orientation.as_dquat().inverse();
    Goal { position: now.position.as_dvec3(), turn: turn.normalize() }
}
