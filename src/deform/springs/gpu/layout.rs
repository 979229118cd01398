//! Data that the springs' shaders share with Rust: buffer elements and push constants (`glsl/types/springs.glsl`).

use super::super::edits::SpringEdit;
use crate::base::Result;
use crate::gpu::Compute;
use crate::{shared_constants, shared_with_shaders};
use std::mem::size_of;

shared_constants! {
    "types/springs.glsl" {
        const REST_TEXELS: usize = 5;
        const POSE_TEXELS: usize = 4;
        /// Spring iteration flag: changes the loads of this level's vertices so that their forces equal the restricted
        /// forces of the finer level.
        pub(super) const SPRING_TAKE: u32 = 1;
        /// Spring iteration flag: stores the forces of this level's vertices, from which the coarser level computes its
        /// load.
        pub(super) const SPRING_KEEP: u32 = 2;
        /// Spring iteration flag: the convergence test uses the largest force or displacement of a vertex.
        pub(super) const SPRING_LARGEST: u32 = 4;
        /// Spring iteration flag: the convergence test uses forces instead of displacements.
        pub(super) const SPRING_FORCE: u32 = 8;
        /// Spring iteration flag: the convergence test uses the work of the springs.
        pub(super) const SPRING_WORK: u32 = 16;
        /// Maximum number of subgroups per workgroup: [`GROUP_SIZE`] divided by the smallest possible subgroup size.
        pub(super) const SPRING_SUBGROUPS: u32 = 16;
    }
}

shared_with_shaders! {
    pub(super) struct GpuMeasure as "SpringMeasure" {
        pub(super) radius: f32,
        pub(super) phi: f32,
        pub(super) mean_length: f32,
        pub(super) grain: f32,
        pub(super) loose: f32,
        pub(super) has_bone: u32,
        pub(super) first_and_degree: u32,
    }

    pub(super) struct GpuEdge as "SpringEdge" {
        pub(super) neighbor_and_coherence: u32,
        pub(super) rest_length: f32,
    }

    pub(in super::super) struct GpuGains as "SpringGains" {
        pub(super) hold_stiffness: f32,
        pub(super) bone_stiffness: f32,
        pub(super) phi: f32,
        pub(super) girth_stiffness: f32,
        pub(super) sense: f32,
        pub(super) pull: f32,
        pub(super) step_across: f32,
        pub(super) step_along: f32,
        pub(super) first_and_degree: u32,
        pub(super) density: f32,
        pub(super) unused: [u32; 2],
    }
}

/// Rest measures of a vertex, as texels.
pub(super) type GpuRest = [[f32; 4]; REST_TEXELS];

/// Posed rest measures of a vertex, as texels.
pub(super) type GpuPose = [[f32; 4]; POSE_TEXELS];

shared_with_shaders! {
    pub(super) struct GpuState as "SpringState" {
        pub(super) executed: u32,
        pub(super) corrected: u32,
    }

    pub(super) struct RestPush as "Push" {
        pub(super) count: u32,
        pub(super) coarse: u32,
        pub(super) on_bone: f32,
    }

    pub(super) struct StiffenPush as "Push" {
        pub(super) count: u32,
        pub(super) surface: f32,
        pub(super) length_gain: f32,
        pub(super) torsion: f32,
        pub(super) bone: f32,
        pub(super) hold: f32,
        pub(super) girth: f32,
        pub(super) bend_reach: f32,
        pub(super) hold_reach: f32,
        pub(super) girth_reach: f32,
        pub(super) largest_step: f32,
        pub(super) omega: f32,
        pub(super) on_bone: f32,
        pub(super) resolved: f32,
        pub(super) plain: u32,
    }

    pub(super) struct PreparePush as "Push" {
        pub(super) count: u32,
        pub(super) has_tail: u32,
        pub(super) coarse: u32,
        pub(super) from_last: u32,
        pub(super) keep: u32,
        pub(super) scaled: u32,
        pub(super) torsion: f32,
    }

    pub(super) struct IteratePush as "Push" {
        pub(super) count: u32,
        pub(super) iteration: u32,
        pub(super) half_read: u32,
        pub(super) flags: u32,
        pub(super) weight: f32,
        pub(super) surface: f32,
        pub(super) length_gain: f32,
        pub(super) torsion: f32,
        pub(super) thesis_unit: f32,
        pub(super) omega: f32,
    }

    pub(super) struct RestrictPush as "Push" {
        pub(super) count: u32,
        pub(super) before: u32,
    }

    pub(super) struct ProlongPush as "Push" {
        pub(super) count: u32,
        pub(super) coarse: u32,
        pub(super) before: u32,
        pub(super) after: u32,
        pub(super) tested: u32,
    }

    pub(super) struct TestPush as "Push" {
        pub(super) iteration: u32,
        pub(super) stages: u32,
        pub(super) threshold: f32,
        pub(super) correction: f32,
        pub(super) work_count: u32,
    }
}

/// Compares the data layouts of the shaders with their Rust declarations. Errors if they differ.
pub(super) fn check(rest: &Compute, stiffen: &Compute, finish: &Compute, edit: &Compute) -> Result<()> {
    rest.reflection().check::<GpuEdge>()?;
    stiffen.reflection().check::<GpuMeasure>()?;
    stiffen.reflection().check::<GpuGains>()?;
    finish.reflection().check::<GpuState>()?;
    edit.reflection().check::<SpringEdit>()
}

/// Memory traffic of one iteration, bytes. Counted from the loads and stores in `glsl/deform/springs/iterate.comp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationBytes {
    /// Traffic if every array element is transferred once. Per vertex: posed rest measures, two texels of gains,
    /// anchor, two iterates read and one written. Per half-edge: its entry. Neighbours count as cached.
    pub once: u64,
    /// Traffic without a cache: `once` plus the neighbour's anchor and iterate per half-edge.
    pub gathered: u64,
}

/// Returns the memory traffic of one iteration on a mesh of this size.
pub fn iteration_bytes(vertices: usize, half_edges: usize) -> IterationBytes {
    let vec4 = size_of::<[f32; 4]>();
    let once = (vertices * (size_of::<GpuPose>() + 6 * vec4) + half_edges * size_of::<GpuEdge>()) as u64;
    IterationBytes { once, gathered: once + (half_edges * 2 * vec4) as u64 }
}
const _: () = assert!(size_of::<GpuGains>() == 48 && size_of::<GpuEdge>() == 8);
