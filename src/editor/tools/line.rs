//! Line of action (methods, section 7): a baseline drawn in the air takes hold of joints, offset strokes pose them,
//! knots can be dragged.
//!
//! The brush tip lies before the aim pose. Samples enter a stroke only while it is tracked; while it is inferred the
//! stroke pauses, and goes on with a straight piece.

use super::{Desk, Moment};
use crate::base::StrokeId;
use crate::base::math::Vec3;
use crate::edit::{
    Edit, Line, Operation, Posing, RootMotion, Sample, Stroke, StrokeLayer, tolerance_in_space,
};
use crate::editor::{Haptic, Tracking};
use crate::render::{BASELINE, JOINT, Lines, OFFSET};

/// Knots within this distance of the tip can be dragged, metres of the room.
const REACH: f32 = 0.025;
/// Samples nearer than this to the last one are left out, metres of the room: a hand that rests.
const STILL: f32 = 0.001;
/// Samples are journalled in groups of so many.
const GROUP: usize = 16;
/// A stroke that was not let go of ends here: 5 minutes at 90 Hz.
const MAX_SAMPLES: usize = 27_000;
/// Points of a stroke's curve as shown, per knot.
const PER_KNOT: usize = 8;

/// A knot of a stroke in the document.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Knot {
    id: StrokeId,
    line: Line,
    index: usize,
}

#[derive(Debug, Default, PartialEq)]
enum Act {
    #[default]
    Idle,
    Draws,
    /// A knot, where the tip was from it, and whether it has moved yet.
    Drags(Knot, Vec3, bool),
}

/// The tool.
#[derive(Default)]
pub struct LineTool {
    act: Act,
    samples: Vec<Sample>,
    /// Samples already in the journal.
    journalled: usize,
    /// Joints that the stroke being drawn has touched, by node.
    touched: Vec<bool>,
    hover: Option<Knot>,
    /// The layer whose offset the next stroke is.
    open: Option<StrokeId>,
    points: Vec<Vec3>,
}

impl LineTool {
    /// Whether a stroke or a drag is under way.
    pub fn is_busy(&self) -> bool {
        self.act != Act::Idle
    }

    /// Drops what is under way, as if it had never begun.
    pub fn cancel(&mut self, desk: &mut Desk) {
        if let Act::Drags(_, _, true) = self.act {
            desk.run(Operation::Undo);
        }
        self.act = Act::Idle;
        self.samples.clear();
        self.touched.fill(false);
    }

    /// The next stroke is an offset stroke for the newest layer again.
    pub fn redraw(&mut self, desk: &Desk) -> bool {
        self.open = desk.session.document().strokes().last().map(|l| l.id);
        self.open.is_some()
    }

    /// After undo, redo or another document: forgets layers that are gone, waits for the offset of the newest one
    /// that has none.
    pub fn document_changed(&mut self, desk: &Desk) {
        let strokes = desk.session.document().strokes();
        self.hover = None;
        self.open = strokes.last().filter(|l| l.offset.is_none()).map(|l| l.id);
    }

    /// A frame of the tool.
    pub fn step(&mut self, desk: &mut Desk, moment: &mut Moment) {
        let hand = moment.hand();
        let (tip, tracking) = (hand.tip, hand.tip_tracking);
        let (pressed, released, down) = (hand.trigger.pressed, hand.trigger.released, hand.trigger.down);
        if self.act == Act::Idle {
            let near = if tracking > Tracking::Lost && !hand.on_panel {
                nearest_knot(desk, tip.position, REACH * moment.scale)
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
                        Act::Drags(knot, knot_position(desk, knot).unwrap_or_default() - tip.position, false)
                    }
                    None => Act::Draws,
                };
            }
        }
        match self.act {
            Act::Idle => {}
            Act::Draws => {
                if tracking == Tracking::Tracked && down {
                    self.draw(desk, moment);
                }
                if released || !down || self.samples.len() >= MAX_SAMPLES {
                    self.finish(desk, moment);
                }
            }
            Act::Drags(knot, from_tip, moved) => {
                if tracking == Tracking::Tracked && down {
                    let position = tip.position + from_tip;
                    let old = knot_position(desk, knot).unwrap_or(position);
                    if position.distance(old) > STILL * moment.scale {
                        let (id, line, index) = (knot.id, knot.line, knot.index);
                        let edit = Edit::MoveKnot { id, line, knot: index, position: position.into() };
                        let operation = if moved { Operation::Continue(edit) } else { Operation::Do(edit) };
                        if desk.run(operation) {
                            self.act = Act::Drags(knot, from_tip, true);
                        } else {
                            moment.feel(moment.tool, Haptic::Limit);
                        }
                    }
                }
                if !down {
                    self.act = Act::Idle;
                }
            }
        }
    }

    fn draw(&mut self, desk: &mut Desk, moment: &mut Moment) {
        let hand = moment.hand();
        let at = hand.tip.position;
        let still = self.samples.last().is_some_and(|s| {
            Vec3::from(s.position).distance(at) < STILL * moment.scale
                && hand.tip.orientation.angle_between(crate::base::math::Quat::from_array(s.orientation))
                    < 0.02
        });
        if still {
            return;
        }
        let before = self.samples.last().map_or(at, |s| s.position.into());
        self.samples.push(Sample {
            position: at.into(),
            orientation: hand.tip.orientation.to_array(),
            pressure: hand.pressure,
            time: moment.hands.time,
        });
        if self.open.is_none() {
            self.touch(desk, moment, before, at);
        }
        if self.samples.len() >= self.journalled + GROUP {
            desk.journal_samples(&self.samples[self.journalled..]);
            self.journalled = self.samples.len();
        }
    }

    /// Marks the joints within the brush radius of the newest piece of the stroke.
    fn touch(&mut self, desk: &Desk, moment: &mut Moment, a: Vec3, b: Vec3) {
        self.touched.resize(desk.rig.world.len(), false);
        let radius = moment.radius();
        let mut new = false;
        for &node in &desk.posable {
            let x = Vec3::from(desk.rig.world[node.index()].translation);
            if !self.touched[node.index()] && distance_to_segment(x, a, b) <= radius {
                self.touched[node.index()] = true;
                new = true;
            }
        }
        if new {
            moment.feel(moment.tool, Haptic::Selection);
        }
    }

    fn finish(&mut self, desk: &mut Desk, moment: &mut Moment) {
        self.act = Act::Idle;
        self.journalled = 0;
        self.touched.fill(false);
        let done = self.commit(desk, moment);
        self.samples.clear();
        moment.feel(moment.tool, if done { Haptic::Contact } else { Haptic::Limit });
    }

    fn commit(&mut self, desk: &mut Desk, moment: &Moment) -> bool {
        let tolerance = tolerance_in_space(1.0 / moment.scale);
        let stroke = match Stroke::from_samples(&self.samples, tolerance) {
            Ok(stroke) if stroke.length() > 2.0 * tolerance => stroke,
            // A click is no stroke.
            _ => return false,
        };
        if let Some(id) = self.open.filter(|id| desk.session.document().stroke(*id).is_ok()) {
            let done = desk.apply(Edit::RedrawOffset { id, offset: Some(stroke) });
            self.open = None;
            return done;
        }
        let document = desk.session.document();
        let id = document.unused_stroke_id();
        match StrokeLayer::new(id, stroke, moment.radius(), &desk.character.skeleton, &desk.pose) {
            Ok(mut layer) => {
                let p = moment.preferences;
                layer.posing = Posing { lengths: p.lengths, root: RootMotion::Auto, roll: p.roll };
                let done = desk.apply(Edit::AddStroke { index: None, layer: Box::new(layer) });
                self.open = done.then_some(id);
                done
            }
            Err(error) => {
                desk.refuse(&error);
                false
            }
        }
    }

    /// Shows the stroke being drawn, the joints it takes hold of and the knot within reach.
    pub fn lines(&self, desk: &Desk, out: &mut Lines) {
        let color = if self.open.is_some() { OFFSET } else { BASELINE };
        for pair in self.samples.windows(2) {
            out.polyline(&[pair[0].position.into(), pair[1].position.into()], color, 3.0, 1.0);
        }
        for (node, _) in self.touched.iter().enumerate().filter(|(_, t)| **t) {
            if let Some(world) = desk.rig.world.get(node) {
                out.dot(world.translation.into(), JOINT, 9.0);
            }
        }
        if let Some(at) = self.hover.and_then(|k| knot_position(desk, k)) {
            out.dot(at, [255, 255, 255, 255], 12.0);
        }
    }

    /// Shows the strokes of the document.
    pub fn document_lines(&mut self, desk: &Desk, out: &mut Lines) {
        for layer in desk.session.document().strokes() {
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

fn stroke_of(desk: &Desk, knot: Knot) -> Option<&Stroke> {
    let layer = desk.session.document().stroke(knot.id).ok()?;
    match knot.line {
        Line::Baseline => Some(&layer.baseline),
        Line::Offset => layer.offset.as_ref(),
    }
}

fn knot_position(desk: &Desk, knot: Knot) -> Option<Vec3> {
    Some(stroke_of(desk, knot)?.knots().get(knot.index)?.position.into())
}

fn nearest_knot(desk: &Desk, tip: Vec3, reach: f32) -> Option<Knot> {
    let mut best: Option<(f32, Knot)> = None;
    for layer in desk.session.document().strokes() {
        let lines = [(Line::Offset, layer.offset.as_ref()), (Line::Baseline, Some(&layer.baseline))];
        for (line, stroke) in lines.into_iter().filter_map(|(l, s)| Some((l, s?))) {
            for (index, knot) in stroke.knots().iter().enumerate() {
                let distance = tip.distance(knot.position.into());
                if distance <= reach && best.is_none_or(|b| distance < b.0) {
                    best = Some((distance, Knot { id: layer.id, line, index }));
                }
            }
        }
    }
    best.map(|b| b.1)
}

fn distance_to_segment(x: Vec3, a: Vec3, b: Vec3) -> f32 {
    let ab = b - a;
    let length = ab.length_squared();
    let t = if length > 0.0 { ((x - a).dot(ab) / length).clamp(0.0, 1.0) } else { 0.0 };
    x.distance(a + ab * t)
}
