//! The stage of a geometric method on the GPU: one invocation per control vertex reads bind data and the posed skeleton
//! and writes a position. Methods differ in their shader and in the buffers that it names.

use super::rig_buffers::{ControlBuffers, GeometricPush, RigBuffers};
use crate::base::Result;
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame, Spv};
use std::sync::Arc;

/// A buffer by its name in a shader.
pub(super) type Named<'a> = (&'a str, &'a Buffer);

/// The pipeline of one method, created once per device.
pub(super) struct SkinningPipeline {
    stage: Compute,
    /// It reads scale parts apart from rotations, and must know whether there are any.
    scales: bool,
}

/// A character's bindings and push constants.
pub(super) struct SkinningState {
    bindings: Bindings,
    push: GeometricPush,
}

impl SkinningPipeline {
    pub fn new(device: &Arc<Device>, spv: Spv) -> Result<Self> {
        let stage = Compute::new(device, spv, &[])?;
        Ok(Self { scales: stage.reflection().binding("scale").is_some(), stage })
    }

    /// Binds the character's buffers that the shader names, `own` before those of the character; the stage writes posed
    /// positions to `position`.
    ///
    /// # Errors
    /// When memory is short, or the shader names a buffer that is in no list.
    pub fn bind(
        &self,
        own: &[Named<'_>],
        control: &ControlBuffers,
        rig: &RigBuffers,
        position: &Buffer,
    ) -> Result<SkinningState> {
        let position = [("positions", position)];
        let all = || own.iter().copied().chain(control.named()).chain(rig.named()).chain(position);
        let named = self.stage.reflection().bindings.iter().filter_map(|b| all().find(|(n, _)| *n == b.name));
        Ok(SkinningState { bindings: self.stage.bind(&named.collect::<Vec<_>>())?, push: control.push() })
    }

    /// Records the stage. The rig must be uploaded before it, with a barrier between.
    pub fn record(&self, state: &SkinningState, rig: &RigBuffers, frame: &mut Frame) {
        let scaled = self.scales && rig.scaled();
        let push = GeometricPush { flag: state.push.flag | u32::from(scaled), ..state.push };
        frame.dispatch(&self.stage, &state.bindings, &push, push.count);
    }
}

impl SkinningState {
    /// The push constants, to be set when the character is bound.
    pub fn push_mut(&mut self) -> &mut GeometricPush {
        &mut self.push
    }
}
