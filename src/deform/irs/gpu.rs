//! The reaches of incremental rotation skinning on the GPU.

use super::{BoneReach, IrsBinding, IrsParams};
use crate::base::Result;
use crate::gpu::{Buffer, Device, Frame};
use std::sync::Arc;

/// How far rotations reach along each bone, as settings change it.
pub(in crate::deform) struct IrsReaches {
    bones: Vec<BoneReach>,
    buffer: Buffer,
    /// The buffer holds other reaches than `bones`.
    stale: bool,
}

impl IrsReaches {
    /// Uploads those of a binding.
    ///
    /// # Errors
    /// When memory is short.
    pub fn new(device: &Arc<Device>, binding: &IrsBinding) -> Result<Self> {
        let buffer = Buffer::from_slice(device, "bone reaches", &binding.bones)?;
        Ok(Self { bones: binding.bones.clone(), buffer, stale: false })
    }

    /// [`BoneReach`] per bone.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Sets other reaches.
    pub fn set(&mut self, params: &IrsParams) {
        self.bones.iter_mut().for_each(|bone| bone.set(params));
        self.stale = true;
    }

    /// Records the upload for [`IrsReaches::set`], a copy: put a barrier or a phase after it.
    pub fn update(&mut self, frame: &mut Frame) {
        if std::mem::take(&mut self.stale) {
            frame.upload(&self.buffer, 0, &self.bones);
        }
    }
}
