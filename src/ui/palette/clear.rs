//! Finds places where a panel does not cover the character in the user's view.
//!
//! A direction from the head is a heading and an elevation, in radians. The heading is the angle about the vertical
//! axis from a reference direction, positive to the right. Each bone with its flesh, and each panel, is approximated by
//! a rectangle of directions.

use super::Panel;
use super::place::{Placement, beside, facing, size_at};
use crate::base::math::{Vec2, Vec3};
use crate::workbench::Capsule;
use std::f32::consts::{PI, TAU};

/// Smallest gap between panel and character, radians.
const GAP: f32 = 2.0 * DEGREE;
/// Changes of elevation that are tried for a panel that would cover the character, radians.
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
/// Allowed elevations of a panel that was moved up or down, radians.
const ELEVATIONS: [f32; 2] = [-65.0 * DEGREE, 8.0 * DEGREE];
/// Cost of a change of elevation, relative to the cost of an equal change of heading.
const STEEP: f32 = 1.5;
/// Largest change of heading, radians.
const FARTHEST: f32 = 110.0 * DEGREE;
/// Amount by which the cost of the last frame's detour is reduced, radians. It keeps panels from jumping between two
/// places.
const STICKY: f32 = 10.0 * DEGREE;
pub(super) const DEGREE: f32 = PI / 180.0;

/// A rectangle of directions: heading and elevation, radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sight {
    pub min: Vec2,
    pub max: Vec2,
}

/// Wraps an angle to -π..π.
pub(super) fn wrapped(angle: f32) -> f32 {
    (angle + PI).rem_euclid(TAU) - PI
}

/// Returns heading and elevation of a vector from the head, radians. Heading 0 is -Z of the room.
pub(super) fn heading(v: Vec3) -> Vec2 {
    Vec2::new(v.x.atan2(-v.z), v.y.atan2(v.x.hypot(v.z)))
}

/// Returns the unit vector for a heading and elevation.
pub(super) fn along(direction: Vec2) -> Vec3 {
    let ((sin, cos), (up, out)) = (direction.x.sin_cos(), direction.y.sin_cos());
    Vec3::new(sin * out, up, -cos * out)
}

impl Sight {
    pub const NOTHING: Self = Self { min: Vec2::INFINITY, max: Vec2::NEG_INFINITY };

    fn take(&mut self, at: Vec2, half: Vec2) {
        self.min = self.min.min(at - half);
        self.max = self.max.max(at + half);
    }

    /// Returns the rectangle that contains a bone as seen from an eye, with headings relative to `reference`. `None` if
    /// the eye is almost inside the bone.
    pub fn of(capsule: &Capsule, eye: Vec3, reference: f32) -> Option<Self> {
        let mut out = Self::NOTHING;
        for share in [0.0, 0.5, 1.0] {
            let to = capsule.ends[0].lerp(capsule.ends[1], share) - eye;
            let sine = capsule.radius / to.length();
            if !(0.0..0.99).contains(&sine) {
                return None;
            }
            let at = heading(to);
            // The heading range of a sphere widens towards the zenith.
            let wide = sine / at.y.cos();
            let half = Vec2::new(if wide < 1.0 { wide.asin() } else { PI }, sine.asin());
            out.take(Vec2::new(wrapped(at.x - reference), at.y), half);
        }
        Some(out)
    }

    /// Returns the rectangle that contains a panel as seen from an eye, with headings relative to `reference`.
    pub fn of_panel(placement: &Placement, eye: Vec3, reference: f32) -> Self {
        let mut out = Self::NOTHING;
        for (u, v) in [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2), (2, 2)] {
            let at = heading(placement.point([u, v].map(|i| i as f32 * 0.5)) - eye);
            out.take(Vec2::new(wrapped(at.x - reference), at.y), Vec2::ZERO);
        }
        out
    }

    /// Whether the rectangles overlap or are closer than `gap`.
    pub fn meets(&self, other: &Self, gap: f32) -> bool {
        (self.min - gap).cmplt(other.max).all() && (self.max + gap).cmpgt(other.min).all()
    }

    fn turned(&self, by: f32) -> Self {
        Self { min: self.min + Vec2::X * by, max: self.max + Vec2::X * by }
    }
}

/// A panel's detour around the character: index into [`STEPS`], and whether the panel moves to the right.
pub(super) type Way = (usize, bool);

/// A candidate direction of a panel, the side towards which the panel may move from this direction (-1 is left, 1 is
/// right), and the extra cost of the candidate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub at: Vec2,
    pub side: f32,
    pub worse: f32,
}

/// Returns the cheapest direction near one of `wanted` at which the panel covers none of `sights`, and the detour to
/// this direction. `None` if every direction covers one. The palette counts together with the wrist panel below it.
/// `last` is the detour of the previous frame.
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

/// Returns the rectangles of directions that a panel at heading 0 hides. For the palette, the second rectangle is that
/// of the wrist panel below; for other panels, both are equal.
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

/// Returns the first heading from `from` towards `side` at which the panel covers none of `sights`.
fn pushed(block: &[Sight; 2], from: f32, side: f32, sights: &[Sight]) -> Option<f32> {
    let mut at = from;
    loop {
        // The next heading to try clears all rectangles that overlap at the current heading.
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
