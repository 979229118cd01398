//! Draws panels as rectangles in the world, for runtimes without quad layers, for mirror windows and for image files.

use super::overlay::ByViews;
use super::targets::{PICTURE, Targets};
use crate::base::Result;
use crate::base::math::Vec3;
use crate::gpu::{Bindings, Blend, Device, Frame, GraphicsInfo, Image, Load, Reflection, Resource, Sampler};
use crate::spv;
use crate::{shared_constants, shared_with_shaders};
use ash::vk::SamplerAddressMode;
use std::sync::Arc;

/// Placement of a panel's image in world space, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quad {
    /// Upper left corner, as seen by a user in front of the panel.
    pub corner: Vec3,
    /// Vector from `corner` to the upper right corner.
    pub right: Vec3,
    /// Vector from `corner` to the lower left corner.
    pub down: Vec3,
    /// Factor on the panel's opacity where a surface hides it, 0..=1.
    pub hidden: f32,
}

shared_constants! {
    "render/quad.vert" {
        /// Columns and rows of cells into which a panel in the world is divided.
        const QUAD_CELLS: u32 = 16;
    }
}

shared_with_shaders! {
    struct QuadPush as "Push" {
        corner: Vec3,
        right: Vec3,
        down: Vec3,
        hidden: f32,
        size: [f32; 2],
    }
}

fn check(stages: &[Reflection]) -> Result<()> {
    stages.iter().try_for_each(Reflection::check::<QuadPush>)
}

/// The pipelines for one view and for two views, created once per device.
pub struct QuadPainter {
    by_views: ByViews,
    sampler: Sampler,
}

/// Bindings of panel images to targets; create them once and use them in every frame.
pub struct QuadBindings {
    picture: Bindings,
    images: Vec<Bindings>,
}

impl QuadPainter {
    /// Creates the pipelines. Fails if structs of shaders and Rust differ or the device lacks support.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let stages = GraphicsInfo::new(spv!("render/quad.vert"), spv!("render/quad.frag"), &[PICTURE]);
        let by_views = ByViews::new(device, &GraphicsInfo { blend: Blend::Alpha, ..stages })?;
        check(by_views.reflections())?;
        let sampler = Sampler::new(device, [SamplerAddressMode::CLAMP_TO_EDGE; 2], false)?;
        Ok(Self { by_views, sampler })
    }

    /// Binds images to targets; colours are sRGB-encoded times alpha, like [`super::PanelImage::image`].
    pub fn bind(&self, targets: &Targets, images: &[&Image]) -> Result<QuadBindings> {
        let pipeline = self.by_views.of(targets.views);
        let set = |image| pipeline.bind(1, &[("panel", Resource::Sampled(image, &self.sampler))]);
        Ok(QuadBindings {
            picture: self.by_views.bind_picture(targets)?,
            images: images.iter().copied().map(set).collect::<Result<_>>()?,
        })
    }

    /// Draws quads over the finished image. Each quad is paired with the index of its image in [`Self::bind`]. Later
    /// quads are on top, so pass the farthest first. Call it after [`super::Renderer::record`], whose views and depth
    /// it uses. Put a barrier before and after it ([`Frame::phase`]).
    pub fn record(
        &self,
        frame: &mut Frame,
        targets: &Targets,
        bound: &QuadBindings,
        quads: impl Iterator<Item = (usize, Quad)>,
    ) {
        let (pipeline, size) = (self.by_views.of(targets.views), targets.size.map(|n| n as f32));
        frame.render(&[(&targets.picture, Load::Keep)], None, targets.views, |pass| {
            pass.bind(pipeline, &[&bound.picture]);
            for (image, quad) in quads {
                let Some(image) = bound.images.get(image) else { continue };
                let Quad { corner, right, down, hidden } = quad;
                pass.bind_set(pipeline, image);
                pass.push(pipeline, &QuadPush { corner, right, down, hidden, size });
                pass.draw(0, QUAD_CELLS * QUAD_CELLS * 6, 1);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Spv;

    #[test]
    fn shaders_and_rust_agree_without_a_device() {
        let reflect = |spv: Spv| Reflection::new(spv.name, &spv.words().unwrap()).unwrap();
        check(&[reflect(spv!("render/quad.vert")), reflect(spv!("render/quad.frag"))]).unwrap();
    }
}
