//! Chooses the instance, physical device, queue and features.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::error::failed;
use super::factory::DeviceFactory;
use crate::base::{Error, Result};
use ash::{ext::debug_utils, vk};
use std::ffi::CStr;

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

pub(super) fn create_instance(
    entry: &ash::Entry,
    factory: &dyn DeviceFactory,
    validation: bool,
) -> Result<ash::Instance> {
    let mut extensions: Vec<_> = factory.instance_extensions().iter().map(|e| e.as_ptr()).collect();
    let mut layers = Vec::new();
    if validation {
        // SAFETY: the call only queries properties.
        let available = unsafe { entry.enumerate_instance_layer_properties() }
            .map_err(failed("vkEnumerateInstanceLayers"))?;
        if !available.iter().any(|l| l.layer_name_as_c_str() == Ok(VALIDATION_LAYER)) {
            return Err(Error::gpu(
                "validation was asked for, but the layer VK_LAYER_KHRONOS_validation is missing",
                "install vulkan-validationlayers or unset SINEW_VALIDATION",
            ));
        }
        layers.push(VALIDATION_LAYER.as_ptr());
        extensions.push(debug_utils::NAME.as_ptr());
        extensions.push(ash::ext::validation_features::NAME.as_ptr());
    }
    let app = vk::ApplicationInfo::default()
        .application_name(c"sinew")
        .engine_name(c"sinew")
        .api_version(vk::API_VERSION_1_3);
    let enabled = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
    let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
    let mut info = vk::InstanceCreateInfo::default()
        .application_info(&app)
        .enabled_extension_names(&extensions)
        .enabled_layer_names(&layers);
    if validation {
        info = info.push_next(&mut features);
    }
    factory.create_instance(entry, &info)
}

/// Lists the required features that a device does not support.
fn missing(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Vec<&'static str> {
    let (mut v11, mut v12, mut v13) = <(
        vk::PhysicalDeviceVulkan11Features<'_>,
        vk::PhysicalDeviceVulkan12Features<'_>,
        vk::PhysicalDeviceVulkan13Features<'_>,
    )>::default();
    // SAFETY: `physical` belongs to `instance`.
    if unsafe { instance.get_physical_device_properties(physical) }.api_version < vk::API_VERSION_1_3 {
        return vec!["Vulkan 1.3"];
    }
    let mut features =
        vk::PhysicalDeviceFeatures2::default().push_next(&mut v11).push_next(&mut v12).push_next(&mut v13);
    // SAFETY: all structs of the chain belong to the versions checked above.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    let core = features.features;
    [
        ("multiview", v11.multiview),
        ("timelineSemaphore", v12.timeline_semaphore),
        ("scalarBlockLayout", v12.scalar_block_layout),
        ("dynamicRendering", v13.dynamic_rendering),
        ("synchronization2", v13.synchronization2),
        ("shaderDemoteToHelperInvocation (for discard)", v13.shader_demote_to_helper_invocation),
        ("geometryShader (for gl_PrimitiveID)", core.geometry_shader),
        ("independentBlend", core.independent_blend),
    ]
    .into_iter()
    .filter(|(_, there)| *there == vk::FALSE)
    .map(|(name, _)| name)
    .collect()
}

/// Returns whether the device draws tessellated triangles, with one view and with two.
pub(super) fn tessellates(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v11);
    // SAFETY: `physical` belongs to `instance`; every chosen device supports Vulkan 1.3.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    features.features.tessellation_shader == vk::TRUE && v11.multiview_tessellation_shader == vk::TRUE
}

pub(super) fn choose(
    instance: &ash::Instance,
    wanted: Option<&str>,
    factory: &dyn DeviceFactory,
) -> Result<vk::PhysicalDevice> {
    // SAFETY: the call only queries properties.
    let all =
        unsafe { instance.enumerate_physical_devices() }.map_err(failed("vkEnumeratePhysicalDevices"))?;
    let mut listed = Vec::new();
    let mut best: Option<(u32, vk::PhysicalDevice)> = None;
    for physical in all {
        // SAFETY: `physical` belongs to `instance`.
        let properties = unsafe { instance.get_physical_device_properties(physical) };
        let name = name_of(&properties);
        let mut lacks = missing(instance, physical);
        if let (true, Ok(family)) = (lacks.is_empty(), queue_family(instance, physical)) {
            lacks = factory.lacks(instance, physical, family);
        }
        let note = if lacks.is_empty() { String::new() } else { format!(" (lacks {})", lacks.join(", ")) };
        listed.push(format!("\"{name}\"{note}"));
        let fits = wanted.is_none_or(|w| name.to_lowercase().contains(&w.to_lowercase()));
        let rank = match properties.device_type {
            vk::PhysicalDeviceType::DISCRETE_GPU => 4,
            vk::PhysicalDeviceType::INTEGRATED_GPU => 3,
            vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
            vk::PhysicalDeviceType::CPU => 1,
            _ => 0,
        };
        if fits && lacks.is_empty() && best.is_none_or(|(r, _)| rank > r) {
            best = Some((rank, physical));
        }
    }
    let there = if listed.is_empty() { "there is none".to_owned() } else { listed.join(", ") };
    best.map(|(_, physical)| physical).ok_or_else(|| match wanted {
        Some(name) => Error::gpu(
            format!("no usable device is called \"{name}\""),
            format!("choose one of those there are: {there}"),
        ),
        None => Error::gpu(
            format!("no usable device: {there}"),
            "install a Vulkan 1.3 driver such as mesa-vulkan-drivers (which also has a software device)",
        ),
    })
}

pub(super) fn queue_family(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Result<u32> {
    // SAFETY: `physical` belongs to `instance`.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    families
        .iter()
        .position(|f| f.queue_flags.contains(wanted) && f.timestamp_valid_bits > 0)
        .map(|index| index as u32)
        .ok_or_else(|| {
            Error::gpu("no queue does graphics, compute and timestamps", "choose another --device")
        })
}

pub(super) fn create_device(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    queue_family: u32,
    factory: &dyn DeviceFactory,
) -> Result<ash::Device> {
    // SAFETY: `physical` belongs to `instance`.
    let there = unsafe { instance.get_physical_device_features(physical) };
    let tessellates = tessellates(instance, physical);
    let core = vk::PhysicalDeviceFeatures::default()
        .geometry_shader(true)
        .tessellation_shader(tessellates)
        .independent_blend(true)
        .sampler_anisotropy(there.sampler_anisotropy == vk::TRUE)
        .multi_draw_indirect(there.multi_draw_indirect == vk::TRUE)
        .fragment_stores_and_atomics(there.fragment_stores_and_atomics == vk::TRUE)
        .vertex_pipeline_stores_and_atomics(there.vertex_pipeline_stores_and_atomics == vk::TRUE);
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default()
        .multiview(true)
        .multiview_tessellation_shader(tessellates);
    // OpenXR runtimes search the chain for single-feature structs and may add them. The combined struct of the Vulkan
    // version would conflict with them and is not used.
    let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
    let mut scalar = vk::PhysicalDeviceScalarBlockLayoutFeatures::default().scalar_block_layout(true);
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default()
        .dynamic_rendering(true)
        .synchronization2(true)
        .shader_demote_to_helper_invocation(true);
    let priorities = [1.0];
    let queues =
        [vk::DeviceQueueCreateInfo::default().queue_family_index(queue_family).queue_priorities(&priorities)];
    let extensions: Vec<_> =
        factory.device_extensions(instance, physical, queue_family).iter().map(|e| e.as_ptr()).collect();
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&extensions)
        .enabled_features(&core)
        .push_next(&mut v11)
        .push_next(&mut timeline)
        .push_next(&mut scalar)
        .push_next(&mut v13);
    factory.create_device(instance, physical, &info)
}

pub(super) fn name_of(properties: &vk::PhysicalDeviceProperties) -> String {
    properties
        .device_name_as_c_str()
        .map_or_else(|_| "unnamed device".into(), |n| n.to_string_lossy().into_owned())
}
