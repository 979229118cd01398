//! The images into which one or two views are rendered.

use super::gbuffer::{DEPTH, view_buffer};
use crate::base::{Error, Result};
use crate::gpu::{Buffer, Device, Image, ImageInfo, Load, Memory, Sampler, Target};
use ash::vk::{Format, ImageUsageFlags};
use std::sync::Arc;

/// A rendered image of one or two views (one array layer per view) and its depth.
pub struct Targets {
    /// Width and height of the images, pixels.
    pub size: [u32; 2],
    /// Number of views, 1 or 2.
    pub views: u32,
    /// Samples per pixel, 1 or 4; 4 samples smooth the edges of surfaces.
    pub samples: u32,
    /// Reversed depth. With multisampling this is the first sample's depth, because depths cannot be averaged.
    pub depth: Image,
    /// The rendered image, sRGB-encoded.
    pub picture: Image,
    /// Multisampled colour and depth images, used while drawing.
    multisampled: Option<[Image; 2]>,
    pub(super) view_buffer: Buffer,
    pub(super) lighting_buffer: Buffer,
    pub(super) sampler: Sampler,
}

pub(super) const PICTURE: Format = Format::R8G8B8A8_UNORM;

impl Targets {
    /// Creates images of `size` pixels for one or two `views`, with 1 or 4 `samples` per pixel.
    ///
    /// # Errors
    /// An error for other numbers of views or samples, more samples than the device supports ([`Device::samples`]), a
    /// size beyond the device's limit, or too little memory.
    pub fn new(device: &Arc<Device>, size: [u32; 2], views: u32, samples: u32) -> Result<Self> {
        if !(1..=2).contains(&views) || ![1, 4].contains(&samples) {
            let problem = format!("{views} views with {samples} samples per pixel");
            return Err(Error::input(problem, "use 1 or 2 views with 1 or 4 samples"));
        }
        let info = |name, format, usage| ImageInfo { name, format, size, layers: views, levels: 1, usage };
        let (color, depth) = (ImageUsageFlags::COLOR_ATTACHMENT, ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT);
        let multisampled = match samples {
            1 => None,
            _ => Some([
                Image::multisampled(device, &info("picture's samples", PICTURE, color), samples)?,
                Image::multisampled(device, &info("depth's samples", DEPTH, depth), samples)?,
            ]),
        };
        let more = ImageUsageFlags::STORAGE | ImageUsageFlags::SAMPLED;
        Ok(Self {
            size,
            views,
            samples,
            depth: Image::target(device, "depth", DEPTH, size, views)?,
            picture: Image::new(device, &info("picture", PICTURE, color | more))?,
            multisampled,
            view_buffer: view_buffer(device)?,
            lighting_buffer: Buffer::new(device, "lighting", 512, Memory::Device)?,
            sampler: Sampler::texels(device)?,
        })
    }

    /// Returns the colour and depth targets of a pass that clears and fills the images. With multisampling, the pass
    /// resolves the samples into the images.
    pub(super) fn filled(&self) -> [Target<'_>; 2] {
        let load = Load::Clear([0.0; 4]);
        let target = |image, resolve| Target { image, load, resolve };
        match &self.multisampled {
            Some([color, depth]) => [target(color, Some(&self.picture)), target(depth, Some(&self.depth))],
            None => [target(&self.picture, None), target(&self.depth, None)],
        }
    }

    /// Returns the numbers of pixels and views, the grid of a compute stage that changes the picture.
    pub(super) fn texels(&self) -> [u32; 3] {
        [self.size[0], self.size[1], self.views]
    }

    /// Returns width over height.
    pub fn aspect(&self) -> f32 {
        self.size[0] as f32 / self.size[1] as f32
    }

    /// Reads back the rendered image of a view. Waits for all submitted work.
    ///
    /// # Errors
    /// An error if the device is lost.
    pub fn read(&self, device: &Arc<Device>, view: u32) -> Result<image::RgbaImage> {
        let bytes = device.read_image::<u8>(&self.picture, view)?;
        image::RgbaImage::from_raw(self.size[0], self.size[1], bytes).ok_or_else(|| {
            Error::gpu("the picture has the wrong size", "this is a mistake in the program: report it")
        })
    }
}
