//! Rigid attachment on the GPU.

use crate::base::Result;
use crate::deform::rig_buffers::{ControlBuffers, RigBuffers};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame};
use crate::spv;
use std::sync::Arc;

/// The pipeline, created once per device.
pub struct RigidPipeline {
    stage: Compute,
}

/// A character's bindings.
pub struct RigidState {
    bindings: Bindings,
}

impl RigidPipeline {
    /// Creates the pipeline.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self { stage: Compute::new(device, spv!("deform/rigid.comp"), &[])? })
    }

    /// Binds a character; the stage writes posed positions to `position`.
    pub fn bind(&self, control: &ControlBuffers, rig: &RigBuffers, position: &Buffer) -> Result<RigidState> {
        let bindings = self.stage.bind(&[
            ("anchors", &control.anchors),
            ("targets", &control.targets),
            ("skinning", &rig.skinning),
            ("bones", &rig.bones),
            ("positions", position),
        ])?;
        Ok(RigidState { bindings })
    }

    /// Records the stage. The rig must be uploaded before it, with a barrier between.
    pub fn record(&self, state: &RigidState, control: &ControlBuffers, frame: &mut Frame) {
        frame.dispatch(&self.stage, &state.bindings, &control.push(false), control.vertices);
    }
}
