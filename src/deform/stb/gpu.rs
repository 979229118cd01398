//! Stretchable, twistable bones on the GPU.

use super::StbBinding;
use crate::base::Result;
use crate::deform::rig_buffers::{ControlBuffers, RigBuffers};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame};
use crate::spv;
use std::sync::Arc;

/// The pipeline, created once per device.
pub struct StbPipeline {
    stage: Compute,
}

/// A character's bindings.
pub struct StbState {
    bindings: Bindings,
}

impl StbPipeline {
    /// Creates the pipeline.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self { stage: Compute::new(device, spv!("deform/stb.comp"), &[])? })
    }

    /// Binds a character; the stage writes posed positions to `position`.
    pub fn bind(
        &self,
        binding: &StbBinding,
        control: &ControlBuffers,
        rig: &RigBuffers,
        position: &Buffer,
    ) -> Result<StbState> {
        let device = position.device();
        let offsets = Buffer::from_slice(device, "bone weight offsets", &binding.offset)?;
        let entries = Buffer::from_slice(device, "bone weights", &binding.entries)?;
        let bones = Buffer::from_slice(device, "bones in bind", &binding.bones)?;
        let bindings = self.stage.bind(&[
            ("offsets", &offsets),
            ("entries", &entries),
            ("rests", &bones),
            ("bind_positions", &control.bind_positions),
            ("skinning", &rig.skinning),
            ("strains", &rig.strain),
            ("positions", position),
        ])?;
        Ok(StbState { bindings })
    }

    /// Records the stage. The rig must be uploaded before it, with a barrier between.
    pub fn record(&self, state: &StbState, control: &ControlBuffers, frame: &mut Frame) {
        frame.dispatch(&self.stage, &state.bindings, &control.push(false), control.vertices);
    }
}
