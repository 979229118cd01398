//! The skin tool (thesis 7.5): surface samples from the tool hand's probe camera form a mark that stays on the skin
//! in any pose.
//!
//! A sample is about two frames old. It carries the trigger value of its own time, so a stroke begins and ends at the
//! right place. Between two samples the mark follows a path over the skin ([`crate::geom::Walk`]). Without a short
//! path, the mark starts a new piece. A stroke that goes around a limb and returns to its start is a ring
//! ([`crate::surface::RingFinder`]), even if it crosses several shells.
//!
//! A trigger press at a mark pulls the mark and the skin around it: see [`super::pull`].

use super::pull::Pull;
use super::{EditContext, Moment};
use crate::base::math::Vec3;
use crate::base::{BoneId, MarkId, SculptId};
use crate::bind::Character;
use crate::document::Edit;
use crate::geom::Place;
use crate::render::Lines;
use crate::scene::SurfaceSample;
use crate::surface::{MAX_MARK_POINTS, Ring, RingFinder, Sculpt, SurfacePoint, SurfaceStroke, close_ring};
use crate::workbench::{Haptic, Tracking};

/// Trigger values above which a sample draws and below which a stroke ends.
const TRIGGER: [f32; 2] = [0.55, 0.35];
/// Maximum distance from the tip to skin that is drawn on, room metres.
const REACH: f32 = 0.4;
/// Maximum distance from the tip to skin that counts as contact, room metres.
const CONTACT: f32 = 0.015;
/// Minimum distance between samples, room metres.
const STILL: f32 = 0.002;
/// Maximum length of the path over the skin between two samples, as a multiple of their straight distance. The limit
/// also includes a few edge lengths.
const DETOUR: f32 = 2.5;
/// Time after the trigger's release during which the stroke still accepts delayed samples, seconds.
const LATE: f64 = 0.15;
/// Height of marks above the skin, as a fraction of the mean edge length.
const LIFT: f32 = 0.1;
/// Maximum distance from the tip to a mark for a pull, room metres.
const GRASP: f32 = 0.02;
/// Colour of marks: yellow.
pub const MARK: [u8; 4] = [255, 214, 64, 255];
/// Colour of a stroke that would close to a ring if it ended here: green.
pub const RING: [u8; 4] = [96, 232, 132, 255];

/// The pulled sculpt layer and its previous offsets; `None` for a new layer.
pub type Pulled = (SculptId, Option<Vec<[f32; 3]>>);

/// State of the skin tool.
#[derive(Default)]
pub struct SkinTool {
    points: Vec<SurfacePoint>,
    /// World position of the last sample.
    last: Vec3,
    /// Time of the newest sample, seconds.
    seen: f64,
    drawing: bool,
    /// Time of the trigger's release, seconds.
    let_go: Option<f64>,
    /// Whether samples may draw: the trigger was pressed away from the panels, with a tracked hand.
    armed: bool,
    /// Whether the tip is in contact with the skin.
    touches: bool,
    world: Vec<Vec3>,
    places: Vec<Place>,
    pull: Option<Pull>,
    finder: RingFinder,
    /// The ring that the current stroke would form if it ended here.
    ring: Option<Ring>,
    /// Describes the current or last stroke; empty without one.
    text: String,
}

impl SkinTool {
    /// Whether a stroke or a pull is in progress.
    pub fn is_busy(&self) -> bool {
        self.drawing || self.pull.is_some()
    }

    /// The sculpt layer that is being pulled.
    pub fn shaped(&self) -> Option<&Sculpt> {
        self.pull.as_ref().map(Pull::sculpt)
    }

    /// Describes the current or last stroke as a ring or an open mark.
    pub fn text(&self) -> Option<&str> {
        Some(self.text.as_str()).filter(|t| !t.is_empty())
    }

    /// Clears the description after another change of the document.
    pub fn document_changed(&mut self) {
        self.text.clear();
    }

    /// Cancels the current stroke or pull.
    pub fn cancel(&mut self) {
        if self.drawing {
            self.text.clear();
        }
        self.put_away();
    }

    /// Updates whether the stroke would form a ring if it ended here. Reuses the text buffer, to avoid allocations.
    fn judge(&mut self, context: &EditContext, moment: &mut Moment) {
        let ring = self.finder.find(&context.character, &self.points, context.body.edge);
        if ring.is_some() && self.ring.is_none() {
            moment.feel(moment.tool, Haptic::Closing);
        }
        let bone = |ring: Option<Ring>| ring.map(|r| r.bone);
        if self.text.is_empty() || bone(ring) != bone(self.ring) {
            self.text.clear();
            match ring {
                Some(ring) => {
                    self.text.push_str("Ring round ");
                    self.text.push_str(bone_name(&context.character, ring.bone));
                }
                None => self.text.push_str("Open mark"),
            }
        }
        self.ring = ring;
    }

    fn put_away(&mut self) {
        (self.drawing, self.armed, self.let_go, self.pull) = (false, false, None, None);
        self.ring = None;
        self.points.clear();
    }

    /// Runs one frame of the tool. Returns the sculpt layer when a pull ends.
    pub fn step(&mut self, context: &mut EditContext, moment: &mut Moment) -> Option<Pulled> {
        self.take_hold(context, moment);
        if self.pull.is_some() {
            return self.pull(context, moment);
        }
        self.draw(context, moment);
        None
    }

    fn draw(&mut self, context: &mut EditContext, moment: &mut Moment) {
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
            // Skips samples while the hand is not tracked; the next tracked sample continues the stroke.
            let distance = sample.position.distance(hand.tip.position);
            let near = distance <= REACH * moment.scale;
            let touches = distance <= CONTACT * moment.scale;
            if self.armed && near && hand.tip_tracking == Tracking::Tracked {
                self.take(context, moment, &sample);
            }
            if touches && !self.touches {
                moment.feel(moment.tool, Haptic::Contact);
            }
            self.touches = touches;
        }
        let late = self.let_go.is_some_and(|t| moment.hands.time > t + LATE);
        if self.armed && (late || self.points.len() >= MAX_MARK_POINTS / 2) {
            self.finish(context, moment);
        }
    }

    /// Starts a pull if the trigger is pressed at a mark.
    fn take_hold(&mut self, context: &EditContext, moment: &mut Moment) {
        let hand = moment.hand();
        let tracked = hand.tip_tracking == Tracking::Tracked;
        if self.pull.is_none() && hand.trigger.pressed && tracked && !self.drawing && !hand.on_panel {
            self.pull = Pull::begin(context, hand.tip.position, GRASP * moment.scale, moment.radius());
            if self.pull.is_some() {
                moment.feel(moment.tool, Haptic::Selection);
            }
        }
    }

    fn pull(&mut self, context: &mut EditContext, moment: &mut Moment) -> Option<Pulled> {
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
        let done = ended.and_then(|(edit, before)| context.apply(edit).then_some((id, before)));
        moment.feel(moment.tool, if done.is_some() { Haptic::Selection } else { Haptic::Limit });
        done
    }

    fn take(&mut self, context: &mut EditContext, moment: &mut Moment, sample: &SurfaceSample) {
        if !self.drawing {
            if sample.draw < TRIGGER[0] || sample.triangle as usize >= context.body.walk.len() {
                return;
            }
            self.drawing = true;
            self.text.clear();
            moment.feel(moment.tool, Haptic::Contact);
        } else if sample.draw < TRIGGER[1] {
            return self.finish(context, moment);
        }
        let near = !self.points.is_empty() && self.last.distance(sample.position) < STILL * moment.scale;
        if near || sample.triangle as usize >= context.body.walk.len() {
            return;
        }
        let mut point = point_of(sample);
        if let Some(last) = self.points.last() {
            let longest = DETOUR * self.last.distance(sample.position) + 3.0 * context.body.edge;
            match between(context, last, &point, longest) {
                Some(way) => self.points.extend(way),
                None => point.lifted = true,
            }
        }
        self.points.push(point);
        self.last = sample.position;
        self.judge(context, moment);
    }

    fn finish(&mut self, context: &mut EditContext, moment: &mut Moment) {
        let mut points = std::mem::take(&mut self.points);
        let ring = self.ring;
        self.put_away();
        if points.len() < 2 {
            self.text.clear();
            return;
        }
        let closed = ring.is_some();
        if let Some(ring) = ring {
            let (end, start) = (points[ring.end], points[0]);
            let at = |p| context.body.bind_position(&context.character, p).unwrap_or_default();
            let longest = DETOUR * at(&end).distance(at(&start)) + 3.0 * context.body.edge;
            let back = between(context, &end, &start, longest);
            close_ring(&context.character, ring, &mut points, back);
        }
        let id = context.session.document().unused_mark_id();
        let name = format!("{} {}", if closed { "Ring" } else { "Mark" }, id.0 + 1);
        let mark = SurfaceStroke { id, name, points, closed, radius: moment.radius() };
        let done = context.apply(Edit::AddMark { index: None, mark: Box::new(mark) });
        moment.feel(moment.tool, if done { Haptic::Selection } else { Haptic::Limit });
    }

    /// Draws the document's marks and the current stroke. The renderer projects the lines onto the deformed skin;
    /// without a deformed skin they keep their positions from linear blend skinning.
    pub fn lines(&mut self, context: &EditContext, out: &mut Lines) {
        for mark in context.session.document().marks() {
            self.show(context, &mark.points, mark.closed, MARK, out);
        }
        let points = std::mem::take(&mut self.points);
        match self.ring {
            // Draws the ring closed before the stroke ends, to show where it will close.
            Some(ring) => self.show(context, &points[..=ring.end], true, RING, out),
            None => self.show(context, &points, false, MARK, out),
        }
        self.points = points;
    }

    /// Draws a mark. A ring is one closed line even where successive points lie on different shells; an open mark has a
    /// gap there.
    fn show(
        &mut self,
        context: &EditContext,
        points: &[SurfacePoint],
        closed: bool,
        color: [u8; 4],
        out: &mut Lines,
    ) {
        for piece in points.chunk_by(|_, b| closed || !b.lifted) {
            self.world.clear();
            self.places.clear();
            for point in piece.iter().chain(piece.first().filter(|_| closed)) {
                if let Some(x) = context.body.skinned_position(&context.character, &context.rig, point) {
                    self.world.push(x);
                    self.places.push((point.triangle, point.barycentrics));
                }
            }
            out.on_surface(&self.places, &self.world, color, 3.5, LIFT * context.body.edge);
        }
    }
}

/// Id of the newest mark in the document.
pub fn newest(context: &EditContext) -> Option<MarkId> {
    context.session.document().marks().last().map(|m| m.id)
}

/// Name of the joint that moves a bone.
fn bone_name(character: &Character, bone: BoneId) -> &str {
    let skeleton = &character.skeleton;
    let joint = &skeleton.joints[skeleton.bones[bone.index()].parent.index()];
    &skeleton.nodes[joint.node.index()].name
}

pub(super) fn point_of(sample: &SurfaceSample) -> SurfacePoint {
    // Rounding in the rendered image can move barycentric coordinates out of the triangle.
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

/// Skin points on the path between two samples, with interpolated pressure and time.
pub(super) fn between(
    context: &EditContext,
    a: &SurfacePoint,
    b: &SurfacePoint,
    longest: f32,
) -> Option<Vec<SurfacePoint>> {
    let (from, to) = ((a.triangle, a.barycentrics), (b.triangle, b.barycentrics));
    let way = context.body.walk.between(&from, &to, &context.character.control.positions, longest)?;
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
