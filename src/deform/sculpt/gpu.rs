//! Sculpt layers on the GPU: displaces positions after the geometric method, or changes scale vectors before it.

use super::Field;
use crate::base::Result;
use crate::deform::rig_buffers::{ControlBuffers, RigBuffers, StreamBuffers};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame};
use crate::shared_with_shaders;
use crate::spv;
use std::sync::Arc;

shared_with_shaders! {
    #[derive(Debug, Default)]
    struct GpuOffset as "SculptOffset" {
        offset: [f32; 3],
        vertex: u32,
    }

    struct Push as "Push" {
        count: u32,
        has_tail: u32,
        radial: u32,
    }
}

/// The compute pipeline of sculpt layers, created once per device.
pub struct SculptPipeline {
    stage: Compute,
}

/// Buffers and bindings of a character's sculpt layers.
pub struct SculptState {
    bindings: Bindings,
    offsets: Buffer,
    host: Vec<GpuOffset>,
    radial: bool,
}

impl SculptState {
    /// Returns the offsets, `SculptOffset` each, and their number.
    pub fn offsets(&self) -> (&Buffer, u32) {
        (&self.offsets, self.host.len() as u32)
    }
}

impl SculptPipeline {
    /// Creates the pipeline. Returns an error if the structs of shader and Rust differ.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let stage = Compute::new(device, spv!("deform/sculpt/displace.comp"), &[])?;
        stage.reflection().check::<GpuOffset>()?;
        Ok(Self { stage })
    }

    /// Binds the vertices of a field. With `radial`, the stage changes the scale vectors, which the geometric method
    /// then rotates. In this case the stage also resets the vertices of the replaced layers (`before`). Returns `None`
    /// if there are no vertices, or an error if a buffer cannot be allocated.
    pub fn bind(
        &self,
        field: &Field,
        control: &ControlBuffers,
        rig: &RigBuffers,
        streams: &StreamBuffers,
        radial: bool,
        before: Option<&SculptState>,
    ) -> Result<Option<SculptState>> {
        let mut vertices = field.vertices.clone();
        if radial {
            vertices.extend(before.iter().flat_map(|b| b.host.iter().map(|o| o.vertex)));
            vertices.sort_unstable();
            vertices.dedup();
        }
        if vertices.is_empty() {
            return Ok(None);
        }
        let host: Vec<GpuOffset> =
            vertices.iter().map(|&vertex| GpuOffset { offset: [0.0; 3], vertex }).collect();
        let offsets = Buffer::from_slice(streams.position.device(), "surface edits", &host)?;
        let mut list = control.influences().to_vec();
        list.extend([
            ("offsets", &offsets),
            ("dual", &rig.dual),
            ("positions", &streams.position),
            ("anchors", &control.anchors),
            ("rest_anchors", &control.rest_anchors),
        ]);
        Ok(Some(SculptState { bindings: self.stage.bind(&list)?, offsets, host, radial }))
    }

    /// Records the upload of changed offsets and a barrier. With `radial` it also records the change of the scale
    /// vectors, and [`SculptPipeline::record`] does nothing.
    pub fn update(
        &self,
        state: &mut SculptState,
        field: &Field,
        control: &ControlBuffers,
        frame: &mut Frame,
    ) {
        let mut moved = field.iter().peekable();
        for out in &mut state.host {
            let offset = moved.next_if(|(v, _)| *v == out.vertex).map(|(_, o)| o.offset);
            out.offset = offset.unwrap_or_default().into();
        }
        frame.upload(&state.offsets, 0, &state.host);
        frame.barrier();
        if state.radial {
            self.dispatch(state, control, frame);
            frame.barrier();
        }
    }

    /// Records a barrier and the displacement of the posed positions. Does nothing with `radial`.
    pub fn record(&self, state: &SculptState, control: &ControlBuffers, frame: &mut Frame) {
        if !state.radial {
            frame.barrier();
            self.dispatch(state, control, frame);
        }
    }

    fn dispatch(&self, state: &SculptState, control: &ControlBuffers, frame: &mut Frame) {
        let count = state.host.len() as u32;
        let push = Push { count, has_tail: control.has_tail.into(), radial: state.radial.into() };
        frame.dispatch(&self.stage, &state.bindings, &push, count);
    }
}
