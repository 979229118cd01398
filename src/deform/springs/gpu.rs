//! The springs on the GPU: prepare once per frame, follow the schedule, finish. Nothing is read back: a
//! stop test that finds the springs converged sets the number of groups of all later dispatches to zero.

mod bind;
mod layout;
mod record;

pub use bind::SpringState;
pub(super) use layout::GpuGains;
pub use layout::{IterationBytes, iteration_bytes};

use super::corrections::gpu::CorrectionPipelines;
use super::dynamics::gpu::DynamicsState;
use crate::base::Result;
use crate::gpu::constants::GROUP_SIZE;
use crate::gpu::{Compute, Device};
use crate::spv;
use std::sync::Arc;

/// Maximum iterations per frame: the GPU stores the largest move of each.
pub const MAX_ITERATIONS: u32 = 4096;

/// Vertices per invocation on a software device, where an invocation costs as much as a simple vertex.
/// Hardware gets one vertex per invocation.
const SOFTWARE_SPAN: u32 = 8;

/// The pipelines, created once per device.
pub struct SpringPipelines {
    pub(super) edit: Compute,
    /// Vertices per invocation.
    span: u32,
    stiffen: Compute,
    prepare: Compute,
    iterate: Compute,
    restrict: Compute,
    prolong: Compute,
    test: Compute,
    finish: Compute,
    corrections: CorrectionPipelines,
    dynamics: Compute,
}

impl SpringPipelines {
    /// Number of groups that cover this many vertices.
    fn groups(&self, vertices: u32) -> u32 {
        vertices.div_ceil(GROUP_SIZE * self.span)
    }

    /// Creates the pipelines and checks the layouts that they share with Rust.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let span = if device.is_software() { SOFTWARE_SPAN } else { 1 };
        let test = Compute::new(device, spv!("deform/springs/test.comp"), &[])?;
        let restrict = Compute::new(device, spv!("deform/springs/restrict.comp"), &[span])?;
        let prolong = Compute::new(device, spv!("deform/springs/prolong.comp"), &[span])?;
        let stiffen = Compute::new(device, spv!("deform/springs/stiffen.comp"), &[])?;
        let prepare = Compute::new(device, spv!("deform/springs/prepare.comp"), &[span])?;
        let iterate = Compute::new(device, spv!("deform/springs/iterate.comp"), &[span])?;
        let finish = Compute::new(device, spv!("deform/springs/finish.comp"), &[span])?;
        let edit = Compute::new(device, spv!("deform/springs/edit.comp"), &[])?;
        layout::check(&stiffen, &finish, &edit)?;
        let corrections = CorrectionPipelines::new(device, span)?;
        let dynamics = DynamicsState::pipeline(device)?;
        Ok(Self {
            edit,
            span,
            stiffen,
            prepare,
            iterate,
            restrict,
            prolong,
            test,
            finish,
            corrections,
            dynamics,
        })
    }
}
