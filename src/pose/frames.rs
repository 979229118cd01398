//! Rotation-minimising frames along a curve, and the space warp from a baseline to an offset stroke.
//!
//! Uses the double reflection method, which is fourth order in the step (Wang, Jüttler, Zheng, Liu, "Computation of
//! Rotation Minimizing Frames", 2008). The thesis uses Frenet frames (7.1), which flip at inflections and do not
//! exist on straight strokes.

use super::Stroke;
use crate::base::math::{DMat3, DQuat, DVec3};
use crate::geom::Spline;

/// Number of table entries per Bézier segment.
const STEPS: usize = 16;

/// Frames along a spline. A table stores frames at regular parameters; one double reflection from the nearest entry
/// gives the frame at any other parameter.
#[derive(Clone, Debug)]
pub struct Frames {
    table: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    t: f64,
    position: DVec3,
    tangent: DVec3,
    normal: DVec3,
}

impl Frames {
    /// Propagates a first normal along the curve. `up` need not be orthogonal to the tangent. If the two are
    /// parallel, an arbitrary normal is used.
    pub fn along(spline: &Spline, up: DVec3) -> Self {
        let tangent = spline.tangent(0.0);
        let rejected = up - tangent * up.dot(tangent);
        let normal = if rejected.length() > 1e-6 * up.length() && rejected.is_finite() {
            rejected.normalize()
        } else {
            tangent.any_orthonormal_vector()
        };
        let mut table = vec![Entry { t: 0.0, position: spline.position(0.0), tangent, normal }];
        for k in spline.knots().windows(2) {
            for step in 1..=STEPS {
                let t = k[0] + (k[1] - k[0]) * step as f64 / STEPS as f64;
                table.push(table[table.len() - 1].transported(spline, t));
            }
        }
        Self { table }
    }

    /// Returns the world-from-frame rotation at a parameter: x is the tangent, y the normal, z the binormal.
    pub fn at(&self, spline: &Spline, t: f64) -> DQuat {
        let i = self.table.partition_point(|e| e.t <= t).saturating_sub(1);
        let e = self.table[i].transported(spline, t.clamp(0.0, 1.0));
        DQuat::from_mat3(&DMat3::from_cols(e.tangent, e.normal, e.tangent.cross(e.normal))).normalize()
    }
}

impl Entry {
    /// Reflects at the bisecting plane of the step, then at the plane that aligns the tangents.
    fn transported(&self, spline: &Spline, t: f64) -> Self {
        let (position, tangent) = (spline.position(t), spline.tangent(t));
        let step = position - self.position;
        let reflect = |v: DVec3, by: DVec3| {
            let c = by.length_squared();
            if c > 1e-30 { v - by * (2.0 * by.dot(v) / c) } else { v }
        };
        let scale = spline.length();
        let normal = if step.length() > 1e-12 * scale {
            let left_normal = reflect(self.normal, step);
            let left_tangent = reflect(self.tangent, step);
            reflect(left_normal, tangent - left_tangent)
        } else {
            DQuat::from_rotation_arc(self.tangent, tangent) * self.normal
        };
        let normal = (normal - tangent * normal.dot(tangent)).normalize_or(tangent.any_orthonormal_vector());
        Self { t, position, tangent, normal }
    }
}

/// A space warp from a baseline to its offset stroke (thesis 7.2). A point `x` at baseline parameter `t` moves to
/// `o(t') + R(t) (x - b(t))`, with `R(t) = F_o(t') F_b(t)^-1`. The parameters `t` and `t'` lie at equal fractions of
/// the arc lengths of the two strokes.
#[derive(Clone, Debug)]
pub struct Warp<'a> {
    baseline: &'a Stroke,
    offset: &'a Stroke,
    baseline_frames: Frames,
    offset_frames: Frames,
    roll: bool,
}

impl<'a> Warp<'a> {
    /// Creates the warp of two strokes. The device's up direction is the first normal of the baseline. The smallest
    /// rotation between the first tangents maps the baseline's first frame to the offset stroke's. With `roll`, the
    /// warp also rotates about the tangent of the offset stroke: by the device's roll since the start of the offset stroke
    /// minus its roll since the start of the baseline.
    pub fn new(baseline: &'a Stroke, offset: &'a Stroke, roll: bool) -> Self {
        let baseline_frames = Frames::along(baseline.spline(), baseline.up());
        let normal = baseline_frames.table[0].normal;
        let (from, to) = (baseline.spline().tangent(0.0), offset.spline().tangent(0.0));
        // Opposite tangents have no smallest rotation: rotate about the normal, so that up is preserved.
        let turned =
            if from.dot(to) < -1.0 + 1e-9 { normal } else { DQuat::from_rotation_arc(from, to) * normal };
        let offset_frames = Frames::along(offset.spline(), turned);
        Self { baseline, offset, baseline_frames, offset_frames, roll }
    }

    /// Maps a baseline parameter to the offset stroke's parameter.
    pub fn offset_parameter(&self, t: f64) -> f64 {
        let (b, o) = (self.baseline.spline(), self.offset.spline());
        o.at_length(b.length_at(t) / b.length() * o.length())
    }

    /// Returns the rotation `R(t)` of the warp.
    pub fn rotation(&self, t: f64) -> DQuat {
        let u = self.offset_parameter(t);
        let b = self.baseline_frames.at(self.baseline.spline(), t);
        let o = self.offset_frames.at(self.offset.spline(), u);
        let turn = o * b.inverse();
        if !self.roll {
            return turn.normalize();
        }
        let roll = self.offset.roll(u) - self.baseline.roll(t);
        (DQuat::from_axis_angle(self.offset.spline().tangent(u), roll) * turn).normalize()
    }

    /// Maps a point that belongs to parameter `t`.
    pub fn point(&self, t: f64, x: DVec3) -> DVec3 {
        let u = self.offset_parameter(t);
        self.offset.spline().position(u) + self.rotation(t) * (x - self.baseline.spline().position(t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::{Quat, Vec3};
    use crate::pose::Sample;

    fn stroke(f: impl Fn(f32) -> Vec3, count: usize) -> Stroke {
        let knot = |i| Sample::at(f(i as f32 / (count - 1) as f32), i as f64);
        Stroke::from_knots((0..count).map(knot).collect()).unwrap()
    }

    #[test]
    fn frames_are_orthonormal_and_do_not_spin() {
        // An S curve with an inflection, where Frenet frames flip.
        let s = stroke(|u| Vec3::new(u * 4.0, (u * 6.0).sin(), 0.0), 12);
        let frames = Frames::along(s.spline(), DVec3::Z);
        for i in 0..=200 {
            let t = i as f64 / 200.0;
            let f = frames.at(s.spline(), t);
            assert!((f * DVec3::X - s.spline().tangent(t)).length() < 1e-9);
            // On a planar curve, the normal of the plane stays constant.
            assert!((f * DVec3::Y - DVec3::Z).length() < 1e-9, "{t}");
        }
    }

    #[test]
    fn a_helix_has_the_known_rotation_of_its_minimising_frame() {
        // A helix of radius 1 and pitch 2 pi c: relative to the Frenet frame, the frame rotates by -torsion * length.
        let c = 0.5_f64;
        let s = stroke(
            |u| {
                let a = u * std::f32::consts::TAU;
                Vec3::new(a.cos(), a.sin(), 0.5 * a)
            },
            400,
        );
        let frenet = |a: f64| {
            let tangent = DVec3::new(-a.sin(), a.cos(), c).normalize();
            (tangent, DVec3::new(-a.cos(), -a.sin(), 0.0))
        };
        let frames = Frames::along(s.spline(), frenet(0.0).1);
        let (tangent, normal) = frenet(std::f64::consts::TAU * 0.5);
        let middle = s.spline().closest(DVec3::new(-1.0, 0.0, c * std::f64::consts::PI)).0;
        let f = frames.at(s.spline(), middle) * DVec3::Y;
        let angle = f.dot(tangent.cross(normal)).atan2(f.dot(normal));
        let expected = -c / (1.0 + c * c) * std::f64::consts::PI * (1.0 + c * c).sqrt();
        assert!((angle - expected).abs() < 2e-3, "{angle} {expected}");
    }

    #[test]
    fn identical_strokes_give_the_identity_and_straight_ones_work() {
        let a = stroke(|u| Vec3::new(u, (u * 3.0).sin(), u * u), 9);
        let warp = Warp::new(&a, &a, true);
        let line = stroke(|u| Vec3::Y * u, 2);
        let straight = Warp::new(&line, &line, false);
        for i in 0..=50 {
            let t = i as f64 / 50.0;
            let x = DVec3::new(0.3, -0.2, 0.9);
            assert!(warp.rotation(t).angle_between(DQuat::IDENTITY) < 1e-7);
            assert!((warp.point(t, x) - x).length() < 1e-12);
            assert!((straight.point(t, x) - x).length() < 1e-12);
        }
    }

    #[test]
    fn a_rigid_motion_of_the_offset_is_that_motion() {
        let a = stroke(|u| Vec3::new(u, (u * 2.0).sin() * 0.4, u * u * 0.3), 7);
        // Use a swing without twist: twist about the first tangent does not change a stroke's shape.
        let first = a.spline().tangent(0.0).as_vec3();
        let swing = Quat::from_axis_angle(first.any_orthonormal_vector(), 0.8);
        let moved = a.mapped(|p| swing * p + Vec3::new(3.0, -1.0, 0.5)).unwrap();
        let warp = Warp::new(&a, &moved, false);
        for i in 0..=20 {
            let t = i as f64 / 20.0;
            // Knot positions are f32. At a distance of 3 from the origin, their rounding rotates the tangents by about
            // 1e-6.
            let error = warp.rotation(t).angle_between(swing.as_dquat().normalize());
            assert!(error < 5e-5, "{error}");
            let x = DVec3::new(0.5, 0.7, -0.2);
            let expected = swing.as_dquat() * x + DVec3::new(3.0, -1.0, 0.5);
            assert!((warp.point(t, x) - expected).length() < 5e-5);
        }
    }

    #[test]
    fn reversed_strokes_do_not_break() {
        let line = stroke(|u| Vec3::X * u, 3);
        let back = stroke(|u| Vec3::X * -u, 3);
        let warp = Warp::new(&line, &back, false);
        assert!((warp.point(1.0, DVec3::X) + DVec3::X).length() < 1e-9);
        assert!((warp.rotation(0.5) * DVec3::Y - DVec3::Y).length() < 1e-9);
    }
}
