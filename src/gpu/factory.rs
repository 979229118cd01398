//! Creation of the Vulkan instance and device, either by plain Vulkan calls or by an OpenXR runtime.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::error::failed;
use crate::base::Result;
use ash::vk;
use std::ffi::CStr;

/// Creates the Vulkan instance and device. An OpenXR runtime must create them itself (XR_KHR_vulkan_enable2).
pub trait DeviceFactory {
    /// Returns additional instance extensions, e.g. the extensions of a window system.
    fn instance_extensions(&self) -> Vec<&'static CStr> {
        Vec::new()
    }

    /// Returns additional device extensions, e.g. the swapchain extension. `family` is the queue family in use.
    fn device_extensions(
        &self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        family: u32,
    ) -> Vec<&'static CStr> {
        let _ = (instance, physical, family);
        Vec::new()
    }

    /// Creates the instance. Errors come from Vulkan or the OpenXR runtime.
    fn create_instance(
        &self,
        entry: &ash::Entry,
        info: &vk::InstanceCreateInfo<'_>,
    ) -> Result<ash::Instance> {
        // SAFETY: `info` and everything it points to outlive the call; the device holds the Vulkan loader.
        unsafe { entry.create_instance(info, None) }.map_err(failed("vkCreateInstance"))
    }

    /// Returns the physical device that must be used; `None` if [`super::DeviceOptions`] determine the choice.
    fn physical_device(&self, instance: &ash::Instance) -> Result<Option<vk::PhysicalDevice>> {
        let _ = instance;
        Ok(None)
    }

    /// Lists the factory's requirements that a device does not meet. A device with a non-empty list is not chosen.
    fn lacks(
        &self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        family: u32,
    ) -> Vec<&'static str> {
        let _ = (instance, physical, family);
        Vec::new()
    }

    /// Creates the device. Errors come from Vulkan or the OpenXR runtime.
    fn create_device(
        &self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        info: &vk::DeviceCreateInfo<'_>,
    ) -> Result<ash::Device> {
        // SAFETY: `physical` belongs to `instance`; `info` and everything it points to outlive the call.
        unsafe { instance.create_device(physical, info, None) }.map_err(failed("vkCreateDevice"))
    }
}

/// Creates instance and device by plain Vulkan calls, without a window system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headless;

impl DeviceFactory for Headless {}
