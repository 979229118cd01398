//! Places where a panel does not cover the character, as the head sees both.
//!
//! A direction from the head is a heading about the vertical, positive to the right of a reference, and an elevation;
//! radians. The character is seen as a rectangle for every bone with its flesh, a panel as the one about its corners.

use super::Panel;
use super::place::{Placement, beside, facing, size_at};
use crate::base::math::{Vec2, Vec3};
use crate::workbench::Capsule;
use std::f32::consts::{PI, TAU};

/// Between panel and character.
const GAP: f32 = 2.0 * DEGREE;
/// A panel that would cover the character is shown this much higher or lower, where that is free nearer to its place,
const STEPS: [f32; 8] = [
    0.0,
    -5.0 * DEGREE,
    -10.0 * DEGREE,
    -15.0 * DEGREE,
    -20.0 * DEGREE,
    -25.0 * DEGREE,
    5.0 * DEGREE,
    10.0 * DEGREE,
];
/// within these elevations,
const ELEVATIONS: [f32; 2] = [-65.0 * DEGREE, 8.0 * DEGREE];
/// which counts for so much more than aside.
const STEEP: f32 = 1.5;
/// No further aside.
const FARTHEST: f32 = 110.0 * DEGREE;
/// Another place is taken only where it is nearer by so much.
const STICKY: f32 = 10.0 * DEGREE;
pub(super) const DEGREE: f32 = PI / 180.0;

/// A rectangle of directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sight {
    pub min: Vec2,
    pub max: Vec2,
}

/// Within half a turn.
pub(super) fn wrapped(angle: f32) -> f32 {
    (angle + PI).rem_euclid(TAU) - PI
}

/// Heading and elevation of a vector from the head; heading 0 is the room's -Z.
pub(super) fn heading(v: Vec3) -> Vec2 {
    Vec2::new(v.x.atan2(-v.z), v.y.atan2(v.x.hypot(v.z)))
}

/// The unit vector of a direction.
pub(super) fn along(direction: Vec2) -> Vec3 {
    let ((sin, cos), (up, out)) = (direction.x.sin_cos(), direction.y.sin_cos());
    Vec3::new(sin * out, up, -cos * out)
}

impl Sight {
    const NOTHING: Self = Self { min: Vec2::INFINITY, max: Vec2::NEG_INFINITY };

    fn take(&mut self, at: Vec2, half: Vec2) {
        self.min = self.min.min(at - half);
        self.max = self.max.max(at + half);
    }

    /// Of a bone from an eye, headings from a reference; `None` if the eye is within it.
    pub fn of(capsule: &Capsule, eye: Vec3, reference: f32) -> Option<Self> {
        let mut out = Self::NOTHING;
        for share in [0.0, 0.5, 1.0] {
            let to = capsule.ends[0].lerp(capsule.ends[1], share) - eye;
            let sine = capsule.radius / to.length();
            if !(0.0..0.99).contains(&sine) {
                return None;
            }
            let at = heading(to);
            // Towards the zenith a degree of heading is less of the sky.
            let wide = sine / at.y.cos();
            let half = Vec2::new(if wide < 1.0 { wide.asin() } else { PI }, sine.asin());
            out.take(Vec2::new(wrapped(at.x - reference), at.y), half);
        }
        Some(out)
    }

    /// Of a panel.
    pub fn of_panel(placement: &Placement, eye: Vec3, reference: f32) -> Self {
        let mut out = Self::NOTHING;
        for (u, v) in [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2), (2, 2)] {
            let at = heading(placement.point([u, v].map(|i| i as f32 * 0.5)) - eye);
            out.take(Vec2::new(wrapped(at.x - reference), at.y), Vec2::ZERO);
        }
        out
    }

    /// Whether they share a direction, or nearly.
    pub fn meets(&self, other: &Self, gap: f32) -> bool {
        (self.min - gap).cmplt(other.max).all() && (self.max + gap).cmpgt(other.min).all()
    }

    fn turned(&self, by: f32) -> Self {
        Self { min: self.min + Vec2::X * by, max: self.max + Vec2::X * by }
    }
}

/// A way out of the character's sight: index into [`STEPS`] and the side.
pub(super) type Way = (usize, bool);

/// A place that is wanted, the side to which the panel goes from there (-1 is left), and how much worse that is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub at: Vec2,
    pub side: f32,
    pub worse: f32,
}

/// The free place nearest to one of those that are wanted, for a panel at a distance, the palette with the label below it,
/// among these sights; `last` is the way of the frame before. None where all is covered.
pub(super) fn nearest(
    panel: Panel,
    distance: f32,
    wanted: &[Wanted],
    sights: &[Sight],
    last: Option<Way>,
) -> Option<(Vec2, Way)> {
    let mut best: Option<(f32, Vec2, Way)> = None;
    for w in wanted {
        for (i, step) in STEPS.into_iter().enumerate() {
            let elevation = w.at.y + step;
            if step != 0.0 && !(ELEVATIONS[0]..=ELEVATIONS[1]).contains(&elevation) {
                continue;
            }
            let block = block(panel, distance, elevation);
            let Some(heading) = pushed(&block, w.at.x, w.side, sights) else { continue };
            let way = (i, w.side > 0.0);
            let bonus = if last == Some(way) { STICKY } else { 0.0 };
            let cost = (heading - w.at.x).abs() + STEEP * step.abs() + w.worse - bonus;
            if best.is_none_or(|b| cost < b.0) {
                best = Some((cost, Vec2::new(heading, elevation), way));
            }
        }
    }
    best.map(|(_, at, way)| (at, way))
}

/// What a panel hides at an elevation, ahead.
pub(super) fn block(panel: Panel, distance: f32, elevation: f32) -> [Sight; 2] {
    let pose = facing(along(Vec2::new(0.0, elevation)) * distance, Vec3::ZERO);
    let whole = Placement { panel, pose, size: size_at(panel, distance) };
    let own = Sight::of_panel(&whole, Vec3::ZERO, 0.0);
    if panel != Panel::Palette {
        return [own; 2];
    }
    let pose = beside(&whole, Panel::Wrist, Vec3::ZERO, [0.0, -1.0]);
    let label = Placement { panel: Panel::Wrist, pose, size: size_at(Panel::Wrist, pose.position.length()) };
    [own, Sight::of_panel(&label, Vec3::ZERO, 0.0)]
}

/// The first heading from one on to a side at which nothing is hidden.
fn pushed(block: &[Sight; 2], from: f32, side: f32, sights: &[Sight]) -> Option<f32> {
    let mut at = from;
    loop {
        // The next that is in the way, and where it ends.
        let beyond = block
            .iter()
            .flat_map(|b| sights.iter().map(move |s| (b, s)))
            .filter(|(b, s)| b.turned(at).meets(s, GAP))
            .map(|(b, s)| if side > 0.0 { s.max.x - b.min.x } else { s.min.x - b.max.x })
            .map(|clear| clear + side * (GAP + 1e-4));
        let Some(next) = beyond.reduce(|a, b| if side > 0.0 { a.max(b) } else { a.min(b) }) else {
            return Some(at);
        };
        if (next - at) * side <= 0.0 || (next - from).abs() > FARTHEST {
            return None;
        }
        at = next;
    }
}
