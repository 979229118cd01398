//! The GPU buffer with the reach values of incremental rotation skinning.

use super::{BoneReach, IrsBinding, IrsParams};
use crate::base::Result;
use crate::deform::rest::gpu::Followers;
use crate::gpu::{Buffer, Device, Frame};
use std::sync::Arc;

/// Reach of joint rotations along each bone, updated when settings change, and the distances of the vertices.
pub(in crate::deform) struct IrsReaches {
    bones: Vec<BoneReach>,
    buffer: Buffer,
    near: Buffer,
    distances: Buffer,
    /// The distances in the file's rest shape.
    file_distances: Buffer,
    length_correction: bool,
    /// Whether the buffer must be updated from `bones`.
    stale: bool,
}

impl IrsReaches {
    /// Uploads the reach values of a binding.
    ///
    /// # Errors
    /// An error if the buffer cannot be allocated.
    pub fn new(device: &Arc<Device>, binding: &IrsBinding) -> Result<Self> {
        Ok(Self {
            bones: binding.bones.clone(),
            buffer: Buffer::from_slice(device, "bone reaches", &binding.bones)?,
            near: Buffer::from_slice(device, "near bones", &binding.near)?,
            distances: Buffer::from_slice(device, "skeleton distances", &binding.distance)?,
            file_distances: Buffer::from_slice(device, "file's skeleton distances", &binding.distance)?,
            length_correction: binding.length_correction,
            stale: false,
        })
    }

    /// Returns the buffers with their names in the shader.
    pub fn named(&self) -> [(&'static str, &Buffer); 3] {
        [("reaches", &self.buffer), ("near", &self.near), ("distances", &self.distances)]
    }

    /// The distances from the bones follow the rest shape if the length correction reads them.
    pub fn followers(&self) -> Followers {
        if !self.length_correction {
            return Followers::Nothing;
        }
        Followers::Distances {
            reaches: self.buffer.clone(),
            near: self.near.clone(),
            distances: self.distances.clone(),
            file: self.file_distances.clone(),
        }
    }

    /// Sets the reach values from settings.
    pub fn set(&mut self, params: &IrsParams) {
        self.bones.iter_mut().for_each(|bone| bone.set(params));
        self.stale = true;
    }

    /// Records the upload after [`IrsReaches::set`] as a copy; the caller adds a barrier or a new phase after it.
    pub fn update(&mut self, frame: &mut Frame) {
        if std::mem::take(&mut self.stale) {
            frame.upload(&self.buffer, 0, &self.bones);
        }
    }
}
