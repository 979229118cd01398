//! The grip tool: points and regions of the skin that the method FAST moves (Jacobson et al. 2012, figures 7 and 13).
//!
//! A trigger press on the skin adds a point. A stroke on the skin that returns to its start adds the region inside. A
//! trigger press at a grip lets the hand move the grip; a region that holds position and rotation also rotates with the
//! hand. A squeeze at a grip changes what the grip holds. With *Mirror*, the tool does the same on the other side of
//! the body (`grip/mirror.rs`).

mod mirror;
mod shown;

use super::skin::{REACH, between, point_of};
use super::{EditContext, Moment, held_color};
use crate::base::math::{Quat, Vec3, rotation_of};
use crate::base::{GripId, Version};
use crate::cage::Coupling;
use crate::deform::Geometric;
use crate::document::Edit;
use crate::geom::Place;
use crate::render::Lines;
use crate::rig::{GripHold, GripPose, Pose, PosedRig};
use crate::scene::SurfaceSample;
use crate::surface::{Grip, SurfacePoint};
use crate::workbench::{Haptic, Rigid, Tracking};
use shown::{ShownGrip, drawn};
use std::sync::Arc;

/// Trigger value below which a sample ends a stroke.
const RELEASED: f32 = 0.35;
/// Maximum distance from the tip to a grip that can be grabbed, room metres.
const GRASP: f32 = 0.03;
/// Minimum distance between samples, room metres.
const STILL: f32 = 0.002;
/// Maximum motion of the hand that counts as none, room metres.
const UNMOVED: f32 = 0.001;
/// Maximum length of the path over the skin between two samples, as a multiple of their straight distance.
const DETOUR: f32 = 2.5;
/// Size of the mark around a point, as a fraction of an edge.
const MARK: f32 = 0.4;
/// Height of lines above the skin, as a fraction of the mean edge length.
const LIFT: f32 = 0.1;
/// Colour of the outline of a region, and of a stroke.
const OUTLINE: [u8; 4] = [96, 160, 255, 255];
const STROKE: [u8; 4] = [255, 214, 64, 255];

/// Returns the colour of a grip: free green, position yellow, full red.
pub fn color_of(hold: GripHold) -> [u8; 4] {
    match hold {
        GripHold::Free => [96, 232, 132, 255],
        GripHold::Position => [255, 214, 64, 255],
        GripHold::Full => [244, 84, 84, 255],
    }
}

/// A grip that a hand moves.
struct HeldGrip {
    id: GripId,
    /// The grip when the hold began, with what it holds from then on.
    start: GripPose,
    /// What the grip held before.
    before: GripHold,
    /// The partner on the other side, as `start`, and what it held before.
    partner: Option<(GripPose, GripHold)>,
    hand: Rigid,
    moved: bool,
}

/// State of the grip tool.
#[derive(Default)]
pub struct GripTool {
    shown: Vec<ShownGrip>,
    /// Document revision of `shown`, and the coupling with its cage.
    revision: Option<Version>,
    coupling: Option<Arc<Coupling>>,
    hover: Option<GripId>,
    /// The grip that commands change.
    selected: Option<GripId>,
    held: Option<Box<HeldGrip>>,
    points: Vec<SurfacePoint>,
    /// Samples of the stroke.
    seen: Vec<SurfaceSample>,
    drawing: bool,
    world: Vec<Vec3>,
    places: Vec<Place>,
}

/// Whether the skin follows grips: the method is FAST, without `volume`.
pub(super) fn follows_grips(context: &EditContext) -> bool {
    let recipe = context.session.document().deformer().recipe();
    recipe.is_ok_and(|r| matches!(r.geometric, Geometric::Fast(_)) && r.volume.is_none())
}

impl GripTool {
    /// Whether a grip is held or a stroke is drawn.
    pub fn is_busy(&self) -> bool {
        self.drawing || self.held.is_some()
    }

    /// Whether the hand is at a grip.
    pub fn is_at_grip(&self) -> bool {
        self.hover.is_some()
    }

    /// The grip that commands change: the one that was touched last.
    pub fn selected(&self) -> Option<GripId> {
        self.selected
    }

    /// Selects a grip.
    pub fn select(&mut self, id: Option<GripId>) {
        self.selected = id;
    }

    /// Places of all displayed grips that hold something, world space, metres.
    pub fn places(&self, context: &EditContext) -> impl Iterator<Item = Vec3> {
        let place = |g: &GripPose| {
            let shown = self.shown.iter().find(|s| s.id == g.id)?;
            (g.hold != GripHold::Free).then(|| shown.place(context, g))
        };
        context.pose.grips.iter().filter_map(place)
    }

    /// Cancels the hold or the stroke.
    pub fn cancel(&mut self, context: &mut EditContext) {
        (self.drawing, self.hover) = (false, None);
        self.points.clear();
        self.seen.clear();
        if self.held.take().is_some() {
            context.show_document();
        }
    }

    /// Prepares the document's grips for display, if the document has changed.
    fn follow(&mut self, context: &EditContext) {
        let revision = context.session.revision();
        let coupled = match (&self.coupling, &context.coupling) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if self.revision == Some(revision) && coupled {
            return;
        }
        self.revision = Some(revision);
        self.coupling.clone_from(&context.coupling);
        let grips = context.session.document().grips();
        let same = coupled
            && grips.len() == self.shown.len()
            && grips.iter().zip(&self.shown).all(|(g, s)| {
                g.id == s.id
                    && g.vertices.count() == s.vertices.len()
                    && g.vertices.iter().eq(s.vertices.iter().copied())
            });
        if !same {
            let skeleton = &context.character.skeleton;
            let rest = PosedRig::new(skeleton, &Pose::rest(skeleton));
            self.shown = grips.iter().map(|g| ShownGrip::new(context, g, &rest)).collect();
        }
        let exists = |id: &GripId| grips.iter().any(|g| g.id == *id);
        self.selected = self.selected.filter(exists);
        self.hover = self.hover.filter(exists);
    }

    /// Runs one frame.
    pub fn step(&mut self, context: &mut EditContext, moment: &mut Moment) {
        self.follow(context);
        if self.held.is_some() {
            self.hold(context, moment);
        } else if self.drawing {
            self.draw(context, moment);
        } else {
            self.idle(context, moment);
        }
    }

    fn idle(&mut self, context: &mut EditContext, moment: &mut Moment) {
        let hand = moment.hand();
        let usable = hand.tip_tracking == Tracking::Tracked && !hand.on_panel;
        let near = |s: &SurfaceSample| s.position.distance(hand.tip.position) <= REACH * moment.scale;
        let sample = hand.surface.filter(|s| usable && near(s));
        let (tip, pressed) = (hand.tip, hand.trigger.pressed && usable);
        let squeezed = hand.squeeze.pressed && usable;
        let hover = if usable { self.at(context, tip.position, sample.as_ref(), moment.scale) } else { None };
        if hover.is_some() && hover != self.hover {
            moment.feel(moment.tool, Haptic::Hover);
        }
        self.hover = hover;
        if let (Some(id), true) = (hover, squeezed) {
            self.selected = Some(id);
            let done = self.switch_hold(context, sample.as_ref(), moment.preferences.mirror);
            moment.feel(moment.tool, if done { Haptic::Selection } else { Haptic::Limit });
            return;
        }
        if !pressed {
            return;
        }
        if let Some(id) = hover {
            self.take(context, id, (tip, moment.preferences.mirror), sample.as_ref());
            moment.feel(moment.tool, Haptic::Selection);
        } else if let Some(sample) = sample.filter(|s| (s.triangle as usize) < context.body.walk.len()) {
            self.drawing = true;
            self.points.clear();
            self.points.push(point_of(&sample));
            self.seen.clear();
            self.seen.push(sample);
            moment.feel(moment.tool, Haptic::Contact);
        } else {
            context.notice = Some("point at the skin, or at a grip".into());
            moment.feel(moment.tool, Haptic::Limit);
        }
    }

    /// Returns the grip at the tip: the nearest one that holds its place, or the one whose part of the skin is there.
    fn at(
        &self,
        context: &EditContext,
        tip: Vec3,
        sample: Option<&SurfaceSample>,
        scale: f32,
    ) -> Option<GripId> {
        let held = |g: &GripPose| {
            let shown = self.shown.iter().find(|s| s.id == g.id)?;
            let distance = shown.place(context, g).distance(tip);
            (g.hold != GripHold::Free && distance <= GRASP * scale).then_some((distance, g.id))
        };
        let nearest = context.pose.grips.iter().filter_map(held).min_by(|a, b| a.0.total_cmp(&b.0));
        let sample = sample.filter(|_| nearest.is_none());
        let on_skin = sample.and_then(|sample| {
            let point = point_of(sample);
            let x = context.body.bind_position(&context.character, &point)?;
            let corners = context.body.walk.corners(point.triangle)?;
            let near = |s: &&ShownGrip| match s.region {
                true => corners.iter().all(|v| s.vertices.binary_search(v).is_ok()),
                false => s.bind.distance(x) <= (GRASP * scale).min(1.5 * context.body.edge),
            };
            // A point inside a region comes first.
            let all = self.shown.iter().filter(near).map(|s| (s.region, s.bind.distance(x), s.id));
            all.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|s| s.2)
        });
        nearest.map(|n| n.1).or(on_skin)
    }

    /// Returns the place of a point that the skin shows at a sample; `None` for a region, whose place is not known.
    fn seen(&self, context: &EditContext, id: GripId, sample: Option<&SurfaceSample>) -> Option<Vec3> {
        self.shown.iter().find(|s| s.id == id && !s.region)?.seen(context, sample?)
    }

    fn take(
        &mut self,
        context: &EditContext,
        id: GripId,
        (hand, mirror): (Rigid, bool),
        sample: Option<&SurfaceSample>,
    ) {
        self.selected = Some(id);
        let find = |id: GripId| context.pose.grips.iter().find(|g| g.id == id).copied();
        let Some(now) = find(id) else { return };
        let mut start = now;
        if now.hold == GripHold::Free {
            start.hold = GripHold::Position;
            if let Some(seen) = self.seen(context, id, sample) {
                start.translation = seen.to_array();
            }
        }
        let partner = self.partner(context, id).filter(|_| mirror).and_then(|p| find(p.id));
        // A free partner starts to hold its place together with the grip.
        let partner = partner.filter(|p| p.hold != GripHold::Free || now.hold == GripHold::Free);
        let partner = partner.map(|before| {
            let mut partner = before;
            if before.hold == GripHold::Free {
                partner.hold = start.hold;
                let to = self.reflected(context, &start, before.id);
                partner.translation = to.map_or(before.translation, |to| to.to_array());
            }
            (partner, before.hold)
        });
        self.held = Some(Box::new(HeldGrip { id, start, before: now.hold, partner, hand, moved: false }));
    }

    /// Whether a hand holds a grip.
    pub fn is_holding(&self) -> bool {
        self.held.is_some()
    }

    /// Writes the held grip and its partner, as they were when the hold began, into a pose.
    pub fn begin(&self, pose: &mut Pose) {
        if let Some(held) = &self.held {
            std::iter::once(held.start).chain(held.partner.map(|p| p.0)).for_each(|grip| put(pose, grip));
        }
    }

    /// Shows the motion that plays beneath a recording; the held grip and its partner stay with the hand.
    pub fn ride(&self, context: &mut EditContext) {
        let (Some(held), Some(beneath)) = (&self.held, &context.beneath) else { return };
        let mut pose = beneath.clone();
        let own = |g: &&GripPose| g.id == held.id || held.partner.is_some_and(|p| p.0.id == g.id);
        context.pose.grips.iter().filter(own).for_each(|grip| put(&mut pose, *grip));
        context.show(&pose);
    }

    fn hold(&mut self, context: &mut EditContext, moment: &mut Moment) {
        let hand = moment.hand();
        let Some(mut held) = self.held.take() else { return };
        let Some(shown) = self.shown.iter().find(|s| s.id == held.id) else { return };
        let way = hand.tip.position - held.hand.position;
        let turn = (hand.tip.orientation * held.hand.orientation.inverse()).normalize();
        if hand.tip_tracking == Tracking::Tracked && hand.trigger.down {
            held.moved |= way.length() > UNMOVED * moment.scale;
            held.moved |= held.start.hold == GripHold::Full && turn.angle_between(Quat::IDENTITY) > 0.01;
            if held.moved {
                let model = shown.world_from_model(&context.rig);
                let by = model.inverse().transform_vector3(way);
                let mut now = held.start;
                now.translation = (held.start.translation() + by).to_array();
                if now.hold == GripHold::Full {
                    let space = rotation_of(&model);
                    let own = space.inverse() * turn * space;
                    now.rotation = (own * held.start.rotation()).normalize().to_array();
                }
                let partner =
                    held.partner.as_ref().and_then(|(p, _)| self.followed(context, [&held.start, &now], p));
                let mut pose = context.pose.clone();
                for new in std::iter::once(now).chain(partner) {
                    put(&mut pose, new);
                }
                context.show(&pose);
            }
        }
        if moment.hand().trigger.down {
            self.held = Some(held);
        } else if held.moved {
            commit(context, &held);
            moment.feel(moment.tool, Haptic::Contact);
        }
    }

    fn draw(&mut self, context: &mut EditContext, moment: &mut Moment) {
        let hand = moment.hand();
        let last = self.seen.last().map_or((Vec3::ZERO, 0.0), |s| (s.position, s.time));
        let fresh = hand.surface.filter(|s| s.time > last.1 && s.time <= moment.hands.time);
        let near = |s: &SurfaceSample| s.position.distance(hand.tip.position) <= REACH * moment.scale;
        let good = |s: &SurfaceSample| {
            s.draw >= RELEASED
                && (s.triangle as usize) < context.body.walk.len()
                && s.position.distance(last.0) >= STILL * moment.scale
        };
        if let Some(sample) = fresh.filter(|s| near(s) && good(s)) {
            let point = point_of(&sample);
            if let Some(from) = self.points.last() {
                let longest = DETOUR * last.0.distance(sample.position) + 3.0 * context.body.edge;
                self.points.extend(between(context, from, &point, longest).unwrap_or_default());
            }
            self.points.push(point);
            self.seen.push(sample);
        }
        if hand.trigger.down {
            return;
        }
        self.drawing = false;
        let points = std::mem::take(&mut self.points);
        let seen = std::mem::take(&mut self.seen);
        let done = self.add(context, &points, &seen, moment.preferences.mirror);
        moment.feel(moment.tool, if done { Haptic::Selection } else { Haptic::Limit });
    }

    /// Adds the point or the region of a finished stroke, where its samples show the skin. The method becomes FAST if it is
    /// another one. With `mirror`, adds the mirror image too.
    fn add(
        &mut self,
        context: &mut EditContext,
        points: &[SurfacePoint],
        seen: &[SurfaceSample],
        mirror: bool,
    ) -> bool {
        let Some(vertices) = drawn(context, points) else { return false };
        let document = context.session.document();
        let taken = document.grips().iter().find(|g| g.vertices.iter().eq(vertices.iter().copied()));
        if let Some(taken) = taken {
            context.notice = Some(format!("{} is there already", taken.name).into());
            return false;
        }
        let id = document.unused_grip_id();
        let mut grip = Grip::new(id, vertices);
        let skeleton = &context.character.skeleton;
        let shown = ShownGrip::new(context, &grip, &PosedRig::new(skeleton, &Pose::rest(skeleton)));
        let places = seen.iter().filter_map(|sample| shown.seen(context, sample));
        let (count, sum) = places.fold((0.0, Vec3::ZERO), |(n, sum), place| (n + 1.0, sum + place));
        let translation = sum / f32::max(count, 1.0);
        // At rest, the skin is where it is to rounding.
        if translation.length() > UNMOVED * context.body.edge {
            grip.translation = translation.to_array();
        }
        context.notice = None;
        let other = if mirror { self.mirrored(context, points, &grip, &shown) } else { None };
        // The operation removes the notice if it succeeds.
        let notice = context.notice.take().filter(|_| mirror && other.is_none());
        let add = |grip: Grip| Edit::AddGrip { index: None, grip: Box::new(grip) };
        let mut edits: Vec<Edit> = std::iter::once(grip).chain(other).map(add).collect();
        if !follows_grips(context) {
            edits.push(Edit::SetDeformer(context.session.document().deformer().switched("fast")));
        }
        let done = context.apply(Edit::Group(edits));
        if done {
            self.selected = Some(id);
            context.notice = notice.or(context.notice.take());
        }
        done
    }

    /// Changes what the selected grip holds: from nothing to its position, to its whole transform, and back to nothing.
    /// When a point begins to hold, it stays at the place where the sample was measured. With `mirror`, the partner
    /// changes too. Returns false if no grip is selected.
    pub fn switch_hold(
        &mut self,
        context: &mut EditContext,
        sample: Option<&SurfaceSample>,
        mirror: bool,
    ) -> bool {
        self.follow(context);
        let grip = self.selected.and_then(|id| context.session.document().grip(id).ok());
        let Some(mut grip) = grip.cloned() else {
            context.notice = Some("no grip is selected: touch or click one".into());
            return false;
        };
        if grip.hold == GripHold::Free
            && let Some(seen) = self.seen(context, grip.id, sample)
        {
            grip.translation = seen.to_array();
        }
        grip.hold = grip.hold.next();
        let edit = Edit::SetGrip(Box::new(grip));
        let edit = if mirror { self.with_partner(context, edit) } else { edit };
        context.apply(edit)
    }

    /// Returns the edit that removes the selected grip, or else the newest one; with `mirror`, its partner too.
    pub fn removal(&mut self, context: &EditContext, mirror: bool) -> Option<Edit> {
        let grips = context.session.document().grips();
        let selected = self.selected.filter(|id| grips.iter().any(|g| g.id == *id));
        let edit = selected.or_else(|| grips.last().map(|g| g.id)).map(Edit::RemoveGrip)?;
        Some(if mirror { self.with_partner(context, edit) } else { edit })
    }

    /// Draws the grips, the held one red while it is recorded, and the stroke.
    pub fn lines(&mut self, context: &EditContext, records: bool, out: &mut Lines) {
        self.follow(context);
        let lift = LIFT * context.body.edge;
        let place = |place: &Place| {
            let point = SurfacePoint {
                triangle: place.0,
                barycentrics: place.1,
                pressure: 1.0,
                time: 0.0,
                lifted: false,
            };
            context.body.skinned_position(&context.character, &context.rig, &point)
        };
        for shown in &self.shown {
            let Some(grip) = context.pose.grips.iter().find(|g| g.id == shown.id) else { continue };
            let lit = self.hover == Some(shown.id) || self.selected == Some(shown.id);
            let color = if shown.region { OUTLINE } else { color_of(grip.hold) };
            for [a, b] in &shown.outline {
                if let (Some(from), Some(to)) = (place(a), place(b)) {
                    out.on_surface(&[*a, *b], &[from, to], color, if lit { 4.5 } else { 3.0 }, lift);
                }
            }
            if grip.hold != GripHold::Free {
                let at = shown.place(context, grip);
                if lit {
                    let held = self.held.as_ref().is_some_and(|held| held.id == shown.id);
                    out.dot(at, held_color(records && held), 15.0);
                }
                out.dot(at, color_of(grip.hold), 11.0);
            } else if shown.region
                && let Some([a, _]) = shown.outline.first()
                && let Some(at) = place(a)
            {
                out.on_surface(&[*a, *a], &[at, at], color_of(grip.hold), 9.0, lift);
            }
        }
        self.world.clear();
        self.places.clear();
        for point in &self.points {
            let at = (point.triangle, point.barycentrics);
            if let Some(x) = place(&at) {
                self.world.push(x);
                self.places.push(at);
            }
        }
        out.on_surface(&self.places, &self.world, STROKE, 3.5, lift);
    }
}

/// Replaces a grip of a pose.
fn put(pose: &mut Pose, grip: GripPose) {
    pose.grips.iter_mut().filter(|g| g.id == grip.id).for_each(|g| *g = grip);
}

/// Stores the displayed places of a held grip and its partner in the document.
fn commit(context: &mut EditContext, held: &HeldGrip) {
    let both = [Some((held.id, held.before)), held.partner.map(|(p, before)| (p.id, before))];
    let edits = both.into_iter().flatten().filter_map(|(id, before)| {
        let now = context.pose.grips.iter().find(|g| g.id == id).copied()?;
        let grip = context.session.document().grip(id).ok()?;
        let (hold, translation, rotation) = (now.hold, now.translation, now.rotation);
        Some(match hold == before {
            true => Edit::MoveGrip { id, translation, rotation },
            false => Edit::SetGrip(Box::new(Grip { hold, translation, rotation, ..grip.clone() })),
        })
    });
    let edits: Vec<Edit> = edits.collect();
    if !edits.is_empty() {
        context.apply(Edit::Group(edits));
    }
}
