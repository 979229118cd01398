//! An outline of constant width around a part of the surface, such as the skin that the selected joint moves. The part marks
//! its pixels in a mask, and a compute stage then draws a line around the marks over the picture. The line is fainter
//! around what other surfaces hide. It changes neither depth nor G-buffer, so queries ignore it.

use super::overlay::{MarkPass, MarkStages, Masks};
use super::scene::Scene;
use super::targets::Targets;
use crate::base::Result;
use crate::geom::DisplayMesh;
use crate::gpu::{Bindings, Buffer, Device, Frame, Image};
use crate::spv;
use crate::{shared_constants, shared_with_shaders};
use ash::vk::Format;
use std::sync::Arc;

/// Width of the line, points.
pub const OUTLINE_WIDTH: f32 = 2.0;
/// Colour of the line: sRGB-encoded, straight alpha.
pub(super) const COLOR: [f32; 4] = [1.0, 0.69, 0.0, 0.95];

const MASK: Format = Format::R8_UNORM;

shared_constants! {
    "render/outline.comp" {
        /// Largest width, pixels.
        const MOST: f32 = 8.0;
    }
}

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

const STAGES: MarkStages =
    [spv!("render/outline.vert"), spv!("render/outline.frag"), spv!("render/outline.comp")];

/// The pipelines, created once per device.
pub(super) struct OutlinePass(MarkPass);

/// Mask and bindings for one scene and its targets.
pub(super) struct OutlineBindings {
    masks: Masks<1>,
    surface: Bindings,
}

impl OutlinePass {
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self(MarkPass::new::<OutlinePush>(device, STAGES, &[MASK])?))
    }

    /// Allocates the mask, one byte per pixel and view, and binds it. `None` for a scene without outlines.
    pub fn bind(
        &self,
        device: &Arc<Device>,
        scene: &Scene,
        targets: &Targets,
    ) -> Result<Option<OutlineBindings>> {
        let Some(part) = &scene.outlined else { return Ok(None) };
        let mask = Image::target(device, "outline mask", MASK, targets.size, targets.views)?;
        let resources = [("positions", &scene.surface.positions), ("shares", &part.shares)];
        Ok(Some(OutlineBindings {
            masks: self.0.bind(targets, [("mask", mask)])?,
            surface: self.0.marks.of(targets.views).bind(1, &resources)?,
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
        let width = (OUTLINE_WIDTH * scale).clamp(1.0, MOST);
        let push = OutlinePush { color: COLOR, size: targets.size, width };
        self.0.record(frame, targets, &bound.masks, &push, |pass, pipeline| {
            pass.indices(&part.triangles);
            pass.bind_set(pipeline, &bound.surface);
            shown.for_each(|[_, first, count]| pass.draw_indexed(first * 3, count * 3));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shaders_and_rust_agree_without_a_device() {
        super::super::overlay::check_stages::<OutlinePush>(STAGES);
    }
}
