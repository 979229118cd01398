//! The spring iterations on the GPU: prepare once a frame, iterate, finish. No read-back: an iteration that
//! finds its predecessor's largest move below the threshold returns at once.

use super::bind::Binding;
use super::momentum::Momentum;
use super::{Params, THESIS_LIMIT, Torque};
use crate::base::{Error, Result};
use crate::deform::rig_buffers::{ControlBuffers, RigBuffers, StreamBuffers};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame, assert_layout};
use crate::spv;
use bytemuck::{Pod, Zeroable};
use std::mem::{offset_of, size_of};
use std::sync::Arc;

/// The GPU keeps the largest move of every iteration of a frame; more iterations than this are not run.
pub const MAX_ITERATIONS: u32 = 4096;

/// Vertices and half-edges are numbered in 24 bits, degrees in 8.
const MAX_INDEX: usize = 1 << 24;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct GpuVertex {
    scale_vector: [f32; 3],
    radius: f32,
    bone_direction: [f32; 3],
    phi: f32,
    turn: [f32; 3],
    mean_length: f32,
    shape: [f32; 3],
    first_and_degree: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct GpuEdge {
    neighbor_and_coherence: u32,
    rest_length: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct GpuPose {
    hold: [f32; 3],
    hold_stiffness: f32,
    axis: [f32; 3],
    bone_stiffness: f32,
    turn: [f32; 3],
    phi: f32,
    shape: [f32; 3],
    girth_stiffness: f32,
    sense: f32,
    pull: f32,
    time_step: f32,
    first_and_degree: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct PreparePush {
    count: u32,
    has_tail: u32,
    edge_stiffness: f32,
    turning: f32,
    bone: f32,
    hold: f32,
    girth: f32,
    bend_reach: f32,
    hold_reach: f32,
    girth_reach: f32,
    largest_step: f32,
    omega: f32,
    on_bone: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct IteratePush {
    count: u32,
    iteration: u32,
    weight: f32,
    threshold: f32,
    surface: f32,
    length: f32,
    torsion: f32,
    thesis_limit: f32,
}

/// Bytes that one iteration moves, counted from what `glsl/deform/springs/iterate.comp` loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationBytes {
    /// Every element of every array once: per vertex its posed rest measures, its anchor, both iterates read and one
    /// written; per half-edge its own entry. Neighbours are taken to be found in a cache.
    pub once: u64,
    /// Without a cache: beside that, per half-edge the neighbour's anchor and iterate.
    pub gathered: u64,
}

/// Bytes of one iteration on a mesh.
pub fn iteration_bytes(vertices: usize, half_edges: usize) -> IterationBytes {
    let vec4 = size_of::<[f32; 4]>();
    let once = (vertices * (size_of::<GpuPose>() + 4 * vec4) + half_edges * size_of::<GpuEdge>()) as u64;
    IterationBytes { once, gathered: once + (half_edges * 2 * vec4) as u64 }
}

/// The stages, once per device.
pub struct SpringPipelines {
    prepare: Compute,
    iterate: Compute,
    finish: Compute,
}

impl SpringPipelines {
    /// Makes the pipelines and checks the layouts they share with Rust.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let prepare = Compute::new(device, spv!("deform/springs/prepare.comp"), &[])?;
        let iterate = Compute::new(device, spv!("deform/springs/iterate.comp"), &[])?;
        let finish = Compute::new(device, spv!("deform/springs/finish.comp"), &[])?;
        macro_rules! fields {
            ($type:ident: $($field:ident $size:expr),*) => {
                &[$((stringify!($field), offset_of!($type, $field), $size)),*]
            };
        }
        assert_layout::<GpuVertex>(
            prepare.reflection(),
            "SpringVertex",
            fields!(GpuVertex: scale_vector 12, radius 4, bone_direction 12, phi 4, turn 12, mean_length 4,
                    shape 12, first_and_degree 4),
        )?;
        assert_layout::<GpuEdge>(
            iterate.reflection(),
            "SpringEdge",
            fields!(GpuEdge: neighbor_and_coherence 4, rest_length 4),
        )?;
        for stage in [&prepare, &iterate] {
            assert_layout::<GpuPose>(
                stage.reflection(),
                "SpringPose",
                fields!(GpuPose: hold 12, hold_stiffness 4, axis 12, bone_stiffness 4, turn 12, phi 4, shape 12,
                        girth_stiffness 4, sense 4, pull 4, time_step 4, first_and_degree 4),
            )?;
        }
        Ok(Self { prepare, iterate, finish })
    }

    /// Uploads a character's springs; they read both streams and write the positions.
    pub fn bind(
        &self,
        device: &Arc<Device>,
        binding: &Binding,
        control: &ControlBuffers,
        rig: &RigBuffers,
        streams: &StreamBuffers,
    ) -> Result<SpringState> {
        let count = binding.vertices.len();
        if binding.edges.len() >= MAX_INDEX {
            let problem = format!("{} half-edges, the springs number {MAX_INDEX}", binding.edges.len());
            return Err(Error::input(problem, "split the model or use fewer vertices"));
        }
        if let Some(i) = (0..count).find(|&i| binding.degree(i) > 255) {
            let problem =
                format!("control vertex {i} has {} neighbours, the springs take 255", binding.degree(i));
            return Err(Error::input(problem, "split the fan of triangles around it"));
        }
        let vertices: Vec<GpuVertex> = (binding.vertices.iter().enumerate())
            .map(|(i, v)| GpuVertex {
                scale_vector: v.scale_vector.into(),
                radius: v.radius,
                bone_direction: v.bone_direction.into(),
                phi: v.phi,
                turn: v.turn.into(),
                mean_length: v.mean_length,
                shape: v.shape.into(),
                first_and_degree: binding.offset[i] | binding.degree(i) << 24,
            })
            .collect();
        let edges: Vec<GpuEdge> = (binding.edges.iter())
            .map(|e| GpuEdge {
                neighbor_and_coherence: e.neighbor | ((e.coherence * 255.0).round() as u32) << 24,
                rest_length: e.length,
            })
            .collect();
        let vertices = Buffer::from_slice(device, "spring vertices", &vertices)?;
        let edges = Buffer::from_slice(device, "spring edges", &edges)?;
        let anchors = Buffer::zeroed::<[f32; 4]>(device, "spring anchors", count)?;
        let posed = Buffer::zeroed::<GpuPose>(device, "posed springs", count)?;
        let iterates = Buffer::zeroed::<[f32; 4]>(device, "spring iterates", 2 * count)?;
        let state = Buffer::zeroed::<u32>(device, "spring state", MAX_ITERATIONS as usize + 1)?;
        let mut prepare = control.influences().to_vec();
        prepare.extend([
            ("vertices", &vertices),
            ("dual", &rig.dual),
            ("positions", &streams.position),
            ("attachments", &streams.attachment),
            ("anchors", &anchors),
            ("posed", &posed),
            ("iterates", &iterates),
        ]);
        Ok(SpringState {
            count: count as u32,
            has_tail: control.has_tail,
            on_bone: binding.on_bone,
            thickness: binding.thickness,
            prepare: self.prepare.bind(&prepare)?,
            iterate: self.iterate.bind(&[
                ("edges", &edges),
                ("anchors", &anchors),
                ("posed", &posed),
                ("iterates", &iterates),
                ("State", &state),
            ])?,
            finish: self.finish.bind(&[
                ("iterates", &iterates),
                ("State", &state),
                ("positions", &streams.position),
            ])?,
            state,
        })
    }

    /// Records a frame's springs. `momentum` belongs to the same parameters ([`Momentum::new`]).
    pub fn record(&self, state: &SpringState, params: &Params, momentum: &Momentum, frame: &mut Frame) {
        let params = params.sane();
        frame.fill(&state.state, 0);
        frame.barrier();
        let prepare = PreparePush {
            count: state.count,
            has_tail: state.has_tail.into(),
            edge_stiffness: params.edge_stiffness(),
            turning: params.turning(),
            bone: params.bone * params.torsion,
            hold: params.hold * params.torsion,
            girth: params.girth * params.torsion,
            bend_reach: params.bend_reach,
            hold_reach: params.hold_reach,
            girth_reach: params.girth_reach,
            largest_step: params.largest_step(),
            omega: params.omega,
            on_bone: state.on_bone,
        };
        frame.dispatch(&self.prepare, &state.prepare, &prepare, state.count);
        let mut push = IteratePush {
            count: state.count,
            iteration: 0,
            weight: 1.0,
            threshold: params.threshold(state.thickness),
            surface: params.surface,
            length: params.length,
            torsion: params.torsion,
            thesis_limit: if params.torque == Torque::Thesis { THESIS_LIMIT } else { 0.0 },
        };
        let mut momentum = momentum.restarted();
        for iteration in 0..params.max_iterations.min(MAX_ITERATIONS) {
            push.iteration = iteration;
            push.weight = momentum.weight();
            frame.barrier();
            frame.dispatch(&self.iterate, &state.iterate, &push, state.count);
        }
        frame.barrier();
        frame.dispatch(&self.finish, &state.finish, &state.count, state.count);
    }
}

/// A character's springs on the GPU.
pub struct SpringState {
    count: u32,
    has_tail: bool,
    on_bone: f32,
    thickness: f32,
    prepare: Bindings,
    iterate: Bindings,
    finish: Bindings,
    state: Buffer,
}

impl SpringState {
    /// Iterations that the last finished frame carried out. Blocks: for tools and tests, not for a frame.
    pub fn iterations(&self, device: &Arc<Device>) -> Result<u32> {
        Ok(device.read::<u32>(&self.state, 1)?[0])
    }
}

const _: () =
    assert!(size_of::<GpuVertex>() == 64 && size_of::<GpuPose>() == 80 && size_of::<GpuEdge>() == 8);
