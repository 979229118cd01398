//! The springs on the GPU: prepare once a frame, follow the schedule, finish. No read-back: a stop test that finds the
//! springs converged sets the number of groups of all dispatches after it to zero.

mod bind;
mod layout;
mod record;

pub use bind::SpringState;
pub(super) use layout::GpuGains;
pub use layout::{IterationBytes, iteration_bytes};

use super::flesh::gpu::FleshPipelines;
use super::swing::gpu::SwingState;
use crate::base::Result;
use crate::gpu::constants::GROUP_SIZE;
use crate::gpu::{Compute, Device};
use crate::spv;
use std::sync::Arc;

/// The GPU keeps the largest move of every iteration of a frame; more iterations than this are not run.
pub const MAX_ITERATIONS: u32 = 4096;

/// Vertices per invocation on a software device, for which an invocation costs as much as a simple vertex. A real one
/// wants as many invocations as it can get.
const SOFTWARE_SPAN: u32 = 8;

/// The stages, once per device.
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
    flesh: FleshPipelines,
    swing: Compute,
}

impl SpringPipelines {
    /// Groups that cover so many vertices.
    fn groups(&self, vertices: u32) -> u32 {
        vertices.div_ceil(GROUP_SIZE * self.span)
    }

    /// Makes the pipelines and checks the layouts they share with Rust.
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
        let flesh = FleshPipelines::new(device, span)?;
        let swing = SwingState::pipeline(device)?;
        Ok(Self { edit, span, stiffen, prepare, iterate, restrict, prolong, test, finish, flesh, swing })
    }
}
