//! The skin tool (thesis 7.5): surface samples from the tool hand's probe camera form a mark that stays on the skin
//! in any pose.
//!
//! A sample reaches the tool about two frames after the probe camera took it. The sample contains the trigger value of
//! the frame in which it was taken, so a stroke begins and ends at the right place. Between two samples the mark
//! follows a path over the skin ([`crate::geom::Walk`]). Without a short path, the mark starts a new piece. A stroke
//! that goes around a limb and returns to its start is a ring ([`crate::surface::RingFinder`]), even if it crosses
//! several shells.
//!
//! In the window, a stroke that begins and ends beside the body crosses a limb in the picture; it becomes the ring in the
//! plane through the stroke and the eye ([`crate::surface::ring_across`]).
//!
//! [`MarkBy`] chooses what a trigger press at a mark does: a pull of the mark and the skin around it
//! ([`super::pull`]), the offset stroke of the newest mark ([`super::offset`]), or a drag of a knot ([`super::knots`]).

mod follow;
mod marks;
mod touch;

pub use touch::Touch;

use super::knots::{Drag, Knot, Knots};
use super::offset::{Offset, Seen, mark_positions};
use super::other_side::LiveImage;
use super::paint::paint;
use super::pull::{self, Pull, Pulled};
use super::{EditContext, Moment};
use crate::base::math::Vec3;
use crate::base::{BoneId, MarkId};
use crate::bind::Character;
use crate::document::Edit;
use crate::geom::Place;
use crate::render::{BASELINE, Lines, OFFSET};
use crate::scene::SurfaceSample;
use crate::surface::{
    MAX_MARK_POINTS, Ring, RingFinder, Sculpt, SurfacePoint, SurfaceStroke, close_ring, ring_across,
};
use crate::workbench::{Haptic, MarkBy, Notice, Pen, Tracking};

/// Trigger values above which a sample draws and below which a stroke ends.
const TRIGGER: [f32; 2] = [0.55, 0.35];
/// Maximum distance from the tip to skin that is drawn on, room metres.
pub(super) const REACH: f32 = 0.4;
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
/// Maximum distance from the tip to a knot for dragging, room metres.
const KNOT: f32 = 0.025;
/// Colour of marks: yellow.
pub const MARK: [u8; 4] = [255, 214, 64, 255];
/// Colour of the mark or knot that a press would take: white.
const LIT: [u8; 4] = [255; 4];
/// Colour of a stroke that would close to a ring if it ended here: green.
pub const RING: [u8; 4] = [96, 232, 132, 255];

/// State of the skin tool.
#[derive(Default)]
pub struct SkinTool {
    points: Vec<SurfacePoint>,
    /// World position of the last point.
    last: Vec3,
    /// The newest sample of the stroke of a steady pen.
    tip: Option<SurfaceSample>,
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
    /// The mark that a press would pull.
    near: Option<MarkId>,
    /// The mark that receives the next stroke as its offset stroke.
    open: Option<MarkId>,
    offset: Option<Offset>,
    /// The mirror image of the layer that is being pulled, or moved by an offset stroke.
    image: Option<LiveImage>,
    /// How the newest drawn mark differs from linear blend skinning.
    shown: Seen,
    /// The sampled points of the current stroke with their measured positions, world space.
    measured: Vec<(SurfacePoint, Vec3)>,
    knots: Knots,
    drag: Option<Drag>,
    hover: Option<Knot>,
    across: Across,
    finder: RingFinder,
    /// The ring that the current stroke would form if it ended here.
    ring: Option<Ring>,
    /// Describes the current or last stroke; empty without one.
    text: String,
}

/// What is known of a stroke that may cross a limb in the picture.
#[derive(Default)]
struct Across {
    /// Tip at the press and at the last frame, world space.
    ends: [Vec3; 2],
    /// Whether the stroke began beside the body.
    began_off: bool,
    /// Whether the stroke is beside the body now.
    off: bool,
    /// Positions of all control vertices after linear blend skinning, world space, metres; empty until the stroke needs them.
    /// The pose stays the same during a stroke.
    posed: Vec<Vec3>,
    /// The ring that the stroke would form if it ended here, for the display.
    ring: Option<Vec<SurfacePoint>>,
}

impl SkinTool {
    /// Whether a stroke or a pull is in progress.
    pub fn is_busy(&self) -> bool {
        self.drawing || self.pull.is_some() || self.offset.is_some() || self.drag.is_some()
    }

    /// The sculpt layer that is being pulled, or moved by an offset stroke.
    pub fn shaped(&self) -> Option<&Sculpt> {
        self.pull.as_ref().map(Pull::sculpt).or(self.offset.as_ref().map(Offset::sculpt))
    }

    /// The mirror image of [`Self::shaped`], with mirror on.
    pub fn mirrored(&self) -> Option<&Sculpt> {
        self.image.as_ref().filter(|_| self.shaped().is_some()).map(LiveImage::sculpt)
    }

    /// The mark that receives the next stroke as its offset stroke.
    pub fn open(&self) -> Option<MarkId> {
        self.open
    }

    /// Whether the hand moves in the air instead of over the skin, because it pulls a mark or draws an offset stroke.
    pub fn is_in_air(&self) -> bool {
        self.pull.is_some() || self.open.is_some()
    }

    /// Makes the next stroke the offset stroke of a mark, or of the newest mark. Returns false if there is no mark.
    pub fn redraw(&mut self, context: &EditContext, mark: Option<MarkId>) -> bool {
        let marks = context.session.document().marks();
        let mark = mark.filter(|id| marks.iter().any(|m| m.id == *id));
        self.open = mark.or(marks.last().map(|m| m.id));
        self.open.is_some()
    }

    /// Positions of the points of a mark in the displayed pose, world space, metres.
    pub fn mark_positions(&self, context: &EditContext, id: MarkId) -> Option<Vec<Vec3>> {
        let mark = context.session.document().marks().iter().find(|m| m.id == id)?;
        mark_positions(context, mark, &self.shown)
    }

    /// Describes the current or last stroke as a ring or an open mark.
    pub fn text(&self) -> Option<&str> {
        Some(self.text.as_str()).filter(|t| !t.is_empty())
    }

    /// Clears the description after another change of the document. Forgets a mark that is gone.
    pub fn document_changed(&mut self, context: &EditContext) {
        self.text.clear();
        let marks = context.session.document().marks();
        self.open = self.open.filter(|id| marks.iter().any(|m| m.id == *id));
    }

    /// No longer waits for an offset stroke.
    pub fn close(&mut self) {
        self.open = None;
    }

    /// Cancels the current stroke, pull or drag.
    pub fn cancel(&mut self) {
        if self.drawing {
            self.text.clear();
        }
        self.put_away();
    }

    /// Updates whether the stroke would form a ring if it ended here. Reuses the text buffer, to avoid allocations.
    fn judge(&mut self, context: &EditContext, moment: &mut Moment) {
        if moment.preferences.marks == MarkBy::Paint {
            return;
        }
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
        (self.offset, self.drag, self.across) = (None, None, Across::default());
        (self.ring, self.tip) = (None, None);
        self.points.clear();
        self.measured.clear();
    }

    /// Runs one frame of the tool. Returns the sculpt layers that changed when a pull or an offset stroke ends. `eye` is
    /// the eye of the window, world space; `None` in a headset.
    pub fn step(&mut self, context: &mut EditContext, moment: &mut Moment, eye: Option<Vec3>) -> Vec<Pulled> {
        let held = self.shaped().is_some();
        let changed = self.act(context, moment, eye);
        let mut image = self.image.take();
        if let Some(own) = self.shaped() {
            if !held {
                image = moment.mirrors().then(|| LiveImage::new(context, own)).flatten();
            }
            image.iter_mut().for_each(|image| image.follow(context, own));
            self.image = image;
        }
        changed
    }

    fn act(&mut self, context: &mut EditContext, moment: &mut Moment, eye: Option<Vec3>) -> Vec<Pulled> {
        match moment.preferences.marks {
            MarkBy::Pull => {
                self.take_hold(context, moment);
                if self.pull.is_some() {
                    return self.pull(context, moment);
                }
            }
            MarkBy::Offset if self.open.is_some() => return self.draw_offset(context, moment),
            MarkBy::Knots => {
                if self.drag_knot(context, moment) {
                    return Vec::new();
                }
            }
            MarkBy::Offset | MarkBy::Paint => {}
        }
        self.draw(context, moment, eye);
        Vec::new()
    }

    fn draw(&mut self, context: &mut EditContext, moment: &mut Moment, eye: Option<Vec3>) {
        let hand = moment.hand();
        if hand.trigger.pressed && hand.tip_tracking == Tracking::Tracked {
            (self.armed, self.let_go) = (true, None);
            self.across = Across { ends: [hand.tip.position; 2], ..Across::default() };
        }
        if self.armed && hand.off_skin {
            let end = self.across.ends[1];
            if hand.tip_tracking == Tracking::Tracked {
                self.across.ends[1] = hand.tip.position;
            }
            let moved = self.across.ends[1] != end || !self.across.off;
            self.across.off = true;
            self.across.began_off |= self.points.is_empty();
            if moved && let Some(eye) = eye.filter(|_| moment.preferences.marks != MarkBy::Paint) {
                self.across.ring = self.cut(context, eye);
                let text = if self.across.ring.is_some() { "Ring across the limb" } else { "Open mark" };
                if !self.points.is_empty() && self.ring.is_none() && self.text != text {
                    self.text.clear();
                    self.text.push_str(text);
                }
            }
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
                self.take(context, moment, &sample, eye);
            }
            if touches && !self.touches {
                moment.feel(moment.tool, Haptic::Contact);
            }
            self.touches = touches;
        }
        let late = self.let_go.is_some_and(|t| moment.hands.time > t + LATE);
        if self.armed && (late || self.points.len() >= MAX_MARK_POINTS / 2) {
            self.finish(context, moment, eye);
        }
    }

    /// Finds the mark at the tip, which lights up, and starts a pull of it if the trigger is pressed.
    fn take_hold(&mut self, context: &EditContext, moment: &mut Moment) {
        if self.pull.is_some() {
            return;
        }
        let hand = moment.hand();
        let (tracked, off_skin) = (hand.tip_tracking == Tracking::Tracked, hand.off_skin);
        let (grasp, pressed) = (GRASP * moment.scale, hand.trigger.pressed);
        let free = tracked && !self.drawing && (pressed || !self.armed) && !hand.on_panel;
        let touch = Touch::of(context, moment, grasp);
        let found = if free { pull::nearest(context, &touch, grasp) } else { None };
        let near = found.map(|(mark, _)| mark.id);
        if near.is_some() && near != self.near && !pressed {
            moment.feel(moment.tool, Haptic::Hover);
        }
        // Until the skin under a moving mouse is known, the mark stays lit.
        if tracked || off_skin {
            self.near = near;
        }
        let new = (moment.reach(context.body.edge), moment.preferences.surroundings);
        self.pull = found.filter(|_| pressed).and_then(|at| Pull::begin(context, &touch, at, new));
        if self.pull.is_some() {
            moment.feel(moment.tool, Haptic::Selection);
        }
    }

    fn pull(&mut self, context: &mut EditContext, moment: &mut Moment) -> Vec<Pulled> {
        let hand = moment.hand();
        let Some(pull) = &mut self.pull else { return Vec::new() };
        if hand.trigger.down {
            if hand.tip_tracking == Tracking::Tracked {
                pull.to(hand.tip.position);
            }
            return Vec::new();
        }
        match self.pull.take().and_then(Pull::end) {
            Some((layer, before)) => keep(context, moment, layer, before),
            None => {
                moment.feel(moment.tool, Haptic::Limit);
                Vec::new()
            }
        }
    }

    fn take(
        &mut self,
        context: &mut EditContext,
        moment: &mut Moment,
        sample: &SurfaceSample,
        eye: Option<Vec3>,
    ) {
        if !self.drawing {
            if sample.draw < TRIGGER[0] || sample.triangle as usize >= context.body.walk.len() {
                return;
            }
            self.drawing = true;
            self.text.clear();
            moment.feel(moment.tool, Haptic::Contact);
        } else if sample.draw < TRIGGER[1] {
            return self.finish(context, moment, eye);
        }
        (self.across.off, self.across.ring) = (false, None);
        let near = !self.points.is_empty() && self.last.distance(sample.position) < STILL * moment.scale;
        if near || sample.triangle as usize >= context.body.walk.len() {
            return;
        }
        self.tip = Some(*sample).filter(|_| moment.pen == Pen::Steady);
        if self.follow(context, sample, moment.pen, moment.scale) {
            self.judge(context, moment);
        }
    }

    /// Returns the ring of a stroke that began beside the body and is beside it again: the cut of the limb in the plane
    /// through the stroke and the eye of the window. `None` if the stroke cuts no limb, or is already a ring.
    fn cut(&mut self, context: &EditContext, eye: Vec3) -> Option<Vec<SurfacePoint>> {
        let Across { ends, began_off, off, .. } = self.across;
        if !(began_off && off) || self.ring.is_some() || self.points.is_empty() {
            return None;
        }
        let [a, b] = ends.map(|x| x - eye);
        if self.across.posed.is_empty() {
            self.across.posed = context.body.skinned(&context.character, &context.rig);
        }
        let hidden = context.session.document().hidden();
        let parts = &context.character.display.parts;
        let visible = |t: u32| {
            let hides = |p: &u32| parts.get(*p as usize).is_some_and(|p| p.triangles.contains(&t));
            !hidden.iter().any(hides)
        };
        let (body, plane) = (&context.body, (eye, a.cross(b)));
        ring_across(&context.character, &body.walk, &self.across.posed, &self.points, &visible, plane)
    }

    fn finish(&mut self, context: &mut EditContext, moment: &mut Moment, eye: Option<Vec3>) {
        // The stroke of a steady pen ends at the tip.
        let still = |tip: &SurfaceSample| self.last.distance(tip.position) < STILL * moment.scale;
        if let Some(tip) = self.tip.take().filter(|tip| !still(tip))
            && self.follow(context, &tip, Pen::Free, moment.scale)
        {
            self.judge(context, moment);
        }
        let paints = moment.preferences.marks == MarkBy::Paint;
        let cut = eye.filter(|_| !paints).and_then(|eye| self.cut(context, eye));
        let mut points = std::mem::take(&mut self.points);
        let measured = std::mem::take(&mut self.measured);
        let ring = self.ring;
        self.put_away();
        if paints {
            self.text.clear();
            let p = moment.preferences;
            let edit = paint(context, &points, moment.radius(), p.paint, p.mirror);
            let done = match edit {
                _ if points.is_empty() => false,
                Ok(edit) => context.apply(edit),
                Err(error) => {
                    context.refuse(&error);
                    false
                }
            };
            return moment.feel(moment.tool, if done { Haptic::Selection } else { Haptic::Limit });
        }
        if points.len() < 2 && cut.is_none() {
            self.text.clear();
            if !points.is_empty() {
                context.notice = Some(Notice::fact(match moment.preferences.marks {
                    MarkBy::Pull => "drag over the skin to draw; where a mark lights up, a drag pulls it",
                    MarkBy::Knots => "drag over the skin to draw; where a knot lights up, a drag moves it",
                    MarkBy::Offset | MarkBy::Paint => "drag over the skin to draw",
                }));
            } else if eye.is_none() {
                let reach = (REACH * 100.0).round();
                context.notice =
                    Some(format!("hold the tip within {reach} cm of the skin and point at it").into());
                moment.feel(moment.tool, Haptic::Limit);
            }
            return;
        }
        let closed = ring.is_some() || cut.is_some();
        if let Some(cut) = cut {
            points = cut;
        }
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
        let seen = Seen::new(context, &mark, &measured);
        let other = moment.mirrors().then(|| context.other_mark(&mark));
        let add = |mark| Edit::AddMark { index: None, mark: Box::new(mark) };
        let done = match &other {
            Some(Ok(other)) if !other.known => {
                context.apply(Edit::Group(vec![add(mark), add(other.mark.clone())]))
            }
            _ => context.apply(add(mark)),
        };
        if let (true, Some(Err(error))) = (done, &other) {
            context.notice = Some(Notice::fact(format!("mirror: {error}")));
        }
        if done {
            self.shown = seen;
            self.open = (moment.preferences.marks == MarkBy::Offset).then_some(id);
        }
        moment.feel(moment.tool, if done { Haptic::Selection } else { Haptic::Limit });
    }

    /// Draws the document's marks and the current stroke. The renderer projects the lines onto the deformed skin;
    /// without a deformed skin they keep their positions from linear blend skinning. `at_marks` is what a press at a
    /// mark does while the user has the skin tool.
    pub fn lines(&mut self, context: &EditContext, at_marks: Option<MarkBy>, out: &mut Lines) {
        let dragged = self.drag.as_ref().map(|d| d.now.id);
        for mark in context.session.document().marks().iter().filter(|m| Some(m.id) != dragged) {
            let lit = at_marks == Some(MarkBy::Pull) && self.near == Some(mark.id);
            let color = match mark.id {
                id if self.open == Some(id) => BASELINE,
                _ if lit => LIT,
                _ => MARK,
            };
            self.show(context, &mark.points, mark.closed, color, out);
        }
        if let Some(drag) = self.drag.take() {
            self.show(context, &drag.now.points, drag.now.closed, MARK, out);
            self.drag = Some(drag);
        }
        if at_marks == Some(MarkBy::Knots) {
            self.knots.update(context);
            let lift = LIFT * context.body.edge;
            self.knots.dots(context, dragged, self.hover, |point, x, hover| {
                let (color, width) = if hover { (LIT, 12.0) } else { (MARK, 8.0) };
                out.dot_on_surface((point.triangle, point.barycentrics), x, color, width, lift);
            });
        }
        if let Some(offset) = &self.offset {
            out.stroke(&offset.points, OFFSET, 3.0);
        }
        let points = std::mem::take(&mut self.points);
        let across = self.across.ring.take();
        // Draws the ring closed before the stroke ends, to show where it will close.
        match (self.ring, &across) {
            (Some(ring), _) => self.show(context, &points[..=ring.end], true, RING, out),
            (None, Some(ring)) => self.show(context, ring, true, RING, out),
            (None, None) => self.show(context, &points, false, MARK, out),
        }
        (self.points, self.across.ring) = (points, across);
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

/// Records a changed layer, with mirror also that of the other side. Returns the changed layers.
fn keep(
    context: &mut EditContext,
    moment: &mut Moment,
    layer: Sculpt,
    before: Option<Vec<[f32; 3]>>,
) -> Vec<Pulled> {
    let changed = context.keep_layer(layer, before, moment.mirrors());
    moment.feel(moment.tool, if changed.is_empty() { Haptic::Limit } else { Haptic::Selection });
    changed
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
