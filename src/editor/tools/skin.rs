//! Drawing on the skin (thesis 7.5): what the tool hand's own camera sees becomes a mark that stays on the skin in any
//! pose.
//!
//! A sample is about two frames old and is taken with the trigger of its own time, so a stroke begins and ends where
//! the finger did. Between samples the mark follows the skin ([`crate::geom::Walk`]); where there is no short way over
//! the skin it begins anew. A stroke that goes round a limb and comes back to its start is a ring.
//!
//! Where the trigger is pressed at a mark, the mark is pulled, and the skin around it with it: see [`super::pull`].

use super::pull::Pull;
use super::{Desk, Moment};
use crate::base::math::{DVec3, Vec3};
use crate::base::{MarkId, SculptId};
use crate::edit::{Edit, MAX_MARK_POINTS, Sculpt, SurfacePoint, SurfaceStroke};
use crate::editor::{Haptic, SurfaceSample, Tracking};
use crate::geom::Place;
use crate::render::Lines;
use std::f64::consts::TAU;

/// Trigger from which a sample draws, and below which a stroke ends.
const TRIGGER: [f32; 2] = [0.55, 0.35];
/// Skin further from the tip than this is not drawn on, metres of the room.
const REACH: f32 = 0.4;
/// The tip touches skin that is nearer than this, metres of the room.
const CONTACT: f32 = 0.015;
/// Samples nearer to each other than this are one, metres of the room.
const STILL: f32 = 0.002;
/// The way over the skin between two samples is at most this many times as long as that through the air, and a few
/// edges.
const DETOUR: f32 = 2.5;
/// A ring's ends are at most this share of its length apart.
const OPEN: f64 = 0.15;
/// After the trigger was let go, samples of the time before still come for so long, seconds.
const LATE: f64 = 0.15;
/// Marks lie this share of the skin's edges above it.
const LIFT: f32 = 0.1;
/// A mark within this distance of the tip is taken hold of, metres of the room.
const GRASP: f32 = 0.02;
/// Yellow of marks.
pub const MARK: [u8; 4] = [255, 214, 64, 255];

/// What a pull has just changed, and its offsets before, none where it is new.
pub type Pulled = (SculptId, Option<Vec<[f32; 3]>>);

/// The tool.
#[derive(Default)]
pub struct SkinTool {
    points: Vec<SurfacePoint>,
    /// World position of the last sample.
    last: Vec3,
    /// Time of the newest sample seen.
    seen: f64,
    drawing: bool,
    /// The trigger was let go at this time.
    let_go: Option<f64>,
    /// Pressed off a panel, with a tracked hand.
    armed: bool,
    /// The tip is at the skin.
    touches: bool,
    world: Vec<Vec3>,
    places: Vec<Place>,
    pull: Option<Pull>,
}

impl SkinTool {
    /// Whether a stroke is under way.
    pub fn is_busy(&self) -> bool {
        self.drawing || self.pull.is_some()
    }

    /// The edit that is being pulled.
    pub fn shaped(&self) -> Option<&Sculpt> {
        self.pull.as_ref().map(Pull::sculpt)
    }

    /// Drops the stroke under way.
    pub fn cancel(&mut self) {
        (self.drawing, self.armed, self.let_go, self.pull) = (false, false, None, None);
        self.points.clear();
    }

    /// A frame of the tool.
    pub fn step(&mut self, desk: &mut Desk, moment: &mut Moment) -> Option<Pulled> {
        self.take_hold(desk, moment);
        if self.pull.is_some() {
            return self.pull(desk, moment);
        }
        self.draw(desk, moment);
        None
    }

    fn draw(&mut self, desk: &mut Desk, moment: &mut Moment) {
        let hand = moment.hand();
        if hand.trigger.pressed && hand.tip_tracking == Tracking::Tracked {
            (self.armed, self.let_go) = (true, None);
        }
        if !hand.trigger.down && self.armed && self.let_go.is_none() {
            self.let_go = Some(moment.hands.time);
        }
        let fresh = hand.surface.filter(|s| s.time > self.seen && s.time <= moment.hands.time);
        if let Some(sample) = fresh {
            self.seen = sample.time;
            // A sample whose pose was not tracked is not drawn; the next one goes on.
            let distance = sample.position.distance(hand.tip.position);
            let near = distance <= REACH * moment.scale;
            let touches = distance <= CONTACT * moment.scale;
            if self.armed && near && hand.tip_tracking == Tracking::Tracked {
                self.take(desk, moment, &sample);
            }
            if touches && !self.touches {
                moment.feel(moment.tool, Haptic::Contact);
            }
            self.touches = touches;
        }
        let late = self.let_go.is_some_and(|t| moment.hands.time > t + LATE);
        if self.armed && (late || self.points.len() >= MAX_MARK_POINTS / 2) {
            self.finish(desk, moment);
        }
    }

    /// Takes hold of a mark that the trigger is pressed at.
    fn take_hold(&mut self, desk: &Desk, moment: &mut Moment) {
        let hand = moment.hand();
        let tracked = hand.tip_tracking == Tracking::Tracked;
        if self.pull.is_none() && hand.trigger.pressed && tracked && !self.drawing && !hand.on_panel {
            self.pull = Pull::begin(desk, hand.tip.position, GRASP * moment.scale, moment.radius());
            if self.pull.is_some() {
                moment.feel(moment.tool, Haptic::Selection);
            }
        }
    }

    fn pull(&mut self, desk: &mut Desk, moment: &mut Moment) -> Option<Pulled> {
        let hand = moment.hand();
        let pull = self.pull.as_mut()?;
        if hand.trigger.down {
            if hand.tip_tracking == Tracking::Tracked {
                pull.to(hand.tip.position);
            }
            return None;
        }
        let id = pull.sculpt().id;
        let ended = self.pull.take().and_then(Pull::end);
        let done = ended.and_then(|(edit, before)| desk.apply(edit).then_some((id, before)));
        moment.feel(moment.tool, if done.is_some() { Haptic::Selection } else { Haptic::Limit });
        done
    }

    fn take(&mut self, desk: &mut Desk, moment: &mut Moment, sample: &SurfaceSample) {
        if !self.drawing {
            if sample.draw < TRIGGER[0] || sample.triangle as usize >= desk.body.walk.len() {
                return;
            }
            self.drawing = true;
            moment.feel(moment.tool, Haptic::Contact);
        } else if sample.draw < TRIGGER[1] {
            return self.finish(desk, moment);
        }
        let near = !self.points.is_empty() && self.last.distance(sample.position) < STILL * moment.scale;
        if near || sample.triangle as usize >= desk.body.walk.len() {
            return;
        }
        let mut point = point_of(sample);
        if let Some(last) = self.points.last() {
            let longest = DETOUR * self.last.distance(sample.position) + 3.0 * desk.body.edge;
            match between(desk, last, &point, longest) {
                Some(way) => self.points.extend(way),
                None => point.lifted = true,
            }
        }
        self.points.push(point);
        self.last = sample.position;
    }

    fn finish(&mut self, desk: &mut Desk, moment: &mut Moment) {
        let mut points = std::mem::take(&mut self.points);
        self.cancel();
        if points.len() < 2 {
            return;
        }
        let closed = close_ring(desk, &mut points);
        let id = desk.session.document().unused_mark_id();
        let name = format!("{} {}", if closed { "Ring" } else { "Mark" }, id.0 + 1);
        let mark = SurfaceStroke { id, name, points, closed, radius: moment.radius() };
        let done = desk.apply(Edit::AddMark { index: None, mark: Box::new(mark) });
        moment.feel(moment.tool, if done { Haptic::Selection } else { Haptic::Limit });
    }

    /// Shows the marks of the document and the one being drawn. The renderer puts them onto the skin as it is deformed;
    /// who has no skin at hand finds them placed by linear blend skinning.
    pub fn lines(&mut self, desk: &Desk, out: &mut Lines) {
        for mark in desk.session.document().marks() {
            self.show(desk, &mark.points, mark.closed, out);
        }
        let points = std::mem::take(&mut self.points);
        self.show(desk, &points, false, out);
        self.points = points;
    }

    fn show(&mut self, desk: &Desk, points: &[SurfacePoint], closed: bool, out: &mut Lines) {
        for piece in points.chunk_by(|_, b| !b.lifted) {
            self.world.clear();
            self.places.clear();
            for point in piece.iter().chain(piece.first().filter(|_| closed)) {
                if let Some(x) = desk.body.skinned_position(&desk.character, &desk.rig, point) {
                    self.world.push(x);
                    self.places.push((point.triangle, point.barycentrics));
                }
            }
            out.on_surface(&self.places, &self.world, MARK, 3.5, LIFT * desk.body.edge);
        }
    }
}

/// The newest mark.
pub fn newest(desk: &Desk) -> Option<MarkId> {
    desk.session.document().marks().last().map(|m| m.id)
}

fn point_of(sample: &SurfaceSample) -> SurfacePoint {
    // Weights out of a picture leave the triangle by rounding.
    let b = sample.barycentrics.map(|w| w.clamp(0.0, 1.0));
    let sum: f32 = b.iter().sum();
    SurfacePoint {
        triangle: sample.triangle,
        barycentrics: b.map(|w| w / sum),
        pressure: sample.draw.clamp(0.0, 1.0),
        time: sample.time,
        lifted: false,
    }
}

/// The points of the skin between two samples, pressure and time by their number.
fn between(desk: &Desk, a: &SurfacePoint, b: &SurfacePoint, longest: f32) -> Option<Vec<SurfacePoint>> {
    let (from, to) = ((a.triangle, a.barycentrics), (b.triangle, b.barycentrics));
    let way = desk.body.walk.between(&from, &to, &desk.character.control.positions, longest)?;
    let count = way.len() as f32 + 1.0;
    let point = |(i, (triangle, barycentrics)): (usize, (u32, [f32; 3]))| {
        let s = (i as f32 + 1.0) / count;
        SurfacePoint {
            triangle,
            barycentrics,
            pressure: a.pressure + (b.pressure - a.pressure) * s,
            time: a.time + (b.time - a.time) * f64::from(s),
            lifted: false,
        }
    };
    Some(way.into_iter().enumerate().map(point).collect())
}

/// Whether a stroke goes once round the nearest bone and comes back to its start; what goes beyond the start is cut
/// off then, and the way back to it over the skin is added. All in bind space, so that the pose does not matter.
fn close_ring(desk: &Desk, points: &mut Vec<SurfacePoint>) -> bool {
    if points.iter().skip(1).any(|p| p.lifted) {
        return false;
    }
    let bind = |p: &SurfacePoint| desk.body.bind_position(&desk.character, p).map(|x| x.as_dvec3());
    let Some(at) = points.iter().map(bind).collect::<Option<Vec<DVec3>>>() else { return false };
    let centre = at.iter().sum::<DVec3>() / at.len() as f64;
    let bones = desk.character.skeleton.bones.iter().filter(|b| b.head.distance(b.tail) > 0.0);
    let nearest = bones.min_by(|a, b| {
        let distance =
            |b: &crate::rig::Bone| super::body::distance_to_segment(centre.as_vec3(), b.head, b.tail);
        distance(a).total_cmp(&distance(b))
    });
    let Some(bone) = nearest else { return false };
    let head = bone.head.as_dvec3();
    let axis = (bone.tail.as_dvec3() - head).normalize_or_zero();
    let radial = |x: DVec3| (x - head) - axis * axis.dot(x - head);
    let angle = |a: DVec3, b: DVec3| axis.dot(radial(a).cross(radial(b))).atan2(radial(a).dot(radial(b)));
    // The winding after each point, and with the way back to the start.
    let mut winding = vec![0.0];
    for pair in at.windows(2) {
        winding.push(winding[winding.len() - 1] + angle(pair[0], pair[1]));
    }
    let last = at.len() - 1;
    let once = (winding[last] + angle(at[last], at[0])) / TAU;
    if (once.abs() - 1.0).abs() > 1e-3 {
        return false;
    }
    // Beyond a full turn the stroke lies over its own beginning.
    let end = winding.iter().position(|w| w.abs() >= TAU).map_or(last, |i| i.saturating_sub(1).max(1));
    let length: f64 = at[..=end].windows(2).map(|p| p[0].distance(p[1])).sum();
    let gap = at[end].distance(at[0]);
    let edge = f64::from(desk.body.edge);
    if gap > (OPEN * length).max(3.0 * edge) || end < 2 {
        return false;
    }
    let longest = DETOUR * gap as f32 + 3.0 * desk.body.edge;
    let Some(back) = between(desk, &points[end], &points[0], longest) else { return false };
    let time = points[end].time;
    points.truncate(end + 1);
    points.extend(back.into_iter().map(|p| SurfacePoint { time, ..p }));
    true
}
