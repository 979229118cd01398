//! Who makes the Vulkan instance and device: plainly, or an OpenXR runtime on our behalf.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::error::failed;
use crate::base::Result;
use ash::vk;
use std::ffi::CStr;

/// Makes the Vulkan objects that an XR runtime wants to make itself (XR_KHR_vulkan_enable2).
pub trait DeviceFactory {
    /// Instance extensions needed beside the device's own, e.g. those of a window system.
    fn instance_extensions(&self) -> Vec<&'static CStr> {
        Vec::new()
    }

    /// Device extensions needed beside the device's own, e.g. the swapchain; the queue is of this family.
    fn device_extensions(
        &self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        family: u32,
    ) -> Vec<&'static CStr> {
        let _ = (instance, physical, family);
        Vec::new()
    }

    /// Makes the instance. Errors as Vulkan or the runtime says.
    fn create_instance(
        &self,
        entry: &ash::Entry,
        info: &vk::InstanceCreateInfo<'_>,
    ) -> Result<ash::Instance> {
        // SAFETY: `info` and all it points to outlive the call; the loader is held by the device.
        unsafe { entry.create_instance(info, None) }.map_err(failed("vkCreateInstance"))
    }

    /// The physical device to use; none leaves the choice to the device options.
    fn physical_device(&self, instance: &ash::Instance) -> Result<Option<vk::PhysicalDevice>> {
        let _ = instance;
        Ok(None)
    }

    /// What a physical device lacks for its purpose beside the features that all need, its queue being of this family;
    /// with anything lacking it is not chosen.
    fn lacks(
        &self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        family: u32,
    ) -> Vec<&'static str> {
        let _ = (instance, physical, family);
        Vec::new()
    }

    /// Makes the device. Errors as Vulkan or the runtime says.
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

/// Makes instance and device with plain Vulkan calls and no window system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headless;

impl DeviceFactory for Headless {}
