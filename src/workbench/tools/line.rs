//! The line of action tool (docs/internals.md, *Strokes and posing*): a baseline, drawn in the air, selects joints;
//! offset strokes pose these joints; the user can drag the knots of both.
//!
//! The brush tip lies in front of the aim pose. A stroke takes samples only while the tip is tracked. While the runtime
//! only infers the tip's pose, the stroke pauses. When tracking returns, the stroke continues with a straight segment.

mod knot;

use super::{EditContext, Moment, is_bare, pen};
use crate::base::math::{Vec3, distance_to_segment};
use crate::base::{Error, NodeId, Result, StrokeId};
use crate::document::{Edit, Operation};
use crate::pose::{Posing, RootMotion, Sample, Stroke, StrokeLayer, tolerance_in_space};
use crate::render::{BASELINE, JOINT, Lines, OFFSET};
use crate::workbench::{Haptic, Pen, Rules, Tracking};
use knot::{Knot, knot_position, nearest_knot};
use std::fmt::Write;

/// Maximum distance from the tip to a knot for dragging, room metres.
const REACH: f32 = 0.025;
/// Minimum distance between samples, room metres; skips samples of a resting hand.
const STILL: f32 = 0.001;
/// A stroke of at most this many samples is a click.
const CLICK: usize = 3;
/// Number of samples per journal entry.
const GROUP: usize = 16;
/// Maximum number of samples of a stroke: 5 minutes at 90 Hz.
const MAX_SAMPLES: usize = 27_000;
/// Number of knots that the preview appends for the part of the baseline that the offset stroke has not reached yet.
const AHEAD: usize = 8;
/// Number of points per knot with which a stroke's curve is drawn.
const PER_KNOT: usize = 8;

#[derive(Debug, Default, PartialEq)]
enum LineAct {
    #[default]
    Idle,
    Draws,
    /// A knot, its offset from the tip at the press, and whether the history has a step of the drag, as in old takes.
    Drags(Knot, Vec3, bool),
}

/// State of the line of action tool.
#[derive(Default)]
pub struct LineTool {
    act: LineAct,
    samples: Vec<Sample>,
    /// Number of samples already in the journal.
    journalled: usize,
    /// The joints that the current baseline has touched, in the order of the stroke. While a layer waits for its offset
    /// stroke, the joints of the layer, then those of its partner.
    taken: Vec<NodeId>,
    /// Number and names of the taken joints, in words.
    names: String,
    hover: Option<Knot>,
    /// The layer that receives the next stroke as its offset stroke.
    open: Option<StrokeId>,
    /// The layer whose offset stroke the user has declined.
    declined: Option<StrokeId>,
    points: Vec<Vec3>,
}

impl LineTool {
    /// Whether a stroke or a drag is in progress.
    pub fn is_busy(&self) -> bool {
        self.act != LineAct::Idle
    }

    /// The layer that receives the next stroke as its offset stroke.
    pub fn open(&self) -> Option<StrokeId> {
        self.open
    }

    /// Cancels the current stroke or drag without any trace.
    pub fn cancel(&mut self, context: &mut EditContext) {
        match self.act {
            LineAct::Drags(_, _, true) => {
                context.run(Operation::Undo);
            }
            LineAct::Drags(..) => {
                context.end_draft(false);
            }
            LineAct::Draws => context.show_document(),
            _ => {}
        }
        self.act = LineAct::Idle;
        self.samples.clear();
        self.take_open(context);
    }

    /// Number and names of the joints that the current or the awaited stroke poses, such as `4 joints: Spine … Head`;
    /// `None` if there are none.
    pub fn names(&self) -> Option<&str> {
        Some(self.names.as_str()).filter(|n| !n.is_empty())
    }

    /// Takes the joints of the layer that waits for its offset stroke, or none.
    fn take_open(&mut self, context: &EditContext) {
        let document = context.session.document();
        let layer = |id| document.stroke(id).ok();
        let open = self.open.and_then(layer);
        self.taken.clear();
        let Some(open) = open else { return self.names.clear() };
        self.taken.extend(open.selection.iter().map(|s| s.node));
        let t = |node: &NodeId| open.selection.iter().find(|s| s.node == *node).map_or(0.0, |s| s.t);
        self.taken.sort_by(|a, b| t(a).total_cmp(&t(b)));
        self.name_taken(context);
        if let Some(partner) = open.partner.and_then(layer) {
            self.taken.extend(partner.selection.iter().map(|s| s.node));
            self.names.push_str(", mirrored");
        }
    }

    /// Names the taken joints. Reuses the text buffer, to avoid allocations.
    fn name_taken(&mut self, context: &EditContext) {
        let name = |node: &NodeId| context.character.skeleton.nodes[node.index()].name.as_str();
        let parts = match &self.taken[..] {
            [] => ["", "", ""],
            [only] => [name(only), "", ""],
            [first, second] => [name(first), ", ", name(second)],
            [first, .., last] => [name(first), " … ", name(last)],
        };
        let joints = if self.taken.len() == 1 { "joint" } else { "joints" };
        self.names.clear();
        // Writing to a string never fails.
        let _ = write!(self.names, "{} {joints}: ", self.taken.len());
        parts.iter().for_each(|part| self.names.push_str(part));
    }

    /// Makes the next stroke replace the offset stroke of the newest layer. Returns false if there is no layer.
    pub fn redraw(&mut self, context: &EditContext) -> bool {
        self.open = context.session.document().strokes().last().map(|l| l.id);
        self.declined = None;
        self.take_open(context);
        self.open.is_some()
    }

    /// No longer waits for an offset stroke. The newest layer keeps its baseline.
    pub fn close(&mut self, context: &EditContext) {
        self.open = None;
        self.declined = context.session.document().strokes().last().map(|l| l.id);
        self.take_open(context);
    }

    /// Updates the tool after a change of the document: forgets removed layers. If the newest layer has no offset
    /// stroke, the tool waits for one, unless the user has declined it.
    pub fn document_changed(&mut self, context: &EditContext) {
        let strokes = context.session.document().strokes();
        self.hover = None;
        self.declined = self.declined.filter(|id| strokes.iter().any(|l| l.id == *id));
        let open = strokes.last().filter(|l| l.offset.is_none() && self.declined != Some(l.id));
        self.open = open.map(|l| l.id);
        self.take_open(context);
    }

    /// Runs one frame of the tool.
    pub fn step(&mut self, context: &mut EditContext, moment: &mut Moment) {
        let hand = moment.hand();
        let (tip, tracking) = (hand.tip, hand.tip_tracking);
        let (pressed, released, down) = (hand.trigger.pressed, hand.trigger.released, hand.trigger.down);
        if self.act == LineAct::Idle {
            // An offset stroke often begins near its baseline, so knots are disabled while one is awaited.
            let near = if tracking > Tracking::Lost && !hand.on_panel && self.open.is_none() {
                nearest_knot(context, tip.position, REACH * moment.scale)
            } else {
                None
            };
            if near.is_some() && near != self.hover {
                moment.feel(moment.tool, Haptic::Hover);
            }
            self.hover = near;
            if pressed && tracking == Tracking::Tracked {
                self.act = match near {
                    Some(knot) => {
                        moment.feel(moment.tool, Haptic::Selection);
                        LineAct::Drags(
                            knot,
                            knot_position(context, knot).unwrap_or_default() - tip.position,
                            false,
                        )
                    }
                    None => LineAct::Draws,
                };
            }
        }
        match self.act {
            LineAct::Idle => {}
            LineAct::Draws => {
                if tracking == Tracking::Tracked && down {
                    self.draw(context, moment);
                }
                if released || !down || self.samples.len() >= MAX_SAMPLES {
                    self.finish(context, moment);
                }
            }
            LineAct::Drags(knot, from_tip, recorded) => {
                if tracking == Tracking::Tracked && down {
                    let position = tip.position + from_tip;
                    let old = knot_position(context, knot).unwrap_or(position);
                    if position.distance(old) > STILL * moment.scale {
                        let (id, line, index) = (knot.id, knot.line, knot.index);
                        let edit = Edit::MoveKnot { id, line, knot: index, position: position.into() };
                        let edit = self.on_both_sides(context, edit);
                        if context.drag(edit, recorded, moment.rules) {
                            self.act = LineAct::Drags(knot, from_tip, moment.rules < Rules::Thirteenth);
                        } else {
                            moment.feel(moment.tool, Haptic::Limit);
                        }
                    }
                }
                if !down {
                    context.end_draft(true);
                    self.act = LineAct::Idle;
                }
            }
        }
    }

    /// Continues the stroke to where the pen goes while the tip is at its place.
    fn draw(&mut self, context: &mut EditContext, moment: &mut Moment) {
        let tip = moment.hand().tip.position;
        let end = |s: Option<&Sample>| s.map_or(tip, |s| s.position.into());
        let (first, last) = (end(self.samples.first()), end(self.samples.last()));
        self.add(context, moment, pen::next(moment.preferences.pen, first, last, tip, moment.scale));
    }

    /// Adds a sample, unless the hand rests.
    fn add(&mut self, context: &mut EditContext, moment: &mut Moment, at: Vec3) {
        let orientation = moment.hand().tip.orientation;
        let still = self.samples.last().is_some_and(|s| {
            Vec3::from(s.position).distance(at) < STILL * moment.scale
                && orientation.angle_between(crate::base::math::Quat::from_array(s.orientation)) < 0.02
        });
        if still {
            return;
        }
        if moment.preferences.pen == Pen::Straight {
            // A straight stroke consists of its ends.
            self.samples.truncate(1);
        }
        let before = self.samples.last().map_or(at, |s| s.position.into());
        self.samples.push(Sample {
            position: at.into(),
            orientation: orientation.to_array(),
            pressure: moment.hand().pressure,
            time: moment.hands.time,
        });
        match self.open {
            Some(id) => {
                let id = self.meant(context, id);
                self.preview(context, id, tolerance_in_space(1.0 / moment.scale));
            }
            None => self.touch(context, moment, before, at),
        }
        if self.samples.len() >= self.journalled + GROUP {
            context.journal_samples(&self.samples[self.journalled..]);
            self.journalled = self.samples.len();
        }
    }

    /// Takes the joints within the brush radius of the stroke's newest segment; a straight stroke has only one.
    fn touch(&mut self, context: &EditContext, moment: &mut Moment, a: Vec3, b: Vec3) {
        let (radius, known) = (moment.radius(), self.taken.len());
        let straight = moment.preferences.pen == Pen::Straight;
        if straight {
            self.taken.clear();
        }
        // A long segment takes its joints in the order in which they lie along it.
        let pieces = (a.distance(b) / radius).ceil().clamp(1.0, 256.0) as u32;
        for piece in 0..pieces {
            let [a, b] = [piece, piece + 1].map(|k| a.lerp(b, k as f32 / pieces as f32));
            for node in context.body.reachable() {
                let x = Vec3::from(context.rig.world[node.index()].translation);
                if distance_to_segment(x, a, b) <= radius && !self.taken.contains(&node) {
                    self.taken.push(node);
                }
            }
        }
        if straight || self.taken.len() > known {
            self.name_taken(context);
        }
        if self.taken.len() > known {
            moment.feel(moment.tool, Haptic::Selection);
        }
    }

    fn finish(&mut self, context: &mut EditContext, moment: &mut Moment) {
        self.act = LineAct::Idle;
        let (tip, tracking) = (moment.hand().tip.position, moment.hand().tip_tracking);
        if moment.preferences.pen == Pen::Steady && tracking == Tracking::Tracked {
            // The stroke ends at the tip.
            self.add(context, moment, tip);
        }
        self.journalled = 0;
        let done = self.commit(context, moment);
        self.samples.clear();
        self.take_open(context);
        moment.feel(moment.tool, if done { Haptic::Contact } else { Haptic::Limit });
    }

    /// Returns the layer `id` or its mirrored partner, whichever has its baseline nearer to the start of the stroke.
    fn meant(&self, context: &EditContext, id: StrokeId) -> StrokeId {
        let document = context.session.document();
        let start: Vec3 = self.samples.first().map_or(Vec3::ZERO, |s| s.position.into());
        let distance = |id: StrokeId| {
            let baseline = document.stroke(id).ok().map(|l| &l.baseline);
            baseline.map_or(f64::INFINITY, |b| b.spline().closest(start.as_dvec3()).1)
        };
        let partner = document.stroke(id).ok().and_then(|l| l.partner);
        partner.filter(|p| distance(*p) < distance(id)).unwrap_or(id)
    }

    /// Previews the unfinished offset stroke. The remaining part of the baseline is appended unchanged, so that
    /// joints beyond the drawn part keep their directions.
    fn preview(&self, context: &mut EditContext, id: StrokeId, tolerance: f32) {
        let document = context.session.document();
        let Some(first) = document.strokes().iter().position(|l| l.id == id) else { return };
        let layer = &document.strokes()[first];
        let Ok(drawn) = Stroke::from_samples(&self.samples, tolerance) else { return };
        let baseline = layer.baseline.spline();
        let (reached, whole) = (drawn.spline().length(), baseline.length());
        let mut knots = drawn.knots().to_vec();
        if reached < whole
            && let Some(last) = knots.last().copied()
        {
            let from = baseline.position(baseline.at_length(reached));
            for i in 1..=AHEAD {
                let at = baseline.at_length(reached + (whole - reached) * i as f64 / AHEAD as f64);
                let position = last.point() + baseline.position(at) - from;
                knots.push(Sample { position: position.as_vec3().into(), ..last });
            }
        }
        let Ok(offset) = Stroke::from_knots(knots) else { return };
        let other = layer.partner.zip(context.mirrored(&offset));
        let skeleton = &context.character.skeleton;
        // Partner layers are adjacent. The upper layer starts from the result of the lower layer, so evaluation starts
        // at the lower layer.
        let first = other
            .as_ref()
            .and_then(|o| document.strokes().iter().position(|l| l.id == o.0))
            .map_or(first, |i| i.min(first));
        let (limits, mut pose) = (document.limits(), document.posed_below(skeleton, first));
        for layer in &document.strokes()[first..] {
            let new = if layer.id == id {
                Some(&offset)
            } else {
                other.as_ref().filter(|o| o.0 == layer.id).map(|o| &o.1)
            };
            pose = match new {
                Some(offset) => layer.clone().with_offset(offset.clone()).applied(skeleton, limits, &pose),
                None => layer.applied(skeleton, limits, &pose),
            };
        }
        context.show(&pose);
    }

    fn commit(&mut self, context: &mut EditContext, moment: &Moment) -> bool {
        let tolerance = tolerance_in_space(1.0 / moment.scale);
        let stroke = match Stroke::from_samples(&self.samples, tolerance) {
            Ok(stroke) if stroke.length() > 2.0 * tolerance => stroke,
            // A click is too short for a stroke.
            _ => {
                context.show_document();
                if self.samples.len() > CLICK {
                    context.notice =
                        Some("this stroke is too short: draw a longer one, or enlarge the world".into());
                }
                return false;
            }
        };
        if let Some(id) = self.open.filter(|id| context.session.document().stroke(*id).is_ok()) {
            let id = self.meant(context, id);
            let edit = self.on_both_sides(context, Edit::RedrawOffset { id, offset: Some(stroke) });
            let done = context.apply(edit);
            self.open = None;
            return done;
        }
        match self.layers(context, moment, stroke) {
            Ok(layers) => {
                self.open = layers.first().map(|l| l.id);
                let add = |l| Edit::AddStroke { index: None, layer: Box::new(l) };
                let mut edits: Vec<Edit> = layers.into_iter().map(add).collect();
                let edit = if edits.len() == 1 { edits.remove(0) } else { Edit::Group(edits) };
                let done = context.apply(edit);
                self.open = self.open.filter(|_| done);
                done
            }
            Err(error) => {
                context.refuse(&error);
                false
            }
        }
    }

    /// Creates the layer of a baseline. With mirror, adds the mirrored layer if it selects the partner joints.
    fn layers(&self, context: &EditContext, moment: &Moment, baseline: Stroke) -> Result<Vec<StrokeLayer>> {
        let p = moment.preferences;
        let rig = (&context.character.skeleton, &context.body.controls[..]);
        let id = context.session.document().unused_stroke_id();
        let mirrored = if p.mirror { context.mirrored(&baseline) } else { None };
        let bare = |error| match is_bare(context) {
            true => Error::input("this mesh has no bones", "draw bones in it, or place grips on its skin"),
            false => error,
        };
        let layer = StrokeLayer::new(id, baseline, moment.radius(), rig, &context.pose);
        let mut layers = vec![layer.map_err(bare)?];
        let other = StrokeId(id.0 + 1);
        let second =
            mirrored.and_then(|m| StrokeLayer::new(other, m, moment.radius(), rig, &context.pose).ok());
        // If the two sides are posed differently, the mirrored stroke may select other joints than the partners, or
        // none.
        let partners: Option<Vec<NodeId>> = {
            let mirror = context.body.mirror.as_ref();
            let selected = layers[0].selection.iter();
            selected.map(|s| mirror.and_then(|m| m.partner(s.node))).collect()
        };
        let same = |l: &StrokeLayer| {
            let all = |nodes: &[NodeId]| {
                nodes.len() == l.selection.len() && l.selection.iter().all(|s| nodes.contains(&s.node))
            };
            partners.as_deref().is_some_and(all)
        };
        if let Some(mut second) = second.filter(same) {
            second.partner = Some(id);
            layers[0].partner = Some(other);
            layers.push(second);
        }
        for layer in &mut layers {
            layer.posing = Posing { lengths: p.lengths, root: RootMotion::Auto, roll: p.roll };
        }
        Ok(layers)
    }

    /// Extends an edit of a stroke by its mirror image on the partner layer, if there is one.
    fn on_both_sides(&self, context: &EditContext, edit: Edit) -> Edit {
        let document = context.session.document();
        let partner = |id: &StrokeId| {
            let partner = document.stroke(*id).ok()?.partner?;
            document.stroke(partner).ok().map(|l| l.id)
        };
        let other = match &edit {
            Edit::RedrawOffset { id, offset: Some(offset) } => partner(id)
                .zip(context.mirrored(offset))
                .map(|(id, offset)| Edit::RedrawOffset { id, offset: Some(offset) }),
            Edit::MoveKnot { id, line, knot, position } => {
                partner(id).zip(context.plane()).map(|(id, plane)| {
                    let there = plane.point(Vec3::from(*position).as_dvec3()).as_vec3();
                    Edit::MoveKnot { id, line: *line, knot: *knot, position: there.into() }
                })
            }
            _ => None,
        };
        match other {
            Some(other) => Edit::Group(vec![edit, other]),
            None => edit,
        }
    }

    /// Returns the edit that removes the newest layer and its partner, but keeps manual adjustments on them.
    pub fn removal(&self, context: &EditContext) -> Option<Edit> {
        let document = context.session.document();
        let strokes = document.strokes();
        let last = strokes.last()?;
        let pair = strokes.len() > 1 && Some(strokes[strokes.len() - 2].id) == last.partner;
        let left = strokes.len() - if pair { 2 } else { 1 };
        let mut edits: Vec<Edit> = strokes[left..].iter().map(|l| Edit::RemoveStroke(l.id)).collect();
        let skeleton = &context.character.skeleton;
        let now = document.posed_below(skeleton, left);
        let wanted = strokes[left..].iter().fold(now.clone(), |pose, layer| {
            StrokeLayer { offset: None, ..layer.clone() }.applied(skeleton, document.limits(), &pose)
        });
        edits.extend(context.adjustment(&strokes[..left], &now, &wanted));
        Some(if edits.len() == 1 { edits.remove(0) } else { Edit::Group(edits) })
    }

    /// Draws the current stroke, the taken joints and the hovered knot.
    pub fn lines(&self, context: &EditContext, out: &mut Lines) {
        let color = if self.open.is_some() { OFFSET } else { BASELINE };
        for pair in self.samples.windows(2) {
            out.polyline(&[pair[0].position.into(), pair[1].position.into()], color, 3.0, 1.0);
        }
        for node in &self.taken {
            if let Some(world) = context.rig.world.get(node.index()) {
                out.dot(world.translation.into(), JOINT, 9.0);
            }
        }
        if let Some(at) = self.hover.and_then(|k| knot_position(context, k)) {
            out.dot(at, [255, 255, 255, 255], 12.0);
        }
    }

    /// Draws the document's strokes.
    pub fn document_lines(&mut self, context: &EditContext, out: &mut Lines) {
        for layer in context.session.document().strokes() {
            let offset = layer.offset.as_ref().map(|o| (o, OFFSET));
            for (stroke, color) in std::iter::once((&layer.baseline, BASELINE)).chain(offset) {
                let count = (stroke.knots().len() * PER_KNOT).clamp(16, 512);
                self.points.clear();
                let curve = stroke.spline();
                self.points.extend((0..=count).map(|i| curve.position(i as f64 / count as f64).as_vec3()));
                out.stroke(&self.points, color, 3.0);
                stroke.knots().iter().for_each(|k| out.dot(k.position.into(), color, 6.0));
            }
        }
    }
}
