//! CPU twin of dual quaternion skinning.

use crate::asset::Influences;
use crate::base::Result;
use crate::base::math::{Quat, Vec3};
use crate::deform::attach::Anchors;
use crate::deform::rig_data::RigData;
use crate::deform::{Bound, Reference, Stream, Streams};
use crate::rig::PosedRig;
use rayon::prelude::*;

/// Dual quaternion skinning bound to a character.
pub struct Dqs {
    bound: Bound,
    anchors: Anchors,
}

impl Dqs {
    /// Binds; an error where attachments and character do not fit together.
    pub fn bind(bound: &Bound) -> Result<Self> {
        Ok(Self { bound: bound.clone(), anchors: Anchors::new(bound)? })
    }
}

impl Reference for Dqs {
    fn name(&self) -> &'static str {
        "dqs"
    }

    fn reads(&self) -> &'static [Stream] {
        &[]
    }

    fn writes(&self) -> &'static [Stream] {
        &[Stream::Position, Stream::Attachment]
    }

    fn reference(&self, rig: &PosedRig, streams: &mut Streams) {
        let character = &self.bound.character;
        let data = RigData::of(&character.skeleton, rig);
        self.anchors.attachment_points(&data, &mut streams.attachment);
        let control = &character.control;
        streams.position.resize(control.positions.len(), Vec3::ZERO);
        streams.position.par_iter_mut().enumerate().for_each(|(i, out)| {
            *out = skin(&control.influences, i, &data, control.positions[i]);
        });
    }
}

/// Skins one vertex at bind position `x`.
pub(in crate::deform) fn skin(influences: &Influences, vertex: usize, data: &RigData, x: Vec3) -> Vec3 {
    let (mut real, mut dual) = (Quat::from_array([0.0; 4]), Quat::from_array([0.0; 4]));
    let mut pivot = None;
    let mut stretched = Vec3::ZERO;
    for (joint, weight) in influences.of(vertex) {
        let joint = joint as usize;
        let (q, d) = (Quat::from_array(data.dual[joint].real), Quat::from_array(data.dual[joint].dual));
        // q and -q are the same rotation: take the one on the heaviest joint's side.
        let sign = if pivot.get_or_insert(q).dot(q) < 0.0 { -weight } else { weight };
        real += q * sign;
        dual += d * sign;
        if data.scaled {
            stretched += weight * data.scale[joint].affine().transform_point3(x);
        }
    }
    let start = if data.scaled { stretched } else { x };
    // Opposed rotations can cancel; the heaviest joint alone decides then.
    let length = real.length();
    if length < 1e-6 {
        return influences.of(vertex).next().map_or(x, |(joint, _)| {
            let dual = &data.dual[joint as usize];
            rigid(Quat::from_array(dual.real), Quat::from_array(dual.dual), start)
        });
    }
    rigid(real * (1.0 / length), dual * (1.0 / length), start)
}

/// Equation 12 of the paper without the terms that vanish for a unit rotation; a blended dual part that is not
/// orthogonal to the rotation adds only to the product's scalar, which is dropped.
fn rigid(real: Quat, dual: Quat, x: Vec3) -> Vec3 {
    let (r, d) = (real.xyz(), dual.xyz());
    real * x + 2.0 * (real.w * d - dual.w * r + r.cross(d))
}
