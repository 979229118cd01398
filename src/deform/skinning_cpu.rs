//! The CPU reference code that all geometric methods share. Each method adds a function for one vertex.

use super::attach::Anchors;
use super::rest::{Rested, SkinCage};
use super::rig_data::RigData;
use super::sculpt::Field;
use super::{Bound, Reference, Streams};
use crate::base::Result;
use crate::base::math::Vec3;
use crate::geom::ControlMesh;
use crate::rig::{PosedRig, Skeleton};
use rayon::prelude::*;

/// Inputs for posing a vertex.
pub struct Posed<'a> {
    /// The mesh in bind space.
    pub control: &'a ControlMesh,
    /// The attachment of the control vertices to the skeleton.
    pub anchors: &'a Anchors,
    /// The posed skeleton.
    pub rig: &'a PosedRig,
    /// The posed skeleton in the GPU's layout.
    pub data: &'a RigData,
}

/// A geometric method that poses every vertex independently.
pub trait Skinning: Send + Sync {
    /// Returns the method's name on the command line and in reports, e.g. `lbs`.
    fn name(&self) -> &'static str;
    /// Returns the world position of a control vertex, metres. `a` is its posed attachment point, or the posed vertex
    /// itself for vertices of props.
    fn vertex(&self, vertex: usize, a: Vec3, posed: &Posed<'_>) -> Vec3;
    /// Whether the method only rotates scale vectors, so that sculpt layers may change their length.
    fn radial(&self) -> bool {
        false
    }
    /// Precomputes what [`Skinning::set_rest`] needs. `bound` has the file's rest shape.
    fn set_cage(&mut self, _bound: &Bound, _skin: &SkinCage) {}
    /// Recomputes the method's data that depends on the rest shape.
    fn set_rest(&mut self, _rested: &Rested, _anchors: &Anchors) {}
}

/// A method bound to a character.
pub struct SkinningReference<M> {
    /// The character in the rest shape of the next frame.
    bound: Bound,
    /// The file's skeleton, which poses refer to.
    skeleton: Skeleton,
    anchors: Anchors,
    method: M,
}

impl<M: Skinning> SkinningReference<M> {
    /// Binds a method. Errors if the attachments do not match the character.
    pub fn new(bound: &Bound, method: M) -> Result<Self> {
        let skeleton = bound.character.skeleton.clone();
        Ok(Self { anchors: Anchors::new(bound)?, bound: bound.clone(), skeleton, method })
    }
}

impl<M: Skinning> Reference for SkinningReference<M> {
    fn set_offsets(&mut self, before: &[u32], field: &Field) -> bool {
        if self.method.radial() {
            let scale_vectors = &self.bound.attachments.scale_vector;
            for &v in before {
                self.anchors.anchors[v as usize].scale_vector = scale_vectors[v as usize].into();
            }
            for (v, offset) in field.iter() {
                self.anchors.anchors[v as usize].scale_vector =
                    (scale_vectors[v as usize] + offset.offset).into();
            }
        }
        self.method.radial()
    }

    fn set_cage(&mut self, bound: &Bound, skin: &SkinCage) {
        self.method.set_cage(bound, skin);
    }

    fn set_rest(&mut self, rested: &Rested) {
        self.anchors.set_scale_vectors(&rested.bound);
        self.method.set_rest(rested, &self.anchors);
        self.bound = rested.bound.clone();
    }

    fn name(&self) -> &'static str {
        self.method.name()
    }

    fn reference(&self, rig: &PosedRig, streams: &mut Streams) {
        let character = &self.bound.character;
        let data = RigData::of(&self.skeleton, rig);
        self.anchors.attachment_points(&data, &mut streams.attachment);
        let posed = Posed { control: &character.control, anchors: &self.anchors, rig, data: &data };
        streams.position.resize(streams.attachment.len(), Vec3::ZERO);
        let both = streams.position.par_iter_mut().zip(&streams.attachment).enumerate();
        both.for_each(|(i, (out, &a))| *out = self.method.vertex(i, a, &posed));
    }
}
