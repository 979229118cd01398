//! The display positions and normals on the GPU.

use super::bind::Surface;
use crate::base::Result;
use crate::base::math::Vec3;
use crate::deform::rig_buffers::{ControlBuffers, GeometricPush, RigBuffers, padded};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame};
use crate::spv;
use std::sync::Arc;

/// The compute pipelines of the display stage, created once per device.
pub struct SurfacePipelines {
    copy: Compute,
    copy_morph: Compute,
    faces: Compute,
    normals: Compute,
    pub(super) strain: Compute,
}

/// A character's display buffers and bindings.
pub struct SurfaceState {
    /// World position per display vertex, `vec4`, metres.
    pub positions: Buffer,
    /// World normal per display vertex, `vec4`, unit length.
    pub normals: Buffer,
    morph: Option<Buffer>,
    vertices: u32,
    triangles: u32,
    push: GeometricPush,
    copy: Bindings,
    face: Bindings,
    normal: Bindings,
}

impl SurfacePipelines {
    /// Creates the pipelines of the display stage.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self {
            copy: Compute::new(device, spv!("deform/surface/copy.comp"), &[])?,
            copy_morph: Compute::new(device, spv!("deform/surface/copy_morph.comp"), &[])?,
            faces: Compute::new(device, spv!("deform/surface/faces.comp"), &[])?,
            normals: Compute::new(device, spv!("deform/surface/normals.comp"), &[])?,
            strain: Compute::new(device, spv!("deform/surface/strain.comp"), &[])?,
        })
    }

    /// Binds a character. `position` is the stream to display. `morphs` selects the shader that adds morph
    /// displacements ([`SurfaceState::set_morph`]) instead of the simpler copy.
    pub fn bind(
        &self,
        surface: &Surface,
        control: &ControlBuffers,
        rig: &RigBuffers,
        position: &Buffer,
        morphs: bool,
    ) -> Result<SurfaceState> {
        let device = position.device();
        let display = &surface.character.display;
        let vertices = display.positions.len();
        let control_of = Buffer::from_slice(device, "control of display", &display.control_of)?;
        let positions = Buffer::zeroed::<[f32; 4]>(device, "display positions", vertices)?;
        let normals = Buffer::zeroed::<[f32; 4]>(device, "display normals", vertices)?;
        let crosses = Buffer::zeroed::<[f32; 4]>(device, "face crosses", display.triangles.len())?;
        let triangles = Buffer::from_slice(device, "display triangles", &display.triangles)?;
        let ranges = Buffer::from_slice(device, "normal ranges", &surface.range)?;
        let faces = Buffer::from_slice(device, "normal faces", &surface.faces)?;
        let sources = Buffer::from_slice(device, "source normals", &surface.source)?;
        let fallback: Vec<Vec3> = display.normals.iter().map(|n| n.normalize_or(Vec3::Y)).collect();
        let fallback = Buffer::from_slice(device, "bind normals", &padded(&fallback))?;
        let morph = if morphs { Some(Buffer::zeroed::<[f32; 4]>(device, "morph", vertices)?) } else { None };
        let mut list =
            vec![("positions", position), ("control_of", &control_of), ("display_positions", &positions)];
        let copy = match &morph {
            Some(morph) => {
                list.extend(control.influences());
                list.extend([("skinning", &rig.skinning), ("morph", morph)]);
                self.copy_morph.bind(&list)?
            }
            None => self.copy.bind(&list)?,
        };
        let face = self.faces.bind(&[
            ("display_positions", &positions),
            ("triangles", &triangles),
            ("crosses", &crosses),
        ])?;
        let normal = self.normals.bind(&[
            ("display_positions", &positions),
            ("crosses", &crosses),
            ("ranges", &ranges),
            ("faces", &faces),
            ("sources", &sources),
            ("bind_normals", &fallback),
            ("normals", &normals),
        ])?;
        Ok(SurfaceState {
            positions,
            normals,
            morph,
            vertices: vertices as u32,
            triangles: display.triangles.len() as u32,
            push: GeometricPush { count: vertices as u32, ..control.push() },
            copy,
            face,
            normal,
        })
    }

    /// Records the copy, the face normals and the vertex normals, with the barriers between them. Before it, the
    /// position stream must be complete, followed by a barrier.
    pub fn record(&self, state: &SurfaceState, frame: &mut Frame) {
        match state.morph {
            Some(_) => frame.dispatch(&self.copy_morph, &state.copy, &state.push, state.vertices),
            None => frame.dispatch(&self.copy, &state.copy, &state.vertices, state.vertices),
        }
        frame.barrier();
        frame.dispatch(&self.faces, &state.face, &state.triangles, state.triangles);
        frame.barrier();
        frame.dispatch(&self.normals, &state.normal, &state.vertices, state.vertices);
    }
}

impl SurfaceState {
    /// Uploads the morph displacement of every display vertex, bind space, `vec4`; omitted vertices keep their last
    /// value. Has no effect if bound without morphs. Put a barrier before [`SurfacePipelines::record`].
    pub fn set_morph(&self, frame: &mut Frame, displacement: &[[f32; 4]]) {
        if let Some(morph) = &self.morph {
            frame.upload(morph, 0, displacement);
        }
    }
}
