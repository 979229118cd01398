//! Dual quaternion skinning on the GPU.

use crate::base::Result;
use crate::deform::rig_buffers::{ControlBuffers, RigBuffers};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame};
use crate::spv;
use std::sync::Arc;

/// The pipeline, created once per device.
pub struct DqsPipeline {
    stage: Compute,
}

/// A character's bindings.
pub struct DqsState {
    bindings: Bindings,
}

impl DqsPipeline {
    /// Creates the pipeline.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self { stage: Compute::new(device, spv!("deform/dqs.comp"), &[])? })
    }

    /// Binds a character; the stage writes posed positions to `position`.
    pub fn bind(&self, control: &ControlBuffers, rig: &RigBuffers, position: &Buffer) -> Result<DqsState> {
        let mut list = control.influences().to_vec();
        list.extend([
            ("bind_positions", &control.bind_positions),
            ("dual", &rig.dual),
            ("scale", &rig.scale),
            ("positions", position),
        ]);
        Ok(DqsState { bindings: self.stage.bind(&list)? })
    }

    /// Records the stage. The rig must be uploaded before it, with a barrier between.
    pub fn record(&self, state: &DqsState, control: &ControlBuffers, rig: &RigBuffers, frame: &mut Frame) {
        frame.dispatch(&self.stage, &state.bindings, &control.push(rig.scaled()), control.vertices);
    }
}
