//! The math types used everywhere, and additions to glam.
//!
//! Units are metres, radians and seconds. Space is right-handed with +Y up, as in glTF. Vectors are columns: `x' = M
//! x`. A matrix is named `to_from_from`, e.g. `world_from_joint`.

pub use glam::{
    Affine3A, DAffine3, DMat3, DQuat, DVec2, DVec3, EulerRot, IVec3, Mat3, Mat3A, Mat4, Quat, UVec3, Vec2,
    Vec3, Vec3A, Vec4,
};

pub use super::turn::Turn;

/// A local transform as glTF stores it: `translation * rotation * scale`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Trs {
    /// Translation in the parent's space, metres.
    pub translation: [f32; 3],
    /// Unit quaternion `(x, y, z, w)`.
    pub rotation: [f32; 4],
    /// Scale per local axis; may be negative or non-uniform.
    pub scale: [f32; 3],
}

impl Trs {
    /// The identity transform.
    pub const IDENTITY: Self =
        Self { translation: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], scale: [1.0; 3] };

    /// Creates a transform from glam's types.
    pub fn new(translation: Vec3, rotation: Quat, scale: Vec3) -> Self {
        Self { translation: translation.into(), rotation: rotation.into(), scale: scale.into() }
    }

    /// Returns the translation as a vector.
    pub fn translation(&self) -> Vec3 {
        self.translation.into()
    }

    /// Returns the rotation as a unit quaternion; the identity if the stored quaternion has zero length.
    pub fn rotation(&self) -> Quat {
        let q = Quat::from_array(self.rotation);
        if q.is_finite() && q.length_squared() > 1e-12 { q.normalize() } else { Quat::IDENTITY }
    }

    /// Returns the scale as a vector.
    pub fn scale(&self) -> Vec3 {
        self.scale.into()
    }

    /// Returns this transform as an affine map.
    pub fn affine(&self) -> Affine3A {
        Affine3A::from_scale_rotation_translation(self.scale(), self.rotation(), self.translation())
    }
}

/// Returns the rotation of Euler angles in radians, order XYZ: about X, then about Y, then about Z.
pub fn rotation_of_euler([x, y, z]: [f64; 3]) -> DQuat {
    DQuat::from_rotation_z(z) * DQuat::from_rotation_y(y) * DQuat::from_rotation_x(x)
}

/// Returns the Euler angles of a unit quaternion, radians, order XYZ. The angle about Y is at most a quarter turn.
pub fn euler_of_rotation(rotation: DQuat) -> [f64; 3] {
    let (z, y, x) = rotation.to_euler(EulerRot::ZYX);
    [x, y, z]
}

/// Returns the rotation nearest to the linear part of an affine map (polar decomposition), without reflection and
/// scale.
///
/// Uses Higham's iteration in f64. If the matrix is nearly singular, the function instead builds a rotation from the
/// matrix's longest columns.
pub fn rotation_of(map: &Affine3A) -> Quat {
    let linear = Mat3::from(map.matrix3);
    nearest_rotation(linear)
}

/// Returns the rotation nearest to a 3x3 matrix in the Frobenius norm, as a unit quaternion.
///
/// A matrix with negative determinant is negated first: a mirrored joint keeps the lines along its axes.
pub fn nearest_rotation(linear: Mat3) -> Quat {
    let mut m = linear.as_dmat3();
    let largest = m.x_axis.length().max(m.y_axis.length()).max(m.z_axis.length());
    if !largest.is_finite() || largest < 1e-30 {
        return Quat::IDENTITY;
    }
    m *= 1.0 / largest;
    if m.determinant() < 0.0 {
        m *= -1.0;
    }
    if m.determinant() < 1e-9 {
        return orthonormal_from_columns(m);
    }
    for _ in 0..40 {
        let next = (m + m.inverse().transpose()) * 0.5;
        let change = (next - m).to_cols_array().iter().map(|v| v.abs()).fold(0.0, f64::max);
        m = next;
        if change < 1e-12 {
            break;
        }
    }
    Quat::from_mat3(&m.as_mat3()).normalize()
}

fn orthonormal_from_columns(m: DMat3) -> Quat {
    let columns = [m.x_axis, m.y_axis, m.z_axis];
    let Some(first) = (0..3).max_by(|&a, &b| columns[a].length().total_cmp(&columns[b].length())) else {
        return Quat::IDENTITY;
    };
    let u = columns[first].normalize_or(DVec3::X);
    let (next, last) = ((first + 1) % 3, (first + 2) % 3);
    let rejected = columns[next] - u * u.dot(columns[next]);
    let v = if rejected.length() > 1e-9 {
        rejected.normalize()
    } else {
        let w = columns[last] - u * u.dot(columns[last]);
        if w.length() > 1e-9 { w.normalize().cross(u) } else { u.any_orthonormal_vector() }
    };
    let mut out = [DVec3::ZERO; 3];
    out[first] = u;
    out[next] = v;
    out[last] = u.cross(v);
    Quat::from_mat3(&DMat3::from_cols(out[0], out[1], out[2]).as_mat3()).normalize()
}

/// An axis-aligned bounding box; an empty box has `min > max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Smallest corner.
    pub min: Vec3,
    /// Largest corner.
    pub max: Vec3,
}

impl Default for Aabb {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Aabb {
    /// The empty box.
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// Returns the smallest box that contains all points.
    pub fn of(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |b, p| Self { min: b.min.min(p), max: b.max.max(p) })
    }

    /// Returns whether the box contains no point.
    pub fn is_empty(&self) -> bool {
        self.min.cmpgt(self.max).any()
    }

    /// Returns the side lengths, in the unit of the points; zero for an empty box.
    pub fn size(&self) -> Vec3 {
        if self.is_empty() { Vec3::ZERO } else { self.max - self.min }
    }

    /// Returns the length of the diagonal; zero for an empty box.
    pub fn diagonal(&self) -> f32 {
        self.size().length()
    }

    /// Returns the centre; the origin for an empty box.
    pub fn center(&self) -> Vec3 {
        if self.is_empty() { Vec3::ZERO } else { (self.min + self.max) * 0.5 }
    }
}

/// Returns the distance from a point to the segment between `a` and `b`, which may coincide.
pub fn distance_to_segment(x: Vec3, a: Vec3, b: Vec3) -> f32 {
    let along = b - a;
    let square = along.length_squared();
    let t = if square > 0.0 { ((x - a).dot(along) / square).clamp(0.0, 1.0) } else { 0.0 };
    x.distance(a + along * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rotation_removes_scale_and_reflection() {
        let q = Quat::from_rotation_y(0.7) * Quat::from_rotation_x(-1.2);
        let scaled = Mat3::from_quat(q) * Mat3::from_diagonal(Vec3::new(2.0, 2.0, 2.0));
        assert!(nearest_rotation(scaled).angle_between(q) < 1e-3);
        assert!(nearest_rotation(scaled * -1.0).angle_between(q) < 1e-3);
        assert_eq!(nearest_rotation(Mat3::ZERO), Quat::IDENTITY);
        let flat = Mat3::from_cols(Vec3::X, Vec3::Y, Vec3::ZERO);
        assert!(nearest_rotation(flat).angle_between(Quat::IDENTITY) < 1e-3);
    }
}
