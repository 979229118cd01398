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
    factors: Buffer,
    /// What all factors are to become.
    pending: Option<f32>,
}

impl BlendState {
    /// Takes another factor for all vertices.
    pub fn set(&mut self, factor: f32) {
        self.pending = Some(Factor::Global(factor).of(0));
    }

    /// Records what [`BlendState::set`] has asked for: put a barrier or a phase behind it.
    pub fn update(&mut self, frame: &mut Frame) {
        if let Some(factor) = self.pending.take() {
            frame.fill(&self.factors, factor.to_bits());
        }
    }
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
        Ok(BlendState { bindings: self.stage.bind(&list)?, factors, pending: None })
    }

    /// Records the stage; the rig must be uploaded before, behind a barrier.
    pub fn record(&self, state: &BlendState, control: &ControlBuffers, rig: &RigBuffers, frame: &mut Frame) {
        frame.dispatch(&self.stage, &state.bindings, &control.push(rig.scaled()), control.vertices);
    }
}
