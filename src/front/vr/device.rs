//! The Vulkan device that a runtime wants to make itself (XR_KHR_vulkan_enable2).
#![allow(unsafe_code, reason = "Vulkan handles cross the border between two libraries")]

use super::instance::Runtime;
use super::trouble::{Result, Trouble, failed};
use crate::base::{Error, Result as CoreResult};
use crate::gpu::{Device, DeviceFactory, DeviceOptions};
use ash::vk::{self, Handle};
use openxr as xr;
use std::sync::Arc;

/// Makes instance and device through a runtime.
struct Through<'a> {
    instance: &'a xr::Instance,
    system: xr::SystemId,
}

/// Opens the device of the headset. Errors as [`Device::with_factory`] and the runtime give them.
pub fn open(runtime: &Runtime, options: &DeviceOptions) -> Result<Arc<Device>> {
    let needs = runtime
        .instance
        .graphics_requirements::<xr::Vulkan>(runtime.system)
        .map_err(failed("xrGetVulkanGraphicsRequirements2KHR"))?;
    let ours = xr::Version::new(1, 3, 0);
    if needs.min_api_version_supported > ours {
        return Err(Trouble::Fatal(Error::xr(
            format!("the runtime wants Vulkan {} or newer", needs.min_api_version_supported),
            "use another runtime",
        )));
    }
    let through = Through { instance: &runtime.instance, system: runtime.system };
    Ok(Device::with_factory(options, &through)?)
}

/// The session's graphics binding for a device.
pub fn binding(device: &Device) -> xr::vulkan::SessionCreateInfo {
    xr::vulkan::SessionCreateInfo {
        instance: device.instance().handle().as_raw() as _,
        physical_device: device.physical().as_raw() as _,
        device: device.handle().handle().as_raw() as _,
        queue_family_index: device.queue_family(),
        queue_index: 0,
    }
}

/// The loader's entry point in the runtime's own type.
fn entry_point(entry: &ash::Entry) -> xr::sys::platform::VkGetInstanceProcAddr {
    let ours = entry.static_fn().get_instance_proc_addr;
    // SAFETY: both are the type of vkGetInstanceProcAddr, each library with its own names for handle and result.
    unsafe { std::mem::transmute(ours) }
}

/// The answer of a call that two libraries can refuse.
fn both<T>(call: &'static str, answer: xr::Result<Result2<T>>) -> CoreResult<T> {
    answer.map_err(|e| failed(call)(e).into_error())?.map_err(|code| {
        let result = vk::Result::from_raw(code);
        Error::gpu(format!("{call}: {result}"), "update the graphics driver, or use another runtime")
    })
}

type Result2<T> = std::result::Result<T, xr::sys::platform::VkResult>;

impl DeviceFactory for Through<'_> {
    fn create_instance(
        &self,
        entry: &ash::Entry,
        info: &vk::InstanceCreateInfo<'_>,
    ) -> CoreResult<ash::Instance> {
        // SAFETY: `info` and all it points to outlive the call; its layout is Vulkan's own.
        let made = unsafe {
            self.instance.create_vulkan_instance(
                self.system,
                entry_point(entry),
                std::ptr::from_ref(info).cast(),
            )
        };
        let raw = both("xrCreateVulkanInstanceKHR", made)?;
        // SAFETY: the handle is a live instance that this loader made.
        Ok(unsafe { ash::Instance::load(entry.static_fn(), vk::Instance::from_raw(raw as _)) })
    }

    fn physical_device(&self, instance: &ash::Instance) -> CoreResult<Option<vk::PhysicalDevice>> {
        // SAFETY: the instance was made through the runtime, above.
        let raw =
            unsafe { self.instance.vulkan_graphics_device(self.system, instance.handle().as_raw() as _) };
        let raw = raw.map_err(|e| failed("xrGetVulkanGraphicsDevice2KHR")(e).into_error())?;
        Ok(Some(vk::PhysicalDevice::from_raw(raw as _)))
    }

    fn create_device(
        &self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        info: &vk::DeviceCreateInfo<'_>,
    ) -> CoreResult<ash::Device> {
        let proc = instance.fp_v1_0();
        // SAFETY: the loader of this process is the one that made the instance.
        let entry = unsafe { ash::Entry::load() }
            .map_err(|e| Error::gpu(format!("the loader cannot be opened again ({e})"), "start again"))?;
        // SAFETY: `physical` was named by the runtime; `info` and all it points to outlive the call.
        let made = unsafe {
            self.instance.create_vulkan_device(
                self.system,
                entry_point(&entry),
                physical.as_raw() as _,
                std::ptr::from_ref(info).cast(),
            )
        };
        let raw = both("xrCreateVulkanDeviceKHR", made)?;
        // SAFETY: the handle is a live device of this instance.
        Ok(unsafe { ash::Device::load(proc, vk::Device::from_raw(raw as _)) })
    }
}
