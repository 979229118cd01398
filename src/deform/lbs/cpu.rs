//! CPU reference of linear blend skinning.

use crate::asset::Influences;
use crate::base::math::{Affine3A, Mat3, Mat3A, Vec3, Vec3A};
use crate::deform::skinning_cpu::{Posed, Skinning};
use crate::rig::PosedRig;

/// Linear blend skinning. It has no settings and needs no binding.
pub struct Lbs;

impl Skinning for Lbs {
    fn name(&self) -> &'static str {
        "lbs"
    }

    fn vertex(&self, vertex: usize, _: Vec3, posed: &Posed<'_>) -> Vec3 {
        let control = posed.control;
        blend(&control.influences, vertex, &posed.rig.skinning).transform_point3(control.positions[vertex])
    }
}

/// Returns `Σ w_ij T_j` of one vertex.
pub(in crate::deform) fn blend(influences: &Influences, vertex: usize, maps: &[Affine3A]) -> Affine3A {
    let mut sum = Affine3A { matrix3: Mat3A::ZERO, translation: Vec3A::ZERO };
    for (joint, weight) in influences.of(vertex) {
        let map = &maps[joint as usize];
        sum.matrix3 += map.matrix3 * weight;
        sum.translation += map.translation * weight;
    }
    sum
}

/// Returns the linear part of a vertex's blended transform. It maps displacements from bind space to the pose
/// (exactly for LBS, approximately for other methods).
pub fn linear_parts(influences: &Influences, vertex: usize, rig: &PosedRig) -> Mat3 {
    blend(influences, vertex, &rig.skinning).matrix3.into()
}
