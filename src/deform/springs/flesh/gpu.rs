//! The corrections on the GPU.

use super::super::Params;
use super::bind::Flesh;
use super::{FREE, IDLE, LIMIT, MOST, OPEN, PUSH, RELAXATION, ROUNDS};
use crate::base::Result;
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame, Resource, Texel};
use crate::spv;
use bytemuck::{Pod, Zeroable};
use std::sync::Arc;

/// Groups that sum up the whole mesh's volume, a part each.
const PARTS: u32 = 64;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct RespondPush {
    count: u32,
    free: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct VolumePush {
    idle: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct WholePush {
    count: u32,
    middle: [f32; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct BalancePush {
    count: u32,
    part_count: u32,
    share: f32,
    limit: f32,
    dead: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct InflatePush {
    count: u32,
    limit: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct UntanglePush {
    count: u32,
    round: u32,
    open: f32,
    most: f32,
    relaxation: f32,
}

/// The stages, once per device.
pub struct FleshPipelines {
    respond: Compute,
    volume: Compute,
    whole: Compute,
    balance: Compute,
    inflate: Compute,
    sides: Compute,
    untangle: Compute,
}

/// A character's corrections.
pub struct FleshState {
    vertices: u32,
    joints: u32,
    faces: u32,
    soft: u32,
    sides_of_whole: u32,
    middle: [f32; 3],
    whole_dead: f32,
    respond: Bindings,
    volume: Bindings,
    whole: Bindings,
    balance: Bindings,
    inflate: Bindings,
    sides: Bindings,
    /// There and back.
    untangle: [Bindings; 2],
    positions: Buffer,
    other: Buffer,
    pushed: Buffer,
}

/// What the corrections read of the springs, and the stream that they change.
pub(crate) struct FleshStreams<'a> {
    pub anchors: &'a Buffer,
    pub turns: &'a Buffer,
    pub positions: &'a Buffer,
}

/// Buffers that texels are fetched from have one at least.
fn filled<T: Pod>(mut data: Vec<T>) -> Vec<T> {
    if data.is_empty() {
        data.push(T::zeroed());
    }
    data
}

impl FleshPipelines {
    /// Makes the pipelines.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self {
            respond: Compute::new(device, spv!("deform/springs/respond.comp"), &[])?,
            volume: Compute::new(device, spv!("deform/springs/volume.comp"), &[])?,
            whole: Compute::new(device, spv!("deform/springs/whole.comp"), &[])?,
            balance: Compute::new(device, spv!("deform/springs/balance.comp"), &[])?,
            inflate: Compute::new(device, spv!("deform/springs/inflate.comp"), &[])?,
            sides: Compute::new(device, spv!("deform/springs/sides.comp"), &[])?,
            untangle: Compute::new(device, spv!("deform/springs/untangle.comp"), &[])?,
        })
    }

    /// Uploads. Errors when memory is short.
    pub(crate) fn bind(
        &self,
        device: &Arc<Device>,
        flesh: &Flesh,
        streams: &FleshStreams<'_>,
    ) -> Result<FleshState> {
        let vertices = flesh.pull_offset.len().saturating_sub(1);
        let entries: Vec<[u32; 8]> = (flesh.entries.iter())
            .map(|e| {
                let [a, b, c] = e.triangle;
                [a, b, c, e.share.to_bits(), e.weight.to_bits(), e.rest.to_bits(), 0, 0]
            })
            .collect();
        let pulls: Vec<[u32; 2]> = flesh.pulls.iter().map(|&(j, w)| [j, w.to_bits()]).collect();
        let faces: Vec<[u32; 8]> = (flesh.faces.iter())
            .map(|f| {
                let ([a, b, c], n) = (f.triangle, f.normal.to_array().map(f32::to_bits));
                [a, b, c, f.area.to_bits(), n[0], n[1], n[2], 0]
            })
            .collect();
        let soft: Vec<[u32; 4]> = (flesh.soft.iter().zip(flesh.corner_offset.windows(2)))
            .map(|(&v, w)| [v, w[0], w[1], 0])
            .collect();
        let corners: Vec<[u32; 4]> = flesh.corners.iter().map(|&[j, l, face]| [j, l, face, 0]).collect();
        let bounds = filled(flesh.bounds.clone());
        let whole: Vec<[u32; 4]> = (flesh.whole.iter())
            .map(|s| [s.triangle[0], s.triangle[1], s.triangle[2], s.rest.to_bits()])
            .collect();
        let offsets = Buffer::from_slice(device, "flesh offsets", &flesh.offset)?;
        let entries = Buffer::from_slice(device, "flesh", &filled(entries))?;
        let bounds_of = Buffer::from_slice(device, "flesh bounds", &bounds)?;
        let factors = Buffer::zeroed::<f32>(device, "flesh factors", bounds.len())?;
        let whole_of = Buffer::from_slice(device, "whole flesh", &filled(whole))?;
        let parts = Buffer::zeroed::<f32>(device, "whole volume", PARTS as usize)?;
        let sums = Buffer::zeroed::<[f32; 4]>(device, "flesh sums", bounds.len())?;
        let responses = Buffer::from_slice(device, "flesh responses", &vec![1.0f32; vertices.max(1)])?;
        let pull_offsets = Buffer::from_slice(device, "flesh pull offsets", &flesh.pull_offset)?;
        let pulls = Buffer::from_slice(device, "flesh pulls", &filled(pulls))?;
        let faces_of = Buffer::from_slice(device, "sides", &filled(faces))?;
        let sides = Buffer::zeroed::<[f32; 4]>(device, "posed sides", flesh.faces.len().max(1))?;
        let soft_of = Buffer::from_slice(device, "soft vertices", &filled(soft))?;
        let corners = Buffer::from_slice(device, "soft corners", &filled(corners))?;
        let other = Buffer::zeroed::<[f32; 4]>(device, "untangled", vertices.max(1))?;
        let pushed = Buffer::zeroed::<u32>(device, "untangling", MOST as usize)?;
        let anchors = Resource::Texels(streams.anchors, Texel::Float4);
        let way = |from: &Buffer, to: &Buffer| {
            self.untangle.bind(&[
                ("soft", Resource::Texels(&soft_of, Texel::Uint4)),
                ("corners", Resource::Texels(&corners, Texel::Uint4)),
                ("sides", Resource::Texels(&sides, Texel::Float4)),
                ("positions", Resource::Texels(from, Texel::Float4)),
                ("next", Resource::Buffer(to)),
                ("pushed", Resource::Buffer(&pushed)),
            ])
        };
        Ok(FleshState {
            vertices: vertices as u32,
            joints: flesh.bounds.len() as u32,
            faces: flesh.faces.len() as u32,
            soft: flesh.soft.len() as u32,
            sides_of_whole: flesh.whole.len() as u32,
            middle: flesh.middle.into(),
            whole_dead: flesh.whole_dead,
            respond: self.respond.bind(&[
                ("soft", Resource::Texels(&soft_of, Texel::Uint4)),
                ("corners", Resource::Texels(&corners, Texel::Uint4)),
                ("sides", Resource::Texels(&sides, Texel::Float4)),
                ("positions", Resource::Texels(streams.positions, Texel::Float4)),
                ("responses", Resource::Buffer(&responses)),
            ])?,
            whole: self.whole.bind(&[
                ("whole", Resource::Texels(&whole_of, Texel::Uint4)),
                ("positions", Resource::Texels(streams.positions, Texel::Float4)),
                ("anchors", anchors),
                ("turns", Resource::Texels(streams.turns, Texel::Float4)),
                ("parts", Resource::Buffer(&parts)),
            ])?,
            balance: self.balance.bind(&[
                ("joints", Resource::Buffer(&sums)),
                ("parts", Resource::Buffer(&parts)),
                ("factors", Resource::Buffer(&factors)),
            ])?,
            volume: self.volume.bind(&[
                ("offsets", Resource::Buffer(&offsets)),
                ("entries", Resource::Texels(&entries, Texel::Uint4)),
                ("bounds", Resource::Buffer(&bounds_of)),
                ("positions", Resource::Texels(streams.positions, Texel::Float4)),
                ("anchors", anchors),
                ("joints", Resource::Buffer(&sums)),
                ("responses", Resource::Buffer(&responses)),
            ])?,
            inflate: self.inflate.bind(&[
                ("pull_offsets", Resource::Buffer(&pull_offsets)),
                ("pulls", Resource::Texels(&pulls, Texel::Uint2)),
                ("factors", Resource::Buffer(&factors)),
                ("anchors", anchors),
                ("positions", Resource::Buffer(streams.positions)),
                ("responses", Resource::Buffer(&responses)),
            ])?,
            sides: self.sides.bind(&[
                ("faces", Resource::Texels(&faces_of, Texel::Uint4)),
                ("turns", Resource::Texels(streams.turns, Texel::Float4)),
                ("sides", Resource::Buffer(&sides)),
            ])?,
            untangle: [way(streams.positions, &other)?, way(&other, streams.positions)?],
            positions: streams.positions.clone(),
            other,
            pushed,
        })
    }

    /// Corrects the position stream; barriers before it, none after the last stage.
    pub fn record(&self, state: &FleshState, params: &Params, frame: &mut Frame) {
        let grows = params.volume > 0.0 && state.joints > 0;
        let opens = params.untangle > 0 && state.soft > 0;
        if state.soft > 0 && (grows || opens) {
            frame.barrier();
            frame.dispatch(&self.sides, &state.sides, &state.faces, state.faces);
            frame.barrier();
            let push = RespondPush { count: state.soft, free: FREE };
            frame.dispatch(&self.respond, &state.respond, &push, state.soft);
        }
        if grows {
            (0..ROUNDS).for_each(|_| self.grow(state, params, frame));
        }
        if opens {
            self.open(state, params.untangle, frame);
            if grows {
                self.grow(state, params, frame);
            }
            self.open(state, params.untangle.div_ceil(2), frame);
        }
    }

    /// One round of the volume correction.
    fn grow(&self, state: &FleshState, params: &Params, frame: &mut Frame) {
        frame.barrier();
        frame.dispatch_groups(&self.volume, &state.volume, &VolumePush { idle: IDLE }, [state.joints, 1, 1]);
        if state.sides_of_whole > 0 {
            let push = WholePush { count: state.sides_of_whole, middle: state.middle };
            frame.dispatch_groups(&self.whole, &state.whole, &push, [PARTS, 1, 1]);
        }
        frame.barrier();
        let push = BalancePush {
            count: state.joints,
            part_count: if state.sides_of_whole > 0 { PARTS } else { 0 },
            share: params.volume,
            limit: LIMIT,
            dead: state.whole_dead,
        };
        frame.dispatch_groups(&self.balance, &state.balance, &push, [1, 1, 1]);
        frame.barrier();
        let push = InflatePush { count: state.vertices, limit: LIMIT };
        frame.dispatch(&self.inflate, &state.inflate, &push, state.vertices);
    }

    /// Pushes triangles open, so often at most.
    fn open(&self, state: &FleshState, rounds: u32, frame: &mut Frame) {
        frame.barrier();
        frame.copy(&state.positions, &state.other, state.other.bytes().min(state.positions.bytes()));
        frame.fill(&state.pushed, 0);
        for round in 0..rounds.next_multiple_of(2) {
            frame.barrier();
            let push =
                UntanglePush { count: state.soft, round, open: OPEN, most: PUSH, relaxation: RELAXATION };
            frame.dispatch(&self.untangle, &state.untangle[round as usize % 2], &push, state.soft);
        }
    }
}
