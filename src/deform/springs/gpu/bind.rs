//! Uploads a character's springs to the GPU.

use super::super::Variant;
use super::super::bind::Binding;
use super::super::corrections::bind::Corrections;
use super::super::corrections::gpu::{CorrectionState, FleshStreams};
use super::super::dynamics::{self, gpu::DynamicsState};
use super::super::levels::{Level, Levels};
use super::layout::SPRING_SUBGROUPS;
use super::layout::{GpuEdge, GpuGains, GpuMeasure, GpuPose, GpuRest, GpuState};
use super::rest::SpringRest;
use super::{MAX_ITERATIONS, SpringPipelines};
use crate::base::math::Vec3;
use crate::base::{Error, Result};
use crate::deform::rig_buffers::{ControlBuffers, RigBuffers, StreamBuffers};
use crate::gpu::{Bindings, Buffer, Device, Resource, Texel};
use std::mem::size_of;
use std::sync::Arc;

/// Limit on vertex and half-edge indices: shaders pack an index into 24 bits and a degree into 8.
const MAX_INDEX: usize = 1 << 24;

/// A character's springs on the GPU.
pub struct SpringState {
    pub(super) variant: Variant,
    /// Multigrid levels, finest first.
    pub(in super::super) levels: Vec<LevelState>,
    /// Transfers between each level and the next coarser level.
    pub(super) links: Vec<LinkState>,
    /// Group counts of a dispatch over each level, and of the stop test.
    pub(super) groups: Buffer,
    /// Indirect dispatch arguments: equal to `groups`, or zeros after convergence.
    pub(super) arguments: Buffer,
    pub(super) test: Bindings,
    pub(super) finish: Bindings,
    pub(super) corrections: CorrectionState,
    /// The corrections that replace `corrections` while sculpt layers are on.
    pub(super) left: Option<CorrectionState>,
    pub(super) dynamics: DynamicsState,
    pub(super) thickness: f32,
    /// The measures of the file's rest shape, if a cage may change it.
    pub(super) rest: Option<SpringRest>,
}

pub(in super::super) struct LevelState {
    pub(super) count: u32,
    /// Number of workgroups that cover the level's vertices.
    pub(super) groups: u32,
    pub(super) has_tail: bool,
    pub(super) on_bone: f32,
    /// Unit of length of the thesis's torques, metres.
    pub(super) unit: f32,
    pub(super) stiffen: Bindings,
    pub(super) prepare: Bindings,
    pub(super) iterate: Bindings,
    /// Vertex of the finest level, per vertex of a coarser level.
    pub(super) origin: Buffer,
    pub(super) measures: Buffer,
    pub(super) rest: Buffer,
    pub(super) edges: Buffer,
    pub(in super::super) gains: Buffer,
    pub(in super::super) posed: Buffer,
    pub(in super::super) turns: Buffer,
    pub(super) anchors: Buffer,
    pub(super) iterates: Buffer,
    pub(super) residuals: Buffer,
    pub(super) state: Buffer,
    pub(super) works: Buffer,
}

pub(super) struct LinkState {
    pub(super) restrict: Bindings,
    pub(super) prolong: Bindings,
}
impl SpringPipelines {
    /// Uploads a character's springs on all levels, which [`Levels::bind`] computed for the same variant. The springs
    /// read and write the position stream.
    pub fn bind(
        &self,
        device: &Arc<Device>,
        levels: &Levels,
        variant: Variant,
        control: &ControlBuffers,
        rig: &RigBuffers,
        streams: &StreamBuffers,
    ) -> Result<SpringState> {
        let groups: Vec<u32> = std::iter::once(levels.fine.vertices.len())
            .chain(levels.coarse.iter().map(|l| l.mesh.seeds.len()))
            .flat_map(|count| [self.groups(count as u32), 1, 1])
            .chain([1; 3])
            .collect();
        let mut states =
            vec![self.level(device, &levels.fine, variant, control, rig, &[], &streams.position)?];
        let mut links = Vec::new();
        for (k, level) in levels.coarse.iter().enumerate() {
            let control = ControlBuffers::new(device, &level.mesh.bound)?;
            states.push(self.level(
                device,
                &level.binding,
                variant,
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
            variant,
            corrections: self.corrections(device, &levels.corrections, fine, &streams.position)?,
            left: None,
            dynamics: DynamicsState::new(
                &self.dynamics,
                device,
                &dynamics::rest(&levels.fine),
                &streams.position,
            )?,
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
            rest: None,
        })
    }

    fn corrections(
        &self,
        device: &Arc<Device>,
        corrections: &Corrections,
        fine: &LevelState,
        positions: &Buffer,
    ) -> Result<CorrectionState> {
        self.corrections.bind(
            device,
            corrections,
            &FleshStreams { rest: &fine.rest, anchors: &fine.anchors, turns: &fine.turns, positions },
        )
    }

    /// Excludes vertices that sculpt layers shape from the corrections while a sculpt layer is on.
    ///
    /// # Errors
    /// If memory is short.
    pub fn leave(
        &self,
        device: &Arc<Device>,
        levels: &Levels,
        edited: &[u32],
        streams: &StreamBuffers,
        state: &mut SpringState,
    ) -> Result<()> {
        let corrections = levels.corrections.without(edited);
        let left = self.corrections(device, &corrections, &state.levels[0], &streams.position)?;
        if let Some(rest) = &mut state.rest {
            rest.set_left(self.corrections.rest(
                device,
                &left,
                &rest.bind_positions,
                &state.levels[0].rest,
            )?);
        }
        state.left = Some(left);
        Ok(())
    }

    /// Binds the transfers from a level to the next coarser level and back.
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

    /// Uploads one level. `origin` maps its vertices to the position stream; if empty, the level has all vertices.
    #[allow(clippy::too_many_arguments, reason = "what a level's buffers depend on")]
    fn level(
        &self,
        device: &Arc<Device>,
        binding: &Binding,
        variant: Variant,
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
        let measures = Buffer::from_slice(device, "spring measures", &measures_of(binding))?;
        let gains = Buffer::zeroed::<GpuGains>(device, "spring gains", count)?;
        let rest = Buffer::from_slice(device, "spring rest", &rest_of(binding))?;
        let edges = Buffer::from_slice(device, "spring edges", &edges_of(binding))?;
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
        let (prepare, iterate) = match variant {
            Variant::Sinew => {
                let prepare = self.prepare.bind(&[
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
                ])?;
                let iterate = self.iterate.bind(&[
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
                ])?;
                (prepare, iterate)
            }
            Variant::Thesis => {
                let prepare = self.thesis.prepare.bind(&[
                    ("rest_anchors", Resource::Buffer(&control.rest_anchors)),
                    ("targets", Resource::Buffer(&control.targets)),
                    ("skinning", Resource::Buffer(&rig.skinning)),
                    ("bones", Resource::Buffer(&rig.bones)),
                    ("rest", Resource::Texels(&rest, Texel::Float4)),
                    ("positions", Resource::Texels(positions, Texel::Float4)),
                    ("gains", Resource::Texels(&gains, Texel::Float4)),
                    ("anchors", Resource::Buffer(&anchors)),
                    ("posed", Resource::Buffer(&posed)),
                    ("iterates", Resource::Buffer(&iterates)),
                    ("turns", Resource::Buffer(&turns)),
                    ("state", Resource::Buffer(&state)),
                ])?;
                let iterate = self.thesis.iterate.bind(&[
                    ("edges", Resource::Texels(&edges, Texel::Uint2)),
                    ("anchors", Resource::Texels(&anchors, Texel::Float4)),
                    ("posed", Resource::Texels(&posed, Texel::Float4)),
                    ("iterates", Resource::Texels(&iterates, Texel::Float4)),
                    ("next_iterates", Resource::Buffer(&iterates)),
                    ("rest", Resource::Texels(&rest, Texel::Float4)),
                    ("turns", Resource::Texels(&turns, Texel::Float4)),
                    ("State", Resource::Buffer(&state)),
                    ("works", Resource::Buffer(&works)),
                    ("gains", Resource::Texels(&gains, Texel::Uint4)),
                ])?;
                (prepare, iterate)
            }
        };
        Ok(LevelState {
            count: count as u32,
            groups: self.groups(count as u32),
            has_tail: control.has_tail,
            on_bone: binding.on_bone,
            unit: binding.unit(),
            stiffen: self.stiffen.bind(&[("measures", &measures), ("gains", &gains)])?,
            prepare,
            iterate,
            origin,
            measures,
            rest,
            edges,
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
}

/// The rest measures that determine stiffness, per vertex.
pub(super) fn measures_of(binding: &Binding) -> Vec<GpuMeasure> {
    (binding.vertices.iter().enumerate())
        .map(|(i, v)| GpuMeasure {
            radius: v.radius,
            phi: v.phi,
            mean_length: v.mean_length,
            grain: v.grain,
            loose: v.loose,
            has_bone: (v.bone_direction != Vec3::ZERO).into(),
            first_and_degree: binding.offset[i] | binding.degree(i) << 24,
        })
        .collect()
}

/// The rest measures that the pose rotates, per vertex.
pub(super) fn rest_of(binding: &Binding) -> Vec<GpuRest> {
    let texel = |p: Vec3, w: f32| p.extend(w).to_array();
    (binding.vertices.iter())
        .map(|v| {
            [
                texel(v.attachment, v.radius),
                texel(v.scale_vector, 0.0),
                texel(v.bone_direction, u8::from(v.attached).into()),
                texel(v.turn, 0.0),
                texel(v.shape, 0.0),
            ]
        })
        .collect()
}

/// The half-edges with their rest lengths.
pub(super) fn edges_of(binding: &Binding) -> Vec<GpuEdge> {
    (binding.edges.iter())
        .map(|e| GpuEdge {
            neighbor_and_coherence: e.neighbor | ((e.coherence * 255.0).round() as u32) << 24,
            rest_length: e.length,
        })
        .collect()
}
