//! Incremental rotation skinning on the GPU.

use super::{BoneReach, IrsBinding, IrsParams};
use crate::base::Result;
use crate::deform::rig_buffers::{ControlBuffers, GeometricPush, RigBuffers};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame};
use crate::spv;
use std::sync::Arc;

/// The pipeline, created once per device.
pub struct IrsPipeline {
    stage: Compute,
}

/// A character's bindings and settings.
pub struct IrsState {
    bindings: Bindings,
    push: GeometricPush,
    bones: Vec<BoneReach>,
    reaches: Buffer,
    stale: bool,
}

impl IrsState {
    /// Sets other reaches.
    pub fn set(&mut self, params: &IrsParams) {
        self.bones.iter_mut().for_each(|bone| bone.set(params));
        self.stale = true;
    }

    /// Records the upload for [`IrsState::set`], a copy: put a barrier or a phase after it.
    pub fn update(&mut self, frame: &mut Frame) {
        if std::mem::take(&mut self.stale) {
            frame.upload(&self.reaches, 0, &self.bones);
        }
    }
}

impl IrsPipeline {
    /// Creates the pipeline.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self { stage: Compute::new(device, spv!("deform/irs.comp"), &[])? })
    }

    /// Binds a character; the stage writes posed positions to `position`.
    pub fn bind(
        &self,
        binding: &IrsBinding,
        control: &ControlBuffers,
        rig: &RigBuffers,
        position: &Buffer,
    ) -> Result<IrsState> {
        let device = position.device();
        let reaches = Buffer::from_slice(device, "bone reaches", &binding.bones)?;
        let near = Buffer::from_slice(device, "near bones", &binding.near)?;
        let distances = Buffer::from_slice(device, "skeleton distances", &binding.distance)?;
        let bindings = self.stage.bind(&[
            ("anchors", &control.anchors),
            ("targets", &control.targets),
            ("skinning", &rig.skinning),
            ("bones", &rig.bones),
            ("reaches", &reaches),
            ("near", &near),
            ("distances", &distances),
            ("local", &rig.local),
            ("positions", position),
        ])?;
        let push = GeometricPush { on_bone: binding.on_bone, ..control.push(binding.length_correction) };
        Ok(IrsState { bindings, push, bones: binding.bones.clone(), reaches, stale: false })
    }

    /// Records the stage. The rig must be uploaded before it, with a barrier between.
    pub fn record(&self, state: &IrsState, frame: &mut Frame) {
        frame.dispatch(&self.stage, &state.bindings, &state.push, state.push.count);
    }
}
