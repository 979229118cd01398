//! Small cameras on controllers and brushes, which find the surface under a stroke (docs/internals.md, *Strokes and
//! posing*: on-surface drawing). They render only position, normal and ids.
//!
//! Only triangles that a culling stage finds in view are drawn, so the rasteriser's cost is independent of the model's
//! triangle count. The cameras treat alpha-tested materials as opaque, so that users can also draw on transparent
//! parts, for example of a leaf.

use super::gbuffer::{COLORS, DEPTH, GBuffer};
use super::scene::Scene;
use super::view::View;
use crate::base::Result;
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame, Graphics, GraphicsInfo, Memory};
use crate::shared_with_shaders;
use crate::spv;
use std::sync::Arc;

/// Width and height of a controller's camera image, pixels.
pub const PROBE_SIZE: u32 = 16;

shared_with_shaders! {
    struct CullPush as "Push" {
        count: u32,
        views: u32,
    }
}

/// One or two small cameras that look at a scene.
pub struct Probe {
    /// The rendered images, one view per camera.
    pub gbuffer: GBuffer,
    cull: Compute,
    draw: Graphics,
    cull_bindings: Bindings,
    draw_bindings: Bindings,
    command: Buffer,
    triangles: u32,
}

impl Probe {
    /// Creates cameras with images of `size` pixels; `views` is 1 or 2, e.g. one camera per controller.
    pub fn new(device: &Arc<Device>, scene: &Scene, size: [u32; 2], views: u32) -> Result<Self> {
        let gbuffer = GBuffer::new(device, size, views)?;
        let cull = Compute::new(device, spv!("render/probe_cull.comp"), &[])?;
        cull.reflection().check::<CullPush>()?;
        let stages = GraphicsInfo::new(spv!("render/probe.vert"), spv!("render/probe.frag"), &COLORS);
        let draw = Graphics::new(device, &GraphicsInfo { depth: Some(DEPTH), views, ..stages })?;
        let (parts, triangles) = scene.part_of_triangle();
        let parts = Buffer::from_slice(device, "part of triangle", &parts)?;
        let visible = Buffer::new(device, "triangles in view", u64::from(triangles) * 4, Memory::Device)?;
        let command = Buffer::new(device, "probe draw", 16, Memory::Device)?;
        let surface = &scene.surface;
        let cull_bindings = cull.bind(&[
            ("views", &gbuffer.view_buffer),
            ("positions", &surface.positions),
            ("triangles", scene.probed()),
            ("visible", &visible),
            ("draw", &command),
        ])?;
        let draw_bindings = draw.bind(
            0,
            &[
                ("views", &gbuffer.view_buffer),
                ("positions", &surface.positions),
                ("normals", &surface.normals),
                ("triangles", scene.probed()),
                ("visible", &visible),
                ("parts", &parts),
            ],
        )?;
        Ok(Self { gbuffer, cull, draw, cull_bindings, draw_bindings, command, triangles })
    }

    /// Renders the cameras' images. Fails unless there is one view per camera.
    pub fn record(&self, frame: &mut Frame, views: &[View]) -> Result<()> {
        self.gbuffer.check(views)?;
        frame.phase("probe");
        frame.upload(&self.gbuffer.view_buffer, 0, views);
        // The indirect draw command starts with no vertices and one instance; the culling stage adds vertices.
        frame.upload(&self.command, 0, &[0u32, 1, 0, 0]);
        frame.barrier();
        let push = CullPush { count: self.triangles, views: self.gbuffer.views };
        frame.dispatch(&self.cull, &self.cull_bindings, &push, self.triangles);
        frame.barrier();
        let (colors, depth) = self.gbuffer.cleared();
        frame.render(&colors, Some(depth), self.gbuffer.views, |pass| {
            pass.bind(&self.draw, &[&self.draw_bindings]);
            pass.draw_indirect(&self.command, 0);
        });
        Ok(())
    }
}
