//! The GPU buffer with the bones of the rest shape.

use super::bind::{BoneRest, StbBinding};
use crate::base::Result;
use crate::base::math::Vec3;
use crate::gpu::{Buffer, Device, Frame};
use crate::rig::{Bone, PosedRig, RestShift, Skeleton};
use std::sync::Arc;

/// The bones of the rest shape, uploaded when the rest shape changes.
pub(in crate::deform) struct StbRests {
    bones: Vec<Bone>,
    host: Vec<BoneRest>,
    buffer: Buffer,
    shown: RestShift,
}

impl StbRests {
    /// Uploads the bones of the file's rest shape.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(device: &Arc<Device>, skeleton: &Skeleton, binding: &StbBinding) -> Result<Self> {
        let buffer = Buffer::from_slice(device, "bones in bind", &binding.bones)?;
        let (bones, host) = (skeleton.bones.clone(), binding.bones.clone());
        Ok(Self { bones, host, buffer, shown: RestShift::default() })
    }

    /// Returns the buffer with one [`BoneRest`] per bone.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Records the upload of a changed rest shape as a copy; the caller adds a barrier or a new phase after it.
    pub fn update(&mut self, frame: &mut Frame, rig: &PosedRig) {
        if self.shown == rig.rest {
            return;
        }
        self.shown.copy_from(&rig.rest);
        let offset = |list: &[Vec3], i: usize| list.get(i).copied().unwrap_or(Vec3::ZERO);
        for (b, (out, bone)) in self.host.iter_mut().zip(&self.bones).enumerate() {
            let head = bone.head + offset(&rig.rest.joints, bone.parent.index());
            let tail = bone.tail + offset(&rig.rest.tails, b);
            (out.head, out.direction) = (head.into(), (tail - head).normalize_or_zero().into());
        }
        frame.upload(&self.buffer, 0, &self.host);
    }
}
