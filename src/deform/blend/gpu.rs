//! The LBS-DQS blend on the GPU.

use super::Factor;
use crate::base::Result;
use crate::deform::rig_buffers::{ControlBuffers, RigBuffers};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame};
use crate::spv;
use std::sync::Arc;

/// The stage, once per device.
pub struct BlendPipeline {
    stage: Compute,
}

/// A character's bindings.
pub struct BlendState {
    bindings: Bindings,
}

impl BlendPipeline {
    /// Makes the pipeline.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self { stage: Compute::new(device, spv!("deform/blend.comp"), &[])? })
    }

    /// Binds a character; `position` takes the posed positions. The factors must be as many as the vertices.
    pub fn bind(
        &self,
        factor: &Factor,
        control: &ControlBuffers,
        rig: &RigBuffers,
        position: &Buffer,
    ) -> Result<BlendState> {
        factor.check(control.vertices as usize)?;
        let mut list = control.influences().to_vec();
        let factors: Vec<f32> = (0..control.vertices as usize).map(|i| factor.of(i)).collect();
        let factors = Buffer::from_slice(position.device(), "blend factors", &factors)?;
        list.extend([
            ("bind_positions", &control.bind_positions),
            ("dual", &rig.dual),
            ("scale", &rig.scale),
            ("skinning", &rig.skinning),
            ("factors", &factors),
            ("positions", position),
        ]);
        Ok(BlendState { bindings: self.stage.bind(&list)? })
    }

    /// Records the stage; the rig must be uploaded before, behind a barrier.
    pub fn record(&self, state: &BlendState, control: &ControlBuffers, rig: &RigBuffers, frame: &mut Frame) {
        frame.dispatch(&self.stage, &state.bindings, &control.push(rig.scaled()), control.vertices);
    }
}
