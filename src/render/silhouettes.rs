//! Silhouettes over the picture (thesis 7.3), in every frame: a G-buffer of [`TEXEL`] points per texel is drawn for the
//! same views, a Laplacian edge filter marks its texels, and the marked texels are coloured in the picture. The lists of
//! [`crate::query::Silhouettes`] come from the same filter.

use super::gbuffer::GBuffer;
use super::targets::Targets;
use super::view::View;
use crate::base::Result;
use crate::gpu::{Bindings, Compute, Device, Frame, Image, ImageInfo, Reflection, Resource, Sampler};
use crate::spv;
use crate::{shared_constants, shared_with_shaders};
use ash::vk::{Format, ImageUsageFlags};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Points of the picture per texel of the G-buffer in which silhouettes are found. Where a point has less than a pixel,
/// a texel has one pixel.
pub const TEXEL: f32 = 2.0;
/// Colour of silhouettes: sRGB-encoded, straight alpha.
const COLOR: [f32; 4] = [0.1, 0.45, 1.0, 0.85];

shared_constants! {
    "render/edge.glsl" {
        const SILHOUETTE_DEPTH: u32 = 1;
        const SILHOUETTE_POSITION: u32 = 2;
    }
}

/// The quantity that the edge filter examines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// Normals: finds silhouettes and creases; this is the thesis's default. Strength: length of the normals'
    /// Laplacian, 0 to about 1.5.
    #[default]
    Normal,
    /// Depth: finds silhouettes only. Strength: 0 if the neighbouring pixels are as far away as the pixel, 1 if they
    /// are infinitely far.
    Depth,
    /// Positions: finds silhouettes and sharp creases. Strength: multiples of the pixel width at the point.
    Position,
}

/// Settings of the silhouette filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SilhouetteOptions {
    /// The quantity that the filter examines.
    pub filter: Filter,
    /// Minimum strength of a silhouette pixel; [`Filter`] gives the unit.
    pub threshold: f32,
}

impl Filter {
    /// All filters.
    pub const ALL: [Self; 3] = [Self::Normal, Self::Depth, Self::Position];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        ["Normals", "Depth", "Positions"][self as usize]
    }

    /// Returns settings with a suitable threshold: 0.3 for normals (creases above 45 degrees), 0.005 for depth, 4
    /// pixels for positions.
    pub fn options(self) -> SilhouetteOptions {
        let threshold = match self {
            Self::Normal => 0.3,
            Self::Depth => 0.005,
            Self::Position => 4.0,
        };
        SilhouetteOptions { filter: self, threshold }
    }

    /// The filter's number in shaders.
    pub(crate) fn constant(self) -> u32 {
        [0, SILHOUETTE_DEPTH, SILHOUETTE_POSITION][self as usize]
    }
}

shared_with_shaders! {
    struct MaskPush as "Push" {
        size: [u32; 2],
        filter_over: u32,
        threshold: f32,
    }

    struct ColorPush as "Push" {
        color: [f32; 4],
        size: [u32; 2],
    }
}

/// The pipelines, created once per device: the filter, and the colouring of the picture.
pub(super) struct SilhouettePass {
    filter: Compute,
    color: Compute,
    texels: Sampler,
}

/// Mask and bindings for one G-buffer and the targets of its scene.
pub(super) struct SilhouetteBindings {
    filter: Bindings,
    color: Bindings,
}

fn check(filter: &Reflection, color: &Reflection) -> Result<()> {
    filter.check::<View>()?;
    filter.check::<MaskPush>()?;
    color.check::<ColorPush>()
}

impl SilhouettePass {
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let filter = Compute::new(device, spv!("render/silhouette_mask.comp"), &[])?;
        let color = Compute::new(device, spv!("render/silhouettes.comp"), &[])?;
        check(filter.reflection(), color.reflection())?;
        Ok(Self { filter, color, texels: Sampler::texels(device)? })
    }

    /// Size of the G-buffer for a picture of `size` pixels with `scale` pixels per point.
    pub fn size(size: [u32; 2], scale: f32) -> [u32; 2] {
        size.map(|n| (n as f32 / (TEXEL * scale).max(1.0)).ceil().max(1.0) as u32)
    }

    /// Binds a G-buffer and the picture of `targets`.
    pub fn bind(
        &self,
        device: &Arc<Device>,
        targets: &Targets,
        gbuffer: &GBuffer,
    ) -> Result<SilhouetteBindings> {
        let GBuffer { size, views, .. } = *gbuffer;
        let usage = ImageUsageFlags::STORAGE | ImageUsageFlags::SAMPLED;
        let format = Format::R8G8B8A8_UNORM;
        let mask = Image::new(
            device,
            &ImageInfo { name: "silhouette mask", format, size, layers: views, levels: 1, usage },
        )?;
        let filter = self.filter.bind(&[
            ("views", Resource::Buffer(&gbuffer.view_buffer)),
            ("mask", Resource::Storage(&mask)),
            ("ids", Resource::Sampled(&gbuffer.ids, &self.texels)),
            ("position", Resource::Sampled(&gbuffer.position, &self.texels)),
            ("normal", Resource::Sampled(&gbuffer.normal, &self.texels)),
            ("depth", Resource::Sampled(&gbuffer.depth, &self.texels)),
        ])?;
        let color = self.color.bind(&[
            ("mask", Resource::Sampled(&mask, &self.texels)),
            ("picture", Resource::Storage(&targets.picture)),
        ])?;
        Ok(SilhouetteBindings { filter, color })
    }

    /// Filters the G-buffer, which must have been recorded before, and colours the picture.
    pub fn record(
        &self,
        frame: &mut Frame,
        targets: &Targets,
        (gbuffer, bound): (&GBuffer, &SilhouetteBindings),
        options: &SilhouetteOptions,
    ) {
        let GBuffer { size, views, .. } = *gbuffer;
        let SilhouetteOptions { filter, threshold } = *options;
        frame.phase("silhouettes");
        let push = MaskPush { size, filter_over: filter.constant(), threshold };
        frame.dispatch_grid(&self.filter, &bound.filter, &push, [size[0], size[1], views]);
        frame.barrier();
        let push = ColorPush { color: COLOR, size: targets.size };
        frame.dispatch_grid(&self.color, &bound.color, &push, targets.texels());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Spv;

    #[test]
    fn shaders_and_rust_agree_without_a_device() {
        let reflect = |spv: Spv| Reflection::new(spv.name, &spv.words().unwrap()).unwrap();
        let stages = [spv!("render/silhouette_mask.comp"), spv!("render/silhouettes.comp")].map(reflect);
        check(&stages[0], &stages[1]).unwrap();
    }

    #[test]
    fn a_texel_has_two_points_but_never_less_than_a_pixel() {
        assert_eq!(SilhouettePass::size([1001, 800], 1.0), [501, 400]);
        assert_eq!(SilhouettePass::size([1001, 800], 0.3), [1001, 800]);
        assert_eq!(SilhouettePass::size([0, 8], 2.0), [1, 2]);
    }
}
