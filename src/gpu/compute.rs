//! Compute pipelines and dispatches.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::bindings::{Bindings, Interface, Resource, mistake};
use super::buffer::Buffer;
use super::device::{Device, Retired};
use super::error::failed;
use super::frame::Frame;
use super::layout::{Layout, differs};
use super::reflect::{Reflection, StructLayout};
use super::shader::Spv;
use crate::base::Result;
use ash::vk;
use std::sync::Arc;

/// A compute pipeline.
pub struct Compute {
    device: Arc<Device>,
    spv: Spv,
    reflection: Reflection,
    interface: Interface,
    pipeline: vk::Pipeline,
}

impl Compute {
    /// Creates the pipeline. `specialisation` holds the values of the specialisation constants 0, 1, ...
    ///
    /// Fails if the stage does not compile, is no compute stage, has other constants, or exceeds a device limit.
    pub fn new(device: &Arc<Device>, spv: Spv, specialisation: &[u32]) -> Result<Self> {
        let words = spv.words()?;
        let reflection = Reflection::new(spv.name, &words)?;
        if reflection.stage != vk::ShaderStageFlags::COMPUTE {
            return Err(mistake(spv.name, "is no compute stage".into()));
        }
        check_specialisation(&reflection, specialisation)?;
        let interface = Interface::new(device, spv.name, &[&reflection])?;
        let mut out =
            Self { device: device.clone(), spv, reflection, interface, pipeline: vk::Pipeline::null() };
        let module = Module::new(device, &words)?;
        let (entries, data) = specialisation_of(specialisation);
        let special = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module.handle)
            .name(c"main")
            .specialization_info(&special);
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(out.interface.layout)];
        // SAFETY: module and layout are valid and agree: both come from the same SPIR-V.
        out.pipeline =
            unsafe { device.handle.create_compute_pipelines(vk::PipelineCache::null(), &info, None) }
                .map_err(|(_, e)| failed("vkCreateComputePipelines")(e))?[0];
        Ok(out)
    }

    /// Returns the interface of the stage, e.g. for [`Reflection::check`].
    pub fn reflection(&self) -> &Reflection {
        &self.reflection
    }

    /// Binds every resource of the stage by name, each once. Errors name the missing or unknown resource.
    pub fn bind<'a, R>(&self, resources: &[(&str, R)]) -> Result<Bindings>
    where
        R: Into<Resource<'a>> + Copy,
    {
        self.interface.bind(&self.device, 0, resources)
    }
}

impl Drop for Compute {
    fn drop(&mut self) {
        let sets = std::mem::take(&mut self.interface.sets);
        self.device.retire(Retired::Pipeline(self.pipeline, self.interface.layout, sets));
    }
}

impl Frame {
    /// Runs a compute stage for at least `elements` invocations in x, rounded up to whole workgroups. Therefore the
    /// stage must ignore invocations whose index is `elements` or greater.
    ///
    /// Records no barrier. Put [`Frame::barrier`] or [`Frame::phase`] between dependent stages.
    pub fn dispatch<P: Layout>(&mut self, pipeline: &Compute, bindings: &Bindings, push: &P, elements: u32) {
        let size = pipeline.reflection.local_size;
        self.dispatch_groups(pipeline, bindings, push, [elements.div_ceil(size[0]), 1, 1]);
    }

    /// Runs a compute stage for a grid of invocations, rounded up to whole workgroups in each dimension.
    pub fn dispatch_grid<P: Layout>(
        &mut self,
        pipeline: &Compute,
        bindings: &Bindings,
        push: &P,
        grid: [u32; 3],
    ) {
        let size = pipeline.reflection.local_size;
        self.dispatch_groups(pipeline, bindings, push, std::array::from_fn(|i| grid[i].div_ceil(size[i])));
    }

    /// Runs a compute stage for a given number of workgroups per dimension.
    pub fn dispatch_groups<P: Layout>(
        &mut self,
        pipeline: &Compute,
        bindings: &Bindings,
        push: &P,
        groups: [u32; 3],
    ) {
        if groups.contains(&0) || !self.bind_compute(pipeline, bindings, push) {
            return;
        }
        let most = self.device().limits().max_compute_work_group_count;
        if groups.iter().zip(most).any(|(&n, most)| n > most) {
            return self.fail(format!("{}: {groups:?} groups, the device takes {most:?}", pipeline.spv.name));
        }
        // SAFETY: the command buffer is recording; pipeline and descriptors are bound; the counts were checked.
        unsafe { self.device().handle.cmd_dispatch(self.commands, groups[0], groups[1], groups[2]) };
    }

    /// Runs a compute stage; the workgroup counts are three `u32` in `arguments` at byte `offset`.
    pub fn dispatch_indirect<P: Layout>(
        &mut self,
        pipeline: &Compute,
        bindings: &Bindings,
        push: &P,
        arguments: &Buffer,
        offset: u64,
    ) {
        if !offset.is_multiple_of(4) || offset + 12 > arguments.bytes() {
            return self.fail(format!("{}: no arguments at {offset} of {arguments:?}", pipeline.spv.name));
        }
        if self.bind_compute(pipeline, bindings, push) {
            // SAFETY: the command buffer is recording; pipeline and descriptors are bound; the range was checked.
            unsafe { self.device().handle.cmd_dispatch_indirect(self.commands, arguments.handle(), offset) };
        }
    }

    fn bind_compute<P: Layout>(&mut self, pipeline: &Compute, bindings: &Bindings, push: &P) -> bool {
        let interface = &pipeline.interface;
        if let Err(problem) = check_push(interface, push) {
            self.fail(problem);
            return false;
        }
        let before = self.bound.replace((pipeline.pipeline, bindings.handle));
        let device = self.device();
        // SAFETY: the command buffer is recording; the set was made for this layout; the push constants' size was
        // checked.
        unsafe {
            let point = vk::PipelineBindPoint::COMPUTE;
            if before.is_none_or(|b| b.0 != pipeline.pipeline) {
                device.handle.cmd_bind_pipeline(self.commands, point, pipeline.pipeline);
            }
            if before != self.bound {
                let set = [bindings.handle];
                device.handle.cmd_bind_descriptor_sets(
                    self.commands,
                    point,
                    interface.layout,
                    bindings.set,
                    &set,
                    &[],
                );
            }
            if interface.push.is_some() {
                let bytes = bytemuck::bytes_of(push);
                device.handle.cmd_push_constants(self.commands, interface.layout, interface.stages, 0, bytes);
            }
        }
        true
    }
}

/// Compares push constants with the shader's declaration: the size and, in a debug build, the fields.
pub(super) fn check_push<P: Layout>(interface: &Interface, push: &P) -> std::result::Result<(), String> {
    let wanted = interface.push.as_ref().map_or(0, |p| p.size as usize);
    let given = size_of_val(push);
    if given != wanted {
        return Err(format!("{}: {given} bytes of push constants given, {wanted} expected", interface.name));
    }
    // Plain numbers have no fields. A block whose only member is a struct is not compared here; [`Reflection::check`]
    // checks that struct.
    let wrapped = |block: &StructLayout| block.fields.len() == 1 && P::FIELDS.len() > 1;
    let compared = cfg!(debug_assertions) && !P::NAME.is_empty();
    let block = interface.push.as_ref().filter(|block| compared && !wrapped(block));
    match block.and_then(differs::<P>) {
        Some(problem) => Err(format!("{}: push constants: {problem}", interface.name)),
        None => Ok(()),
    }
}

pub(super) fn check_specialisation(reflection: &Reflection, values: &[u32]) -> Result<()> {
    let ids: Vec<u32> = (0..values.len() as u32).collect();
    if reflection.specialisation.iter().all(|id| ids.contains(id)) {
        return Ok(());
    }
    let problem = format!("wants constants {:?}, {} were given", reflection.specialisation, values.len());
    Err(mistake(&reflection.name, problem))
}

pub(super) fn specialisation_of(values: &[u32]) -> (Vec<vk::SpecializationMapEntry>, Vec<u8>) {
    let entries = (0..values.len() as u32)
        .map(|id| vk::SpecializationMapEntry::default().constant_id(id).offset(id * 4).size(4))
        .collect();
    (entries, bytemuck::cast_slice(values).to_vec())
}

/// A shader module; needed only while pipelines are created from it.
pub(super) struct Module<'a> {
    device: &'a Device,
    pub(super) handle: vk::ShaderModule,
}

impl<'a> Module<'a> {
    pub(super) fn new(device: &'a Device, words: &[u32]) -> Result<Self> {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: reflection accepted the words, so they are valid SPIR-V from this project's compiler.
        let handle = unsafe { device.handle.create_shader_module(&info, None) };
        Ok(Self { device, handle: handle.map_err(failed("vkCreateShaderModule"))? })
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: modules may be destroyed once the pipelines are created.
        unsafe { self.device.handle.destroy_shader_module(self.handle, None) };
    }
}
