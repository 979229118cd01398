//! CPU reference of stretchable, twistable bones.

use super::bind::{StbBinding, bind, rest_of};
use crate::base::math::{Quat, Vec3};
use crate::deform::Bound;
use crate::deform::attach::{Anchors, ON_JOINT};
use crate::deform::rest::Rested;
use crate::deform::skinning_cpu::{Posed, Skinning};

/// Skinning by stretchable, twistable bones, with its precomputed weights.
pub struct Stb {
    binding: StbBinding,
}

impl Stb {
    /// Precomputes bone weights and endpoint weights.
    pub fn new(bound: &Bound) -> Self {
        Self { binding: bind(bound) }
    }
}

impl Skinning for Stb {
    fn name(&self) -> &'static str {
        "stb"
    }

    fn set_rest(&mut self, rested: &Rested, _: &Anchors) {
        self.binding.bones = rest_of(&rested.bound.character.skeleton);
    }

    fn vertex(&self, vertex: usize, _: Vec3, posed: &Posed<'_>) -> Vec3 {
        let (binding, skinning) = (&self.binding, &posed.rig.skinning);
        let at = posed.control.positions[vertex];
        let moved = |entry: &super::StbEntry| {
            if entry.bone & ON_JOINT != 0 {
                return skinning[(entry.bone & !ON_JOINT) as usize].transform_point3(at);
            }
            let (rest, strain) =
                (&binding.bones[entry.bone as usize], &posed.data.strain[entry.bone as usize]);
            let (head, axis) = (Vec3::from(rest.head), Vec3::from(rest.direction));
            let angle = entry.end * strain.twist;
            let twist = if axis == Vec3::ZERO { Quat::IDENTITY } else { Quat::from_axis_angle(axis, angle) };
            let x = head + twist * (at - head);
            skinning[rest.joint as usize].transform_point3(x) + entry.end * Vec3::from(strain.stretch)
        };
        let range = binding.offset[vertex] as usize..binding.offset[vertex + 1] as usize;
        binding.entries[range].iter().map(|e| e.weight * moved(e)).sum()
    }
}
