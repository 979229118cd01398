//! The corrections on the GPU.

use super::super::Params;
use super::bind::{Corrections, Face};
use super::{FREE, IDLE, LIMIT, OPEN, PUSH, RELAXATION, ROUNDS, SPREAD};
use crate::base::Result;
use crate::gpu::constants::GROUP_SIZE;
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame, Layout, Resource, Texel};
use crate::shared_with_shaders;
use crate::spv;
use bytemuck::Pod;
use std::sync::Arc;

/// Number of workgroups that sum the whole mesh's volume; each sums a part.
const PARTS: u32 = 64;

shared_with_shaders! {
    /// A triangle whose volume is measured.
    struct MeasuredSide as "MeasuredSide" {
        corners: [u32; 3],
        cone: f32,
    }

    /// A triangle's contribution to a joint's tissue.
    struct TissueEntry as "TissueEntry" {
        side: u32,
        share: f32,
        weight: f32,
        rest: f32,
    }

    /// A triangle that may invert.
    struct RestFace as "RestFace" {
        corners: [u32; 3],
        area: f32,
        normal: [f32; 3],
        unused: u32,
    }

    struct RestPush as "Push" {
        sides: u32,
        entries: u32,
        faces: u32,
        middle: [f32; 3],
    }

    struct RespondPush as "Push" {
        count: u32,
        free: f32,
    }

    struct SpreadPush as "Push" {
        count: u32,
    }

    struct MeasurePush as "Push" {
        count: u32,
        prism_count: u32,
        middle: [f32; 3],
    }

    struct BalancePush as "Push" {
        count: u32,
        part_count: u32,
        share: f32,
        limit: f32,
        dead: f32,
    }

    struct InflatePush as "Push" {
        count: u32,
        limit: f32,
    }

    struct UntanglePush as "Push" {
        count: u32,
        open: f32,
        most: f32,
        relaxation: f32,
    }
}

/// The compute pipelines of the corrections, created once per device.
pub struct CorrectionPipelines {
    /// Number of elements that one invocation processes.
    span: u32,
    rest: Compute,
    sides: Compute,
    respond: Compute,
    spread: Compute,
    measure: Compute,
    volume: Compute,
    balance: Compute,
    inflate: Compute,
    untangle: Compute,
}

/// Buffers and bindings of a character's corrections.
pub struct CorrectionState {
    vertices: u32,
    joints: u32,
    faces: u32,
    soft: u32,
    measured: u32,
    entries: u32,
    prisms: u32,
    closed: bool,
    middle: [f32; 3],
    whole_dead: f32,
    sides: Bindings,
    respond: Bindings,
    /// One set of bindings per direction between the two buffers of responses.
    spread: [Bindings; 2],
    measure: Bindings,
    volume: Bindings,
    balance: Bindings,
    inflate: Bindings,
    /// One set of bindings per direction between the two position buffers.
    untangle: [Bindings; 2],
    positions: Buffer,
    other: Buffer,
    entry_buffer: Buffer,
    measured_buffer: Buffer,
    face_buffer: Buffer,
}

/// The measures of the file's rest shape, and the stage that measures a changed rest shape.
pub(crate) struct CorrectionRest {
    measure: Bindings,
    /// Copies of [`CorrectionState::measured`].
    file: [Buffer; 3],
}

impl CorrectionRest {
    /// Records commands that copy the measures of the file's rest shape into the state. The caller adds a barrier
    /// afterwards.
    pub(crate) fn restore(&self, state: &CorrectionState, frame: &mut Frame) {
        for (from, to) in self.file.iter().zip(state.measured()) {
            frame.copy(from, to, from.bytes());
        }
    }
}

/// The spring buffers that the corrections read, and the position stream that they change.
pub(crate) struct FleshStreams<'a> {
    pub rest: &'a Buffer,
    pub anchors: &'a Buffer,
    pub turns: &'a Buffer,
    pub positions: &'a Buffer,
}

impl CorrectionState {
    /// Calls `check` with each buffer that depends on the rest shape: its name, its words, the words of the reference,
    /// and the range of the words that are floats in each element.
    #[cfg(test)]
    pub(crate) fn compare(
        &self,
        device: &Arc<Device>,
        wanted: &Corrections,
        check: impl Fn(&str, &[[u32; 4]], &[[u32; 4]], std::ops::Range<usize>),
    ) {
        let read = |buffer: &Buffer, count: usize| device.read::<[u32; 4]>(buffer, count).unwrap();
        let sides = read(&self.measured_buffer, wanted.sides.len());
        check("sides", &sides, bytemuck::cast_slice(&sides_of(wanted)), 3..4);
        let entries = read(&self.entry_buffer, wanted.entries.len());
        check("entries", &entries, bytemuck::cast_slice(&entries_of(wanted)), 1..4);
        let faces = read(&self.face_buffer, 2 * wanted.faces.len());
        let faces_wanted = faces_of(wanted);
        let faces_wanted: &[[u32; 4]] = bytemuck::cast_slice(&faces_wanted);
        let half =
            |list: &[[u32; 4]], first: usize| list.iter().skip(first).step_by(2).copied().collect::<Vec<_>>();
        check("faces", &half(&faces, 0), &half(faces_wanted, 0), 3..4);
        check("normals", &half(&faces, 1), &half(faces_wanted, 1), 0..3);
    }

    /// The buffers that depend on the rest shape.
    pub(crate) fn measured(&self) -> [&Buffer; 3] {
        [&self.measured_buffer, &self.entry_buffer, &self.face_buffer]
    }
}

fn entries_of(corrections: &Corrections) -> Vec<TissueEntry> {
    (corrections.entries.iter())
        .map(|e| TissueEntry { side: e.side, share: e.share, weight: e.weight, rest: e.rest })
        .collect()
}

fn sides_of(corrections: &Corrections) -> Vec<MeasuredSide> {
    corrections.sides.iter().map(|s| MeasuredSide { corners: s.triangle, cone: s.cone }).collect()
}

fn faces_of(corrections: &Corrections) -> Vec<RestFace> {
    let face = |f: &Face| RestFace { corners: f.triangle, area: f.area, normal: f.normal.into(), unused: 0 };
    corrections.faces.iter().map(face).collect()
}

/// Adds a zero element to an empty list: texel buffers must have at least one element.
fn filled<T: Pod>(mut data: Vec<T>) -> Vec<T> {
    if data.is_empty() {
        data.push(T::zeroed());
    }
    data
}

impl CorrectionPipelines {
    /// Creates the pipelines. Shaders whose elements are cheap process `span` elements per invocation.
    pub fn new(device: &Arc<Device>, span: u32) -> Result<Self> {
        let rest = Compute::new(device, spv!("deform/springs/rest_volumes.comp"), &[])?;
        rest.reflection().check::<MeasuredSide>()?;
        rest.reflection().check::<TissueEntry>()?;
        rest.reflection().check::<RestFace>()?;
        Ok(Self {
            span,
            rest,
            sides: Compute::new(device, spv!("deform/springs/sides.comp"), &[span])?,
            respond: Compute::new(device, spv!("deform/springs/respond.comp"), &[span])?,
            spread: Compute::new(device, spv!("deform/springs/spread.comp"), &[span])?,
            measure: Compute::new(device, spv!("deform/springs/measure.comp"), &[])?,
            volume: Compute::new(device, spv!("deform/springs/volume.comp"), &[])?,
            balance: Compute::new(device, spv!("deform/springs/balance.comp"), &[])?,
            inflate: Compute::new(device, spv!("deform/springs/inflate.comp"), &[span])?,
            untangle: Compute::new(device, spv!("deform/springs/untangle.comp"), &[span])?,
        })
    }

    /// Uploads a character's corrections. Errors if memory is short.
    pub(crate) fn bind(
        &self,
        device: &Arc<Device>,
        corrections: &Corrections,
        streams: &FleshStreams<'_>,
    ) -> Result<CorrectionState> {
        let vertices = corrections.pull_offset.len().saturating_sub(1);
        let pulls: Vec<[u32; 2]> = corrections.pulls.iter().map(|&(j, w)| [j, w.to_bits()]).collect();
        let soft: Vec<[u32; 4]> = (corrections.soft.iter().zip(corrections.corner_offset.windows(2)))
            .map(|(&v, w)| [v, w[0], w[1], 0])
            .collect();
        let corners: Vec<[u32; 4]> =
            corrections.corners.iter().map(|&[j, l, face]| [j, l, face, 0]).collect();
        let bounds = filled(corrections.bounds.clone());
        let offsets = Buffer::from_slice(device, "corrections offsets", &corrections.offset)?;
        let entries = Buffer::from_slice(device, "corrections", &filled(entries_of(corrections)))?;
        let bounds_of = Buffer::from_slice(device, "corrections bounds", &bounds)?;
        let factors = Buffer::zeroed::<f32>(device, "corrections factors", bounds.len())?;
        let measured = Buffer::from_slice(device, "measured triangles", &filled(sides_of(corrections)))?;
        let prisms = Buffer::zeroed::<[f32; 2]>(device, "prisms", corrections.prisms.max(1))?;
        let parts = Buffer::zeroed::<f32>(device, "whole volume", PARTS as usize)?;
        let sums = Buffer::zeroed::<[f32; 4]>(device, "corrections sums", bounds.len())?;
        let full = vec![1.0f32; vertices.max(1)];
        let responses = Buffer::from_slice(device, "corrections responses", &full)?;
        let spread = Buffer::from_slice(device, "spread responses", &full)?;
        let pull_offsets = Buffer::from_slice(device, "corrections pull offsets", &corrections.pull_offset)?;
        let pulls = Buffer::from_slice(device, "corrections pulls", &filled(pulls))?;
        let face_count = corrections.faces.len().max(1);
        let face_buffer = Buffer::from_slice(device, "sides", &filled(faces_of(corrections)))?;
        let sides = Buffer::zeroed::<[f32; 4]>(device, "posed sides", face_count)?;
        let seen = Buffer::zeroed::<[f32; 2]>(device, "seen sides", face_count)?;
        let soft_of = Buffer::from_slice(device, "soft vertices", &filled(soft))?;
        let corners = Buffer::from_slice(device, "soft corners", &filled(corners))?;
        let other = Buffer::zeroed::<[f32; 4]>(device, "untangled", vertices.max(1))?;
        let anchors = Resource::Texels(streams.anchors, Texel::Float4);
        let turns = Resource::Texels(streams.turns, Texel::Float4);
        let positions = Resource::Texels(streams.positions, Texel::Float4);
        let ring = |from: &Buffer, to: &Buffer| {
            self.spread.bind(&[
                ("soft", Resource::Texels(&soft_of, Texel::Uint4)),
                ("corners", Resource::Texels(&corners, Texel::Uint4)),
                ("responses", Resource::Texels(from, Texel::Float)),
                ("next", Resource::Buffer(to)),
            ])
        };
        let way = |from: &Buffer, to: &Buffer| {
            self.untangle.bind(&[
                ("soft", Resource::Texels(&soft_of, Texel::Uint4)),
                ("corners", Resource::Texels(&corners, Texel::Uint4)),
                ("sides", Resource::Texels(&sides, Texel::Float4)),
                ("positions", Resource::Texels(from, Texel::Float4)),
                ("next", Resource::Buffer(to)),
            ])
        };
        Ok(CorrectionState {
            vertices: vertices as u32,
            joints: corrections.bounds.len() as u32,
            faces: corrections.faces.len() as u32,
            soft: corrections.soft.len() as u32,
            measured: corrections.sides.len() as u32,
            entries: corrections.entries.len() as u32,
            prisms: corrections.prisms as u32,
            closed: corrections.closed,
            middle: corrections.middle.into(),
            whole_dead: corrections.whole_dead,
            sides: self.sides.bind(&[
                ("faces", Resource::Texels(&face_buffer, Texel::Uint4)),
                ("turns", turns),
                ("positions", positions),
                ("sides", Resource::Buffer(&sides)),
                ("seen", Resource::Buffer(&seen)),
            ])?,
            respond: self.respond.bind(&[
                ("soft", Resource::Texels(&soft_of, Texel::Uint4)),
                ("corners", Resource::Texels(&corners, Texel::Uint4)),
                ("seen", Resource::Texels(&seen, Texel::Uint2)),
                ("responses", Resource::Buffer(&responses)),
            ])?,
            spread: [ring(&responses, &spread)?, ring(&spread, &responses)?],
            measure: self.measure.bind(&[
                ("sides", Resource::Texels(&measured, Texel::Uint4)),
                ("positions", positions),
                ("anchors", anchors),
                ("turns", turns),
                ("responses", Resource::Buffer(&responses)),
                ("parts", Resource::Buffer(&parts)),
                ("prisms", Resource::Buffer(&prisms)),
                ("rest", Resource::Texels(streams.rest, Texel::Float4)),
            ])?,
            volume: self.volume.bind(&[
                ("offsets", Resource::Buffer(&offsets)),
                ("entries", Resource::Texels(&entries, Texel::Uint4)),
                ("prisms", Resource::Texels(&prisms, Texel::Uint2)),
                ("bounds", Resource::Buffer(&bounds_of)),
                ("joints", Resource::Buffer(&sums)),
            ])?,
            balance: self.balance.bind(&[
                ("joints", Resource::Buffer(&sums)),
                ("parts", Resource::Buffer(&parts)),
                ("factors", Resource::Buffer(&factors)),
            ])?,
            inflate: self.inflate.bind(&[
                ("pull_offsets", Resource::Buffer(&pull_offsets)),
                ("pulls", Resource::Texels(&pulls, Texel::Uint2)),
                ("factors", Resource::Buffer(&factors)),
                ("anchors", anchors),
                ("positions", Resource::Buffer(streams.positions)),
                ("responses", Resource::Buffer(&responses)),
            ])?,
            untangle: [way(streams.positions, &other)?, way(&other, streams.positions)?],
            positions: streams.positions.clone(),
            other,
            entry_buffer: entries,
            measured_buffer: measured,
            face_buffer,
        })
    }

    /// Binds the stage that measures a changed rest shape. `rest` holds the rest measures of the springs.
    ///
    /// # Errors
    /// If memory is short.
    pub(crate) fn rest(
        &self,
        device: &Arc<Device>,
        state: &CorrectionState,
        bind_positions: &Buffer,
        rest: &Buffer,
    ) -> Result<CorrectionRest> {
        let [sides, entries, faces] = state.measured();
        let file = [sides.copied(device)?, entries.copied(device)?, faces.copied(device)?];
        let measure = self.rest.bind(&[
            ("bind_positions", bind_positions),
            ("rest", rest),
            ("sides", sides),
            ("entries", entries),
            ("faces", faces),
        ])?;
        Ok(CorrectionRest { measure, file })
    }

    /// Records a command that measures the rest shape in the bound buffers. The caller adds a barrier afterwards.
    pub(crate) fn record_rest(&self, state: &CorrectionState, rest: &CorrectionRest, frame: &mut Frame) {
        let push = RestPush {
            sides: state.measured,
            entries: state.entries,
            faces: state.faces,
            middle: state.middle,
        };
        frame.dispatch(&self.rest, &rest.measure, &push, state.measured.max(state.entries).max(state.faces));
    }

    /// Dispatches a shader that processes several elements per invocation.
    fn dispatch<P: Layout>(
        &self,
        stage: &Compute,
        bindings: &Bindings,
        push: &P,
        count: u32,
        frame: &mut Frame,
    ) {
        frame.dispatch_groups(stage, bindings, push, [count.div_ceil(GROUP_SIZE * self.span), 1, 1]);
    }

    /// Records the correction of the position stream. The commands start with a barrier and end without one.
    pub fn record(&self, state: &CorrectionState, params: &Params, frame: &mut Frame) {
        let grows = params.volume > 0.0 && state.joints > 0;
        let opens = params.untangle > 0 && state.soft > 0;
        if state.soft > 0 && (grows || opens) {
            frame.barrier();
            self.dispatch(&self.sides, &state.sides, &state.faces, state.faces, frame);
        }
        if state.soft > 0 && grows {
            frame.barrier();
            let push = RespondPush { count: state.soft, free: FREE };
            self.dispatch(&self.respond, &state.respond, &push, state.soft, frame);
            for round in 0..SPREAD {
                frame.barrier();
                let push = SpreadPush { count: state.soft };
                self.dispatch(&self.spread, &state.spread[round % 2], &push, state.soft, frame);
            }
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

    /// Records one round of the volume correction.
    fn grow(&self, state: &CorrectionState, params: &Params, frame: &mut Frame) {
        frame.barrier();
        let push = MeasurePush { count: state.measured, prism_count: state.prisms, middle: state.middle };
        frame.dispatch_groups(&self.measure, &state.measure, &push, [PARTS, 1, 1]);
        frame.barrier();
        frame.dispatch_groups(&self.volume, &state.volume, &IDLE, [state.joints, 1, 1]);
        frame.barrier();
        let push = BalancePush {
            count: state.joints,
            part_count: if state.closed { PARTS } else { 0 },
            share: params.volume,
            limit: LIMIT,
            dead: state.whole_dead,
        };
        frame.dispatch_groups(&self.balance, &state.balance, &push, [1, 1, 1]);
        frame.barrier();
        let push = InflatePush { count: state.vertices, limit: LIMIT };
        self.dispatch(&self.inflate, &state.inflate, &push, state.vertices, frame);
    }

    /// Records `rounds` rounds that open inverted triangles, and one more if `rounds` is odd: the last round writes the
    /// position stream.
    fn open(&self, state: &CorrectionState, rounds: u32, frame: &mut Frame) {
        frame.barrier();
        frame.copy(&state.positions, &state.other, state.other.bytes().min(state.positions.bytes()));
        for round in 0..rounds.next_multiple_of(2) {
            frame.barrier();
            let push = UntanglePush { count: state.soft, open: OPEN, most: PUSH, relaxation: RELAXATION };
            self.dispatch(&self.untangle, &state.untangle[round as usize % 2], &push, state.soft, frame);
        }
    }
}
