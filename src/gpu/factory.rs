//! Creation of the Vulkan instance and device: by plain Vulkan calls, or by an OpenXR runtime.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::error::failed;
use crate::base::Result;
use ash::vk;
use std::ffi::CStr;

/// Creates the Vulkan objects; an OpenXR runtime must create its own (XR_KHR_vulkan_enable2).
pub trait DeviceFactory {
    /// Additional instance extensions, e.g. those of a window system.
    fn instance_extensions(&self) -> Vec<&'static CStr> {
        Vec::new()
    }

    /// Additional device extensions, e.g. the swapchain; the queue belongs to this family.
    fn device_extensions(
        &self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        family: u32,
    ) -> Vec<&'static CStr> {
        let _ = (instance, physical, family);
        Vec::new()
    }

    /// Creates the instance. Errors are those of Vulkan or the runtime.
    fn create_instance(
        &self,
        entry: &ash::Entry,
        info: &vk::InstanceCreateInfo<'_>,
    ) -> Result<ash::Instance> {
        // SAFETY: `info` and all it points to outlive the call; the loader is held by the device.
        unsafe { entry.create_instance(info, None) }.map_err(failed("vkCreateInstance"))
    }

    /// The physical device to use; `None` leaves the choice to the device options.
    fn physical_device(&self, instance: &ash::Instance) -> Result<Option<vk::PhysicalDevice>> {
        let _ = instance;
        Ok(None)
    }

    /// Requirements of the factory that a physical device does not meet, with a queue of this family. A
    /// device that lacks any is not chosen.
    fn lacks(
        &self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        family: u32,
    ) -> Vec<&'static str> {
        let _ = (instance, physical, family);
        Vec::new()
    }

    /// Creates the device. Errors are those of Vulkan or the runtime.
    fn create_device(
        &self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        info: &vk::DeviceCreateInfo<'_>,
    ) -> Result<ash::Device> {
        // SAFETY: `physical` belongs to `instance`; `info` and all it points to outlive the call.
        unsafe { instance.create_device(physical, info, None) }.map_err(failed("vkCreateDevice"))
    }
}

/// Creates instance and device by plain Vulkan calls, without a window system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headless;

impl DeviceFactory for Headless {}
