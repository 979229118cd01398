//! Creation of the Vulkan device through the OpenXR runtime (XR_KHR_vulkan_enable2).
#![allow(unsafe_code, reason = "Vulkan handles cross the border between two libraries")]

use super::error::{Result, XrError, failed};
use super::instance::Runtime;
use crate::base::{Error, Result as CoreResult};
use crate::gpu::{Device, DeviceFactory, DeviceOptions, Window, presents, surface_extensions};
use ash::vk::{self, Handle};
use openxr as xr;
use std::cell::RefCell;
use std::ffi::CStr;
use std::sync::Arc;

/// Creates the Vulkan instance and device through a runtime.
struct Through<'a> {
    /// The Vulkan loader, which stays loaded until the process ends.
    entry: ash::Entry,
    instance: &'a xr::Instance,
    system: xr::SystemId,
    /// The mirror window and the Vulkan instance extensions that it needs.
    mirror: Option<(&'a dyn Window, Vec<&'static CStr>)>,
    /// Reason why the device cannot present to the mirror window.
    note: RefCell<Option<String>>,
}

/// The GPU device of a headset.
pub struct Opened {
    /// The GPU device.
    pub device: Arc<Device>,
    /// Reason why the device cannot present to the given window; `None` if it can.
    pub no_mirror: Option<String>,
}

/// Opens the headset's GPU device. The device can also present to `window` if possible. Fails like
/// [`Device::with_factory`], or if an OpenXR call fails.
pub fn open(runtime: &Runtime, options: &DeviceOptions, window: Option<&dyn Window>) -> Result<Opened> {
    let needs = runtime
        .instance
        .graphics_requirements::<xr::Vulkan>(runtime.system)
        .map_err(failed("xrGetVulkanGraphicsRequirements2KHR"))?;
    let ours = xr::Version::new(1, 3, 0);
    if needs.min_api_version_supported > ours {
        return Err(XrError::Fatal(Error::xr(
            format!("the runtime wants Vulkan {} or newer", needs.min_api_version_supported),
            "use another runtime",
        )));
    }
    // SAFETY: loading the system's Vulkan loader runs no other code.
    let entry = unsafe { ash::Entry::load() }.map_err(|e| {
        Error::gpu(format!("there is no Vulkan loader ({e})"), "install the graphics driver of this machine")
    })?;
    let (mut mirror, mut note) = (None, None);
    match window.map(|w| (w, extensions(&entry, w))) {
        Some((window, Ok(names))) => mirror = Some((window, names)),
        Some((_, Err(error))) => note = Some(error.to_string()),
        None => {}
    }
    let (instance, system) = (&runtime.instance, runtime.system);
    let through = Through { entry, instance, system, mirror, note: RefCell::new(note) };
    let device = Device::with_factory(options, &through)?;
    Ok(Opened { device, no_mirror: through.note.into_inner() })
}

/// Returns the instance extensions that presenting to a window needs. Fails if an extension is missing.
fn extensions(entry: &ash::Entry, window: &dyn Window) -> CoreResult<Vec<&'static CStr>> {
    let needed = surface_extensions(window)?;
    // SAFETY: the entry belongs to a live loader.
    let there = unsafe { entry.enumerate_instance_extension_properties(None) }.unwrap_or_default();
    let has = |name: &&CStr| there.iter().any(|e| e.extension_name_as_c_str() == Ok(*name));
    match needed.iter().find(|n| !has(n)) {
        None => Ok(needed),
        Some(lack) => Err(Error::gpu(
            format!("Vulkan here lacks {}", lack.to_string_lossy()),
            "install the graphics driver of this machine",
        )),
    }
}

/// Returns the OpenXR graphics binding for a device.
pub fn binding(device: &Device) -> xr::vulkan::SessionCreateInfo {
    xr::vulkan::SessionCreateInfo {
        instance: device.instance().handle().as_raw() as _,
        physical_device: device.physical().as_raw() as _,
        device: device.handle().handle().as_raw() as _,
        queue_family_index: device.queue_family(),
        queue_index: 0,
    }
}

/// Returns the loader's entry point as the type of the OpenXR bindings.
fn entry_point(entry: &ash::Entry) -> xr::sys::platform::VkGetInstanceProcAddr {
    let ours = entry.static_fn().get_instance_proc_addr;
    // SAFETY: both types are vkGetInstanceProcAddr; the libraries only name handle and result differently.
    unsafe { std::mem::transmute(ours) }
}

/// Unwraps the result of an OpenXR call that also returns a Vulkan result.
fn both<T>(
    call: &'static str,
    answer: xr::Result<std::result::Result<T, xr::sys::platform::VkResult>>,
) -> CoreResult<T> {
    answer.map_err(|e| failed(call)(e).into_error())?.map_err(|code| {
        let result = vk::Result::from_raw(code);
        Error::gpu(format!("{call}: {result}"), "update the graphics driver, or use another runtime")
    })
}

impl DeviceFactory for Through<'_> {
    fn instance_extensions(&self) -> Vec<&'static CStr> {
        self.mirror.as_ref().map_or_else(Vec::new, |(_, names)| names.clone())
    }

    fn device_extensions(
        &self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        family: u32,
    ) -> Vec<&'static CStr> {
        let Some((window, _)) = &self.mirror else { return Vec::new() };
        match presents(&self.entry, instance, (physical, family), *window).map(|l| l.first().copied()) {
            Ok(None) => return vec![ash::khr::swapchain::NAME],
            Ok(Some(lack)) => *self.note.borrow_mut() = Some(format!("the headset's device lacks {lack}")),
            Err(error) => *self.note.borrow_mut() = Some(error.to_string()),
        }
        Vec::new()
    }

    fn create_instance(
        &self,
        entry: &ash::Entry,
        info: &vk::InstanceCreateInfo<'_>,
    ) -> CoreResult<ash::Instance> {
        // SAFETY: `info` and everything it points to outlive the call; its layout is Vulkan's.
        let made = unsafe {
            self.instance.create_vulkan_instance(
                self.system,
                entry_point(entry),
                std::ptr::from_ref(info).cast(),
            )
        };
        let raw = both("xrCreateVulkanInstanceKHR", made)?;
        // SAFETY: the handle is a live instance that this loader created.
        Ok(unsafe { ash::Instance::load(entry.static_fn(), vk::Instance::from_raw(raw as _)) })
    }

    fn physical_device(&self, instance: &ash::Instance) -> CoreResult<Option<vk::PhysicalDevice>> {
        // SAFETY: the instance was created through the runtime, above.
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
        // SAFETY: the runtime returned `physical`; `info` and everything it points to outlive the call.
        let made = unsafe {
            self.instance.create_vulkan_device(
                self.system,
                entry_point(&self.entry),
                physical.as_raw() as _,
                std::ptr::from_ref(info).cast(),
            )
        };
        let raw = both("xrCreateVulkanDeviceKHR", made)?;
        // SAFETY: the handle is a live device of this instance.
        Ok(unsafe { ash::Device::load(proc, vk::Device::from_raw(raw as _)) })
    }
}
