//! The measure tool: distances between two skin points (straight and along the skin), thickness, joint angles.
//!
//! Measures are not part of the document. Each measure follows the skin in any pose until the user removes it. The tool
//! computes angles immediately. The front end measures distances and thicknesses on the deformed shape
//! ([`receive_readings`](crate::workbench::Workbench::receive_readings)); until the result is ready, a distance shows a
//! preliminary value, computed from the clicked points.

use super::{EditContext, Moment};
use crate::base::NodeId;
use crate::base::math::{Quat, Vec3};
use crate::geom::Place;
use crate::render::Lines;
use crate::scene::{Measurement, Reading, SurfaceSample, angle, bend, print, text_of};
use crate::workbench::{Haptic, MeasureBy, Rigid};

/// Trigger value above which a surface sample counts as a click.
const TRIGGER: f32 = 0.5;
/// Maximum wait for the surface sample of a click, seconds.
const LATE: f64 = 0.6;
/// Text height in a window, room metres. A logical pixel of the window is 2.5 mm wide in the room.
const PRINT: f32 = 0.034;
/// Text height in a headset, as a fraction of the distance from the eye.
const PRINT_SHARE: f32 = 0.022;
/// Height at which a path along the skin is drawn above the skin, as a fraction of the mean edge length.
const LIFT: f32 = 0.15;
const STRAIGHT: [u8; 4] = [255, 236, 150, 255];
const ALONG: [u8; 4] = [96, 226, 204, 255];

/// A measure with its current value.
#[derive(Clone, Debug)]
pub struct Measure {
    /// What is measured.
    pub measurement: Measurement,
    reading: Reading,
    /// Whether the reading comes from the deformed shape, not from the clicked points.
    read: bool,
    degrees: f32,
    /// Text of the distance, thickness or angle, and text of the length along the skin.
    texts: [String; 2],
}

impl Measure {
    /// The values as text; empty while unknown.
    pub fn text(&self) -> &[String; 2] {
        &self.texts
    }

    /// Whether the measure waits for a [`Reading`].
    pub fn awaits_reading(&self) -> bool {
        !self.read
    }

    fn new(measurement: Measurement, reading: Reading) -> Self {
        let read = matches!(measurement, Measurement::Angle(_));
        let mut new = Self { measurement, reading, read, degrees: f32::NAN, texts: Default::default() };
        new.tell();
        new
    }

    fn tell(&mut self) {
        self.texts[0] = self.reading.straight().map(text_of).unwrap_or_default();
        self.texts[1] = if self.reading.way.is_empty() { String::new() } else { text_of(self.reading.along) };
    }
}

/// State of the measure tool.
#[derive(Default)]
pub struct MeasureTool {
    measures: Vec<Measure>,
    /// First end of an unfinished distance.
    first: Option<(Place, Vec3)>,
    /// Time of a click whose surface sample has not arrived yet, seconds.
    pressed: Option<f64>,
    /// Skin point under the pointer.
    seen: Option<Vec3>,
}

impl MeasureTool {
    /// The measures, oldest first.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// Whether a distance still lacks its second end.
    pub fn is_under_way(&self) -> bool {
        self.first.is_some()
    }

    /// Discards the first end of an unfinished distance. Returns false if there is none.
    pub fn cancel(&mut self) -> bool {
        self.pressed = None;
        self.first.take().is_some()
    }

    /// Removes an unfinished distance or, if there is none, the newest measure. Returns false if there is nothing to
    /// remove.
    pub fn remove_newest(&mut self) -> bool {
        self.cancel() || self.measures.pop().is_some()
    }

    /// Removes the measure with this index.
    pub fn remove(&mut self, index: usize) {
        if index < self.measures.len() {
            self.measures.remove(index);
        }
    }

    /// Sets the readings of the measures that they belong to.
    pub fn receive(&mut self, readings: Vec<(Measurement, Reading)>) {
        for (measurement, reading) in readings {
            if let Some(measure) = self.measures.iter_mut().find(|m| m.measurement == measurement) {
                (measure.reading, measure.read) = (reading, true);
                measure.tell();
            }
        }
    }

    /// Marks all measures as read, because no more readings will come.
    pub fn give_up(&mut self) {
        self.measures.iter_mut().for_each(|m| m.read = true);
    }

    /// Handles a click at a joint, or at no joint (`None`). In angle mode, adds a measure of the joint's angle.
    pub fn click(&mut self, context: &mut EditContext, by: MeasureBy, node: Option<NodeId>) {
        if by != MeasureBy::Angle {
            return;
        }
        match node.filter(|n| bend(&context.character.skeleton, &context.rig, *n).is_some()) {
            Some(node) => self.add(Measure::new(Measurement::Angle(node), Reading::default())),
            None => context.notice = Some("no two bones meet there: choose a joint within a limb".into()),
        }
    }

    /// Adds a measure and replaces an equal one.
    fn add(&mut self, measure: Measure) {
        self.measures.retain(|m| m.measurement != measure.measurement);
        self.measures.push(measure);
    }

    /// Runs one frame of the tool. `near` is the joint that a tracked hand last touched.
    pub fn step(&mut self, context: &mut EditContext, moment: &mut Moment, near: Option<NodeId>) {
        let (hand, time, by) = (moment.hand(), moment.hands.time, moment.preferences.measure);
        let (pressed, surface) = (hand.trigger.pressed && !hand.on_panel, hand.surface);
        self.seen = surface.map(|s| s.position).or(self.seen.filter(|_| !hand.on_panel));
        if by == MeasureBy::Angle {
            if pressed && near.is_some() {
                self.click(context, by, near);
                moment.feel(moment.tool, Haptic::Selection);
            }
            return;
        }
        if pressed {
            self.pressed = Some(time);
        }
        if let Some(sample) = surface.filter(|s| self.pressed.is_some() && s.draw > TRIGGER) {
            self.pressed = None;
            self.take(by, &sample);
            moment.feel(moment.tool, Haptic::Selection);
        } else if self.pressed.is_some_and(|since| time > since + LATE) {
            self.pressed = None;
            context.notice = Some("nothing to measure there: point at the skin".into());
            moment.feel(moment.tool, Haptic::Limit);
        }
    }

    fn take(&mut self, by: MeasureBy, sample: &SurfaceSample) {
        let place = (sample.triangle, sample.barycentrics);
        if by == MeasureBy::Thickness {
            return self.add(Measure::new(Measurement::Thickness(place), Reading::default()));
        }
        match self.first.take() {
            None => self.first = Some((place, sample.position)),
            Some((first, from)) => {
                let reading =
                    Reading { ends: Some([first, place]), at: [from, sample.position], ..Reading::default() };
                self.add(Measure::new(Measurement::Distance([first, place]), reading));
            }
        }
    }

    /// Draws the measures with text that faces the eye, for a window or a headset.
    pub fn lines(
        &mut self,
        context: &EditContext,
        moment: &Moment,
        (eye, windowed): (&Rigid, bool),
        out: &mut Lines,
    ) {
        let height = |at: Vec3| match windowed {
            true => PRINT * moment.scale,
            false => PRINT_SHARE * at.distance(eye.position),
        };
        let lift = LIFT * context.body.edge;
        for measure in &mut self.measures {
            let middle = match measure.measurement {
                Measurement::Angle(node) => {
                    let Some(points) = bend(&context.character.skeleton, &context.rig, node) else {
                        continue;
                    };
                    let degrees = angle(points);
                    // Format the text only if the rounded value changes, so that frames do not allocate.
                    if (degrees - measure.degrees).abs() > 0.05 || measure.degrees.is_nan() {
                        measure.degrees = degrees;
                        measure.texts[0] = format!("{degrees:.0}°");
                    }
                    show_angle(points, out)
                }
                _ => {
                    let Some(ends) = measure.reading.ends else { continue };
                    let at = measure.reading.at;
                    let first = out.segments.len();
                    out.on_surface(&ends, &at, STRAIGHT, 2.0, 0.0);
                    out.segments[first..].iter_mut().for_each(|s| s.hidden = 0.75);
                    at.iter().for_each(|p| out.dot(*p, STRAIGHT, 7.0));
                    at[0].midpoint(at[1])
                }
            };
            let way = &measure.reading.points;
            if let Some(top) = way.get(way.len() / 2) {
                out.on_surface(&measure.reading.way, way, ALONG, 2.5, lift);
                // If the straight line and the path nearly coincide, the path's text goes below the line's text.
                let down = eye.orientation * Vec3::Y * height(*top) * 1.6;
                let below = if top.distance(middle) < 3.0 * height(*top) { *top - down } else { *top };
                print(&measure.texts[1], below, eye.orientation, height(*top), ALONG, out);
            }
            print(&measure.texts[0], middle, eye.orientation, height(middle), STRAIGHT, out);
        }
        let chooses = moment.preferences.tool == crate::workbench::Tool::Measure;
        if let Some(seen) = self.seen.filter(|_| chooses && moment.preferences.measure != MeasureBy::Angle) {
            out.dot(seen, STRAIGHT, 6.0);
        }
        if let Some((_, from)) = self.first {
            out.dot(from, STRAIGHT, 8.0);
            if let Some(seen) = self.seen.filter(|_| chooses) {
                out.polyline(&[from, seen], STRAIGHT, 1.5, 0.5);
            }
        }
    }
}

/// Draws both bones and an arc between them. Returns the position of the text.
fn show_angle([a, b, c]: [Vec3; 3], out: &mut Lines) -> Vec3 {
    let first = out.segments.len();
    let (to, fro) = (a - b, c - b);
    let radius = 0.4 * to.length().min(fro.length());
    let [to, fro] = [to.normalize_or_zero(), fro.normalize_or_zero()];
    out.polyline(&[b + to * radius * 1.6, b, b + fro * radius * 1.6], STRAIGHT, 2.0, 0.5);
    let (axis, turn) = (to.cross(fro).try_normalize(), to.angle_between(fro));
    let axis = axis.unwrap_or_else(|| to.any_orthonormal_vector());
    let arc = |i: usize| b + Quat::from_axis_angle(axis, turn * i as f32 / 16.0) * to * radius;
    (0..16).for_each(|i| out.polyline(&[arc(i), arc(i + 1)], STRAIGHT, 2.0, 0.5));
    out.segments[first..].iter_mut().for_each(|s| s.hidden = 0.75);
    arc(8)
}
