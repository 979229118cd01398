//! CPU reference of dual quaternion skinning.

use crate::asset::Influences;
use crate::base::math::{Quat, Vec3};
use crate::deform::rig_data::RigData;
use crate::deform::skinning_cpu::{Posed, Skinning};

/// Dual quaternion skinning. It has no settings and needs no binding.
pub struct Dqs;

impl Skinning for Dqs {
    fn name(&self) -> &'static str {
        "dqs"
    }

    fn vertex(&self, vertex: usize, _: Vec3, posed: &Posed<'_>) -> Vec3 {
        skin(&posed.control.influences, vertex, posed.data, posed.control.positions[vertex])
    }
}

/// Returns the skinned position of a vertex with bind position `x`.
pub(in crate::deform) fn skin(influences: &Influences, vertex: usize, data: &RigData, x: Vec3) -> Vec3 {
    let (mut real, mut dual) = (Quat::from_array([0.0; 4]), Quat::from_array([0.0; 4]));
    let mut pivot = None;
    let mut stretched = Vec3::ZERO;
    for (joint, weight) in influences.of(vertex) {
        let joint = joint as usize;
        let (q, d) = (Quat::from_array(data.dual[joint].real), Quat::from_array(data.dual[joint].dual));
        // q and -q are the same rotation; picks the sign nearer to the heaviest joint's rotation.
        let sign = if pivot.get_or_insert(q).dot(q) < 0.0 { -weight } else { weight };
        real += q * sign;
        dual += d * sign;
        if data.scaled {
            stretched += weight * data.scale[joint].affine().transform_point3(x);
        }
    }
    let start = if data.scaled { stretched } else { x };
    // Opposite rotations can cancel; then only the heaviest joint is used.
    let length = real.length();
    if length < 1e-6 {
        return influences.of(vertex).next().map_or(x, |(joint, _)| {
            let dual = &data.dual[joint as usize];
            rigid(Quat::from_array(dual.real), Quat::from_array(dual.dual), start)
        });
    }
    rigid(real * (1.0 / length), dual * (1.0 / length), start)
}

/// Applies a dual quaternion (Kavan et al. 2008, equation 12, without terms that vanish for a unit rotation). A part
/// of `dual` along `real` does not affect the result.
fn rigid(real: Quat, dual: Quat, x: Vec3) -> Vec3 {
    let (r, d) = (real.xyz(), dual.xyz());
    real * x + 2.0 * (real.w * d - dual.w * r + r.cross(d))
}
