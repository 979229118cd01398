//! An outline of constant width around a part of the surface, such as the skin that the selected joint moves. The part marks
//! its pixels in a mask, and a compute stage then draws a line around the marks over the picture. The line is fainter
//! around what other surfaces hide. It changes neither depth nor G-buffer, so queries ignore it.

use super::scene::Scene;
use super::targets::Targets;
use super::view::View;
use crate::base::Result;
use crate::geom::DisplayMesh;
use crate::gpu::{
    Bindings, Blend, Buffer, Compute, Cull, Device, Frame, Graphics, GraphicsInfo, Image, ImageInfo, Load,
    Reflection, Resource, Sampler,
};
use crate::shared_with_shaders;
use crate::spv;
use ash::vk::{Format, ImageUsageFlags};
use std::sync::Arc;

/// Width of the line, points.
pub const OUTLINE_WIDTH: f32 = 2.0;
/// Largest width, pixels (`MOST` in outline.comp).
const MOST: f32 = 8.0;
/// Colour of the line: sRGB-encoded, straight alpha.
pub(super) const COLOR: [f32; 4] = [1.0, 0.69, 0.0, 0.95];

const MASK: Format = Format::R8_UNORM;

shared_with_shaders! {
    struct OutlinePush as "Push" {
        color: [f32; 4],
        size: [u32; 2],
        width: f32,
    }
}

/// The outlined part of a scene.
pub(super) struct OutlinedPart {
    /// Share of each display vertex in the part, 0..=1. The part ends where the interpolated share is 0.5.
    shares: Buffer,
    /// The triangles of the part: three `u32` per triangle.
    triangles: Buffer,
    /// For each part of the display mesh that has some of these triangles: its index, the first one and their number.
    ranges: Vec<[u32; 3]>,
    corners: Vec<[u32; 3]>,
}

impl Scene {
    /// Allocates what [`Scene::outline`] needs: 4 bytes per display vertex and 12 bytes per triangle. Call it before
    /// [`super::Renderer::bind`]: only the bindings that are made later have the mask of an outline.
    ///
    /// # Errors
    /// An error if memory is short.
    pub fn prepare_outline(&mut self, device: &Arc<Device>, display: &DisplayMesh) -> Result<()> {
        self.outlined = Some(OutlinedPart {
            shares: Buffer::zeroed::<f32>(device, "outline shares", display.positions.len().max(1))?,
            triangles: Buffer::zeroed::<[u32; 3]>(
                device,
                "outlined triangles",
                display.triangles.len().max(1),
            )?,
            ranges: Vec::with_capacity(display.parts.len()),
            corners: Vec::with_capacity(display.triangles.len()),
        });
        Ok(())
    }

    /// Records the upload of the part that [`super::Look::outline`] outlines: indices of display triangles, ascending, and the
    /// share of each display vertex in the part. The part ends where the interpolated share is 0.5. This is a copy: put a
    /// phase or barrier before the surface is drawn. Does nothing before [`Scene::prepare_outline`].
    pub fn outline(&mut self, frame: &mut Frame, display: &DisplayMesh, triangles: &[u32], shares: &[f32]) {
        let Some(part) = &mut self.outlined else { return };
        part.corners.clear();
        part.corners.extend(triangles.iter().map(|t| display.triangles[*t as usize]));
        part.ranges.clear();
        for (index, range) in display.parts.iter().map(|p| &p.triangles).enumerate() {
            let [first, end] = [range.start, range.end].map(|t| triangles.partition_point(|o| *o < t) as u32);
            if first < end {
                part.ranges.push([index as u32, first, end - first]);
            }
        }
        if !triangles.is_empty() {
            frame.upload(&part.triangles, 0, &part.corners);
            frame.upload(&part.shares, 0, shares);
        }
    }
}

/// The pipelines, created once per device.
pub(super) struct OutlinePass {
    by_views: [Graphics; 2],
    draw: Compute,
    texels: Sampler,
}

/// Mask and bindings for one scene and its targets.
pub(super) struct OutlineBindings {
    mask: Image,
    views: Bindings,
    surface: Bindings,
    drawn: Bindings,
}

fn check(marks: &Reflection, draw: &Reflection) -> Result<()> {
    marks.check::<View>()?;
    draw.check::<OutlinePush>()
}

impl OutlinePass {
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let marks = |views| {
            Graphics::new(
                device,
                &GraphicsInfo {
                    vertex: spv!("render/outline.vert"),
                    tessellation: None,
                    fragment: Some(spv!("render/outline.frag")),
                    specialisation: &[],
                    colors: &[MASK],
                    depth: None,
                    blend: Blend::Max,
                    views,
                    samples: 1,
                },
            )
        };
        let by_views = [marks(1)?, marks(2)?];
        let draw = Compute::new(device, spv!("render/outline.comp"), &[])?;
        check(&by_views[0].reflections()[0], draw.reflection())?;
        Ok(Self { by_views, draw, texels: Sampler::texels(device)? })
    }

    /// Allocates the mask, one byte per pixel and view, and binds it. `None` for a scene without outlines.
    pub fn bind(
        &self,
        device: &Arc<Device>,
        scene: &Scene,
        targets: &Targets,
    ) -> Result<Option<OutlineBindings>> {
        let Some(part) = &scene.outlined else { return Ok(None) };
        let Targets { size, views, .. } = *targets;
        let usage = ImageUsageFlags::COLOR_ATTACHMENT | ImageUsageFlags::SAMPLED;
        let mask = Image::new(
            device,
            &ImageInfo { name: "outline mask", format: MASK, size, layers: views, levels: 1, usage },
        )?;
        let pipeline = &self.by_views[views as usize - 1];
        let sampled = |image| Resource::Sampled(image, &self.texels);
        Ok(Some(OutlineBindings {
            views: pipeline.bind(
                0,
                &[("views", Resource::Buffer(&targets.view_buffer)), ("depth", sampled(&targets.depth))],
            )?,
            surface: pipeline
                .bind(1, &[("positions", &scene.surface.positions), ("shares", &part.shares)])?,
            drawn: self
                .draw
                .bind(&[("mask", sampled(&mask)), ("picture", Resource::Storage(&targets.picture))])?,
            mask,
        }))
    }

    /// Draws the outline over a picture whose surface is drawn. `scale` is the number of pixels per point.
    pub fn record(
        &self,
        frame: &mut Frame,
        (scene, targets): (&Scene, &Targets),
        bound: Option<&OutlineBindings>,
        scale: f32,
    ) {
        let (Some(part), Some(bound)) = (&scene.outlined, bound) else { return };
        let shown = part.ranges.iter().filter(|[index, ..]| !scene.is_hidden(*index));
        if shown.clone().next().is_none() {
            return;
        }
        frame.phase("outline");
        let pipeline = &self.by_views[targets.views as usize - 1];
        let clear = Load::Clear([0.0; 4]);
        frame.render(&[(&bound.mask, clear)], None, targets.views, |pass| {
            pass.indices(&part.triangles);
            pass.cull(Cull::None);
            pass.bind(pipeline, &[&bound.views, &bound.surface]);
            shown.for_each(|[_, first, count]| pass.draw_indexed(first * 3, count * 3));
        });
        frame.barrier();
        let width = (OUTLINE_WIDTH * scale).clamp(1.0, MOST);
        let push = OutlinePush { color: COLOR, size: targets.size, width };
        let [across, down] = targets.size;
        frame.dispatch_grid(&self.draw, &bound.drawn, &push, [across, down, targets.views]);
    }
}
