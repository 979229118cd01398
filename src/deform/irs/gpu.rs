//! The GPU buffer with the reach values of incremental rotation skinning.

use super::{BoneReach, IrsBinding, IrsParams};
use crate::base::Result;
use crate::gpu::{Buffer, Device, Frame};
use std::sync::Arc;

/// Reach of joint rotations along each bone, updated when settings change.
pub(in crate::deform) struct IrsReaches {
    bones: Vec<BoneReach>,
    buffer: Buffer,
    /// Whether the buffer must be updated from `bones`.
    stale: bool,
}

impl IrsReaches {
    /// Uploads the reach values of a binding.
    ///
    /// # Errors
    /// An error if the buffer cannot be allocated.
    pub fn new(device: &Arc<Device>, binding: &IrsBinding) -> Result<Self> {
        let buffer = Buffer::from_slice(device, "bone reaches", &binding.bones)?;
        Ok(Self { bones: binding.bones.clone(), buffer, stale: false })
    }

    /// Returns the buffer with one [`BoneReach`] per bone.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
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
