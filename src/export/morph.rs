//! Computes displacements in mesh space with which a viewer's skinning reproduces the editor's surface.
//!
//! For a vertex at `x` with displacement `d`, a viewer draws `M (x + d)`. For a skinned vertex, `M = Σ w_j W_j IBM_j`
//! over its joints `j`: skin weights `w`, world transforms `W`, inverse bind matrices `IBM`. For an unskinned vertex,
//! `M` is the node's world transform. The displacement with which a viewer draws the vertex at the editor's position
//! `p` is therefore `d = M^-1 p - x`. For skinned normals, viewers (three.js, Khronos' sample viewer) use the linear
//! part of `M`, not its inverse transpose. (For rigid joints, both are equal.) For unskinned normals, viewers use the
//! inverse transpose of the node's transform. Then they normalise the result. The displaced normal is therefore the
//! unit vector that the viewer's transform maps to the target direction.

use super::locals::skinning;
use super::posed::{Job, Shape};
use super::shading::FEW;
use crate::asset::Influences;
use crate::base::math::Vec3;
use crate::geom::Part;
use crate::rig::Pose;
use glam::{DAffine3, DMat3, DVec3};

/// Condition number above which `M` counts as singular. Below it, a displacement is at most 1e3 times the residual. Its
/// rounding to f32 (1e-7) then causes an error of at most 1e-7 * 1e3 = 1e-4 of the residual.
const SINGULAR: f64 = 1e3;

/// Tolerances below which a vertex gets no displacement.
#[derive(Clone, Copy)]
pub(super) struct Tolerance {
    /// Distance, scene units.
    pub position: f64,
    /// Angle, radians.
    pub normal: f64,
    /// Whether the part's normals are written although the file has no normals.
    pub writes_normals: bool,
}

/// Displacements of one primitive at one key: `(vertex, displacement)`, ascending by vertex, without zeros.
#[derive(Clone, Debug, Default)]
pub(super) struct Delta {
    pub positions: Vec<(u32, Vec3)>,
    pub normals: Vec<(u32, Vec3)>,
    /// Vertices whose displacement is only approximate, because `M` is nearly singular.
    pub singular: Vec<u32>,
}

/// Computes the displacements of one display part at one key. If skinning reproduces every position, the result has no
/// positions. In this case, it holds normals if at least one vertex in [`FEW`] has a deviating normal after skinning;
/// otherwise it is empty. `shared` are displacements of positions and normals that other targets give.
#[allow(clippy::too_many_arguments, reason = "what a surface and its skinning depend on")]
pub(super) fn solve(
    job: &Job,
    part: &Part,
    influences: &Influences,
    world: &[DAffine3],
    pose: &Pose,
    shape: &Shape,
    shared: Option<&[Vec<Vec3>; 2]>,
    tolerance: Tolerance,
) -> Delta {
    let primitive = &job.asset.meshes[part.mesh.index()].primitives[part.primitive];
    let node = part.node.index();
    let skin = crate::rig::skin_of(job.asset, &job.asset.nodes[node]).filter(|_| !influences.is_empty());
    let joints = skin.map(|s| skinning(job.asset, s, world));
    let weights = &pose.weights[node];
    // An in-memory asset is always written with its normals.
    let in_memory = !job.asset.source.json.is_object();
    let has_normals = primitive.normals_from_file || in_memory || tolerance.writes_normals;
    let mut out = Delta::default();
    let start = part.vertices.start as usize;
    for (v, &position) in primitive.positions.iter().enumerate() {
        let (mut base, mut normal) = (position.as_dvec3(), primitive.normals[v].as_dvec3());
        for (morph, &w) in primitive.morphs.iter().zip(weights) {
            base += morph.positions[v].as_dvec3() * f64::from(w);
            normal += morph.normals.get(v).map_or(DVec3::ZERO, |n| n.as_dvec3() * f64::from(w));
        }
        if let Some([positions, normals]) = shared {
            base += positions[v].as_dvec3();
            normal += normals[v].as_dvec3();
        }
        let to_world = match &joints {
            Some(joints) => blend(influences, v, joints),
            None => world[node],
        };
        let inverse = Inverse::new(to_world.matrix3);
        let residual = shape.positions[start + v].as_dvec3() - to_world.transform_point3(base);
        let moved = residual.length() > tolerance.position;
        if moved {
            out.positions.push((v as u32, inverse.apply(residual).as_vec3()));
            if inverse.singular {
                out.singular.push(v as u32);
            }
        }
        let wanted = shape.normals[start + v].as_dvec3();
        if !has_normals || wanted.length_squared() < 0.25 {
            continue;
        }
        let drawn = if joints.is_some() { to_world.matrix3 * normal } else { inverse.transposed() * normal };
        if moved || drawn.normalize_or_zero().angle_between(wanted) > tolerance.normal {
            let mesh =
                if joints.is_some() { inverse.apply(wanted) } else { to_world.matrix3.transpose() * wanted };
            if let Some(unit) = mesh.try_normalize() {
                out.normals.push((v as u32, (unit - normal).as_vec3()));
            }
        }
    }
    let few = out.normals.len() * FEW < primitive.positions.len();
    if out.positions.is_empty() && few { Delta::default() } else { out }
}

/// Returns the blended skinning matrix `M` of one vertex.
pub(super) fn blend(influences: &Influences, vertex: usize, joints: &[DAffine3]) -> DAffine3 {
    let mut sum = DAffine3::ZERO;
    let mut total = 0.0;
    for (joint, weight) in influences.of(vertex) {
        let weight = f64::from(weight);
        // The mesh may refer to more joints than the skin has; use the skin's last joint instead of missing ones.
        let joint = &joints[usize::from(joint).min(joints.len() - 1)];
        sum.matrix3 += joint.matrix3 * weight;
        sum.translation += joint.translation * weight;
        total += weight;
    }
    if total > 0.0 {
        sum.matrix3 *= 1.0 / total;
        sum.translation /= total;
    }
    sum
}

/// The inverse of a 3x3 matrix, or its regularised pseudo-inverse if the matrix is nearly singular.
struct Inverse {
    matrix: DMat3,
    inverse: DMat3,
    singular: bool,
}

impl Inverse {
    fn new(matrix: DMat3) -> Self {
        let inverse = matrix.inverse();
        let condition = frobenius(&matrix) * frobenius(&inverse);
        if condition.is_finite() && condition < SINGULAR {
            return Self { matrix, inverse, singular: false };
        }
        // Tikhonov regularisation chooses, among solutions with nearly equal error, one with a small displacement.
        let lambda = (frobenius(&matrix) / SINGULAR).powi(2).max(1e-60);
        let normal = matrix.transpose() * matrix + DMat3::from_diagonal(DVec3::splat(lambda));
        Self { matrix, inverse: normal.inverse() * matrix.transpose(), singular: true }
    }

    /// Solves `matrix * d = residual` for `d`. The regularised solution is refined twice (iterated Tikhonov).
    fn apply(&self, residual: DVec3) -> DVec3 {
        let mut d = self.inverse * residual;
        for _ in 0..if self.singular { 2 } else { 0 } {
            d += self.inverse * (residual - self.matrix * d);
        }
        if d.is_finite() { d } else { DVec3::ZERO }
    }

    fn transposed(&self) -> DMat3 {
        self.inverse.transpose()
    }
}

fn frobenius(m: &DMat3) -> f64 {
    m.to_cols_array().iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_is_exact_until_singular_and_then_smallest() {
        let m = DMat3::from_cols(
            DVec3::new(0.0, 2.0, 0.0),
            DVec3::new(-0.01, 0.0, 0.3),
            DVec3::new(0.0, 0.1, 1.0),
        );
        let inverse = Inverse::new(m);
        let r = DVec3::new(0.3, -0.2, 0.7);
        assert!(!inverse.singular && (m * inverse.apply(r) - r).length() < 1e-12);
        // The matrix has rank one. The displacement matches the residual's component in the range of the matrix and
        // ignores the other components.
        let flat = Inverse::new(DMat3::from_diagonal(DVec3::X));
        let d = flat.apply(DVec3::new(0.5, 4.0, -3.0));
        assert!(flat.singular && (d - DVec3::new(0.5, 0.0, 0.0)).length() < 1e-6, "{d}");
        assert_eq!(Inverse::new(DMat3::ZERO).apply(DVec3::ONE), DVec3::ZERO);
    }
}
