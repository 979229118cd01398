//! The spring iterations on the GPU: prepare once a frame, iterate, finish. No read-back: an iteration that
//! finds its predecessor's largest move below the threshold returns at once.

use super::bind::Binding;
use super::levels::{Level, Levels};
use super::momentum::Momentum;
use super::{Params, Solver, THESIS_LIMIT, Torque};
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
    attachment: [f32; 3],
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

/// Push constants of restriction and prolongation.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct LinkPush {
    count: u32,
}

/// The stages, once per device.
pub struct SpringPipelines {
    restrict: Compute,
    prolong: Compute,
    prepare: Compute,
    iterate: Compute,
    finish: Compute,
}

impl SpringPipelines {
    /// Makes the pipelines and checks the layouts they share with Rust.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let restrict = Compute::new(device, spv!("deform/springs/restrict.comp"), &[])?;
        let prolong = Compute::new(device, spv!("deform/springs/prolong.comp"), &[])?;
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
            fields!(GpuVertex: attachment 12, scale_vector 12, radius 4, bone_direction 12, phi 4, turn 12, mean_length 4,
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
        Ok(Self { restrict, prolong, prepare, iterate, finish })
    }

    /// Uploads a character's springs on all levels; they read both streams and write the positions.
    pub fn bind(
        &self,
        device: &Arc<Device>,
        levels: &Levels,
        control: &ControlBuffers,
        rig: &RigBuffers,
        streams: &StreamBuffers,
    ) -> Result<SpringState> {
        // Streams of each coarse level, and where each but the coarsest finds its start: the finer level's own
        // start moved by the coarser level's change.
        let coarse = (levels.coarse.iter())
            .map(|level| StreamBuffers::new(device, level.mesh.seeds.len()))
            .collect::<Result<Vec<_>>>()?;
        let all: Vec<&StreamBuffers> = std::iter::once(streams).chain(&coarse).collect();
        let starts = (levels.coarse.iter())
            .map(|level| Buffer::zeroed::<[f32; 4]>(device, "spring start", level.mesh.parents.len()))
            .collect::<Result<Vec<_>>>()?;
        let start = |k: usize| starts.get(k).unwrap_or(&all[k].position);
        let mut links = Vec::new();
        for (k, level) in levels.coarse.iter().enumerate() {
            links.push(self.link(device, level, all[k], all[k + 1], &starts[k])?);
        }
        let ends = [start(0), &streams.position];
        let mut states = vec![self.level(device, &levels.fine, control, rig, ends)?];
        for (k, level) in levels.coarse.iter().enumerate() {
            let control = ControlBuffers::new(device, &level.mesh.bound)?;
            let ends = [start(k + 1), &all[k + 1].position];
            states.push(self.level(device, &level.binding, &control, rig, ends)?);
        }
        // The mesh itself without coarser levels before it, for the solvers that use none.
        let ends = [&streams.position, &streams.position];
        let plain = self.level(device, &levels.fine, control, rig, ends)?;
        Ok(SpringState { plain, levels: states, links, thickness: levels.fine.thickness })
    }

    /// Binds the way down to a coarse level and back up.
    fn link(
        &self,
        device: &Arc<Device>,
        level: &Level,
        fine: &StreamBuffers,
        coarse: &StreamBuffers,
        start: &Buffer,
    ) -> Result<LinkState> {
        let seeds = Buffer::from_slice(device, "seeds", &level.mesh.seeds)?;
        let parents = Buffer::from_slice(device, "parents", &level.mesh.parents)?;
        let weights = Buffer::from_slice(device, "parent weights", &level.mesh.weights)?;
        Ok(LinkState {
            coarse: level.mesh.seeds.len() as u32,
            fine: level.mesh.parents.len() as u32,
            restrict: self.restrict.bind(&[
                ("seeds", &seeds),
                ("positions", &fine.position),
                ("coarse_positions", &coarse.position),
            ])?,
            prolong: self.prolong.bind(&[
                ("seeds", &seeds),
                ("parents", &parents),
                ("weights", &weights),
                ("positions", &fine.position),
                ("coarse_positions", &coarse.position),
                ("moved", start),
            ])?,
        })
    }

    /// Uploads one level, which finds its start in the first buffer and leaves its result in the second.
    fn level(
        &self,
        device: &Arc<Device>,
        binding: &Binding,
        control: &ControlBuffers,
        rig: &RigBuffers,
        [start, end]: [&Buffer; 2],
    ) -> Result<LevelState> {
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
                attachment: v.attachment.into(),
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
            ("positions", start),
            ("skinning", &rig.skinning),
            ("anchors", &anchors),
            ("posed", &posed),
            ("iterates", &iterates),
        ]);
        Ok(LevelState {
            count: count as u32,
            has_tail: control.has_tail,
            on_bone: binding.on_bone,
            prepare: self.prepare.bind(&prepare)?,
            iterate: self.iterate.bind(&[
                ("edges", &edges),
                ("anchors", &anchors),
                ("posed", &posed),
                ("iterates", &iterates),
                ("State", &state),
            ])?,
            finish: self.finish.bind(&[("iterates", &iterates), ("State", &state), ("positions", end)])?,
            state,
        })
    }

    /// Records a frame's springs. `momenta` belong to the same parameters ([`Levels::momenta`]).
    pub fn record(&self, state: &SpringState, params: &Params, momenta: &[Momentum], frame: &mut Frame) {
        let params = params.sane();
        if params.solver != Solver::Cascade || state.links.is_empty() {
            let level = &state.plain;
            self.record_level(level, &params, params.max_iterations, momenta.first(), state.thickness, frame);
            return;
        }
        for link in &state.links {
            frame.dispatch(&self.restrict, &link.restrict, &LinkPush { count: link.coarse }, link.coarse);
            frame.barrier();
        }
        for (k, level) in state.levels.iter().enumerate().rev() {
            let most = if k == 0 { params.max_iterations } else { params.coarse_iterations };
            self.record_level(level, &params, most, momenta.get(k), state.thickness, frame);
            if k > 0 {
                let link = &state.links[k - 1];
                frame.barrier();
                frame.dispatch(&self.prolong, &link.prolong, &LinkPush { count: link.fine }, link.fine);
                frame.barrier();
            }
        }
    }

    fn record_level(
        &self,
        state: &LevelState,
        params: &Params,
        most: u32,
        momentum: Option<&Momentum>,
        thickness: f32,
        frame: &mut Frame,
    ) {
        frame.fill(&state.state, 0);
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
            threshold: params.threshold(thickness),
            surface: params.surface,
            length: params.length,
            torsion: params.torsion,
            thesis_limit: if params.torque == Torque::Thesis { THESIS_LIMIT } else { 0.0 },
        };
        let mut momentum = momentum.map(Momentum::restarted);
        for iteration in 0..most.min(MAX_ITERATIONS) {
            push.iteration = iteration;
            push.weight = momentum.as_mut().map_or(1.0, Momentum::weight);
            frame.barrier();
            frame.dispatch(&self.iterate, &state.iterate, &push, state.count);
        }
        frame.barrier();
        frame.dispatch(&self.finish, &state.finish, &state.count, state.count);
    }
}

/// A character's springs on the GPU.
pub struct SpringState {
    plain: LevelState,
    /// Finest first.
    levels: Vec<LevelState>,
    links: Vec<LinkState>,
    thickness: f32,
}

struct LevelState {
    count: u32,
    has_tail: bool,
    on_bone: f32,
    prepare: Bindings,
    iterate: Bindings,
    finish: Bindings,
    state: Buffer,
}

struct LinkState {
    coarse: u32,
    fine: u32,
    restrict: Bindings,
    prolong: Bindings,
}

impl SpringState {
    /// Iterations on the mesh itself that the last finished frame carried out with these parameters. Blocks: for
    /// tools and tests, not for a frame.
    pub fn iterations(&self, device: &Arc<Device>, params: &Params) -> Result<u32> {
        let cascade = params.solver == Solver::Cascade && !self.links.is_empty();
        let level = if cascade { &self.levels[0] } else { &self.plain };
        Ok(device.read::<u32>(&level.state, 1)?[0])
    }
}

const _: () =
    assert!(size_of::<GpuVertex>() == 76 && size_of::<GpuPose>() == 80 && size_of::<GpuEdge>() == 8);
