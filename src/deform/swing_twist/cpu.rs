//! CPU reference of swing-twist deformers.

use super::{Motions, Params, SwingTwistBinding, bind};
use crate::base::Result;
use crate::base::math::Vec3;
use crate::deform::attach::Anchors;
use crate::deform::rest::Rested;
use crate::deform::rig_data::RigData;
use crate::deform::{Bound, Reference, Streams};
use crate::rig::{PosedRig, Skeleton};
use rayon::prelude::*;

/// Swing-twist deformers bound to a character.
pub struct SwingTwist {
    bound: Bound,
    anchors: Anchors,
    binding: SwingTwistBinding,
    /// The file's skeleton.
    skeleton: Skeleton,
    params: Params,
}

impl SwingTwist {
    /// Binds a character.
    ///
    /// # Errors
    /// The errors of [`bind`], and an error if the attachments do not match the character.
    pub fn new(bound: &Bound, params: &Params) -> Result<Self> {
        let binding = bind(bound, params)?;
        let (anchors, skeleton) = (Anchors::new(bound)?, bound.character.skeleton.clone());
        Ok(Self { anchors, bound: bound.clone(), binding, skeleton, params: params.clone() })
    }

    /// The precomputed data.
    pub fn binding(&self) -> &SwingTwistBinding {
        &self.binding
    }
}

impl Reference for SwingTwist {
    fn set_rest(&mut self, rested: &Rested) {
        self.anchors.set_scale_vectors(&rested.bound);
        self.bound = rested.bound.clone();
    }

    fn name(&self) -> &'static str {
        "swing-twist"
    }

    fn reference(&self, rig: &PosedRig, streams: &mut Streams) {
        let character = &self.bound.character;
        let data = RigData::of(&self.skeleton, rig);
        self.anchors.attachment_points(&data, &mut streams.attachment);
        let mut motions = Motions::new(&self.binding.joints, &self.skeleton, &self.params);
        motions.update(rig);
        let vertex = |(v, x): (usize, &Vec3)| {
            let moved = self.binding.of(v).iter().fold(*x, |x, entry| {
                motions.motions[entry.joint as usize].apply(x, entry.swing, entry.twist)
            });
            match self.binding.base[v] {
                SwingTwistBinding::NONE => moved,
                joint => rig.skinning[joint as usize].transform_point3(moved),
            }
        };
        character
            .control
            .positions
            .par_iter()
            .enumerate()
            .map(vertex)
            .collect_into_vec(&mut streams.position);
    }
}
