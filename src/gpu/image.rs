//! Images and samplers: RAII; images stay in layout GENERAL from their creation on.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::device::{Device, Retired};
use super::error::failed;
use super::frame::Frame;
use crate::base::{Error, Result};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::Allocation;
use std::sync::Arc;

/// What an image is.
#[derive(Clone, Debug)]
pub struct ImageInfo<'a> {
    /// For messages.
    pub name: &'a str,
    /// Texel format.
    pub format: vk::Format,
    /// Width and height, texels.
    pub size: [u32; 2],
    /// Array layers: one per view of a multiview pass. The view of the image is always an array.
    pub layers: u32,
    /// Mip levels.
    pub levels: u32,
    /// Uses beside both ends of a copy.
    pub usage: vk::ImageUsageFlags,
}

/// A 2D array image. Clones share it; it is freed when the last clone is gone and the GPU has finished with it.
#[derive(Clone)]
pub struct Image(Arc<Inner>);

struct Inner {
    device: Arc<Device>,
    handle: vk::Image,
    view: vk::ImageView,
    memory: Option<Allocation>,
    format: vk::Format,
    size: [u32; 2],
    layers: u32,
    levels: u32,
    aspect: vk::ImageAspectFlags,
}

impl Image {
    /// Makes the image; content is undefined. Errors when memory is short or the size exceeds the device.
    pub fn new(device: &Arc<Device>, info: &ImageInfo<'_>) -> Result<Self> {
        let most = device.limits().max_image_dimension2_d;
        if info.size.iter().any(|&n| n == 0 || n > most) || info.layers == 0 {
            return Err(Error::gpu(
                format!("{} of {} x {} texels", info.name, info.size[0], info.size[1]),
                format!("sizes from 1 to {most} are possible on this device"),
            ));
        }
        let create = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(info.format)
            .extent(vk::Extent3D { width: info.size[0], height: info.size[1], depth: 1 })
            .mip_levels(info.levels)
            .array_layers(info.layers)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(info.usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
        let aspect = aspect_of(info.format);
        // SAFETY: complete infos; each object is destroyed where a later step fails; memory fits the image.
        let inner = unsafe {
            let handle = device.handle.create_image(&create, None).map_err(failed("vkCreateImage"))?;
            let requirements = device.handle.get_image_memory_requirements(handle);
            let memory = match device.allocate(info.name, requirements, MemoryLocation::GpuOnly, false) {
                Ok(memory) => memory,
                Err(error) => {
                    device.handle.destroy_image(handle, None);
                    return Err(error);
                }
            };
            let mut inner = Inner {
                device: device.clone(),
                handle,
                view: vk::ImageView::null(),
                format: info.format,
                size: info.size,
                layers: info.layers,
                levels: info.levels,
                aspect,
                memory: None,
            };
            let bound = device.handle.bind_image_memory(handle, memory.memory(), memory.offset());
            inner.memory = Some(memory);
            bound.map_err(failed("vkBindImageMemory"))?;
            let view = vk::ImageViewCreateInfo::default()
                .image(handle)
                .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
                .format(info.format)
                .subresource_range(inner.range(0, info.levels));
            inner.view = device.handle.create_image_view(&view, None).map_err(failed("vkCreateImageView"))?;
            inner
        };
        let image = Self(Arc::new(inner));
        device.run(|frame| {
            frame.settle(&image);
            Ok(())
        })?;
        Ok(image)
    }

    /// Width and height, texels.
    pub fn size(&self) -> [u32; 2] {
        self.0.size
    }

    /// Array layers.
    pub fn layers(&self) -> u32 {
        self.0.layers
    }

    /// Mip levels.
    pub fn levels(&self) -> u32 {
        self.0.levels
    }

    /// Texel format.
    pub fn format(&self) -> vk::Format {
        self.0.format
    }

    pub(super) fn handle(&self) -> vk::Image {
        self.0.handle
    }

    pub(super) fn view(&self) -> vk::ImageView {
        self.0.view
    }

    pub(super) fn aspect(&self) -> vk::ImageAspectFlags {
        self.0.aspect
    }
}

impl Inner {
    fn range(&self, level: u32, levels: u32) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange::default()
            .aspect_mask(self.aspect)
            .base_mip_level(level)
            .level_count(levels)
            .layer_count(self.layers)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.device.retire(Retired::Image(self.handle, vec![self.view], memory));
        }
    }
}

fn aspect_of(format: vk::Format) -> vk::ImageAspectFlags {
    match format {
        vk::Format::D32_SFLOAT | vk::Format::D16_UNORM => vk::ImageAspectFlags::DEPTH,
        _ => vk::ImageAspectFlags::COLOR,
    }
}

impl Frame {
    /// Brings a fresh image into layout GENERAL.
    fn settle(&mut self, image: &Image) {
        let barrier = [vk::ImageMemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)
            .old_layout(vk::ImageLayout::UNDEFINED)
            .new_layout(vk::ImageLayout::GENERAL)
            .image(image.handle())
            .subresource_range(image.0.range(0, image.levels()))];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barrier);
        // SAFETY: recording, outside a render pass; the image is fresh.
        unsafe { self.device().handle.cmd_pipeline_barrier2(self.commands, &info) };
    }
}

/// A sampler. Clones share it.
#[derive(Clone)]
pub struct Sampler(Arc<SamplerInner>);

struct SamplerInner {
    device: Arc<Device>,
    handle: vk::Sampler,
}

impl Sampler {
    /// Trilinear (or nearest) filtering with wrap modes in u and v.
    pub fn new(device: &Arc<Device>, wrap: [vk::SamplerAddressMode; 2], nearest: bool) -> Result<Self> {
        let filter = if nearest { vk::Filter::NEAREST } else { vk::Filter::LINEAR };
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(filter)
            .min_filter(vk::Filter::LINEAR)
            .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
            .address_mode_u(wrap[0])
            .address_mode_v(wrap[1])
            .max_lod(vk::LOD_CLAMP_NONE);
        // SAFETY: complete info, valid device.
        let handle =
            unsafe { device.handle.create_sampler(&info, None) }.map_err(failed("vkCreateSampler"))?;
        Ok(Self(Arc::new(SamplerInner { device: device.clone(), handle })))
    }

    pub(super) fn handle(&self) -> vk::Sampler {
        self.0.handle
    }
}

impl Drop for SamplerInner {
    fn drop(&mut self) {
        self.device.retire(Retired::Sampler(self.handle));
    }
}
