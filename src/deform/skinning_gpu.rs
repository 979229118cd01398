//! The compute shader of a geometric method. One invocation per control vertex reads bind data and the posed skeleton
//! and writes a position. Methods differ in the shader and in the buffers that the shader declares.

use super::rig_buffers::{ControlBuffers, GeometricPush, RigBuffers};
use crate::base::Result;
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame, Spv};
use std::sync::Arc;

/// A buffer and its name in a shader.
pub(super) type Named<'a> = (&'a str, &'a Buffer);

/// The pipeline of one method, created once per device.
pub(super) struct SkinningPipeline {
    stage: Compute,
    /// Whether the shader reads scale parts separately from rotations. If so, a push constant says whether any exist.
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

    /// Binds the buffers that the shader declares. A buffer of the method in `own` takes precedence over a
    /// character's buffer of equal name. The shader writes posed positions to `position`.
    ///
    /// # Errors
    /// If memory is short, or if the shader declares a buffer that is in neither list.
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

    /// Records the dispatch. Before it, the rig must be uploaded, followed by a barrier.
    pub fn record(&self, state: &SkinningState, rig: &RigBuffers, frame: &mut Frame) {
        let scaled = self.scales && rig.scaled();
        let push = GeometricPush { flag: state.push.flag | u32::from(scaled), ..state.push };
        frame.dispatch(&self.stage, &state.bindings, &push, push.count);
    }
}

impl SkinningState {
    /// Returns the push constants, to change them when the character is bound.
    pub fn push_mut(&mut self) -> &mut GeometricPush {
        &mut self.push
    }
}
