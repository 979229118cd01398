//! The springs on the GPU: prepare once per frame, execute the schedule, finish. Nothing is read back. When the
//! springs have converged, a stop test sets the group counts of all later dispatches to zero.

mod bind;
mod layout;
mod record;
mod rest;

pub use bind::SpringState;
pub(super) use layout::GpuGains;
pub use layout::{IterationBytes, iteration_bytes};

use super::corrections::gpu::CorrectionPipelines;
use super::dynamics::gpu::DynamicsState;
use super::thesis::gpu::ThesisPipelines;
use crate::base::Result;
use crate::gpu::constants::GROUP_SIZE;
use crate::gpu::{Compute, Device};
use crate::spv;
use std::sync::Arc;

/// Maximum number of iterations per frame: the GPU stores the largest move of each iteration.
pub const MAX_ITERATIONS: u32 = 4096;

/// Vertices per invocation on a software device, where launching an invocation costs as much as processing a simple
/// vertex. On hardware devices, each invocation processes one vertex.
const SOFTWARE_SPAN: u32 = 8;

/// The compute pipelines of the springs, created once per device.
pub struct SpringPipelines {
    pub(super) edit: Compute,
    /// Number of vertices that one invocation processes.
    span: u32,
    rest: Compute,
    stiffen: Compute,
    prepare: Compute,
    iterate: Compute,
    restrict: Compute,
    prolong: Compute,
    test: Compute,
    finish: Compute,
    corrections: CorrectionPipelines,
    dynamics: Compute,
    thesis: ThesisPipelines,
}

impl SpringPipelines {
    /// Returns the number of workgroups that cover this many vertices.
    fn groups(&self, vertices: u32) -> u32 {
        vertices.div_ceil(GROUP_SIZE * self.span)
    }

    /// Creates the pipelines and compares the shaders' data layouts with their Rust declarations.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let span = if device.is_software() { SOFTWARE_SPAN } else { 1 };
        let test = Compute::new(device, spv!("deform/springs/test.comp"), &[])?;
        let restrict = Compute::new(device, spv!("deform/springs/restrict.comp"), &[span])?;
        let prolong = Compute::new(device, spv!("deform/springs/prolong.comp"), &[span])?;
        let rest = Compute::new(device, spv!("deform/springs/rest.comp"), &[])?;
        let stiffen = Compute::new(device, spv!("deform/springs/stiffen.comp"), &[])?;
        let prepare = Compute::new(device, spv!("deform/springs/prepare.comp"), &[span])?;
        let iterate = Compute::new(device, spv!("deform/springs/iterate.comp"), &[span])?;
        let finish = Compute::new(device, spv!("deform/springs/finish.comp"), &[span])?;
        let edit = Compute::new(device, spv!("deform/springs/edit.comp"), &[])?;
        layout::check(&rest, &stiffen, &finish, &edit)?;
        let corrections = CorrectionPipelines::new(device, span)?;
        let dynamics = DynamicsState::pipeline(device)?;
        let thesis = ThesisPipelines::new(device, span)?;
        Ok(Self {
            edit,
            span,
            rest,
            stiffen,
            prepare,
            iterate,
            restrict,
            prolong,
            test,
            finish,
            corrections,
            dynamics,
            thesis,
        })
    }
}
