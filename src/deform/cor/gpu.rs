//! Skinning with optimized centres of rotation on the GPU.

use crate::base::Result;
use crate::base::math::Vec3;
use crate::deform::rig_buffers::{ControlBuffers, RigBuffers, padded};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame};
use crate::spv;
use std::sync::Arc;

/// The pipeline, created once per device.
pub struct CorPipeline {
    stage: Compute,
}

/// A character's bindings.
pub struct CorState {
    bindings: Bindings,
}

impl CorPipeline {
    /// Creates the pipeline.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self { stage: Compute::new(device, spv!("deform/cor.comp"), &[])? })
    }

    /// Binds a character with its centres ([`super::centers`]); the stage writes posed positions to
    /// `position`.
    pub fn bind(
        &self,
        centers: &[Vec3],
        control: &ControlBuffers,
        rig: &RigBuffers,
        position: &Buffer,
    ) -> Result<CorState> {
        let mut list = control.influences().to_vec();
        let centers = Buffer::from_slice(position.device(), "centres of rotation", &padded(centers))?;
        list.extend([
            ("bind_positions", &control.bind_positions),
            ("dual", &rig.dual),
            ("scale", &rig.scale),
            ("skinning", &rig.skinning),
            ("centers", &centers),
            ("positions", position),
        ]);
        Ok(CorState { bindings: self.stage.bind(&list)? })
    }

    /// Records the stage. The rig must be uploaded before it, with a barrier between.
    pub fn record(&self, state: &CorState, control: &ControlBuffers, rig: &RigBuffers, frame: &mut Frame) {
        frame.dispatch(&self.stage, &state.bindings, &control.push(rig.scaled()), control.vertices);
    }
}
