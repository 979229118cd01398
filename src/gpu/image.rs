//! Images and samplers that free themselves when dropped. Images stay in layout GENERAL after creation.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::buffer::{Buffer, Memory};
use super::device::{Device, Retired};
use super::error::failed;
use super::frame::Frame;
use crate::base::{Error, Result};
use ash::vk;
use bytemuck::Pod;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::Allocation;
use std::sync::Arc;

/// Description of an image.
#[derive(Clone, Debug)]
pub struct ImageInfo<'a> {
    /// Name for error messages.
    pub name: &'a str,
    /// Texel format.
    pub format: vk::Format,
    /// Width and height, texels.
    pub size: [u32; 2],
    /// Number of array layers: one per view of a multiview pass. The image view is always an array view.
    pub layers: u32,
    /// Number of mip levels.
    pub levels: u32,
    /// Usage flags. [`Image::new`] adds transfer source and transfer destination.
    pub usage: vk::ImageUsageFlags,
}

/// A 2D array image, shared by its clones. It is freed after the last clone when the GPU has finished with it.
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
    /// Creates the image with undefined content. Fails if memory is short or the size exceeds the device's limit.
    pub fn new(device: &Arc<Device>, info: &ImageInfo<'_>) -> Result<Self> {
        Self::make(device, info, 1)
    }

    /// Creates an image with one mip level to which a pass draws and from which shaders sample: a depth target if `format`
    /// is a depth format, otherwise a colour target.
    ///
    /// # Errors
    /// The errors of [`Image::new`].
    pub fn target(
        device: &Arc<Device>,
        name: &str,
        format: vk::Format,
        size: [u32; 2],
        layers: u32,
    ) -> Result<Self> {
        let drawn = match aspect_of(format) {
            vk::ImageAspectFlags::DEPTH => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
            _ => vk::ImageUsageFlags::COLOR_ATTACHMENT,
        };
        let usage = drawn | vk::ImageUsageFlags::SAMPLED;
        Self::new(device, &ImageInfo { name, format, size, layers, levels: 1, usage })
    }

    /// Creates a multisampled target that is used within one pass only. It lies in tile memory if the device has any.
    /// `info.usage` is the attachment usage, colour or depth.
    ///
    /// # Errors
    /// The errors of [`Image::new`], or an unsupported number of samples; see [`Device::samples`].
    pub fn multisampled(device: &Arc<Device>, info: &ImageInfo<'_>, samples: u32) -> Result<Self> {
        if device.samples(samples) != samples {
            return Err(Error::gpu(
                format!("{} with {samples} samples per pixel", info.name),
                format!("use {}, the most on this device", device.samples(samples)),
            ));
        }
        let usage = info.usage | vk::ImageUsageFlags::TRANSIENT_ATTACHMENT;
        Self::make(device, &ImageInfo { usage, ..info.clone() }, samples)
    }

    fn make(device: &Arc<Device>, info: &ImageInfo<'_>, samples: u32) -> Result<Self> {
        let most = device.limits().max_image_dimension2_d;
        if info.size.iter().any(|&n| n == 0 || n > most) || info.layers == 0 {
            return Err(Error::gpu(
                format!("{} of {} x {} texels", info.name, info.size[0], info.size[1]),
                format!("sizes from 1 to {most} are possible on this device"),
            ));
        }
        let transient = info.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT);
        let copies = match transient {
            true => vk::ImageUsageFlags::empty(),
            false => vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST,
        };
        let create = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(info.format)
            .extent(vk::Extent3D { width: info.size[0], height: info.size[1], depth: 1 })
            .mip_levels(info.levels)
            .array_layers(info.layers)
            .samples(vk::SampleCountFlags::from_raw(samples))
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(info.usage | copies);
        let aspect = aspect_of(info.format);
        // SAFETY: the infos are complete; each object is destroyed if a later step fails; the memory fits the image.
        let inner = unsafe {
            let handle = device.handle.create_image(&create, None).map_err(failed("vkCreateImage"))?;
            let mut requirements = device.handle.get_image_memory_requirements(handle);
            let lazy = if transient { device.lazy_memory(requirements.memory_type_bits) } else { 0 };
            if lazy != 0 {
                requirements.memory_type_bits = lazy;
            }
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

    /// Returns width and height, texels.
    pub fn size(&self) -> [u32; 2] {
        self.0.size
    }

    /// Returns the number of array layers.
    pub fn layers(&self) -> u32 {
        self.0.layers
    }

    /// Returns the number of mip levels.
    pub fn levels(&self) -> u32 {
        self.0.levels
    }

    /// Returns the texel format.
    pub fn format(&self) -> vk::Format {
        self.0.format
    }

    /// Returns width and height of a mip level, texels.
    pub fn level_size(&self, level: u32) -> [u32; 2] {
        self.0.size.map(|n| (n >> level).max(1))
    }

    /// Returns the bytes per texel, for the formats that this project uses.
    pub fn texel_bytes(&self) -> u64 {
        match self.0.format {
            vk::Format::R32G32B32A32_SFLOAT => 16,
            vk::Format::R16G16B16A16_SFLOAT | vk::Format::R32G32_UINT => 8,
            _ => 4,
        }
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
    /// Transitions a new image to layout GENERAL.
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
        // SAFETY: the command buffer is recording outside a render pass; the image is new.
        unsafe { self.device().handle.cmd_pipeline_barrier2(self.commands, &info) };
    }
}

impl Frame {
    /// Copies texels into one layer and mip level, rows from the top, tightly packed. Put a barrier before its use.
    pub fn upload_image(&mut self, target: &Image, layer: u32, level: u32, texels: &[u8]) {
        let staged = self.stage(texels);
        let Some(Some((staging, offset))) = self.check(staged) else { return };
        let region = [region(target, layer, level, [0; 2], target.level_size(level)).buffer_offset(offset)];
        let layout = vk::ImageLayout::GENERAL;
        // SAFETY: the command buffer is recording; the staging memory holds the bytes until the submission is done. If
        // the caller passes a wrong number of bytes, the validation layer reports this mistake.
        unsafe {
            let handle = &self.device().handle;
            handle.cmd_copy_buffer_to_image(self.commands, staging, target.handle(), layout, &region);
        }
    }

    /// Writes a rectangle of texels of a layer's first mip level, rows from the top, tightly packed. This is a copy:
    /// put a barrier before the image's use.
    pub fn upload_texels(
        &mut self,
        target: &Image,
        layer: u32,
        corner: [u32; 2],
        size: [u32; 2],
        texels: &[u8],
    ) {
        let inside = (0..2)
            .all(|i| size[i] > 0 && u64::from(corner[i]) + u64::from(size[i]) <= target.size()[i].into());
        let bytes = u64::from(size[0]) * u64::from(size[1]) * target.texel_bytes();
        if !inside || layer >= target.layers() || bytes != texels.len() as u64 {
            let given = texels.len();
            return self.fail(format!("upload of {given} bytes as {size:?} texels at {corner:?} of {layer}"));
        }
        let staged = self.stage(texels);
        let Some(Some((staging, offset))) = self.check(staged) else { return };
        let region = [region(target, layer, 0, corner, size).buffer_offset(offset)];
        let layout = vk::ImageLayout::GENERAL;
        // SAFETY: the command buffer is recording; the ranges were checked; the staging memory holds the bytes until
        // the submission is done.
        unsafe {
            let handle = &self.device().handle;
            handle.cmd_copy_buffer_to_image(self.commands, staging, target.handle(), layout, &region);
        }
    }

    /// Copies a rectangle of a layer's first mip level to a buffer's byte offset, rows from the top, tightly packed.
    pub fn read_image(
        &mut self,
        source: &Image,
        layer: u32,
        corner: [u32; 2],
        size: [u32; 2],
        target: &Buffer,
        offset: u64,
    ) {
        let inside = (0..2).all(|i| corner[i] + size[i] <= source.size()[i] && size[i] > 0);
        let bytes = u64::from(size[0]) * u64::from(size[1]) * source.texel_bytes();
        if !inside || layer >= source.layers() || offset + bytes > target.bytes() {
            return self
                .fail(format!("read of {size:?} texels at {corner:?} of layer {layer} to {target:?}"));
        }
        let region = [region(source, layer, 0, corner, size).buffer_offset(offset)];
        let layout = vk::ImageLayout::GENERAL;
        // SAFETY: the command buffer is recording; the ranges were checked.
        unsafe {
            let handle = &self.device().handle;
            handle.cmd_copy_image_to_buffer(self.commands, source.handle(), layout, target.handle(), &region);
        }
    }
}

fn region(image: &Image, layer: u32, level: u32, corner: [u32; 2], size: [u32; 2]) -> vk::BufferImageCopy {
    vk::BufferImageCopy::default()
        .image_subresource(
            vk::ImageSubresourceLayers::default()
                .aspect_mask(image.0.aspect)
                .mip_level(level)
                .base_array_layer(layer)
                .layer_count(1),
        )
        .image_offset(vk::Offset3D { x: corner[0] as i32, y: corner[1] as i32, z: 0 })
        .image_extent(vk::Extent3D { width: size[0], height: size[1], depth: 1 })
}

impl Device {
    /// Reads all texels of a layer's first mip level, rows from the top. Waits for all submitted work.
    pub fn read_image<T: Pod>(self: &Arc<Self>, source: &Image, layer: u32) -> Result<Vec<T>> {
        let size = source.size();
        let bytes = u64::from(size[0]) * u64::from(size[1]) * source.texel_bytes();
        let staging = Buffer::new(self, "image readback", bytes, Memory::Readback)?;
        self.run(|frame| {
            frame.read_image(source, layer, [0; 2], size, &staging, 0);
            Ok(())
        })?;
        Ok(bytemuck::pod_collect_to_vec(&staging.mapped()?[..bytes as usize]))
    }
}

/// A sampler. Clones share one Vulkan sampler.
#[derive(Clone)]
pub struct Sampler(Arc<SamplerInner>);

struct SamplerInner {
    device: Arc<Device>,
    handle: vk::Sampler,
}

impl Sampler {
    /// Creates a sampler with trilinear filtering; `wrap` is for u and v. `nearest` magnifies without filtering.
    pub fn new(device: &Arc<Device>, wrap: [vk::SamplerAddressMode; 2], nearest: bool) -> Result<Self> {
        let magnify = if nearest { vk::Filter::NEAREST } else { vk::Filter::LINEAR };
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(magnify)
            .min_filter(vk::Filter::LINEAR)
            .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
            .address_mode_u(wrap[0])
            .address_mode_v(wrap[1])
            .max_lod(vk::LOD_CLAMP_NONE);
        Self::create(device, &info)
    }

    /// Creates a sampler without filtering, for `texelFetch` and for formats that cannot be filtered.
    pub fn texels(device: &Arc<Device>) -> Result<Self> {
        Self::create(device, &vk::SamplerCreateInfo::default())
    }

    fn create(device: &Arc<Device>, info: &vk::SamplerCreateInfo<'_>) -> Result<Self> {
        // SAFETY: the info is complete and the device valid.
        let handle =
            unsafe { device.handle.create_sampler(info, None) }.map_err(failed("vkCreateSampler"))?;
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
