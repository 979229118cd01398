//! The LBS-DQS blend on the GPU.

use super::Factor;
use crate::base::Result;
use crate::deform::rig_buffers::{ControlBuffers, RigBuffers};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame};
use crate::spv;
use std::sync::Arc;

/// The pipeline, created once per device.
pub struct BlendPipeline {
    stage: Compute,
}

/// A character's bindings.
pub struct BlendState {
    bindings: Bindings,
    factors: Buffer,
    /// New value for all factors, written by the next update.
    pending: Option<f32>,
}

impl BlendState {
    /// Sets one factor for all vertices.
    pub fn set(&mut self, factor: f32) {
        self.pending = Some(Factor::Global(factor).of(0));
    }

    /// Records the upload for [`BlendState::set`]; put a barrier or a phase after it.
    pub fn update(&mut self, frame: &mut Frame) {
        if let Some(factor) = self.pending.take() {
            frame.fill(&self.factors, factor.to_bits());
        }
    }
}

impl BlendPipeline {
    /// Creates the pipeline.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self { stage: Compute::new(device, spv!("deform/blend.comp"), &[])? })
    }

    /// Binds a character; the stage writes posed positions to `position`. Errors unless there is one factor
    /// per vertex.
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
        Ok(BlendState { bindings: self.stage.bind(&list)?, factors, pending: None })
    }

    /// Records the stage. The rig must be uploaded before it, with a barrier between.
    pub fn record(&self, state: &BlendState, control: &ControlBuffers, rig: &RigBuffers, frame: &mut Frame) {
        frame.dispatch(&self.stage, &state.bindings, &control.push(rig.scaled()), control.vertices);
    }
}
