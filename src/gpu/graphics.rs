//! Graphics pipelines and passes with dynamic rendering. One pass draws one or two views by multiview.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::bindings::{Bindings, Interface, Resource};
use super::buffer::Buffer;
use super::compute::{Module, check_push, check_specialisation, specialisation_of};
use super::device::{Device, Retired};
use super::error::failed;
use super::frame::Frame;
use super::image::Image;
use super::layout::Layout;
use super::reflect::Reflection;
use super::shader::Spv;
use crate::base::Result;
use ash::vk;
use std::sync::Arc;

/// Description of a graphics pipeline. There are no vertex inputs: vertex shaders fetch their data from buffers.
#[derive(Clone, Copy, Debug)]
pub struct GraphicsInfo<'a> {
    /// The vertex shader.
    pub vertex: Spv,
    /// The tessellation control and evaluation shaders; `None` draws the triangles as they are. They need
    /// [`Device::tessellates`].
    pub tessellation: Option<[Spv; 2]>,
    /// The fragment shader; `None` for a depth-only pass.
    pub fragment: Option<Spv>,
    /// Values of the specialisation constants 0, 1, ... of both shaders.
    pub specialisation: &'a [u32],
    /// Formats of the colour targets.
    pub colors: &'a [vk::Format],
    /// Format of the depth target. Depth is reversed: nearer is greater, and the cleared value is 0.
    pub depth: Option<vk::Format>,
    /// What a fragment does with the content of the colour targets.
    pub blend: Blend,
    /// Number of views, at least 1. `gl_ViewIndex` is the index of the view being drawn.
    pub views: u32,
    /// Samples per pixel of all targets, 1 or 4.
    pub samples: u32,
}

impl<'a> GraphicsInfo<'a> {
    /// Describes a pipeline that replaces the content of targets without depth, with one view and one sample per pixel.
    pub fn new(vertex: Spv, fragment: Spv, colors: &'a [vk::Format]) -> Self {
        Self {
            vertex,
            tessellation: None,
            fragment: Some(fragment),
            specialisation: &[],
            colors,
            depth: None,
            blend: Blend::Replace,
            views: 1,
            samples: 1,
        }
    }
}

/// What a fragment does with the content of the colour targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blend {
    /// Replaces the content.
    Replace,
    /// Covers the content by straight alpha.
    Alpha,
    /// Keeps the larger value of each channel, so that the order of fragments does not matter.
    Max,
}

/// A graphics pipeline. Viewport, scissor and culling are dynamic state, set in a pass.
pub struct Graphics {
    device: Arc<Device>,
    interface: Interface,
    pipeline: vk::Pipeline,
    reflections: Vec<Reflection>,
}

impl Graphics {
    /// Creates the pipeline. Fails if a stage does not compile, the stages disagree, or a device limit is exceeded.
    pub fn new(device: &Arc<Device>, info: &GraphicsInfo<'_>) -> Result<Self> {
        let spvs: Vec<Spv> = std::iter::once(info.vertex)
            .chain(info.tessellation.into_iter().flatten())
            .chain(info.fragment)
            .collect();
        let words = spvs.iter().map(Spv::words).collect::<Result<Vec<_>>>()?;
        let reflections =
            spvs.iter().zip(&words).map(|(s, w)| Reflection::new(s.name, w)).collect::<Result<Vec<_>>>()?;
        for reflection in &reflections {
            check_specialisation(reflection, info.specialisation)?;
        }
        let name = info.fragment.unwrap_or(info.vertex).name;
        let interface = Interface::new(device, name, &reflections.iter().collect::<Vec<_>>())?;
        let mut out = Self { device: device.clone(), interface, pipeline: vk::Pipeline::null(), reflections };
        let modules = words.iter().map(|w| Module::new(device, w)).collect::<Result<Vec<_>>>()?;
        let (entries, data) = specialisation_of(info.specialisation);
        let special = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let stages: Vec<_> = modules
            .iter()
            .zip(&out.reflections)
            .map(|(module, reflection)| {
                vk::PipelineShaderStageCreateInfo::default()
                    .stage(reflection.stage)
                    .module(module.handle)
                    .name(c"main")
                    .specialization_info(&special)
            })
            .collect();
        out.pipeline = create(device, info, &stages, out.interface.layout)?;
        Ok(out)
    }

    /// Returns the reflections of the stages, vertex stage first, fragment stage last.
    pub fn reflections(&self) -> &[Reflection] {
        &self.reflections
    }

    /// Binds the resources of one descriptor set by name. Errors name the missing or unknown resource.
    pub fn bind<'a, R>(&self, set: u32, resources: &[(&str, R)]) -> Result<Bindings>
    where
        R: Into<Resource<'a>> + Copy,
    {
        self.interface.bind(&self.device, set, resources)
    }
}

impl Drop for Graphics {
    fn drop(&mut self) {
        let sets = std::mem::take(&mut self.interface.sets);
        self.device.retire(Retired::Pipeline(self.pipeline, self.interface.layout, sets));
    }
}

fn create(
    device: &Device,
    info: &GraphicsInfo<'_>,
    stages: &[vk::PipelineShaderStageCreateInfo<'_>],
    layout: vk::PipelineLayout,
) -> Result<vk::Pipeline> {
    let vertex_input = vk::PipelineVertexInputStateCreateInfo::default();
    let topology = match info.tessellation {
        Some(_) => vk::PrimitiveTopology::PATCH_LIST,
        None => vk::PrimitiveTopology::TRIANGLE_LIST,
    };
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology);
    // Vulkan ignores the state without tessellation shaders.
    let patches = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(3);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default()
        .polygon_mode(vk::PolygonMode::FILL)
        .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
        .line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(vk::SampleCountFlags::from_raw(info.samples));
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(info.depth.is_some())
        .depth_write_enable(info.depth.is_some())
        .depth_compare_op(vk::CompareOp::GREATER_OR_EQUAL);
    let operation = if info.blend == Blend::Max { vk::BlendOp::MAX } else { vk::BlendOp::ADD };
    let attachment = vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::RGBA)
        .blend_enable(info.blend != Blend::Replace)
        .color_blend_op(operation)
        .alpha_blend_op(operation)
        .src_color_blend_factor(vk::BlendFactor::SRC_ALPHA)
        .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
        .src_alpha_blend_factor(vk::BlendFactor::ONE)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA);
    let attachments = vec![attachment; info.colors.len()];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
    let dynamic = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR, vk::DynamicState::CULL_MODE];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .view_mask(view_mask(info.views))
        .color_attachment_formats(info.colors)
        .depth_attachment_format(info.depth.unwrap_or_default());
    let create = [vk::GraphicsPipelineCreateInfo::default()
        .stages(stages)
        .vertex_input_state(&vertex_input)
        .input_assembly_state(&assembly)
        .tessellation_state(&patches)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout)
        .push_next(&mut rendering)];
    // SAFETY: all state outlives the call; stages and layout come from the same SPIR-V.
    let made = unsafe { device.handle.create_graphics_pipelines(vk::PipelineCache::null(), &create, None) };
    Ok(made.map_err(|(_, e)| failed("vkCreateGraphicsPipelines")(e))?[0])
}

fn view_mask(views: u32) -> u32 {
    (1 << views) - 1
}

/// What happens to a target's content at the start of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// Keeps the content.
    Keep,
    /// Clears a colour target to this colour, or a depth target to the first component.
    Clear([f32; 4]),
    /// Clears an integer target to these values.
    ClearUint([u32; 4]),
}

/// Face culling; front faces are counter-clockwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cull {
    /// Draws front and back faces.
    None,
    /// Draws front faces only.
    Back,
}

/// An image that a pass draws to.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// The image to draw to.
    pub image: &'a Image,
    /// The content at the start of the pass.
    pub load: Load,
    /// For a multisampled target: the single-sample image that receives the result at the end of the pass. The result
    /// is the mean of the colour samples, or the first depth sample. The multisampled content is discarded.
    pub resolve: Option<&'a Image>,
}

impl<'a> From<(&'a Image, Load)> for Target<'a> {
    fn from((image, load): (&'a Image, Load)) -> Self {
        Self { image, load, resolve: None }
    }
}

/// A pass that is being recorded.
pub struct Pass<'f> {
    frame: &'f mut Frame,
}

/// Largest number of colour targets of a pass. Every device has as many.
const MOST_COLORS: usize = 4;

impl Frame {
    /// Records a pass over whole targets that have one layer per view. +Y is up in clip space.
    ///
    /// The targets need a barrier after the pass.
    pub fn render(
        &mut self,
        colors: &[(&Image, Load)],
        depth: Option<(&Image, Load)>,
        views: u32,
        record: impl FnOnce(&mut Pass<'_>),
    ) {
        self.pass(colors.iter().copied().map(Target::from), depth.map(Target::from), views, record);
    }

    /// Records a pass like [`Self::render`], for targets that may be multisampled.
    pub fn render_to(
        &mut self,
        colors: &[Target<'_>],
        depth: Option<Target<'_>>,
        views: u32,
        record: impl FnOnce(&mut Pass<'_>),
    ) {
        self.pass(colors.iter().copied(), depth, views, record);
    }

    fn pass<'a>(
        &mut self,
        colors: impl ExactSizeIterator<Item = Target<'a>> + Clone,
        depth: Option<Target<'a>>,
        views: u32,
        record: impl FnOnce(&mut Pass<'_>),
    ) {
        let all = || colors.clone().chain(depth);
        let Some(size) = all().next().map(|t| t.image.size()) else { return };
        if colors.len() > MOST_COLORS {
            return self
                .fail(format!("a pass has {} colour targets, at most {MOST_COLORS} fit", colors.len()));
        }
        let images = || all().flat_map(|t| [Some(t.image), t.resolve]).flatten();
        if images().any(|i| i.size() != size || i.layers() < views) {
            return self.fail("the targets of a pass differ in size or lack layers".into());
        }
        let attachment = |Target { image, load, resolve }: Target<'_>| {
            let (op, clear) = match load {
                Load::Keep => (vk::AttachmentLoadOp::LOAD, vk::ClearValue::default()),
                Load::Clear(c) if image.aspect() == vk::ImageAspectFlags::DEPTH => {
                    let depth_stencil = vk::ClearDepthStencilValue { depth: c[0], stencil: 0 };
                    (vk::AttachmentLoadOp::CLEAR, vk::ClearValue { depth_stencil })
                }
                Load::Clear(float32) => {
                    (vk::AttachmentLoadOp::CLEAR, vk::ClearValue { color: vk::ClearColorValue { float32 } })
                }
                Load::ClearUint(uint32) => {
                    (vk::AttachmentLoadOp::CLEAR, vk::ClearValue { color: vk::ClearColorValue { uint32 } })
                }
            };
            let info = vk::RenderingAttachmentInfo::default()
                .image_view(image.view())
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(op)
                .store_op(vk::AttachmentStoreOp::STORE)
                .clear_value(clear);
            let Some(resolve) = resolve else { return info };
            // Every device can resolve a depth target to its first sample.
            let mode = match image.aspect() {
                vk::ImageAspectFlags::DEPTH => vk::ResolveModeFlags::SAMPLE_ZERO,
                _ => vk::ResolveModeFlags::AVERAGE,
            };
            info.store_op(vk::AttachmentStoreOp::DONT_CARE)
                .resolve_mode(mode)
                .resolve_image_view(resolve.view())
                .resolve_image_layout(vk::ImageLayout::GENERAL)
        };
        let mut color_infos = [vk::RenderingAttachmentInfo::default(); MOST_COLORS];
        let count = colors.len();
        color_infos.iter_mut().zip(colors).for_each(|(info, target)| *info = attachment(target));
        let depth_info = depth.map(attachment);
        let area = vk::Rect2D::default().extent(vk::Extent2D { width: size[0], height: size[1] });
        let mut info = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(1)
            .view_mask(view_mask(views))
            .color_attachments(&color_infos[..count]);
        if let Some(depth_info) = &depth_info {
            info = info.depth_attachment(depth_info);
        }
        // Vulkan's clip space has +Y down. A negative viewport height makes +Y up and keeps glTF's winding order.
        let viewport = vk::Viewport::default()
            .y(size[1] as f32)
            .width(size[0] as f32)
            .height(-(size[1] as f32))
            .max_depth(1.0);
        let device = self.device().clone();
        // SAFETY: the command buffer is recording; targets live until the submission is done; state is set before any
        // draw.
        unsafe {
            device.handle.cmd_begin_rendering(self.commands, &info);
            device.handle.cmd_set_viewport(self.commands, 0, &[viewport]);
            device.handle.cmd_set_scissor(self.commands, 0, &[area]);
            device.handle.cmd_set_cull_mode(self.commands, vk::CullModeFlags::NONE);
        }
        record(&mut Pass { frame: self });
        // SAFETY: the pass was begun above; `Pass` records only commands that are allowed inside a pass.
        unsafe { device.handle.cmd_end_rendering(self.commands) };
    }
}

impl Pass<'_> {
    /// Binds a pipeline and its descriptor sets for the following draws.
    pub fn bind(&mut self, pipeline: &Graphics, bindings: &[&Bindings]) {
        let frame = &self.frame;
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: the command buffer is recording inside a render pass.
        unsafe { frame.device().handle.cmd_bind_pipeline(frame.commands, point, pipeline.pipeline) };
        for bindings in bindings {
            self.bind_set(pipeline, bindings);
        }
    }

    /// Replaces one bound descriptor set.
    pub fn bind_set(&mut self, pipeline: &Graphics, bindings: &Bindings) {
        let frame = &self.frame;
        let point = vk::PipelineBindPoint::GRAPHICS;
        let layout = pipeline.interface.layout;
        // SAFETY: the command buffer is recording; the set was made for a layout of this pipeline.
        unsafe {
            let handle = &frame.device().handle;
            handle.cmd_bind_descriptor_sets(
                frame.commands,
                point,
                layout,
                bindings.set,
                &[bindings.handle],
                &[],
            );
        }
    }

    /// Sets the push constants of a pipeline.
    pub fn push<P: Layout>(&mut self, pipeline: &Graphics, push: &P) {
        let bytes = bytemuck::bytes_of(push);
        if let Err(problem) = check_push(&pipeline.interface, push) {
            return self.frame.fail(problem);
        }
        let frame = &self.frame;
        let interface = &pipeline.interface;
        // SAFETY: the command buffer is recording; the size was checked.
        unsafe {
            let handle = &frame.device().handle;
            handle.cmd_push_constants(frame.commands, interface.layout, interface.stages, 0, bytes);
        }
    }

    /// Sets the face culling.
    pub fn cull(&mut self, cull: Cull) {
        let mode = match cull {
            Cull::None => vk::CullModeFlags::NONE,
            Cull::Back => vk::CullModeFlags::BACK,
        };
        // SAFETY: the command buffer is recording; the state is dynamic.
        unsafe { self.frame.device().handle.cmd_set_cull_mode(self.frame.commands, mode) };
    }

    /// Restricts the following draws to a rectangle of pixels, given by its upper left corner and its size. The
    /// rectangle must lie within the targets.
    pub fn scissor(&mut self, corner: [u32; 2], size: [u32; 2]) {
        let area = [vk::Rect2D {
            offset: vk::Offset2D { x: corner[0] as i32, y: corner[1] as i32 },
            extent: vk::Extent2D { width: size[0], height: size[1] },
        }];
        // SAFETY: the command buffer is recording; the state is dynamic.
        unsafe { self.frame.device().handle.cmd_set_scissor(self.frame.commands, 0, &area) };
    }

    /// Draws vertices `first..first + vertices`, `instances` times.
    pub fn draw(&mut self, first: u32, vertices: u32, instances: u32) {
        // SAFETY: the command buffer is recording; the caller must have bound a pipeline, which the validation layer
        // checks.
        unsafe { self.frame.device().handle.cmd_draw(self.frame.commands, vertices, instances, first, 0) };
    }

    /// Draws with the `VkDrawIndirectCommand` at a byte offset: vertices, instances, first vertex, first instance.
    pub fn draw_indirect(&mut self, arguments: &Buffer, offset: u64) {
        if !offset.is_multiple_of(4) || offset + 16 > arguments.bytes() {
            return self.frame.fail(format!("no draw arguments at {offset} of {arguments:?}"));
        }
        let frame = &self.frame;
        // SAFETY: the command buffer is recording; the range was checked.
        unsafe {
            let handle = &frame.device().handle;
            handle.cmd_draw_indirect(frame.commands, arguments.handle(), offset, 1, 0);
        }
    }

    /// Binds a buffer of 32-bit indices for [`Pass::draw_indexed`].
    pub fn indices(&mut self, indices: &Buffer) {
        let frame = &self.frame;
        // SAFETY: the command buffer is recording; every buffer may hold indices.
        unsafe {
            let handle = &frame.device().handle;
            handle.cmd_bind_index_buffer(frame.commands, indices.handle(), 0, vk::IndexType::UINT32);
        }
    }

    /// Draws with the indices `first..first + indices`.
    pub fn draw_indexed(&mut self, first: u32, indices: u32) {
        // SAFETY: the command buffer is recording; the caller must have bound a pipeline and indices, which the
        // validation layer checks.
        unsafe { self.frame.device().handle.cmd_draw_indexed(self.frame.commands, indices, 1, first, 0, 0) };
    }
}
