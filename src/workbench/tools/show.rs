//! Lines that belong to no tool: ground landmarks, hands, brush, bones, pins and crossings of the skin.

use super::hands::HandFrame;
use super::skin::REACH;
use super::{EditContext, Moment};
use crate::base::Version;
use crate::base::math::{Aabb, Turn, Vec3};
use crate::geom::CrossingSegment;
use crate::render::{Lines, Segment};
use crate::workbench::{Tool, Tracking};

/// Number of segments of the brush circle.
const CIRCLE: usize = 32;
const POST: [u8; 4] = [104, 110, 124, 200];
const SIDE: [u8; 4] = [214, 92, 92, 160];
const FRONT: [u8; 4] = [96, 140, 232, 160];
const HAND: [u8; 4] = [235, 238, 244, 220];
const BRUSH: [u8; 4] = [255, 255, 255, 150];
const PIN: [u8; 4] = [84, 226, 220, 255];
const CROSSING: [u8; 4] = [255, 60, 60, 255];
/// Maximum number of segments of the curve that is drawn.
const CROSSINGS: usize = 4096;

/// Landmarks on the ground. They show direction and scale wherever the user stands. Posts stand at the corners of a
/// square. They are 1 m high and the square is 2 m wide, both times a power of ten that suits the character's size.
pub struct Landmarks {
    /// A red line to the character's left and a blue line to the character's front, world space. Both lines rotate with
    /// the character.
    axes: Vec<Segment>,
    /// Posts at the corners of a square, floor space.
    posts: Vec<Segment>,
}

impl Landmarks {
    /// Creates the landmarks for a character's bounding box.
    pub fn new(bounds: &Aabb) -> Self {
        let size = bounds.size().max_element();
        let unit = if size > 0.0 { 10.0_f32.powf(size.log10().round()) } else { 1.0 };
        let centre = bounds.center();
        let ground = if bounds.is_empty() { 0.0 } else { bounds.min.y };
        let at = |x: f32, y: f32, z: f32| Vec3::new(centre.x, ground, centre.z) + Vec3::new(x, y, z) * unit;
        let (mut axes, mut posts) = (Lines::default(), Lines::default());
        axes.polyline(&[at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0)], SIDE, 2.0, 0.0);
        axes.polyline(&[at(0.0, 0.0, 0.0), at(0.0, 0.0, 1.0)], FRONT, 2.0, 0.0);
        for (x, z) in [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)] {
            posts.polyline(&[at(x, 0.0, z), at(x, 1.0, z)], POST, 1.5, 0.0);
            posts.dot(at(x, 1.0, z), POST, 4.0);
        }
        Self { axes: axes.segments, posts: posts.segments }
    }

    /// Draws the landmarks.
    pub fn lines(&self, world_from_floor: &Turn, out: &mut Lines) {
        out.segments.extend_from_slice(&self.axes);
        out.segments.extend(self.posts.iter().map(|s| Segment {
            a: world_from_floor.point(s.a),
            b: world_from_floor.point(s.b),
            ..*s
        }));
    }
}

/// The curve along which the skin crosses itself.
#[derive(Default)]
pub struct Crossings {
    /// The curve, and the version of the displayed pose in which it was measured.
    measured: Option<(Version, Vec<CrossingSegment>)>,
}

impl Crossings {
    /// Sets the curve that was measured in this version of the displayed pose.
    pub fn receive(&mut self, pose: Version, mut curve: Vec<CrossingSegment>) {
        curve.truncate(CROSSINGS);
        self.measured = Some((pose, curve));
    }

    /// Whether no curve was received yet.
    pub fn is_unknown(&self) -> bool {
        self.measured.is_none()
    }

    /// Draws the curve, if it belongs to this version of the displayed pose.
    pub fn lines(&self, pose: Version, out: &mut Lines) {
        let known = self.measured.iter().filter(|(version, _)| *version == pose);
        for segment in known.flat_map(|(_, curve)| curve) {
            let first = out.segments.len();
            out.on_surface(&segment.ends, &segment.at, CROSSING, 3.0, 0.0);
            out.segments[first..].iter_mut().for_each(|s| s.hidden = 0.6);
        }
    }
}

/// Draws each hand as a short line to its tip.
pub fn hands(moment: &Moment, out: &mut Lines) {
    for hand in moment.hands.hands.iter().filter(|h| h.tip_tracking > Tracking::Lost) {
        let faded =
            if hand.tip_tracking == Tracking::Tracked { HAND } else { [HAND[0], HAND[1], HAND[2], 90] };
        out.polyline(&[hand.aim.position, hand.tip.position], faded, 4.0, 1.0);
        out.dot(hand.tip.position, faded, 7.0);
    }
}

/// Draws a line from the tip of the tool hand to the skin on which the tool would draw, and a dot there. Both are faint
/// where the skin is too far away.
pub fn pointer(moment: &Moment, out: &mut Lines) {
    let hand = moment.hand();
    let draws = matches!(moment.preferences.tool, Tool::Skin | Tool::Grip);
    let sample = hand.surface.filter(|_| draws && !hand.on_panel && hand.tip_tracking == Tracking::Tracked);
    if let Some(sample) = sample {
        let near = sample.position.distance(hand.tip.position) <= REACH * moment.scale;
        let color = if near { HAND } else { [HAND[0], HAND[1], HAND[2], 60] };
        out.polyline(
            &[hand.tip.position, sample.position],
            [color[0], color[1], color[2], color[3] / 2],
            1.5,
            0.0,
        );
        out.dot(sample.position, color, 7.0);
    }
}

/// Draws the brush circle at the tip of the tool hand.
pub fn brush(moment: &Moment, head: Vec3, out: &mut Lines) {
    let hand = moment.hand();
    if moment.preferences.tool == Tool::Line && hand.tip_tracking > Tracking::Lost && !hand.on_panel {
        circle(hand, moment.radius(), head, out);
    }
}

fn circle(hand: &HandFrame, radius: f32, head: Vec3, out: &mut Lines) {
    let normal = (head - hand.tip.position).normalize_or(Vec3::Z);
    let side = normal.any_orthonormal_vector();
    let up = normal.cross(side);
    let at = |i: usize| {
        let (sin, cos) = (std::f32::consts::TAU * i as f32 / CIRCLE as f32).sin_cos();
        hand.tip.position + (side * cos + up * sin) * radius
    };
    (0..CIRCLE).for_each(|i| out.polyline(&[at(i), at(i + 1)], BRUSH, 1.5, 0.0));
}

/// Draws the skeleton, if `wire` is set, and the pinned joints.
pub fn body(context: &EditContext, wire: bool, out: &mut Lines) {
    if wire {
        context.rig.bones.iter().for_each(|b| out.bone(b.head, b.tail, 8.0));
    }
    for pin in context.session.document().pins() {
        if let Some(world) = context.rig.world.get(pin.index()) {
            out.dot(world.translation.into(), PIN, 13.0);
        }
    }
}
