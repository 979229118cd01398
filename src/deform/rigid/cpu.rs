//! CPU reference of rigid attachment.

use crate::base::math::{Quat, Vec3};
use crate::deform::skinning_cpu::{Posed, Skinning};

/// Rigid attachment. It has no settings and needs no binding.
pub struct Rigid;

impl Skinning for Rigid {
    fn name(&self) -> &'static str {
        "rigid"
    }

    fn radial(&self) -> bool {
        true
    }

    fn vertex(&self, vertex: usize, a: Vec3, posed: &Posed<'_>) -> Vec3 {
        match posed.anchors.bone(vertex) {
            Some(bone) => {
                a + Quat::from_array(posed.data.bones[bone].rotation) * posed.anchors.scale_vector(vertex)
            }
            None => a,
        }
    }
}
