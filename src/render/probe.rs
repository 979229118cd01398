//! Small cameras on controllers and brushes (methods, section 7: on-surface drawing): position, normal and ids only.
//!
//! The same G-buffer as the picture's, but drawn from a list of the triangles in view, so its cost does not follow
//! the model's triangles through the rasteriser. Cut-outs are drawn whole: one can draw on a leaf's clear part.

use super::scene::Scene;
use super::targets::{COLORS, DEPTH, Targets};
use super::view::View;
use crate::base::{Error, Result};
use crate::gpu::constants::NONE;
use crate::gpu::{
    Bindings, Buffer, Compute, Device, Frame, Graphics, GraphicsInfo, Load, Memory, assert_layout,
};
use crate::spv;
use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;
use std::sync::Arc;

/// Pixels of a controller's camera in each direction.
pub const PROBE_SIZE: u32 = 16;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct CullPush {
    count: u32,
    views: u32,
}

/// One or two small cameras that look at a scene.
pub struct Probe {
    /// What they see: `position`, `normal`, `ids` and `depth` are filled, the rest is not.
    pub targets: Targets,
    cull: Compute,
    draw: Graphics,
    cull_bindings: Bindings,
    draw_bindings: Bindings,
    command: Buffer,
    triangles: u32,
}

impl Probe {
    /// Cameras of `size` pixels; `views` is 1 or 2 (two controllers are drawn in one pass).
    pub fn new(device: &Arc<Device>, scene: &Scene, size: [u32; 2], views: u32) -> Result<Self> {
        let targets = Targets::new(device, size, views, 1)?;
        let cull = Compute::new(device, spv!("render/probe_cull.comp"), &[])?;
        let fields = [("count", offset_of!(CullPush, count), 4), ("views", offset_of!(CullPush, views), 4)];
        assert_layout::<CullPush>(cull.reflection(), "Push", &fields)?;
        let draw = Graphics::new(
            device,
            &GraphicsInfo {
                vertex: spv!("render/probe.vert"),
                fragment: Some(spv!("render/probe.frag")),
                specialisation: &[],
                colors: &COLORS[3..],
                depth: Some(DEPTH),
                blend: false,
                views,
            },
        )?;
        let (parts, triangles) = scene.part_of_triangle();
        let parts = Buffer::from_slice(device, "part of triangle", &parts)?;
        let visible = Buffer::new(device, "triangles in view", u64::from(triangles) * 4, Memory::Device)?;
        let command = Buffer::new(device, "probe draw", 16, Memory::Device)?;
        let surface = &scene.surface;
        let cull_bindings = cull.bind(&[
            ("views", &targets.view_buffer),
            ("positions", &surface.positions),
            ("triangles", scene.triangles()),
            ("visible", &visible),
            ("draw", &command),
        ])?;
        let draw_bindings = draw.bind(
            0,
            &[
                ("views", &targets.view_buffer),
                ("positions", &surface.positions),
                ("normals", &surface.normals),
                ("triangles", scene.triangles()),
                ("visible", &visible),
                ("parts", &parts),
            ],
        )?;
        Ok(Self { targets, cull, draw, cull_bindings, draw_bindings, command, triangles })
    }

    /// Draws what the cameras see. Errors unless there are as many views as cameras.
    pub fn record(&self, frame: &mut Frame, views: &[View]) -> Result<()> {
        if views.len() != self.targets.views as usize {
            return Err(Error::input(
                format!("{} views for a probe with {}", views.len(), self.targets.views),
                "make a probe with as many views",
            ));
        }
        frame.phase("probe");
        frame.upload(&self.targets.view_buffer, 0, views);
        // No vertices yet, one instance.
        frame.upload(&self.command, 0, &[0u32, 1, 0, 0]);
        frame.barrier();
        let push = CullPush { count: self.triangles, views: self.targets.views };
        frame.dispatch(&self.cull, &self.cull_bindings, &push, self.triangles);
        frame.barrier();
        let clear = Load::Clear([0.0; 4]);
        let t = &self.targets;
        let colors = [(&t.position, clear), (&t.normal, clear), (&t.ids, Load::ClearUint([NONE; 4]))];
        frame.render(&colors, Some((&t.depth, clear)), t.views, |pass| {
            pass.bind(&self.draw, &[&self.draw_bindings]);
            pass.draw_indirect(&self.command, 0);
        });
        Ok(())
    }
}
