//! The pipelines of the thesis's springs. They replace two stages of [`super::super::gpu`] and share its buffers.

use crate::base::Result;
use crate::gpu::{Compute, Device};
use crate::{shared_with_shaders, spv};
use std::sync::Arc;

shared_with_shaders! {
    pub(in super::super) struct ThesisPreparePush as "Push" {
        pub(in super::super) count: u32,
        pub(in super::super) from_last: u32,
    }

    pub(in super::super) struct ThesisIteratePush as "Push" {
        pub(in super::super) count: u32,
        pub(in super::super) iteration: u32,
        pub(in super::super) half_read: u32,
        pub(in super::super) flags: u32,
        pub(in super::super) surface: f32,
        pub(in super::super) length_gain: f32,
        pub(in super::super) torsion: f32,
        pub(in super::super) unit: f32,
        pub(in super::super) dt: f32,
        pub(in super::super) omega: f32,
        pub(in super::super) on_bone: f32,
    }
}

/// The stages that differ from Sinew's springs.
pub(in super::super) struct ThesisPipelines {
    pub(in super::super) prepare: Compute,
    pub(in super::super) iterate: Compute,
}

impl ThesisPipelines {
    /// Creates the pipelines; an invocation processes `span` vertices.
    pub(in super::super) fn new(device: &Arc<Device>, span: u32) -> Result<Self> {
        Ok(Self {
            prepare: Compute::new(device, spv!("deform/springs/thesis_prepare.comp"), &[span])?,
            iterate: Compute::new(device, spv!("deform/springs/thesis_iterate.comp"), &[span])?,
        })
    }
}
