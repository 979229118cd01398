//! The GPU data of swing-twist deformers.

use super::{Motions, Params, SwingTwistBinding, bind};
use crate::base::Result;
use crate::deform::Bound;
use crate::gpu::{Buffer, Device, Frame};
use crate::rig::PosedRig;
use std::sync::Arc;

/// The motions of a character's joints, uploaded once per frame.
pub(in crate::deform) struct SwingTwistState {
    motions: Motions,
    buffer: Buffer,
    binding: SwingTwistBinding,
}

impl SwingTwistState {
    /// Binds a character. Also returns its buffers by their names in the shader.
    ///
    /// # Errors
    /// The errors of [`bind`], and an error if a buffer cannot be allocated.
    pub fn new(
        device: &Arc<Device>,
        bound: &Bound,
        params: &Params,
    ) -> Result<(Self, [(&'static str, Buffer); 4])> {
        let binding = bind(bound, params)?;
        let motions = Motions::new(&binding.joints, &bound.character.skeleton, params);
        let buffer = Buffer::from_slice(device, "joint motions", &motions.motions)?;
        let buffers = [
            ("motions", buffer.clone()),
            ("offsets", Buffer::from_slice(device, "chain offsets", &binding.offset)?),
            ("entries", Buffer::from_slice(device, "chains", &binding.entries)?),
            ("bases", Buffer::from_slice(device, "chain bases", &binding.base)?),
        ];
        Ok((Self { motions, buffer, binding }, buffers))
    }

    /// The weights of the vertices.
    pub fn binding(&self) -> &SwingTwistBinding {
        &self.binding
    }

    /// Sets the settings that need no new binding ([`Params::can_become`]).
    pub fn set(&mut self, params: &Params) {
        self.motions.set(params);
    }

    /// Records the upload of a pose as a copy; the caller adds a barrier or a new phase after it.
    pub fn update(&mut self, frame: &mut Frame, rig: &PosedRig) {
        self.motions.update(rig);
        frame.upload(&self.buffer, 0, &self.motions.motions);
    }
}
