//! The images of one or two views.

use super::view::View;
use crate::base::{Error, Result};
use crate::gpu::{Buffer, Device, Image, ImageInfo, Memory, Sampler};
use ash::vk::{Format, ImageUsageFlags};
use std::sync::Arc;

/// The G-buffer of one or two views (one array layer each), and the finished picture.
///
/// Barycentrics are not stored: they follow from the triangle and the position ([`crate::query::Picker`]).
pub struct Targets {
    /// Width and height of the picture, pixels.
    pub size: [u32; 2],
    /// 1 or 2.
    pub views: u32,
    /// Samples per pixel and direction in the G-buffer, 1 or 2: the G-buffer is that much larger than the picture.
    pub samples: u32,
    /// Base colour, sRGB.
    pub albedo: Image,
    /// Metallic, roughness, whether unlit.
    pub material: Image,
    /// Emitted light, linear.
    pub emissive: Image,
    /// World position, metres, 32-bit floats; the fourth component is 1 where there is a surface.
    pub position: Image,
    /// World normal towards the eye's side, 16-bit floats.
    pub normal: Image,
    /// Triangle of the display mesh and part; [`crate::gpu::constants::NONE`] where there is no surface.
    pub ids: Image,
    /// Reversed depth.
    pub depth: Image,
    /// The finished picture, sRGB encoded.
    pub picture: Image,
    pub(super) view_buffer: Buffer,
    pub(super) lighting_buffer: Buffer,
    pub(super) sampler: Sampler,
}

/// Formats of the G-buffer's colour targets, in the order of the fragment shader's outputs.
pub(super) const COLORS: [Format; 6] = [
    Format::R8G8B8A8_SRGB,
    Format::R8G8B8A8_UNORM,
    Format::B10G11R11_UFLOAT_PACK32,
    Format::R32G32B32A32_SFLOAT,
    Format::R16G16B16A16_SFLOAT,
    Format::R32G32_UINT,
];
pub(super) const DEPTH: Format = Format::D32_SFLOAT;

impl Targets {
    /// Images for a picture of `size` pixels and one or two `views`. `samples` is 1, or 2 for smooth edges.
    ///
    /// Errors on other numbers, on sizes beyond the device's, and when memory is short.
    pub fn new(device: &Arc<Device>, size: [u32; 2], views: u32, samples: u32) -> Result<Self> {
        if !(1..=2).contains(&views) || !(1..=2).contains(&samples) {
            return Err(Error::input(format!("{views} views with {samples} samples"), "use 1 or 2 of each"));
        }
        let large = size.map(|n| n.saturating_mul(samples));
        let image = |name, format, size, usage| {
            Image::new(device, &ImageInfo { name, format, size, layers: views, levels: 1, usage })
        };
        let color = ImageUsageFlags::COLOR_ATTACHMENT | ImageUsageFlags::SAMPLED;
        let target = |name, index: usize| image(name, COLORS[index], large, color);
        Ok(Self {
            size,
            views,
            samples,
            albedo: target("albedo", 0)?,
            material: target("material", 1)?,
            emissive: target("emissive", 2)?,
            position: target("position", 3)?,
            normal: target("normal", 4)?,
            ids: target("ids", 5)?,
            depth: image(
                "depth",
                DEPTH,
                large,
                ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | ImageUsageFlags::SAMPLED,
            )?,
            picture: image(
                "picture",
                Format::R8G8B8A8_UNORM,
                size,
                ImageUsageFlags::COLOR_ATTACHMENT | ImageUsageFlags::STORAGE | ImageUsageFlags::SAMPLED,
            )?,
            view_buffer: Buffer::new(device, "views", (size_of::<View>() * 2) as u64, Memory::Device)?,
            lighting_buffer: Buffer::new(device, "lighting", 512, Memory::Device)?,
            sampler: Sampler::texels(device)?,
        })
    }

    /// Width over height.
    pub fn aspect(&self) -> f32 {
        self.size[0] as f32 / self.size[1] as f32
    }

    /// The finished picture of a view. Waits for all submitted work.
    pub fn read(&self, device: &Arc<Device>, view: u32) -> Result<image::RgbaImage> {
        let bytes = device.read_image::<u8>(&self.picture, view)?;
        image::RgbaImage::from_raw(self.size[0], self.size[1], bytes).ok_or_else(|| {
            Error::gpu("the picture has the wrong size", "this is a mistake in the program: report it")
        })
    }
}
