//! The dynamics on the GPU. One invocation per vertex runs all sub-steps.

use super::{Rest, steps};
use crate::base::Result;
use crate::deform::clock::Way;
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame};
use crate::shared_with_shaders;
use crate::spv;
use std::f32::consts::TAU;
use std::sync::Arc;

shared_with_shaders! {
    struct DynamicsPush as "Push" {
        count: u32,
        /// 1 if the vertices start at rest, otherwise 0.
        start: u32,
        steps: u32,
        seconds: f32,
        omega: f32,
        damping: f32,
    }
}

/// Buffers of a character's dynamics.
pub struct DynamicsState {
    count: u32,
    bindings: Bindings,
}

impl DynamicsState {
    /// Uploads the constants. `positions` is the stream that the dynamics move. Errors if memory is short.
    pub fn new(pipeline: &Compute, device: &Arc<Device>, rest: &[Rest], positions: &Buffer) -> Result<Self> {
        let mut rests: Vec<[f32; 2]> = rest.iter().map(|r| [r.haste, r.reach]).collect();
        rests.resize(rest.len().max(1), [0.0; 2]);
        let rests = Buffer::from_slice(device, "dynamics rests", &rests)?;
        let state = Buffer::zeroed::<[[f32; 4]; 3]>(device, "motions", rest.len().max(1))?;
        let bindings = pipeline.bind(&[("rests", &rests), ("motions", &state), ("positions", positions)])?;
        Ok(Self { count: rest.len() as u32, bindings })
    }

    /// Creates the pipeline. Errors if memory is short.
    pub fn pipeline(device: &Arc<Device>) -> Result<Compute> {
        Compute::new(device, spv!("deform/springs/dynamics.comp"), &[])
    }

    /// Records one frame of the position stream. The commands start with a barrier; none follows.
    pub fn record(&self, pipeline: &Compute, frequency: f32, damping: f32, way: Way, frame: &mut Frame) {
        let (start, seconds, steps) = match way {
            Way::Start => (1, 0.0, 0),
            Way::Run(seconds) => (0, seconds as f32, steps(seconds)),
        };
        let push = DynamicsPush { count: self.count, start, steps, seconds, omega: TAU * frequency, damping };
        frame.barrier();
        frame.dispatch(pipeline, &self.bindings, &push, self.count);
    }
}
