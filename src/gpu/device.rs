//! The Vulkan device: memory allocator, queue with timeline semaphore, delayed destruction of dropped objects.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::choose::{choose, create_device, create_instance, name_of, queue_family, tessellates};
use super::debug::Debug;
use super::error::{failed, failed_allocation, lock};
use super::factory::{DeviceFactory, Headless};
use super::frame::Slot;
use crate::base::{Error, Result};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use std::sync::{Arc, Mutex};

/// Options for choosing a device.
#[derive(Clone, Debug, Default)]
pub struct DeviceOptions {
    /// Part of the wanted device's name, case-insensitive. With `None`, the order of preference is: discrete GPU,
    /// integrated GPU, virtual GPU, software device.
    pub name: Option<String>,
    /// Whether to enable the validation layer with synchronization validation. `SINEW_VALIDATION=1` also enables it.
    pub validation: bool,
}

/// A Vulkan 1.3 device with one queue. Every GPU object holds a reference to its device.
pub struct Device {
    entry: ash::Entry,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    pub(super) handle: ash::Device,
    queue: Mutex<vk::Queue>,
    queue_family: u32,
    tessellates: bool,
    allocator: Mutex<Option<Allocator>>,
    name: String,
    kind: vk::PhysicalDeviceType,
    limits: vk::PhysicalDeviceLimits,
    /// Timeline semaphore that counts submissions; each submission signals the next value.
    timeline: vk::Semaphore,
    submissions: Mutex<Submissions>,
    retired: Mutex<Vec<(Option<u64>, Retired)>>,
    pub(super) slots: Mutex<Vec<Slot>>,
    debug: Option<Debug>,
}

#[derive(Default)]
struct Submissions {
    /// Timeline value that the latest submission signals.
    last: u64,
    /// Number of frames that are being recorded. Objects dropped during the recording must live until these frames are
    /// submitted and finished.
    open: usize,
}

/// A Vulkan object whose last owner was dropped, but which the GPU may still use.
pub(super) enum Retired {
    Buffer(vk::Buffer, Allocation),
    Image(vk::Image, Vec<vk::ImageView>, Allocation),
    Sampler(vk::Sampler),
    Descriptors(vk::DescriptorPool, Vec<vk::BufferView>),
    Pipeline(vk::Pipeline, vk::PipelineLayout, Vec<vk::DescriptorSetLayout>),
}

impl Device {
    /// Opens a device without a window system. Errors list the available devices.
    pub fn new(options: &DeviceOptions) -> Result<Arc<Self>> {
        Self::with_factory(options, &Headless)
    }

    /// Opens a device through a factory. Fails if Vulkan or a requested validation layer is missing. Also fails if no
    /// device supports Vulkan 1.3 and the required features and has the requested name. The error lists the available
    /// devices.
    pub fn with_factory(options: &DeviceOptions, factory: &dyn DeviceFactory) -> Result<Arc<Self>> {
        // SAFETY: loading the system's Vulkan loader runs only the loader's own initialisers.
        let entry = unsafe { ash::Entry::load() }.map_err(|e| {
            Error::gpu(
                format!("the loader libvulkan.so.1 cannot be opened ({e})"),
                "install libvulkan1 and a driver such as mesa-vulkan-drivers",
            )
        })?;
        let validation = options.validation || std::env::var_os("SINEW_VALIDATION").is_some_and(|v| v == "1");
        let instance = create_instance(&entry, factory, validation)?;
        let debug = if validation { Some(Debug::new(&entry, &instance)?) } else { None };
        let physical = match factory.physical_device(&instance)? {
            Some(physical) => physical,
            None => choose(&instance, options.name.as_deref(), factory)?,
        };
        // SAFETY: `physical` belongs to `instance`.
        let properties = unsafe { instance.get_physical_device_properties(physical) };
        let queue_family = queue_family(&instance, physical)?;
        let handle = create_device(&instance, physical, queue_family, factory)?;
        // SAFETY: the device was created with one queue of this family.
        let queue = unsafe { handle.get_device_queue(queue_family, 0) };
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: handle.clone(),
            physical_device: physical,
            debug_settings: Default::default(),
            buffer_device_address: false,
            allocation_sizes: gpu_allocator::AllocationSizes::new(16 << 20, 8 << 20)
                .with_max_device_memblock_size(256 << 20)
                .with_max_host_memblock_size(64 << 20),
        })
        .map_err(|e| failed_allocation("the allocator", 0, &e))?;
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device is valid and the info complete.
        let timeline =
            unsafe { handle.create_semaphore(&info, None) }.map_err(failed("vkCreateSemaphore"))?;
        Ok(Arc::new(Self {
            tessellates: tessellates(&instance, physical),
            entry,
            instance,
            physical,
            handle,
            queue: Mutex::new(queue),
            queue_family,
            allocator: Mutex::new(Some(allocator)),
            name: name_of(&properties),
            kind: properties.device_type,
            limits: properties.limits,
            timeline,
            submissions: Mutex::default(),
            retired: Mutex::default(),
            slots: Mutex::default(),
            debug,
        }))
    }

    /// Returns whether pipelines may have tessellation shaders, with one view and with two.
    pub fn tessellates(&self) -> bool {
        self.tessellates
    }

    /// Returns the device's name as reported by the driver.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the driver's name and version.
    pub fn driver(&self) -> String {
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: `physical` belongs to `instance`; every Vulkan 1.3 driver fills the struct.
        unsafe { self.instance.get_physical_device_properties2(self.physical, &mut properties) };
        let text = [driver.driver_name_as_c_str(), driver.driver_info_as_c_str()]
            .map(|part| part.map(|t| t.to_string_lossy().into_owned()).unwrap_or_default());
        text.join(" ").trim().to_owned()
    }

    /// Returns whether the device is a software implementation on the CPU.
    pub fn is_software(&self) -> bool {
        self.kind == vk::PhysicalDeviceType::CPU
    }

    /// Returns the largest supported number of samples per pixel, 1 or 4, that does not exceed `wanted`.
    pub fn samples(&self, wanted: u32) -> u32 {
        let limits = &self.limits;
        possible_samples(
            limits.framebuffer_color_sample_counts & limits.framebuffer_depth_sample_counts,
            wanted,
        )
    }

    /// Returns the limits of the device.
    pub fn limits(&self) -> &vk::PhysicalDeviceLimits {
        &self.limits
    }

    /// Returns all messages of the validation layer since the device was created; empty without validation.
    pub fn validation_messages(&self) -> Vec<String> {
        self.debug.as_ref().map(Debug::messages).unwrap_or_default()
    }

    /// Returns the Vulkan loader, for front ends that create surfaces or OpenXR sessions.
    pub fn entry(&self) -> &ash::Entry {
        &self.entry
    }

    /// Returns the Vulkan instance, for front ends that create surfaces or OpenXR sessions.
    pub fn instance(&self) -> &ash::Instance {
        &self.instance
    }

    /// Returns the physical device, for front ends that create surfaces or OpenXR sessions.
    pub fn physical(&self) -> vk::PhysicalDevice {
        self.physical
    }

    /// Returns the device functions of ash, for front ends that create surfaces or OpenXR sessions.
    pub fn handle(&self) -> &ash::Device {
        &self.handle
    }

    /// Returns the index of the queue family of the device's only queue.
    pub fn queue_family(&self) -> u32 {
        self.queue_family
    }

    /// Runs `f` while the queue is locked, e.g. to present an image.
    pub fn with_queue<T>(&self, f: impl FnOnce(vk::Queue) -> T) -> T {
        f(*lock(&self.queue))
    }

    /// Waits until all submitted work is done.
    pub fn wait_idle(&self) -> Result<()> {
        self.with_queue(|_| {
            // SAFETY: the queue's lock is held, so no other thread uses it.
            unsafe { self.handle.device_wait_idle() }
        })
        .map_err(failed("vkDeviceWaitIdle"))
    }

    /// Returns whether the submission with this timeline value has finished.
    pub fn is_done(&self, value: u64) -> Result<bool> {
        // SAFETY: the semaphore lives as long as the device.
        let done = unsafe { self.handle.get_semaphore_counter_value(self.timeline) };
        Ok(done.map_err(failed("vkGetSemaphoreCounterValue"))? >= value)
    }

    /// Waits for the submission with this timeline value, as returned by [`super::Frames::submit`].
    pub fn wait(&self, value: u64) -> Result<()> {
        let (semaphores, values) = ([self.timeline], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore lives as long as the device.
        unsafe { self.handle.wait_semaphores(&info, u64::MAX) }.map_err(failed("vkWaitSemaphores"))
    }

    pub(super) fn open_frame(&self) {
        lock(&self.submissions).open += 1;
    }

    /// Ends the recording of a frame. Submits `commands` with the extra semaphores; `None` discards the frame.
    pub(super) fn close_frame(
        &self,
        commands: Option<vk::CommandBuffer>,
        semaphores: &Semaphores,
    ) -> Result<u64> {
        let mut submissions = lock(&self.submissions);
        submissions.open -= 1;
        let mut result = Ok(submissions.last);
        if let Some(commands) = commands {
            let value = submissions.last + 1;
            let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
            let own = vk::SemaphoreSubmitInfo::default()
                .semaphore(self.timeline)
                .value(value)
                .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS);
            let signals = [own, semaphores.signal.unwrap_or_default()];
            let signals = &signals[..1 + usize::from(semaphores.signal.is_some())];
            let info = vk::SubmitInfo2::default()
                .wait_semaphore_infos(semaphores.wait.as_slice())
                .command_buffer_infos(&buffers)
                .signal_semaphore_infos(signals);
            // SAFETY: the command buffer is fully recorded; the queue's lock is held.
            let submitted = self
                .with_queue(|queue| unsafe { self.handle.queue_submit2(queue, &[info], vk::Fence::null()) });
            result = submitted.map_err(failed("vkQueueSubmit2")).map(|()| value);
            if result.is_ok() {
                submissions.last = value;
            }
        }
        if submissions.open == 0 {
            for entry in lock(&self.retired).iter_mut() {
                entry.0.get_or_insert(submissions.last);
            }
        }
        result
    }

    /// Frees the object as soon as no submitted frame and no frame being recorded can use it.
    pub(super) fn retire(&self, object: Retired) {
        {
            let submissions = lock(&self.submissions);
            let tag = (submissions.open == 0).then_some(submissions.last);
            lock(&self.retired).push((tag, object));
        }
        self.collect();
    }

    /// Frees retired objects that the GPU has finished with.
    pub(super) fn collect(&self) {
        // SAFETY: the semaphore lives as long as the device.
        let Ok(done) = (unsafe { self.handle.get_semaphore_counter_value(self.timeline) }) else { return };
        let free: Vec<_> =
            lock(&self.retired).extract_if(.., |(tag, _)| tag.is_some_and(|value| value <= done)).collect();
        for (_, object) in free {
            self.destroy(object);
        }
    }

    fn destroy(&self, object: Retired) {
        // SAFETY: nobody holds the object any more, and the timeline says that the GPU has finished with it.
        unsafe {
            match object {
                Retired::Buffer(buffer, memory) => {
                    self.handle.destroy_buffer(buffer, None);
                    self.free(memory);
                }
                Retired::Image(image, views, memory) => {
                    for view in views {
                        self.handle.destroy_image_view(view, None);
                    }
                    self.handle.destroy_image(image, None);
                    self.free(memory);
                }
                Retired::Sampler(sampler) => self.handle.destroy_sampler(sampler, None),
                Retired::Descriptors(pool, views) => {
                    self.handle.destroy_descriptor_pool(pool, None);
                    for view in views {
                        self.handle.destroy_buffer_view(view, None);
                    }
                }
                Retired::Pipeline(pipeline, layout, sets) => {
                    self.handle.destroy_pipeline(pipeline, None);
                    self.handle.destroy_pipeline_layout(layout, None);
                    for set in sets {
                        self.handle.destroy_descriptor_set_layout(set, None);
                    }
                }
            }
        }
    }

    /// Returns the device memory of live buffers and images, bytes. A dropped object is included until the GPU has
    /// finished the frames that use the object.
    pub fn allocated_bytes(&self) -> u64 {
        lock(&self.allocator).as_ref().map_or(0, |a| a.generate_report().total_allocated_bytes)
    }

    /// Returns the subset of `types` (a bit mask of memory types) that is lazily allocated, i.e. tile memory.
    pub(super) fn lazy_memory(&self, types: u32) -> u32 {
        // SAFETY: `physical` belongs to `instance`.
        let memory = unsafe { self.instance.get_physical_device_memory_properties(self.physical) };
        let lazy =
            |kind: &vk::MemoryType| kind.property_flags.contains(vk::MemoryPropertyFlags::LAZILY_ALLOCATED);
        let all = memory.memory_types_as_slice().iter().enumerate();
        all.filter(|(_, kind)| lazy(kind)).fold(0, |bits, (index, _)| bits | 1 << index) & types
    }

    pub(super) fn allocate(
        &self,
        name: &str,
        requirements: vk::MemoryRequirements,
        location: MemoryLocation,
        linear: bool,
    ) -> Result<Allocation> {
        let mut allocator = lock(&self.allocator);
        let allocator = allocator.as_mut().ok_or_else(|| Error::gpu("the device is gone", "start again"))?;
        allocator
            .allocate(&AllocationCreateDesc {
                name,
                requirements,
                location,
                linear,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .map_err(|e| failed_allocation(name, requirements.size, &e))
    }

    pub(super) fn free(&self, memory: Allocation) {
        if let Some(allocator) = lock(&self.allocator).as_mut() {
            // Freeing fails only for memory from a different allocator, which cannot occur here.
            let _ = allocator.free(memory);
        }
    }
}

/// Additional semaphores of a submission besides the timeline semaphore, such as those of a swapchain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Semaphores {
    /// The semaphore that the submission waits for before it starts.
    pub wait: Option<vk::SemaphoreSubmitInfo<'static>>,
    /// The semaphore that the submission signals when it is done.
    pub signal: Option<vk::SemaphoreSubmitInfo<'static>>,
}

impl Drop for Device {
    fn drop(&mut self) {
        // Waiting fails on a lost device; the objects are destroyed nevertheless.
        let _ = self.wait_idle();
        for slot in std::mem::take(&mut *lock(&self.slots)) {
            slot.destroy(self);
        }
        for (_, object) in std::mem::take(&mut *lock(&self.retired)) {
            self.destroy(object);
        }
        drop(lock(&self.allocator).take());
        // SAFETY: every object keeps the device alive, so no object is left, and the GPU is idle.
        unsafe {
            self.handle.destroy_semaphore(self.timeline, None);
            self.handle.destroy_device(None);
            if let Some(debug) = &self.debug {
                debug.destroy();
            }
            self.instance.destroy_instance(None);
        }
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("name", &self.name).finish_non_exhaustive()
    }
}

fn possible_samples(counts: vk::SampleCountFlags, wanted: u32) -> u32 {
    if wanted >= 4 && counts.contains(vk::SampleCountFlags::TYPE_4) { 4 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_four_samples_are_impossible_there_is_one() {
        let one = vk::SampleCountFlags::TYPE_1;
        assert_eq!(possible_samples(one | vk::SampleCountFlags::TYPE_4, 4), 4);
        assert_eq!(possible_samples(one | vk::SampleCountFlags::TYPE_4, 3), 1);
        assert_eq!(possible_samples(one | vk::SampleCountFlags::TYPE_2, 4), 1);
    }
}
