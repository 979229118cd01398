//! The springs on the GPU: prepare once a frame, follow the schedule, finish. No read-back: a stop test that finds the
//! springs converged sets the number of groups of all dispatches after it to zero.

use super::bind::Binding;
use super::cpu::RESOLVED;
use super::edits::SpringEdit;
use super::edits_gpu::EditState;
use super::flesh::bind::Flesh;
use super::flesh::gpu::{FleshPipelines, FleshState, FleshStreams};
use super::levels::{Level, Levels};
use super::schedule::{Iteration, Op, Schedule};
use super::{Params, Stop, THESIS_LIMIT, Torque};
use crate::base::math::Vec3;
use crate::base::{Error, Result};
use crate::deform::rig_buffers::{ControlBuffers, RigBuffers, StreamBuffers};
use crate::gpu::constants::{
    GROUP_SIZE, SPRING_FORCE, SPRING_KEEP, SPRING_LARGEST, SPRING_SUBGROUPS, SPRING_TAKE, SPRING_WORK,
};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame, Resource, Texel, assert_layout};
use crate::spv;
use bytemuck::{Pod, Zeroable};
use std::mem::{offset_of, size_of};
use std::sync::Arc;

/// The GPU keeps the largest move of every iteration of a frame; more iterations than this are not run.
pub const MAX_ITERATIONS: u32 = 4096;

/// Vertices per invocation on a software device, for which an invocation costs as much as a simple vertex. A real one
/// wants as many invocations as it can get.
const SOFTWARE_SPAN: u32 = 8;

/// Vertices and half-edges are numbered in 24 bits, degrees in 8.
const MAX_INDEX: usize = 1 << 24;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct GpuMeasure {
    radius: f32,
    phi: f32,
    mean_length: f32,
    grain: f32,
    loose: f32,
    has_bone: u32,
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
pub(super) struct GpuGains {
    hold_stiffness: f32,
    bone_stiffness: f32,
    phi: f32,
    girth_stiffness: f32,
    sense: f32,
    pull: f32,
    step_across: f32,
    step_along: f32,
    first_and_degree: u32,
    density: f32,
    unused: [u32; 2],
}

/// Rest measures of a vertex, a texel each; see `REST_TEXELS` in `glsl/types/springs.glsl`.
type GpuRest = [[f32; 4]; 5];

/// The same in the pose; see `POSE_TEXELS` there.
type GpuPose = [[f32; 4]; 4];

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct GpuState {
    executed: u32,
    corrected: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct StiffenPush {
    count: u32,
    surface: f32,
    length: f32,
    torsion: f32,
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
    resolved: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct PreparePush {
    count: u32,
    has_tail: u32,
    coarse: u32,
    from_last: u32,
    keep: u32,
    scaled: u32,
    torsion: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct IteratePush {
    count: u32,
    iteration: u32,
    half_read: u32,
    flags: u32,
    weight: f32,
    surface: f32,
    length: f32,
    torsion: f32,
    thesis_limit: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct RestrictPush {
    count: u32,
    before: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct ProlongPush {
    count: u32,
    coarse: u32,
    before: u32,
    after: u32,
    tested: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct TestPush {
    iteration: u32,
    levels: u32,
    threshold: f32,
    correction: f32,
    work_count: u32,
}

/// Bytes that one iteration moves, counted from what `glsl/deform/springs/iterate.comp` loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationBytes {
    /// Every element of every array once: per vertex its posed rest measures, two texels of its
    /// gains, its anchor, both iterates read and one
    /// written; per half-edge its own entry. Neighbours are taken to be found in a cache.
    pub once: u64,
    /// Without a cache: beside that, per half-edge the neighbour's anchor and iterate.
    pub gathered: u64,
}

/// Bytes of one iteration on a mesh.
pub fn iteration_bytes(vertices: usize, half_edges: usize) -> IterationBytes {
    let vec4 = size_of::<[f32; 4]>();
    let once = (vertices * (size_of::<GpuPose>() + 6 * vec4) + half_edges * size_of::<GpuEdge>()) as u64;
    IterationBytes { once, gathered: once + (half_edges * 2 * vec4) as u64 }
}

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
        macro_rules! fields {
            ($type:ident: $($field:ident $size:expr),*) => {
                &[$((stringify!($field), offset_of!($type, $field), $size)),*]
            };
        }
        assert_layout::<GpuMeasure>(
            stiffen.reflection(),
            "SpringMeasure",
            fields!(GpuMeasure: radius 4, phi 4, mean_length 4, grain 4, loose 4, has_bone 4, first_and_degree 4),
        )?;
        assert_layout::<GpuGains>(
            stiffen.reflection(),
            "SpringGains",
            fields!(GpuGains: hold_stiffness 4, bone_stiffness 4, phi 4, girth_stiffness 4, sense 4, pull 4,
                    step_across 4, step_along 4, first_and_degree 4, density 4, unused 8),
        )?;
        assert_layout::<GpuState>(
            finish.reflection(),
            "SpringState",
            fields!(GpuState: executed 4, corrected 4),
        )?;
        let edit = Compute::new(device, spv!("deform/springs/edit.comp"), &[])?;
        assert_layout::<SpringEdit>(
            edit.reflection(),
            "SpringEdit",
            fields!(SpringEdit: load 12, stiffness 4, give 4, vertex 4, unused 8),
        )?;
        let flesh = FleshPipelines::new(device)?;
        Ok(Self { edit, span, stiffen, prepare, iterate, restrict, prolong, test, finish, flesh })
    }

    /// Uploads a character's springs on all levels; they read and write the position stream.
    pub fn bind(
        &self,
        device: &Arc<Device>,
        levels: &Levels,
        control: &ControlBuffers,
        rig: &RigBuffers,
        streams: &StreamBuffers,
    ) -> Result<SpringState> {
        let groups: Vec<u32> = std::iter::once(levels.fine.vertices.len())
            .chain(levels.coarse.iter().map(|l| l.mesh.seeds.len()))
            .flat_map(|count| [self.groups(count as u32), 1, 1])
            .collect();
        let mut states = vec![self.level(device, &levels.fine, control, rig, &[], &streams.position)?];
        let mut links = Vec::new();
        for (k, level) in levels.coarse.iter().enumerate() {
            let control = ControlBuffers::new(device, &level.mesh.bound)?;
            states.push(self.level(
                device,
                &level.binding,
                &control,
                rig,
                &level.origin,
                &streams.position,
            )?);
            links.push(self.link(device, level, &states[k], &states[k + 1])?);
        }
        let arguments = Buffer::from_slice(device, "spring groups now", &groups)?;
        let fine = &states[0];
        Ok(SpringState {
            flesh: self.flesh(device, &levels.flesh, fine, &streams.position)?,
            left: None,
            test: self.test.bind(&[
                ("State", &fine.state),
                ("works", &fine.works),
                ("arguments", &arguments),
            ])?,
            finish: self.finish.bind(&[
                ("iterates", Resource::Texels(&fine.iterates, Texel::Float4)),
                ("state", Resource::Buffer(&fine.state)),
                ("positions", Resource::Buffer(&streams.position)),
            ])?,
            groups: Buffer::from_slice(device, "spring groups", &groups)?,
            arguments,
            levels: states,
            links,
            thickness: levels.fine.thickness,
        })
    }

    fn flesh(
        &self,
        device: &Arc<Device>,
        flesh: &Flesh,
        fine: &LevelState,
        positions: &Buffer,
    ) -> Result<FleshState> {
        self.flesh.bind(
            device,
            flesh,
            &FleshStreams { anchors: &fine.anchors, turns: &fine.turns, positions },
        )
    }

    /// Corrects no vertices of these after the iterations while an edit of the surface is on: edits shape them.
    ///
    /// # Errors
    /// When memory is short.
    pub fn leave(
        &self,
        device: &Arc<Device>,
        levels: &Levels,
        edited: &[u32],
        streams: &StreamBuffers,
        state: &mut SpringState,
    ) -> Result<()> {
        let flesh = levels.flesh.without(edited);
        state.left = Some(self.flesh(device, &flesh, &state.levels[0], &streams.position)?);
        Ok(())
    }

    /// Binds the way down to a coarse level and back up.
    fn link(
        &self,
        device: &Arc<Device>,
        level: &Level,
        fine: &LevelState,
        coarse: &LevelState,
    ) -> Result<LinkState> {
        let seeds = Buffer::from_slice(device, "seeds", &level.mesh.seeds)?;
        let child_offsets = Buffer::from_slice(device, "child offsets", &level.child_offset)?;
        let children = Buffer::from_slice(device, "children", &level.children)?;
        let parents = Buffer::from_slice(device, "parents", &level.mesh.parents)?;
        let weights = Buffer::from_slice(device, "parent weights", &level.mesh.weights)?;
        Ok(LinkState {
            restrict: self.restrict.bind(&[
                ("seeds", Resource::Buffer(&seeds)),
                ("child_offsets", Resource::Buffer(&child_offsets)),
                ("children", Resource::Buffer(&children)),
                ("iterates", Resource::Texels(&fine.iterates, Texel::Float4)),
                ("residuals", Resource::Texels(&fine.residuals, Texel::Float4)),
                ("coarse_iterates", Resource::Buffer(&coarse.iterates)),
                ("coarse_residuals", Resource::Buffer(&coarse.residuals)),
            ])?,
            prolong: self.prolong.bind(&[
                ("seeds", Resource::Buffer(&seeds)),
                ("parents", Resource::Texels(&parents, Texel::Uint4)),
                ("weights", Resource::Texels(&weights, Texel::Float4)),
                ("coarse_iterates", Resource::Texels(&coarse.iterates, Texel::Float4)),
                ("iterates", Resource::Texels(&fine.iterates, Texel::Float4)),
                ("next_iterates", Resource::Buffer(&fine.iterates)),
                ("state", Resource::Buffer(&fine.state)),
            ])?,
        })
    }

    /// Uploads one level, whose vertices are `origin` among those of the position stream (all of them where empty).
    fn level(
        &self,
        device: &Arc<Device>,
        binding: &Binding,
        control: &ControlBuffers,
        rig: &RigBuffers,
        origin: &[u32],
        positions: &Buffer,
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
        let measures: Vec<GpuMeasure> = (binding.vertices.iter().enumerate())
            .map(|(i, v)| GpuMeasure {
                radius: v.radius,
                phi: v.phi,
                mean_length: v.mean_length,
                grain: v.grain,
                loose: v.loose,
                has_bone: (v.bone_direction != Vec3::ZERO).into(),
                first_and_degree: binding.offset[i] | binding.degree(i) << 24,
            })
            .collect();
        let rest: Vec<GpuRest> = (binding.vertices.iter())
            .map(|v| {
                let texel = |p: Vec3, w: f32| p.extend(w).to_array();
                [
                    texel(v.attachment, v.radius),
                    texel(v.scale_vector, 0.0),
                    texel(v.bone_direction, 0.0),
                    texel(v.turn, 0.0),
                    texel(v.shape, 0.0),
                ]
            })
            .collect();
        let edges: Vec<GpuEdge> = (binding.edges.iter())
            .map(|e| GpuEdge {
                neighbor_and_coherence: e.neighbor | ((e.coherence * 255.0).round() as u32) << 24,
                rest_length: e.length,
            })
            .collect();
        let measures = Buffer::from_slice(device, "spring measures", &measures)?;
        let gains = Buffer::zeroed::<GpuGains>(device, "spring gains", count)?;
        let rest = Buffer::from_slice(device, "spring rest", &rest)?;
        let edges = Buffer::from_slice(device, "spring edges", &edges)?;
        let anchors = Buffer::zeroed::<[f32; 4]>(device, "spring anchors", count)?;
        let posed = Buffer::zeroed::<GpuPose>(device, "posed springs", count)?;
        let iterates = Buffer::zeroed::<[f32; 4]>(device, "spring iterates", 2 * count)?;
        let residuals = Buffer::zeroed::<[f32; 4]>(device, "spring residuals", count)?;
        let turns = Buffer::zeroed::<[f32; 4]>(device, "spring turns", count)?;
        let origin = Buffer::from_slice(device, "spring origin", origin)?;
        let head = size_of::<GpuState>() / size_of::<u32>();
        let state = Buffer::zeroed::<u32>(device, "spring state", MAX_ITERATIONS as usize + head)?;
        let works = self.groups(count as u32) * SPRING_SUBGROUPS;
        let works = Buffer::zeroed::<f32>(device, "spring work", works as usize)?;
        let prepare = [
            ("influence_joints", Resource::Texels(&control.influence_joints, Texel::Uint2)),
            ("influence_weights", Resource::Texels(&control.influence_weights, Texel::Float4)),
            ("tail_offset", Resource::Buffer(&control.tail_offset)),
            ("tail", Resource::Buffer(&control.tail)),
            ("rest", Resource::Texels(&rest, Texel::Float4)),
            ("dual", Resource::Texels(&rig.dual, Texel::Float4)),
            ("positions", Resource::Texels(positions, Texel::Float4)),
            ("scale", Resource::Buffer(&rig.scale)),
            ("anchors", Resource::Buffer(&anchors)),
            ("posed", Resource::Buffer(&posed)),
            ("iterates", Resource::Buffer(&iterates)),
            ("seeds", Resource::Buffer(&origin)),
            ("turns", Resource::Buffer(&turns)),
            ("state", Resource::Buffer(&state)),
            ("gains", Resource::Texels(&gains, Texel::Float4)),
        ];
        Ok(LevelState {
            count: count as u32,
            groups: self.groups(count as u32),
            has_tail: control.has_tail,
            on_bone: binding.on_bone,
            stiffen: self.stiffen.bind(&[("measures", &measures), ("gains", &gains)])?,
            prepare: self.prepare.bind(&prepare)?,
            iterate: self.iterate.bind(&[
                ("edges", Resource::Texels(&edges, Texel::Uint2)),
                ("anchors", Resource::Texels(&anchors, Texel::Float4)),
                ("posed", Resource::Texels(&posed, Texel::Float4)),
                ("iterates", Resource::Texels(&iterates, Texel::Float4)),
                ("next_iterates", Resource::Buffer(&iterates)),
                ("loads", Resource::Buffer(&posed)),
                ("residuals", Resource::Buffer(&residuals)),
                ("State", Resource::Buffer(&state)),
                ("works", Resource::Buffer(&works)),
                ("gains", Resource::Texels(&gains, Texel::Uint4)),
            ])?,
            gains,
            posed,
            turns,
            anchors,
            iterates,
            residuals,
            state,
            works,
        })
    }

    /// Records what depends on the parameters alone: before the first frame, and before the next one after they have
    /// changed.
    pub fn stiffen(&self, state: &SpringState, params: &Params, schedule: &Schedule, frame: &mut Frame) {
        let params = params.sane();
        for level in &state.levels[..schedule.levels] {
            let push = StiffenPush {
                count: level.count,
                surface: params.surface,
                length: params.length,
                torsion: params.torsion,
                turning: params.turning(),
                bone: params.bone * params.torsion,
                hold: params.hold * params.torsion,
                girth: params.girth * params.torsion,
                bend_reach: params.bend_reach,
                hold_reach: params.hold_reach,
                girth_reach: params.girth_reach,
                largest_step: params.largest_step(),
                omega: params.omega,
                on_bone: level.on_bone,
                resolved: RESOLVED,
            };
            frame.dispatch(&self.stiffen, &level.stiffen, &push, level.count);
        }
        frame.barrier();
    }

    /// Records a frame's springs. The schedule belongs to the same parameters, for which [`SpringPipelines::stiffen`] was
    /// recorded; with `from_last` the start is the last frame's result. Edits must have been brought up to date by
    /// [`EditState::update`].
    #[allow(clippy::too_many_arguments, reason = "what a frame of springs depends on")]
    pub fn record(
        &self,
        state: &SpringState,
        params: &Params,
        schedule: &Schedule,
        from_last: bool,
        edits: Option<&EditState>,
        rig: &RigBuffers,
        frame: &mut Frame,
    ) {
        let params = params.sane();
        let fine = &state.levels[0];
        frame.copy(&state.groups, &state.arguments, state.groups.bytes());
        for (k, level) in state.levels[..schedule.levels].iter().enumerate() {
            let prepare = PreparePush {
                count: level.count,
                has_tail: level.has_tail.into(),
                coarse: (k > 0).into(),
                from_last: (k == 0 && from_last).into(),
                keep: (edits.is_some() || k == 0).into(),
                scaled: rig.scaled().into(),
                torsion: params.torsion,
            };
            frame.dispatch_groups(&self.prepare, &level.prepare, &prepare, [level.groups, 1, 1]);
        }
        frame.barrier();
        if let Some(edits) = edits {
            edits.load(self, &params, schedule.levels, frame);
        }
        frame.fill(&fine.state, 0);
        let mut tested = false;
        for op in &schedule.ops {
            frame.barrier();
            match *op {
                Op::Iterate(ref iteration) => {
                    if iteration.level == 0 && iteration.index >= MAX_ITERATIONS {
                        break;
                    }
                    let level = &state.levels[iteration.level];
                    let push = iterate_push(level, &params, iteration);
                    state.dispatch(tested, iteration.level, &self.iterate, &level.iterate, &push, frame);
                }
                Op::Restrict { to, before } => {
                    let (finer, coarser) = (&state.levels[to - 1], &state.levels[to]);
                    let push = RestrictPush { count: coarser.count, before: before * finer.count };
                    state.dispatch(tested, to, &self.restrict, &state.links[to - 1].restrict, &push, frame);
                }
                Op::Prolong { from, half, before, after, tested: told } => {
                    let (finer, coarser) = (&state.levels[from - 1], &state.levels[from]);
                    let push = ProlongPush {
                        count: finer.count,
                        coarse: half * coarser.count,
                        before: before * finer.count,
                        after: after * finer.count,
                        tested: told.into(),
                    };
                    let prolong = &state.links[from - 1].prolong;
                    state.dispatch(tested, from - 1, &self.prolong, prolong, &push, frame);
                }
                Op::Test { iteration } => {
                    let energy = matches!(params.stop, Stop::Energy(_));
                    let push = TestPush {
                        iteration,
                        levels: state.levels.len() as u32,
                        threshold: params.threshold(state.thickness, fine.count as usize),
                        correction: params.stop.correction(),
                        work_count: if energy { fine.groups * SPRING_SUBGROUPS } else { 0 },
                    };
                    frame.dispatch_groups(&self.test, &state.test, &push, [1, 1, 1]);
                    tested = true;
                }
            }
        }
        frame.barrier();
        frame.dispatch_groups(&self.finish, &state.finish, &fine.count, [fine.groups, 1, 1]);
        let left = state.left.as_ref().filter(|_| edits.is_some_and(EditState::on));
        self.flesh.record(left.unwrap_or(&state.flesh), &params, frame);
    }
}

fn iterate_push(level: &LevelState, params: &Params, iteration: &Iteration) -> IteratePush {
    let mut flags = 0;
    for (on, flag) in [(iteration.take, SPRING_TAKE), (iteration.keep, SPRING_KEEP)] {
        flags |= if on { flag } else { 0 };
    }
    if iteration.tested {
        flags |= match params.stop {
            Stop::Never => 0,
            Stop::Move(_) => SPRING_LARGEST,
            Stop::Force(_) => SPRING_LARGEST | SPRING_FORCE,
            Stop::Energy(_) => SPRING_WORK,
        };
    }
    IteratePush {
        count: level.count,
        iteration: iteration.index,
        half_read: iteration.half,
        flags,
        weight: iteration.weight,
        surface: params.surface,
        length: params.length,
        torsion: params.torsion,
        thesis_limit: if params.torque == Torque::Thesis { THESIS_LIMIT } else { 0.0 },
    }
}

/// A character's springs on the GPU.
pub struct SpringState {
    /// Finest first.
    pub(super) levels: Vec<LevelState>,
    /// Between each level and the next coarser one.
    links: Vec<LinkState>,
    /// Groups of a dispatch over each level.
    groups: Buffer,
    /// The same, or zeros after convergence.
    arguments: Buffer,
    test: Bindings,
    finish: Bindings,
    flesh: FleshState,
    /// The same where edits shape the surface.
    left: Option<FleshState>,
    thickness: f32,
}

pub(super) struct LevelState {
    count: u32,
    /// Groups that cover them.
    groups: u32,
    has_tail: bool,
    on_bone: f32,
    stiffen: Bindings,
    prepare: Bindings,
    iterate: Bindings,
    pub(super) gains: Buffer,
    pub(super) posed: Buffer,
    pub(super) turns: Buffer,
    anchors: Buffer,
    iterates: Buffer,
    residuals: Buffer,
    state: Buffer,
    works: Buffer,
}

struct LinkState {
    restrict: Bindings,
    prolong: Bindings,
}

impl SpringState {
    /// Dispatches over a level's vertices; after a first stop test, only while the springs have not converged.
    fn dispatch<P: Pod>(
        &self,
        tested: bool,
        level: usize,
        pipeline: &Compute,
        bindings: &Bindings,
        push: &P,
        frame: &mut Frame,
    ) {
        if tested {
            frame.dispatch_indirect(pipeline, bindings, push, &self.arguments, 12 * level as u64);
        } else {
            frame.dispatch_groups(pipeline, bindings, push, [self.levels[level].groups, 1, 1]);
        }
    }

    /// Iterations on the mesh itself that the last finished frame carried out. Blocks: for tools and tests, not for a
    /// frame.
    pub fn iterations(&self, device: &Arc<Device>) -> Result<u32> {
        Ok(device.read::<u32>(&self.levels[0].state, 1)?[0])
    }
}

const _: () = assert!(size_of::<GpuGains>() == 48 && size_of::<GpuEdge>() == 8);
