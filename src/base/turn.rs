//! A rotation about the vertical axis, combined with a translation along the ground.

use super::math::{Quat, Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// A rotation about +Y with a translation along the ground: `x' = R x + s`. Heights do not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Turn {
    /// Rotation angle, counter-clockwise as seen from above, radians, -π..π.
    pub angle: f32,
    /// Translation along x and z, metres.
    pub shift: [f32; 2],
}

impl Turn {
    /// The identity transform.
    pub const NONE: Self = Self { angle: 0.0, shift: [0.0; 2] };

    /// Returns the rotation as a quaternion.
    pub fn rotation(&self) -> Quat {
        Quat::from_rotation_y(self.angle)
    }

    /// Transforms a point.
    pub fn point(&self, x: Vec3) -> Vec3 {
        self.rotation() * x + self.along()
    }

    /// Transforms a point by the inverse transform.
    pub fn inverse_point(&self, x: Vec3) -> Vec3 {
        self.rotation().inverse() * (x - self.along())
    }

    /// Returns this transform, followed by a rotation by `angle` (radians) about the vertical line through `pivot`.
    pub fn about(&self, pivot: Vec3, angle: f32) -> Self {
        // Double precision keeps thousands of small rotations from drifting.
        let rotated = |angle: f32, [x, z]: [f64; 2]| {
            let (sin, cos) = f64::from(angle).sin_cos();
            [cos * x + sin * z, cos * z - sin * x]
        };
        let pivot = [pivot.x, pivot.z].map(f64::from);
        let arm = rotated(-self.angle, [0, 1].map(|i| pivot[i] - f64::from(self.shift[i])));
        let angle = (self.angle + angle + PI).rem_euclid(TAU) - PI;
        let arm = rotated(angle, arm);
        Self { angle, shift: [0, 1].map(|i| (pivot[i] - arm[i]) as f32) }
    }

    /// Returns whether angle and translation are finite.
    pub fn is_finite(&self) -> bool {
        self.angle.is_finite() && Vec2::from(self.shift).is_finite()
    }

    fn along(&self) -> Vec3 {
        Vec3::new(self.shift[0], 0.0, self.shift[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_keep_their_pivot_and_hardly_drift() {
        let pivot = Vec3::new(0.4, 0.9, -2.0);
        let (x, quarter) = (Vec3::new(1.4, 0.3, -2.0), Turn::NONE.about(pivot, PI / 2.0));
        assert!(quarter.point(x).distance(Vec3::new(0.4, 0.3, -3.0)) < 1e-6);
        assert!(quarter.inverse_point(quarter.point(x)).distance(x) < 1e-6);
        // One hour at 90 frames per second.
        let mut turn = Turn::NONE;
        (0..324_000).for_each(|_| turn = turn.about(pivot, 0.0039));
        assert!(turn.point(pivot).distance(pivot) < 1e-3);
        assert!((turn.point(x).distance(pivot) - x.distance(pivot)).abs() < 1e-3);
        assert!(turn.angle.abs() <= PI && turn.point(x).y == x.y);
    }
}
