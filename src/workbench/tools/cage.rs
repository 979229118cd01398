//! The cage tool: hands move vertices of the cage, and the rest shape of skin and skeleton follows the cage.
//!
//! The tool edits the displayed cage, in any pose. From the change of the displayed cage, it computes the change of the
//! rest cage that causes it ("CageRev", Corda et al. 2020, equation 19). The document stores the rest cage only.

mod mirror;
mod ring;

use super::{EditContext, Moment, held_color};
use crate::base::math::{DMat3, DQuat, DVec3, Mat3, Vec3};
use crate::cage::{Coupling, Reverse};
use crate::document::{CageMove, Edit, KeyEdit, KeyValue, Target};
use crate::pose::{Sample, Stroke, Warp, tolerance_in_space};
use crate::render::{BASELINE, Lines, OFFSET};
use crate::rig::{Pose, RestShift};
use crate::scene::PosedCage;
use crate::workbench::navigation::Rules;
use crate::workbench::{CageSet, Haptic, Rigid, Tracking};
use mirror::{add_reflections, mirrored, partners};
use ring::{band, ring};
use std::sync::Arc;

/// Maximum distance from the tip to a vertex that can be grabbed, room metres.
const REACH: f32 = 0.05;
/// Minimum distance between samples of a stroke, room metres.
const STILL: f32 = 0.004;
/// Lines fade out over this distance from the tip, as a fraction of the cage's size.
const FADES: f32 = 0.35;
/// The faintest and the strongest opacity of lines, 0..=255.
const OPACITY: [f32; 2] = [36.0, 230.0];
const CAGE: [u8; 3] = [120, 220, 190];

/// A set of vertices that hands hold.
struct HeldVertices {
    /// Displayed cage, and tip of the tool hand, when the hold began.
    start: Vec<DVec3>,
    hand: Rigid,
    /// Middle of the ring whose thickness one hand changes.
    middle: Option<DVec3>,
    /// Tips of both hands, and the displayed cage, when the second hand joined.
    both: Option<([Rigid; 2], Vec<DVec3>)>,
    work: Work,
}

/// The map from a change of the displayed cage to a change of the rest cage, with its input and its result.
struct Work {
    reverse: Reverse,
    /// Share of the motion per vertex of the cage, 0..=1.
    share: Vec<f32>,
    /// Offsets of the rest cage when the hold began.
    rest: Vec<Vec3>,
    /// Displayed cage when the hold began.
    from: Vec<DVec3>,
    /// Displayed cage now.
    to: Vec<DVec3>,
    /// Offsets of the rest cage now.
    now: Vec<Vec3>,
    /// Buffers of a frame: the change of the displayed cage, the change of the rest cage, and the latter before
    /// mirroring.
    change: Vec<DVec3>,
    moved: Vec<DVec3>,
    own: Vec<DVec3>,
}

#[derive(Default)]
enum CageAct {
    #[default]
    Idle,
    Holds(Box<HeldVertices>),
    /// The user draws a stroke. The [`Work`] is present for an offset stroke.
    Draws(Vec<Sample>, Option<Box<Work>>),
}

/// State of the cage tool.
#[derive(Default)]
pub struct CageTool {
    act: CageAct,
    posed: PosedCage,
    /// The mirrored partner of each vertex of the cage; see [`partners`].
    partners: Vec<Option<u32>>,
    /// The baseline of the next offset stroke, and the vertices that it selects with their parameters.
    baseline: Option<(Stroke, Vec<(usize, f64)>)>,
    hover: Option<usize>,
    /// Share of the motion per vertex if the hand grabbed now; empty if no vertex is near.
    lit: Vec<f32>,
    /// The vertex whose ring `lit` has, if it has a ring.
    ring_of: Option<usize>,
}

impl CageTool {
    /// Whether a hand holds vertices or draws.
    pub fn is_busy(&self) -> bool {
        !matches!(self.act, CageAct::Idle)
    }

    /// Positions of the displayed cage, world space, metres.
    pub fn positions(&self) -> &[DVec3] {
        &self.posed.positions
    }

    /// The offsets of the rest cage from which a hand moves vertices now; empty if no hand holds any.
    pub fn held_from(&self) -> &[Vec3] {
        if let CageAct::Holds(held) = &self.act { &held.work.rest } else { &[] }
    }

    /// Whether the next stroke is an offset stroke.
    pub fn awaits_offset(&self) -> bool {
        self.baseline.is_some()
    }

    /// Cancels the hold or the stroke, and forgets the baseline.
    pub fn cancel(&mut self, context: &mut EditContext) {
        if self.is_busy() {
            self.act = CageAct::Idle;
            context.show_document();
        }
        self.baseline = None;
    }

    /// Forgets the vertices of another cage, because the document has a new one.
    pub fn forget_vertices(&mut self) {
        self.baseline = None;
        self.lit.clear();
    }

    /// Updates the tool after the document's cage has changed.
    pub fn document_changed(&mut self, context: &EditContext) {
        (self.hover, self.ring_of) = (None, None);
        let Some(cage) = context.session.document().cage() else {
            self.partners.clear();
            self.baseline = None;
            return;
        };
        self.partners = partners(cage, context.body.sides.as_ref());
    }

    /// Runs one frame.
    pub fn step(&mut self, context: &mut EditContext, moment: &mut Moment) {
        let Some(coupling) = context.coupling.clone() else {
            if moment.hand().trigger.pressed && !moment.hand().on_panel {
                context.notice = Some(match (context.session.document().cage(), &context.uncoupled) {
                    (Some(_), Some(error)) => error.clone().into(),
                    (Some(_), None) => "the cage is being coupled with the skin: wait a moment".into(),
                    (None, _) => "this character has no cage: make or import one".into(),
                });
                moment.feel(moment.tool, Haptic::Limit);
            }
            return;
        };
        if let CageAct::Idle = self.act {
            self.posed.follow(&context.character, &coupling, &context.rig);
        }
        let set = moment.preferences.cage_set;
        match std::mem::take(&mut self.act) {
            CageAct::Idle => self.idle(context, moment, &coupling, set),
            CageAct::Holds(held) => self.hold(context, moment, held),
            CageAct::Draws(samples, work) => self.draw(context, moment, &coupling, samples, work),
        }
    }

    fn idle(
        &mut self,
        context: &mut EditContext,
        moment: &mut Moment,
        coupling: &Arc<Coupling>,
        set: CageSet,
    ) {
        let hand = moment.hand();
        let (tip, on_panel) = (hand.tip, hand.on_panel);
        let usable = hand.tip_tracking == Tracking::Tracked && !on_panel;
        let pressed = hand.trigger.pressed && usable;
        if set == CageSet::Stroke {
            (self.hover, self.ring_of) = (None, None);
            self.lit.clear();
            if pressed {
                let work = self.baseline.as_ref().and_then(|_| self.work(context, coupling));
                if self.baseline.is_some() && work.is_none() {
                    moment.feel(moment.tool, Haptic::Limit);
                    return;
                }
                moment.feel(moment.tool, Haptic::Contact);
                self.act = CageAct::Draws(vec![sample(moment)], work.map(Box::new));
            }
            return;
        }
        let near = nearest(&self.posed.positions, tip.position.as_dvec3());
        let near = near.filter(|n| usable && n.1 <= f64::from(REACH * moment.scale)).map(|n| n.0);
        if near.is_some() && near != self.hover {
            moment.feel(moment.tool, Haptic::Hover);
        }
        self.hover = near;
        // Finding a ring takes longer than a frame allows, so each vertex's ring is found once.
        let ring = near.filter(|_| matches!(set, CageSet::Ring | CageSet::Thickness));
        if ring.is_none() || self.ring_of != ring {
            self.lit = near.map_or_else(Vec::new, |v| self.share(context, moment, set, v));
        }
        self.ring_of = ring;
        if !pressed {
            return;
        }
        let Some(mut work) = near.and_then(|_| self.work(context, coupling)) else {
            moment.feel(moment.tool, Haptic::Limit);
            return;
        };
        moment.feel(moment.tool, Haptic::Selection);
        work.share.clone_from(&self.lit);
        let start = self.posed.positions.clone();
        let middle = (set == CageSet::Thickness).then(|| {
            let ring = || start.iter().zip(&work.share).filter(|(_, share)| **share > 0.0).map(|(x, _)| *x);
            ring().sum::<DVec3>() / ring().count().max(1) as f64
        });
        self.act = CageAct::Holds(Box::new(HeldVertices { start, hand: tip, middle, both: None, work }));
    }

    /// Prepares the map from the displayed cage to the rest cage. If this fails, the error becomes the notice.
    fn work(&self, context: &mut EditContext, coupling: &Arc<Coupling>) -> Option<Work> {
        let skeleton = &context.character.skeleton;
        let wide = |m: &crate::base::math::Affine3A| Mat3::from(m.matrix3).as_dmat3();
        let linear: Vec<DMat3> = context.rig.skinning.iter().map(wide).collect();
        match Reverse::new(coupling, &linear, &context.rig.carriers(skeleton)) {
            Ok(reverse) => {
                let mut rest = context.rig.rest.cage.clone();
                rest.resize(coupling.cage_vertices(), Vec3::ZERO);
                let share = vec![0.0; rest.len()];
                let from = self.posed.positions.clone();
                let [change, moved, own] = Default::default();
                Some(Work {
                    reverse,
                    share,
                    now: rest.clone(),
                    rest,
                    to: from.clone(),
                    from,
                    change,
                    moved,
                    own,
                })
            }
            Err(error) => {
                context.refuse(&error);
                None
            }
        }
    }

    fn hold(&mut self, context: &mut EditContext, moment: &mut Moment, mut held: Box<HeldVertices>) {
        let (hand, other) = (moment.hand(), &moment.hands.hands[1 - moment.tool]);
        if !hand.trigger.down {
            let cage = std::mem::take(&mut held.work.now);
            self.commit(context, &cage);
            moment.feel(moment.tool, Haptic::Contact);
            return;
        }
        if hand.tip_tracking == Tracking::Tracked {
            let joins = other.trigger.down && other.tip_tracking == Tracking::Tracked;
            match (&held.both, joins) {
                (None, true) => {
                    held.both = Some(([hand.tip, other.tip], held.work.to.clone()));
                    moment.feel(1 - moment.tool, Haptic::Selection);
                }
                (Some(_), false) => {
                    // One hand continues from the present shape.
                    (held.both, held.hand, held.start) = (None, hand.tip, held.work.to.clone());
                }
                _ => {}
            }
            let (hand, other) = (moment.hand(), &moment.hands.hands[1 - moment.tool]);
            let Work { share, to, .. } = &mut held.work;
            match &held.both {
                Some((from, start)) => {
                    by_two([from[0], from[1]], [hand.tip, other.tip], start, share, to);
                }
                None => match held.middle {
                    Some(middle) => {
                        let ends = [&held.hand, &hand.tip].map(|tip| tip.position.as_dvec3());
                        thicken(middle, ends, &held.start, share, to);
                    }
                    None => by_one(&held.hand, &hand.tip, &held.start, share, to),
                },
            }
            self.preview(context, &mut held.work, moment);
        }
        self.act = CageAct::Holds(held);
    }

    fn draw(
        &mut self,
        context: &mut EditContext,
        moment: &mut Moment,
        coupling: &Arc<Coupling>,
        mut samples: Vec<Sample>,
        mut work: Option<Box<Work>>,
    ) {
        let hand = moment.hand();
        let still = STILL * moment.scale;
        let moved =
            samples.last().is_none_or(|s| Vec3::from(s.position).distance(hand.tip.position) >= still);
        if hand.tip_tracking == Tracking::Tracked && moved && hand.trigger.down {
            samples.push(sample(moment));
        }
        let down = hand.trigger.down;
        let stroke = Stroke::from_samples(&samples, tolerance_in_space(1.0 / moment.scale)).ok();
        if let (Some(work), Some(stroke), Some((baseline, selected))) = (&mut work, &stroke, &self.baseline) {
            let warp = Warp::new(baseline, stroke, moment.preferences.roll);
            work.to.clone_from(&work.from);
            for &(v, t) in selected {
                work.share[v] = 1.0;
                work.to[v] = warp.point(t, work.from[v]);
            }
        }
        if let (Some(work), true) = (&mut work, stroke.is_some()) {
            self.preview(context, work, moment);
        }
        if down {
            self.act = CageAct::Draws(samples, work);
            return;
        }
        match (work, stroke) {
            (Some(work), Some(_)) => {
                self.commit(context, &work.now);
                self.baseline = None;
                moment.feel(moment.tool, Haptic::Contact);
            }
            (None, Some(stroke)) => {
                self.posed.follow(&context.character, coupling, &context.rig);
                let radius = f64::from(moment.radius());
                let near = |(v, x): (usize, &DVec3)| {
                    let (t, distance) = stroke.spline().closest(*x);
                    (distance <= radius).then_some((v, t))
                };
                let selected: Vec<(usize, f64)> =
                    self.posed.positions.iter().enumerate().filter_map(near).collect();
                if selected.is_empty() {
                    context.notice =
                        Some("no vertex of the cage is within the brush radius of this stroke".into());
                    moment.feel(moment.tool, Haptic::Limit);
                } else {
                    moment.feel(moment.tool, Haptic::Selection);
                    self.baseline = Some((stroke, selected));
                }
            }
            _ => {
                context.show_document();
                moment.feel(moment.tool, Haptic::Limit);
            }
        }
    }

    /// Shows the character with the rest cage for which the displayed cage is `work.to`.
    fn preview(&mut self, context: &mut EditContext, work: &mut Work, moment: &Moment) {
        work.change.clear();
        work.change.extend(work.to.iter().zip(&work.from).map(|(a, b)| *a - *b));
        work.reverse.rest_offsets(&work.change, &mut work.moved);
        if moment.preferences.mirror
            && let Some(sides) = &context.body.sides
        {
            let reflect = |d: DVec3| sides.reflect_bind(d) - sides.reflect_bind(DVec3::ZERO);
            work.own.clone_from(&work.moved);
            let Work { moved, own, share, .. } = work;
            if moment.rules < Rules::Tenth {
                add_reflections(&self.partners, reflect, own, moved);
            } else {
                mirrored(&self.partners, reflect, share, own, moved);
            }
        }
        for (now, (before, change)) in work.now.iter_mut().zip(work.rest.iter().zip(&work.moved)) {
            *now = *before + change.as_vec3();
        }
        if !work.now.iter().all(|v| v.is_finite()) {
            work.now.clone_from(&work.rest);
        }
        let pose = over(context, &work.now);
        context.show(&pose);
        if let Some(coupling) = &context.coupling {
            self.posed.follow(&context.character, coupling, &context.rig);
        }
    }

    /// Stores offsets of the rest cage in the document. If the cage has keys or auto-key is on, the offsets become a
    /// key at the displayed time; otherwise, they become the cage's shape.
    fn commit(&mut self, context: &mut EditContext, offsets: &[Vec3]) {
        let document = context.session.document();
        let Some(cage) = document.cage() else { return };
        let keyed = context.auto_key || document.cage_channel().is_some();
        let edit = match context.time.filter(|_| keyed) {
            Some(time) => {
                let value = offsets.iter().flat_map(|v| v.to_array()).collect();
                let target = Target::Cage(offsets.len() as u32);
                Edit::Keys(KeyEdit::Insert { time, keys: vec![KeyValue { target, value }] })
            }
            None => {
                let moved = |(v, (new, old)): (usize, (&Vec3, &[f32; 3]))| {
                    (new.to_array() != *old).then(|| CageMove { vertex: v as u32, offset: new.to_array() })
                };
                Edit::MoveCage(offsets.iter().zip(&cage.offsets).enumerate().filter_map(moved).collect())
            }
        };
        let nothing = matches!(&edit, Edit::MoveCage(moves) if moves.is_empty());
        if nothing {
            context.show_document();
        } else {
            context.apply(edit);
        }
    }

    /// Returns each vertex's share of a hand's motion if the hand grabs vertex `v`, 0..=1.
    fn share(&self, context: &EditContext, moment: &Moment, set: CageSet, v: usize) -> Vec<f32> {
        let radius = f64::from(moment.radius());
        let positions = &self.posed.positions;
        let mut out = vec![0.0; positions.len()];
        match set {
            CageSet::Vertex | CageSet::Stroke => {}
            CageSet::Brush => {
                // Twice the brush radius reaches a neighbour of the grabbed vertex in most cages.
                for (share, x) in out.iter_mut().zip(positions) {
                    let u = (x.distance(positions[v]) / (2.0 * radius).max(1e-9)).min(1.0);
                    *share = ((1.0 - u * u) * (1.0 - u * u)) as f32;
                }
            }
            CageSet::Ring | CageSet::Thickness => {
                if let Some(cage) = context.session.document().cage() {
                    let skeleton = &context.character.skeleton;
                    let ring = if moment.rules < Rules::Tenth {
                        band(cage, skeleton, v)
                    } else {
                        ring(cage, skeleton, v, context.body.sides.as_ref())
                    };
                    ring.into_iter().for_each(|k| out[k] = 1.0);
                }
            }
        }
        out[v] = 1.0;
        out
    }

    /// Draws the cage, held vertices red while they are recorded. Its lines fade with the distance from the hand.
    pub fn lines(&self, context: &EditContext, moment: &Moment, records: bool, out: &mut Lines) {
        let Some(cage) = context.session.document().cage() else { return };
        let at = |v: usize| self.posed.positions.get(v).map(|x| x.as_vec3());
        if self.posed.positions.len() != cage.vertices() {
            return;
        }
        let tip = moment.hand().tip.position;
        let bounds = crate::base::math::Aabb::of(self.posed.positions.iter().map(|x| x.as_vec3()));
        let reach = FADES * bounds.diagonal().max(1e-6);
        let shade = |x: Vec3| {
            let near = (1.0 - x.distance(tip) / reach).clamp(0.0, 1.0);
            let [least, most] = OPACITY;
            [CAGE[0], CAGE[1], CAGE[2], (least + (most - least) * near) as u8]
        };
        for [a, b] in cage.mesh.edges() {
            if let (Some(a), Some(b)) = (at(a as usize), at(b as usize)) {
                out.polyline(&[a, b], shade(0.5 * (a + b)), 1.6, 0.0);
            }
        }
        let (holds, color) = match &self.act {
            CageAct::Holds(held) => (&held.work.share, held_color(records)),
            _ => (&self.lit, held_color(false)),
        };
        let selected = self.baseline.iter().flat_map(|b| &b.1).map(|s| s.0);
        let mut chosen = vec![0.0f32; cage.vertices()];
        chosen.iter_mut().zip(holds).for_each(|(c, share)| *c = *share);
        selected.for_each(|v| chosen[v] = 1.0);
        for (v, share) in chosen.iter().enumerate() {
            let Some(x) = at(v) else { continue };
            if *share > 0.02 {
                out.dot(x, color, 5.0 + 5.0 * share);
            } else {
                out.dot(x, shade(x), 4.5);
            }
        }
        if let Some((baseline, _)) = &self.baseline {
            let points: Vec<Vec3> = (0..=24).map(|i| point_along(baseline, f64::from(i) / 24.0)).collect();
            out.stroke(&points, BASELINE, 3.0);
        }
        if let CageAct::Draws(samples, work) = &self.act {
            let points: Vec<Vec3> = samples.iter().map(|s| s.position.into()).collect();
            out.stroke(&points, if work.is_some() { OFFSET } else { BASELINE }, 3.0);
        }
    }
}

fn point_along(stroke: &Stroke, part: f64) -> Vec3 {
    let spline = stroke.spline();
    spline.position(spline.at_length(part * spline.length())).as_vec3()
}

fn sample(moment: &Moment) -> Sample {
    let hand = moment.hand();
    Sample {
        position: hand.tip.position.into(),
        orientation: hand.tip.orientation.to_array(),
        pressure: hand.pressure,
        time: moment.hands.time,
    }
}

/// Returns the displayed pose with other offsets of the rest cage.
fn over(context: &EditContext, offsets: &[Vec3]) -> Pose {
    let skeleton = &context.character.skeleton;
    let document = context.session.document();
    let mut rest = RestShift::of_cage(offsets.to_vec());
    if let Some(cage) = document.cage() {
        cage.follow(skeleton, &mut rest);
    }
    if context.rest_view {
        return Pose { rest, ..Pose::rest(skeleton) };
    }
    match context.time {
        // Keys and clips decide the pose; only the rest shape changes.
        Some(_) => Pose { rest, ..context.pose.clone() },
        None => document.posed_over(skeleton, rest),
    }
}

fn nearest(positions: &[DVec3], tip: DVec3) -> Option<(usize, f64)> {
    let distances = positions.iter().map(|x| x.distance(tip)).enumerate();
    distances.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Moves held vertices rigidly with one hand.
fn by_one(from: &Rigid, to: &Rigid, start: &[DVec3], share: &[f32], out: &mut [DVec3]) {
    let turn = (to.orientation.as_dquat() * from.orientation.as_dquat().inverse()).normalize();
    let (from, to) = (from.position.as_dvec3(), to.position.as_dvec3());
    for ((out, x), share) in out.iter_mut().zip(start).zip(share) {
        let partial = DQuat::IDENTITY.slerp(turn, f64::from(*share));
        let moved = from + (to - from) * f64::from(*share) + partial * (*x - from);
        *out = if *share > 0.0 { moved } else { *x };
    }
}

/// Moves held vertices away from a middle, or towards it, by the factor by which a hand has changed its distance to the
/// middle.
fn thicken(middle: DVec3, [from, to]: [DVec3; 2], start: &[DVec3], share: &[f32], out: &mut [DVec3]) {
    let factor = to.distance(middle) / from.distance(middle).max(1e-9);
    let factor = factor.clamp(0.1, 10.0) - 1.0;
    for ((out, x), share) in out.iter_mut().zip(start).zip(share) {
        *out = *x + (*x - middle) * (factor * f64::from(*share));
    }
}

/// Moves, rotates, scales and twists held vertices with two hands. The twist of each hand about the line between the
/// hands decreases towards the other hand.
fn by_two(from: [Rigid; 2], to: [Rigid; 2], start: &[DVec3], share: &[f32], out: &mut [DVec3]) {
    let at = |hands: &[Rigid; 2]| [hands[0].position.as_dvec3(), hands[1].position.as_dvec3()];
    let ([a, b], [c, d]) = (at(&from), at(&to));
    let (before, after) = (b - a, d - c);
    let ends = before.try_normalize().zip(after.try_normalize());
    let Some((axis, new_axis)) = ends else {
        out.copy_from_slice(start);
        return;
    };
    let scale = (after.length() / before.length()).clamp(0.1, 10.0);
    let swing = DQuat::from_rotation_arc(axis, new_axis);
    let twist = |hand: usize| {
        let turn = to[hand].orientation.as_dquat() * from[hand].orientation.as_dquat().inverse();
        let about = swing.inverse() * turn;
        let along = about.xyz().dot(axis);
        let angle = 2.0 * along.atan2(about.w);
        // Take the shorter way round.
        if angle > std::f64::consts::PI {
            angle - std::f64::consts::TAU
        } else if angle < -std::f64::consts::PI {
            angle + std::f64::consts::TAU
        } else {
            angle
        }
    };
    let twists = [twist(0), twist(1)];
    for ((out, x), share) in out.iter_mut().zip(start).zip(share) {
        let u = ((*x - a).dot(axis) / before.length()).clamp(0.0, 1.0);
        let spin = DQuat::from_axis_angle(axis, twists[0] * (1.0 - u) + twists[1] * u);
        let moved = 0.5 * (c + d) + scale * (swing * (spin * (*x - 0.5 * (a + b))));
        *out = x.lerp(moved, f64::from(*share));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thickness_moves_a_ring_from_its_middle_by_one_factor() {
        let start = [DVec3::X, DVec3::Y, -DVec3::X, -DVec3::Y, DVec3::Z * 3.0].map(|x| x + DVec3::ONE);
        let mut out = start;
        let ends = [DVec3::new(2.0, 1.0, 1.0), DVec3::new(2.5, 1.0, 1.0)];
        thicken(DVec3::ONE, ends, &start, &[1.0, 1.0, 1.0, 1.0, 0.0], &mut out);
        for (after, before) in out.iter().zip(&start).take(4) {
            assert!((*after - DVec3::ONE).distance(1.5 * (*before - DVec3::ONE)) < 1e-12);
        }
        assert_eq!(out[4], start[4], "not of the ring");
    }
}
