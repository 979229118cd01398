//! Descriptor sets made by reflection: resources are bound by their names in the shaders.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::buffer::Buffer;
use super::device::{Device, Retired};
use super::error::failed;
use super::image::{Image, Sampler};
use super::reflect::{Binding, Reflection, StructLayout};
use crate::base::{Error, Result};
use ash::vk;
use std::sync::Arc;

/// A resource to bind.
#[derive(Clone, Copy)]
pub enum Resource<'a> {
    /// A whole buffer as a storage or uniform buffer.
    Buffer(&'a Buffer),
    /// An image with a sampler.
    Sampled(&'a Image, &'a Sampler),
    /// A storage image, which shaders load from and store to.
    Storage(&'a Image),
    /// A whole buffer as a uniform texel buffer (`samplerBuffer`). For scattered reads, a texel buffer needs fewer
    /// instructions than a storage buffer, especially on software devices.
    Texels(&'a Buffer, Texel),
}

/// The format of one texel of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texel {
    /// A 32-bit float, read through a `samplerBuffer`.
    Float,
    /// Four 32-bit floats, read through a `samplerBuffer`.
    Float4,
    /// Two 32-bit unsigned integers, read through a `usamplerBuffer`.
    Uint2,
    /// Four 32-bit unsigned integers, read through a `usamplerBuffer`.
    Uint4,
}

impl Texel {
    fn format(self) -> vk::Format {
        match self {
            Self::Float => vk::Format::R32_SFLOAT,
            Self::Float4 => vk::Format::R32G32B32A32_SFLOAT,
            Self::Uint2 => vk::Format::R32G32_UINT,
            Self::Uint4 => vk::Format::R32G32B32A32_UINT,
        }
    }

    fn bytes(self) -> u64 {
        match self {
            Self::Float4 | Self::Uint4 => 16,
            Self::Uint2 => 8,
            Self::Float => 4,
        }
    }
}

impl<'a> From<&'a Buffer> for Resource<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Self::Buffer(buffer)
    }
}

impl<'a> From<(&'a Image, &'a Sampler)> for Resource<'a> {
    fn from((image, sampler): (&'a Image, &'a Sampler)) -> Self {
        Self::Sampled(image, sampler)
    }
}

/// A descriptor set and the resources bound to it, which it keeps alive. Create it once and use it in any number of
/// frames.
pub struct Bindings {
    pub(super) device: Arc<Device>,
    pub(super) set: u32,
    pub(super) handle: vk::DescriptorSet,
    pool: vk::DescriptorPool,
    views: Vec<vk::BufferView>,
    _buffers: Vec<Buffer>,
    _images: Vec<Image>,
    _samplers: Vec<Sampler>,
}

impl Drop for Bindings {
    fn drop(&mut self) {
        self.device.retire(Retired::Descriptors(self.pool, std::mem::take(&mut self.views)));
    }
}

/// The merged resource interface of all stages of a pipeline.
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) bindings: Vec<Binding>,
    pub(super) push: Option<StructLayout>,
    pub(super) stages: vk::ShaderStageFlags,
    pub(super) layout: vk::PipelineLayout,
    pub(super) sets: Vec<vk::DescriptorSetLayout>,
}

impl Interface {
    /// Merges the reflections of the stages. Fails if two stages disagree on a binding or on push constants.
    pub(super) fn new(device: &Device, name: &str, stages: &[&Reflection]) -> Result<Self> {
        let mut bindings: Vec<Binding> = Vec::new();
        let mut push: Option<StructLayout> = None;
        let mut flags = vk::ShaderStageFlags::empty();
        for stage in stages {
            flags |= stage.stage;
            for b in &stage.bindings {
                match bindings.iter_mut().find(|o| (o.set, o.binding) == (b.set, b.binding)) {
                    None => bindings.push(b.clone()),
                    Some(other) if (&other.name, other.kind, other.count) != (&b.name, b.kind, b.count) => {
                        return Err(mistake(
                            name,
                            format!("stages disagree on {} and {}", other.name, b.name),
                        ));
                    }
                    Some(other) => other.min_bytes = other.min_bytes.max(b.min_bytes),
                }
            }
            if let Some(p) = &stage.push {
                if push.as_ref().is_some_and(|o| o.size != p.size) {
                    return Err(mistake(name, "stages disagree on the size of push constants".into()));
                }
                push = Some(p.clone());
            }
        }
        // Pipelines with the same bindings but other stages between vertices and fragments share their descriptor sets.
        if flags != vk::ShaderStageFlags::COMPUTE {
            flags = vk::ShaderStageFlags::ALL_GRAPHICS;
        }
        if push.as_ref().is_some_and(|p| p.size > device.limits().max_push_constants_size) {
            return Err(mistake(name, "more push constants than this device has".into()));
        }
        let count = bindings.iter().map(|b| b.set + 1).max().unwrap_or(0);
        let mut sets = Vec::new();
        for set in 0..count {
            let entries: Vec<_> = bindings
                .iter()
                .filter(|b| b.set == set)
                .map(|b| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(b.binding)
                        .descriptor_type(b.kind)
                        .descriptor_count(b.count)
                        .stage_flags(flags)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&entries);
            // SAFETY: the info is complete and the device valid.
            let layout = unsafe { device.handle.create_descriptor_set_layout(&info, None) };
            sets.push(layout.map_err(failed("vkCreateDescriptorSetLayout"))?);
        }
        let ranges: Vec<_> = push
            .iter()
            .map(|p| vk::PushConstantRange::default().stage_flags(flags).size(p.size.next_multiple_of(4)))
            .collect();
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&ranges);
        // SAFETY: the info is complete and the device valid.
        let layout = unsafe { device.handle.create_pipeline_layout(&info, None) };
        let layout = layout.map_err(failed("vkCreatePipelineLayout"))?;
        Ok(Self { name: name.to_owned(), bindings, push, stages: flags, layout, sets })
    }

    /// Binds all resources of a set. Errors name the resource that is missing, unknown or of the wrong kind.
    pub(super) fn bind<'a, R>(
        &self,
        device: &Arc<Device>,
        set: u32,
        resources: &[(&str, R)],
    ) -> Result<Bindings>
    where
        R: Into<Resource<'a>> + Copy,
    {
        let Some(&layout) = self.sets.get(set as usize) else {
            return Err(mistake(&self.name, format!("there is no descriptor set {set}")));
        };
        let wanted: Vec<&Binding> = self.bindings.iter().filter(|b| b.set == set).collect();
        for (index, (name, _)) in resources.iter().enumerate() {
            if !wanted.iter().any(|b| b.name == *name) {
                let names: Vec<_> = wanted.iter().map(|b| b.name.as_str()).collect();
                return Err(mistake(
                    &self.name,
                    format!("no binding \"{name}\"; there are {}", names.join(", ")),
                ));
            }
            if resources[..index].iter().any(|(other, _)| other == name) {
                return Err(mistake(&self.name, format!("\"{name}\" is bound twice")));
            }
        }
        let sizes: Vec<_> = wanted
            .iter()
            .map(|b| vk::DescriptorPoolSize::default().ty(b.kind).descriptor_count(b.count))
            .collect();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        // SAFETY: the info is complete and the device valid.
        let pool = unsafe { device.handle.create_descriptor_pool(&info, None) };
        let pool = pool.map_err(failed("vkCreateDescriptorPool"))?;
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: the pool was made for exactly this set.
        let allocated = unsafe { device.handle.allocate_descriptor_sets(&info) };
        let mut out = Bindings {
            device: device.clone(),
            set,
            handle: vk::DescriptorSet::null(),
            pool,
            views: Vec::new(),
            _buffers: Vec::new(),
            _images: Vec::new(),
            _samplers: Vec::new(),
        };
        out.handle = allocated.map_err(failed("vkAllocateDescriptorSets"))?[0];
        for binding in wanted {
            let Some((_, resource)) = resources.iter().find(|(name, _)| *name == binding.name) else {
                return Err(mistake(&self.name, format!("\"{}\" is not bound", binding.name)));
            };
            out.write(&self.name, binding, (*resource).into())?;
        }
        Ok(out)
    }
}

impl Bindings {
    fn write(&mut self, pipeline: &str, binding: &Binding, resource: Resource<'_>) -> Result<()> {
        let mut view = [vk::BufferView::null()];
        if let Resource::Texels(buffer, texel) = resource {
            view = [self.view(pipeline, buffer, texel)?];
        }
        let write = vk::WriteDescriptorSet::default()
            .dst_set(self.handle)
            .dst_binding(binding.binding)
            .descriptor_type(binding.kind);
        let image_info = |image: &Image| {
            [vk::DescriptorImageInfo::default()
                .image_view(image.view())
                .image_layout(vk::ImageLayout::GENERAL)]
        };
        let update = |write: vk::WriteDescriptorSet<'_>| {
            // SAFETY: the set is new and in no command buffer; this struct keeps the resources alive.
            unsafe { self.device.handle.update_descriptor_sets(&[write], &[]) }
        };
        match (resource, binding.kind) {
            (Resource::Buffer(buffer), vk::DescriptorType::STORAGE_BUFFER) => {
                if buffer.bytes() < binding.min_bytes {
                    let problem =
                        format!("\"{}\" needs {} bytes: {buffer:?}", binding.name, binding.min_bytes);
                    return Err(mistake(pipeline, problem));
                }
                let info =
                    [vk::DescriptorBufferInfo::default().buffer(buffer.handle()).range(vk::WHOLE_SIZE)];
                update(write.buffer_info(&info));
                self._buffers.push(buffer.clone());
            }
            (Resource::Sampled(image, sampler), vk::DescriptorType::COMBINED_IMAGE_SAMPLER) => {
                let mut info = image_info(image);
                info[0] = info[0].sampler(sampler.handle());
                update(write.image_info(&info));
                self._images.push(image.clone());
                self._samplers.push(sampler.clone());
            }
            (Resource::Storage(image), vk::DescriptorType::STORAGE_IMAGE) => {
                update(write.image_info(&image_info(image)));
                self._images.push(image.clone());
            }
            (Resource::Texels(buffer, _), vk::DescriptorType::UNIFORM_TEXEL_BUFFER) => {
                update(write.texel_buffer_view(&view));
                self._buffers.push(buffer.clone());
            }
            (_, kind) => {
                return Err(mistake(pipeline, format!("\"{}\" must be a {kind:?}", binding.name)));
            }
        }
        Ok(())
    }
}

impl Bindings {
    fn view(&mut self, pipeline: &str, buffer: &Buffer, texel: Texel) -> Result<vk::BufferView> {
        let (texels, most) =
            (buffer.bytes() / texel.bytes(), u64::from(self.device.limits().max_texel_buffer_elements));
        if texels > most {
            return Err(Error::gpu(
                format!("{pipeline}: {buffer:?} has {texels} texels, this device takes {most}"),
                "use a smaller model or another --device",
            ));
        }
        let info = vk::BufferViewCreateInfo::default()
            .buffer(buffer.handle())
            .format(texel.format())
            .range(vk::WHOLE_SIZE);
        // SAFETY: this struct keeps the buffer alive, the buffer allows texel views, and every device can fetch the
        // formats from buffers.
        let view = unsafe { self.device.handle.create_buffer_view(&info, None) };
        let view = view.map_err(failed("vkCreateBufferView"))?;
        self.views.push(view);
        Ok(view)
    }
}

pub(super) fn mistake(pipeline: &str, problem: String) -> Error {
    Error::gpu(format!("{pipeline}: {problem}"), "this is a mistake in the program: report it")
}
