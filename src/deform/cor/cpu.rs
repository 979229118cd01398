//! CPU twin of skinning with optimized centres of rotation.

use super::bind::centers;
use crate::base::Result;
use crate::base::math::{Affine3A, Quat, Vec3};
use crate::deform::attach::Anchors;
use crate::deform::lbs;
use crate::deform::rig_data::RigData;
use crate::deform::{Bound, Reference, Stream, Streams};
use crate::rig::PosedRig;
use rayon::prelude::*;

/// The method bound to a character.
pub struct Cor {
    bound: Bound,
    anchors: Anchors,
    centers: Vec<Vec3>,
}

impl Cor {
    /// Precomputes the centres; an error where attachments and character do not fit together.
    pub fn bind(bound: &Bound) -> Result<Self> {
        let anchors = Anchors::new(bound)?;
        Ok(Self { bound: bound.clone(), anchors, centers: centers(&bound.character.control) })
    }

    /// The centre of rotation per control vertex, bind space.
    pub fn centers(&self) -> &[Vec3] {
        &self.centers
    }
}

impl Reference for Cor {
    fn name(&self) -> &'static str {
        "cor"
    }

    fn reads(&self) -> &'static [Stream] {
        &[]
    }

    fn writes(&self) -> &'static [Stream] {
        &[Stream::Position, Stream::Attachment]
    }

    /// Their algorithm 1: `x' = R (S x - S p*) + Σ w_j T_j p*`, with `R` the normalised sum of the joints'
    /// quaternions. **(differs)** `S = Σ w_j S_j` adds the joints' scale, which the paper leaves out.
    fn reference(&self, rig: &PosedRig, streams: &mut Streams) {
        let character = &self.bound.character;
        let data = RigData::of(&character.skeleton, rig);
        self.anchors.attachment_points(&data, &mut streams.attachment);
        let control = &character.control;
        let stretch: Vec<Affine3A> = data.scale.iter().map(|s| s.affine()).collect();
        streams.position.resize(control.positions.len(), Vec3::ZERO);
        streams.position.par_iter_mut().enumerate().for_each(|(i, out)| {
            let mut arm = control.positions[i] - self.centers[i];
            if data.scaled {
                arm = lbs::blend(&control.influences, i, &stretch).transform_vector3(arm);
            }
            let mut sum = Quat::from_array([0.0; 4]);
            let mut heaviest = None;
            for (joint, weight) in control.influences.of(i) {
                let q = rig.rotation[joint as usize];
                let sign = if heaviest.get_or_insert(q).dot(q) < 0.0 { -weight } else { weight };
                sum += q * sign;
            }
            let turn = if sum.length() > 1e-6 { sum.normalize() } else { heaviest.unwrap_or(Quat::IDENTITY) };
            let center = lbs::blend(&control.influences, i, &rig.skinning).transform_point3(self.centers[i]);
            *out = turn * arm + center;
        });
    }
}
