//! CPU twin of linear blend skinning.

use crate::asset::Influences;
use crate::base::Result;
use crate::base::math::{Affine3A, Mat3, Mat3A, Vec3, Vec3A};
use crate::deform::attach::Anchors;
use crate::deform::rig_data::RigData;
use crate::deform::{Bound, Reference, Stream, Streams};
use crate::rig::PosedRig;
use rayon::prelude::*;

/// Linear blend skinning bound to a character.
pub struct Lbs {
    bound: Bound,
    anchors: Anchors,
}

impl Lbs {
    /// Binds; an error where attachments and character do not fit together.
    pub fn bind(bound: &Bound) -> Result<Self> {
        Ok(Self { bound: bound.clone(), anchors: Anchors::new(bound)? })
    }
}

impl Reference for Lbs {
    fn name(&self) -> &'static str {
        "lbs"
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
        let (control, maps) = (&character.control, &rig.skinning);
        streams.position.resize(control.positions.len(), Vec3::ZERO);
        streams.position.par_iter_mut().enumerate().for_each(|(i, out)| {
            *out = blend(&control.influences, i, maps).transform_point3(control.positions[i]);
        });
    }
}

/// `Σ w_ij T_j` of one vertex.
pub(in crate::deform) fn blend(influences: &Influences, vertex: usize, maps: &[Affine3A]) -> Affine3A {
    let mut sum = Affine3A { matrix3: Mat3A::ZERO, translation: Vec3A::ZERO };
    for (joint, weight) in influences.of(vertex) {
        let map = &maps[joint as usize];
        sum.matrix3 += map.matrix3 * weight;
        sum.translation += map.translation * weight;
    }
    sum
}

/// The linear part of the blended transform of one vertex, which carries displacements from bind space to the
/// pose (exactly so for LBS).
pub fn linear_parts(influences: &Influences, vertex: usize, rig: &PosedRig) -> Mat3 {
    blend(influences, vertex, &rig.skinning).matrix3.into()
}
