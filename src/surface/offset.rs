//! The offset stroke of a mark (thesis 7.3, 7.4): a second stroke that says where the marked skin should go.
//!
//! Mark and stroke correspond by the fraction of their length in the pose in which the stroke is drawn. The stroke may
//! run in either direction; for a ring, it may also start anywhere. The correspondence with the smallest sum of squared
//! displacements counts. The displacement is smoothed along the mark, so that the hand's tremor and the corners of the
//! mark do not show in the skin. A stroke that equals the mark, moved by `d`, displaces every vertex by `d`.

use super::{SurfacePoint, SurfaceStroke};
use crate::base::math::Vec3;
use crate::bind::Character;

/// Number of places along the mark at which the displacement is computed.
const STATIONS: usize = 64;
/// Number of smoothing iterations of the displacement.
const SMOOTHING: usize = 4;
/// Number of steps that refine the start of a stroke around a ring.
const REFINING: usize = 24;
/// Maximum gap between the ends of a stroke that goes around a whole ring, as a fraction of its length. A stroke with a
/// larger gap displaces only the nearest part of the ring.
const GAP: f32 = 0.35;

/// A mark in a pose, and the displacement to its offset stroke.
#[derive(Clone, Debug)]
pub struct OffsetCurve {
    /// Points of the mark in the pose, world space, metres; a ring ends with its first point.
    at: Vec<Vec3>,
    /// Fraction of the mark's length in bind space up to each point.
    t: Vec<f32>,
    /// Fraction of the mark's length in the pose up to each point.
    share: Vec<f32>,
    length: f32,
    closed: bool,
    /// Positions of the stations.
    base: Vec<Vec3>,
    /// Displacements of the stations.
    delta: Vec<Vec3>,
    best: Vec<Vec3>,
    /// Length of the stroke up to each point.
    lengths: Vec<f32>,
}

impl OffsetCurve {
    /// Creates the curve of a mark. `posed` has the position of each point in the pose, world space, metres. Returns
    /// `None` if the mark is not on this character or has no length.
    pub fn new(character: &Character, mark: &SurfaceStroke, posed: &[Vec3]) -> Option<Self> {
        let closing = mark.points.first().filter(|_| mark.closed);
        let points: Vec<&SurfacePoint> = mark.points.iter().chain(closing).collect();
        let bind = points.iter().map(|p| bind_position(character, p)).collect::<Option<Vec<Vec3>>>()?;
        let at: Vec<Vec3> = posed.iter().chain(posed.first().filter(|_| mark.closed)).copied().collect();
        if at.len() != points.len() || !at.iter().all(|x| x.is_finite()) {
            return None;
        }
        let joined = |i: usize| mark.closed || !points[i].lifted;
        let (t, whole) = fractions(&bind, joined);
        let (share, length) = fractions(&at, joined);
        let sound = whole > 0.0 && length > 0.0 && length.is_finite();
        let mut new = Self {
            at,
            t,
            share,
            length,
            closed: mark.closed,
            base: Vec::with_capacity(STATIONS + 1),
            delta: vec![Vec3::ZERO; STATIONS + 1],
            best: vec![Vec3::ZERO; STATIONS + 1],
            lengths: Vec::new(),
        };
        new.base.extend((0..=STATIONS).map(|k| along(&new.share, &new.at, station(k))));
        sound.then_some(new)
    }

    /// Sets the offset stroke, world space, metres. While the stroke is being drawn (`finished` is false) and shorter
    /// than the mark, its points correspond to the mark by length, and the rest of the mark keeps the last displacement.
    /// A stroke with fewer than two points displaces nothing.
    pub fn set(&mut self, stroke: &[Vec3], finished: bool) {
        self.lengths.clear();
        let mut length = 0.0;
        for (i, x) in stroke.iter().enumerate() {
            length += if i > 0 { x.distance(stroke[i - 1]) } else { 0.0 };
            self.lengths.push(length);
        }
        if stroke.len() < 2 || !(length > 0.0 && length.is_finite()) {
            return self.delta.fill(Vec3::ZERO);
        }
        let gap = stroke[0].distance(stroke[stroke.len() - 1]);
        let part = if self.closed {
            gap > GAP * length && (finished || length < self.length)
        } else {
            !finished && length < self.length
        };
        let mut least = f32::INFINITY;
        for forward in [true, false] {
            if part {
                self.displace_part(stroke, forward);
            } else if self.closed {
                self.displace_ring(stroke, forward);
            } else {
                let whole = self.lengths[self.lengths.len() - 1];
                for k in 0..=STATIONS {
                    let u = if forward { station(k) } else { 1.0 - station(k) };
                    self.delta[k] = along(&self.lengths, stroke, u * whole) - self.base[k];
                }
            }
            let cost: f32 = self.delta.iter().map(|d| d.length_squared()).sum();
            if cost < least {
                least = cost;
                self.best.copy_from_slice(&self.delta);
            }
        }
        self.smooth();
    }

    /// Returns the displacement at the parameter `t` of a region, 0..=1 along the mark in bind space; world space, metres.
    pub fn displacement(&self, t: f32) -> Vec3 {
        let u = along(&self.t, &self.share, t);
        let x = u * STATIONS as f32;
        let k = (x as usize).min(STATIONS - 1);
        self.delta[k].lerp(self.delta[k + 1], (x - k as f32).clamp(0.0, 1.0))
    }

    /// Displaces the part of the mark that the stroke has reached.
    fn displace_part(&mut self, stroke: &[Vec3], forward: bool) {
        let drawn = (self.lengths[self.lengths.len() - 1] / self.length).min(1.0);
        let start = if !self.closed {
            if forward { 0.0 } else { 1.0 }
        } else {
            let away = |k: &usize| self.base[*k].distance_squared(stroke[0]);
            (0..STATIONS).min_by(|a, b| away(a).total_cmp(&away(b))).map_or(0.0, station)
        };
        let sign = if forward { 1.0 } else { -1.0 };
        let place = |v: f32| if self.closed { (start + sign * v).rem_euclid(1.0) } else { start + sign * v };
        let first = stroke[0] - along(&self.share, &self.at, place(0.0));
        let last = stroke[stroke.len() - 1] - along(&self.share, &self.at, place(drawn));
        for k in 0..=STATIONS {
            let v = (station(k) - start) * sign;
            let v = if self.closed { v.rem_euclid(1.0) } else { v };
            self.delta[k] = if v <= drawn {
                along(&self.lengths, stroke, v * self.length) - self.base[k]
            } else if self.closed {
                last.lerp(first, ((v - drawn) / (1.0 - drawn)).clamp(0.0, 1.0))
            } else {
                last
            };
        }
    }

    /// Displaces a ring to a stroke around it. Finds the place of the stroke's start on the ring.
    fn displace_ring(&mut self, stroke: &[Vec3], forward: bool) {
        let whole = self.lengths[self.lengths.len() - 1] + stroke[0].distance(stroke[stroke.len() - 1]);
        let at = |u: f32| {
            let length = u.rem_euclid(1.0) * whole;
            let drawn = self.lengths[self.lengths.len() - 1];
            if length <= drawn {
                return along(&self.lengths, stroke, length);
            }
            let closing = ((length - drawn) / (whole - drawn).max(f32::MIN_POSITIVE)).min(1.0);
            stroke[stroke.len() - 1].lerp(stroke[0], closing)
        };
        let sign = if forward { 1.0 } else { -1.0 };
        let cost = |shift: f32| -> f32 {
            (0..STATIONS).map(|k| at(shift + sign * station(k)).distance_squared(self.base[k])).sum()
        };
        let near = (0..STATIONS).map(station).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(0.0);
        let (mut low, mut high) = (near - station(1), near + station(1));
        for _ in 0..REFINING {
            let third = (high - low) / 3.0;
            if cost(low + third) < cost(high - third) { high -= third } else { low += third }
        }
        let middle = 0.5 * (low + high);
        let shift = if cost(middle) < cost(near) { middle } else { near };
        for k in 0..=STATIONS {
            self.delta[k] = at(shift + sign * station(k)) - self.base[k];
        }
    }

    /// Smooths the best displacement along the mark. Ends of an open mark stay.
    fn smooth(&mut self) {
        for _ in 0..SMOOTHING {
            for k in 0..=STATIONS {
                let ends = k == 0 || k == STATIONS;
                let (before, after) = match k {
                    0 => (STATIONS - 1, 1),
                    STATIONS => (STATIONS - 1, 1),
                    _ => (k - 1, k + 1),
                };
                self.delta[k] = if ends && !self.closed {
                    self.best[k]
                } else {
                    self.best[k] * 0.5 + (self.best[before] + self.best[after]) * 0.25
                };
            }
            std::mem::swap(&mut self.best, &mut self.delta);
        }
        self.delta.copy_from_slice(&self.best);
    }
}

fn station(k: usize) -> f32 {
    k as f32 / STATIONS as f32
}

/// Position of a surface point in bind space, metres.
pub(super) fn bind_position(character: &Character, point: &SurfacePoint) -> Option<Vec3> {
    let control = &character.control;
    let corners = control.triangles.get(point.triangle as usize)?;
    let placed = corners.iter().zip(point.barycentrics);
    Some(placed.map(|(&v, w)| control.positions[v as usize] * w).sum())
}

/// Returns the fraction of the length up to each point, and the length. A step counts only if `joined(i)` holds for its
/// end `i`.
fn fractions(at: &[Vec3], joined: impl Fn(usize) -> bool) -> (Vec<f32>, f32) {
    let mut sum = 0.0;
    let lengths: Vec<f32> = (0..at.len())
        .map(|i| {
            sum += if i > 0 && joined(i) { at[i].distance(at[i - 1]) } else { 0.0 };
            sum
        })
        .collect();
    let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
    (lengths.iter().map(|l| l * scale).collect(), sum)
}

/// A value that is interpolated linearly.
trait Blend: Copy {
    fn blend(self, other: Self, s: f32) -> Self;
}

impl Blend for Vec3 {
    fn blend(self, other: Self, s: f32) -> Self {
        self.lerp(other, s)
    }
}

impl Blend for f32 {
    fn blend(self, other: Self, s: f32) -> Self {
        self + (other - self) * s
    }
}

/// Interpolates `values` linearly at the place `wanted` among the ascending `places`.
fn along<T: Blend>(places: &[f32], values: &[T], wanted: f32) -> T {
    let last = values.len() - 1;
    let after = places.partition_point(|p| *p < wanted).clamp(last.min(1), last);
    let before = after.saturating_sub(1);
    let step = places[after] - places[before];
    let s = if step > 0.0 { ((wanted - places[before]) / step).clamp(0.0, 1.0) } else { 0.0 };
    values[before].blend(values[after], s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Quat;
    use crate::base::{BoneId, MarkId};
    use crate::bind::shapes::capsule;
    use crate::bind::{BindOptions, bind_attachments};
    use crate::rig::{Pose, PosedRig};
    use crate::surface::{Reach, Region, line_mark, ring_mark};

    /// A capsule in a bent pose, with a line along it and a ring around it.
    fn case() -> (Character, [SurfaceStroke; 2], PosedRig) {
        let character = capsule(2, 40, 24, 0.2, 2.0);
        let (attachments, _) = bind_attachments(&character, &BindOptions::default()).unwrap();
        let line = line_mark(&character, &attachments, MarkId(0), BoneId(0), [0.2, 0.8], 0.3).unwrap();
        let ring = ring_mark(&character, &attachments, MarkId(1), BoneId(0), 0.5).unwrap();
        let mut pose = Pose::rest(&character.skeleton);
        pose.local[1].rotation = Quat::from_rotation_z(0.9).into();
        let rig = PosedRig::new(&character.skeleton, &pose);
        (character, [line, ring], rig)
    }

    fn posed(character: &Character, rig: &PosedRig, mark: &SurfaceStroke) -> Vec<Vec3> {
        let place = |p: &SurfacePoint| {
            let corners = character.control.triangles[p.triangle as usize];
            let mut out = Vec3::ZERO;
            for (&v, w) in corners.iter().zip(p.barycentrics) {
                let x = character.control.positions[v as usize];
                for (j, share) in character.control.influences.of(v as usize) {
                    out += rig.skinning[usize::from(j)].transform_point3(x) * (share * w);
                }
            }
            out
        };
        mark.points.iter().map(place).collect()
    }

    #[test]
    fn a_stroke_that_is_the_mark_moved_by_d_displaces_by_d() {
        let (character, marks, rig) = case();
        for mark in &marks {
            let at = posed(&character, &rig, mark);
            let region = Region::from_mark(&character, mark, Reach::default()).unwrap();
            let mut curve = OffsetCurve::new(&character, mark, &at).unwrap();
            for d in [Vec3::ZERO, Vec3::new(0.05, -0.02, 0.11), Vec3::new(0.0, 0.0, 0.8)] {
                let moved: Vec<Vec3> = at.iter().map(|x| *x + d).collect();
                let back: Vec<Vec3> = moved.iter().rev().copied().collect();
                // A ring may also start elsewhere, and then repeats its start.
                let third = at.len() / 3;
                let mut turned = moved.clone();
                turned.rotate_left(third);
                let strokes = [Some(moved), Some(back), mark.closed.then_some(turned)];
                for stroke in strokes.into_iter().flatten() {
                    curve.set(&stroke, true);
                    for t in &region.t[..region.kinematic.len()] {
                        assert!(curve.displacement(*t).distance(d) < 1e-3, "{t}: {}", curve.displacement(*t));
                    }
                }
            }
        }
    }

    #[test]
    fn the_rest_of_an_unfinished_stroke_keeps_the_last_displacement() {
        let (character, marks, rig) = case();
        let at = posed(&character, &rig, &marks[0]);
        let mut curve = OffsetCurve::new(&character, &marks[0], &at).unwrap();
        let d = Vec3::new(0.0, 0.1, 0.2);
        let half: Vec<Vec3> = at[..at.len() / 2].iter().map(|x| *x + d).collect();
        curve.set(&half, false);
        for k in 0..=20 {
            assert!(curve.displacement(k as f32 / 20.0).distance(d) < 2e-3);
        }
        // Finished, the stroke is the goal of the whole mark.
        curve.set(&half, true);
        assert!(curve.displacement(0.0).distance(d) < 1e-3);
        assert!((at[at.len() - 1] + curve.displacement(1.0)).distance(half[half.len() - 1]) < 1e-3);
        curve.set(&half[..1], true);
        assert_eq!(curve.displacement(0.5), Vec3::ZERO);
        assert!(OffsetCurve::new(&character, &marks[0], &at[1..]).is_none());
    }

    #[test]
    fn an_arc_beside_a_ring_moves_that_side_and_a_larger_ring_swells_it() {
        let (character, marks, _) = case();
        let ring = &marks[1];
        let at: Vec<Vec3> = ring.points.iter().map(|p| bind_position(&character, p).unwrap()).collect();
        let mut curve = OffsetCurve::new(&character, ring, &at).unwrap();
        let middle = at.iter().sum::<Vec3>() / at.len() as f32;
        let larger: Vec<Vec3> = at.iter().map(|x| middle + (*x - middle) * 1.5).collect();
        curve.set(&larger, true);
        for k in 0..16 {
            let d = curve.displacement(k as f32 / 16.0);
            assert!((d.length() - 0.1).abs() < 2e-3, "{d}");
        }
        let d = Vec3::Y * 0.05;
        let arc: Vec<Vec3> = at[..at.len() / 4].iter().map(|x| *x + d).collect();
        curve.set(&arc, true);
        assert!((0..32).all(|k| curve.displacement(k as f32 / 32.0).distance(d) < 0.02));
    }
}
