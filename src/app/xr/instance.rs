//! The OpenXR runtime: loading it, querying its features and connecting to it.
#![allow(unsafe_code, reason = "loading a shared library runs its code")]

use super::error::{NO_LOADER, Result, XrError, failed};
use super::offers::{Passthrough, has_cameras};
use crate::base::Error;
use openxr as xr;

const STEREO: xr::ViewConfigurationType = xr::ViewConfigurationType::PRIMARY_STEREO;

/// Optional requests to a runtime.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Names of API layers, e.g. `XR_APILAYER_LUNARG_core_validation`.
    pub layers: Vec<String>,
}

/// Optional features that the runtime supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// Whether depth can be submitted, which lets the compositor reproject with depth.
    pub depth: bool,
    /// Whether the reference space LOCAL_FLOOR is supported.
    pub local_floor: bool,
    /// Whether the runtime knows which pixels the lenses hide.
    pub hidden_area: bool,
    /// How the headset can show the user's room.
    pub passthrough: Option<Passthrough>,
}

/// A connected runtime with a headset.
pub struct Runtime {
    /// The OpenXR instance.
    pub instance: xr::Instance,
    /// The OpenXR system of the headset.
    pub system: xr::SystemId,
    /// Names of the runtime and the headset, and the runtime's version, for display.
    pub name: String,
    /// OpenXR version of the instance: (1, 1) or (1, 0).
    pub version: (u16, u16),
    /// Enabled extensions.
    pub enabled: xr::ExtensionSet,
    /// Supported optional features.
    pub offers: Offers,
    /// Blend mode of the rendered image with the real environment.
    pub blend: xr::EnvironmentBlendMode,
    /// Recommended image size of an eye, pixels: the maximum over both eyes.
    pub size: [u32; 2],
    /// Largest image size of an eye, pixels.
    pub largest: [u32; 2],
    /// Maximum number of composition layers per frame.
    pub max_layers: u32,
}

impl Runtime {
    /// Connects to the runtime. `choose` maps version and available extensions to the extensions that input needs.
    ///
    /// # Errors
    /// [`XrError::Absent`] without loader, runtime or headset; [`XrError::Fatal`] if a required feature is missing.
    pub fn open(
        wishes: &Wishes,
        choose: impl Fn((u16, u16), &xr::ExtensionSet) -> Vec<&'static str>,
    ) -> Result<Self> {
        // SAFETY: the system's OpenXR loader is trusted like every other shared library that this program loads.
        let entry = unsafe { xr::Entry::load(&()) }
            .map_err(|e| XrError::Absent(Error::xr(format!("there is no loader ({e})"), NO_LOADER)))?;
        let there = entry.enumerate_extensions().map_err(failed("xrEnumerateInstanceExtensionProperties"))?;
        if !there.khr_vulkan_enable2 {
            return Err(XrError::Fatal(Error::xr(
                "the runtime lacks XR_KHR_vulkan_enable2",
                "update it, or use another one",
            )));
        }
        let missing = missing_layers(&entry, &wishes.layers)?;
        if !missing.is_empty() {
            return Err(XrError::Fatal(Error::xr(
                format!("there is no API layer {}", missing.join(", ")),
                "install openxr-layer-corevalidation, set XR_API_LAYER_PATH to the layers' folder, or leave --layers out",
            )));
        }
        let (instance, version, enabled) = create(&entry, &there, &wishes.layers, &choose)?;
        let about = instance.properties().map_err(failed("xrGetInstanceProperties"))?;
        let system = instance.system(xr::FormFactor::HEAD_MOUNTED_DISPLAY).map_err(failed("xrGetSystem"))?;
        let properties = instance.system_properties(system).map_err(failed("xrGetSystemProperties"))?;
        let modes = instance
            .enumerate_environment_blend_modes(system, STEREO)
            .map_err(failed("xrEnumerateEnvironmentBlendModes"))?;
        let cameras = has_cameras(&instance, system);
        let views = instance
            .enumerate_view_configuration_views(system, STEREO)
            .map_err(failed("xrEnumerateViewConfigurationViews"))?;
        if views.len() != 2 {
            return Err(XrError::Fatal(Error::xr(
                format!("the headset has {} eyes", views.len()),
                "use one with two",
            )));
        }
        let largest = |of: fn(&xr::ViewConfigurationView) -> [u32; 2]| {
            let (a, b) = (of(&views[0]), of(&views[1]));
            [a[0].max(b[0]).max(1), a[1].max(b[1]).max(1)]
        };
        Ok(Self {
            name: format!("{} {} ({})", about.runtime_name, about.runtime_version, properties.system_name),
            system,
            offers: Offers {
                depth: enabled.khr_composition_layer_depth,
                local_floor: version >= (1, 1) || enabled.ext_local_floor,
                hidden_area: enabled.khr_visibility_mask,
                passthrough: Passthrough::choose(&modes, cameras),
            },
            version,
            enabled,
            blend: blend_mode(&modes),
            largest: largest(|v| [v.max_image_rect_width, v.max_image_rect_height]),
            size: largest(|v| [v.recommended_image_rect_width, v.recommended_image_rect_height]),
            max_layers: properties.graphics_properties.max_layer_count,
            instance,
        })
    }

    /// Returns the image size of an eye for a factor on the recommended size, pixels.
    pub fn scaled(&self, scale: f32) -> [u32; 2] {
        scaled(self.size, self.largest, scale)
    }
}

/// Multiplies a recommended size; the result is even and at most the largest size, if the runtime states one.
fn scaled(recommended: [u32; 2], largest: [u32; 2], scale: f32) -> [u32; 2] {
    [0, 1].map(|i| {
        if scale == 1.0 {
            return recommended[i];
        }
        let wanted = ((recommended[i] as f32 * scale * 0.5).round() as u32 * 2).max(2);
        wanted.min(largest[i].max(recommended[i]))
    })
}

fn missing_layers(entry: &xr::Entry, wanted: &[String]) -> Result<Vec<String>> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let there = entry.enumerate_layers().map_err(failed("xrEnumerateApiLayerProperties"))?;
    Ok(wanted.iter().filter(|w| !there.iter().any(|l| l.layer_name == **w)).cloned().collect())
}

/// Creates an OpenXR 1.1 instance, or a 1.0 instance with the extensions that 1.1 made core.
fn create(
    entry: &xr::Entry,
    there: &xr::ExtensionSet,
    layers: &[String],
    choose: &impl Fn((u16, u16), &xr::ExtensionSet) -> Vec<&'static str>,
) -> Result<(xr::Instance, (u16, u16), xr::ExtensionSet)> {
    let layers: Vec<&str> = layers.iter().map(String::as_str).collect();
    let attempt = |version: (u16, u16)| {
        let mut set = xr::ExtensionSet::default();
        set.khr_vulkan_enable2 = true;
        set.khr_composition_layer_depth = there.khr_composition_layer_depth;
        set.khr_visibility_mask = there.khr_visibility_mask;
        set.fb_display_refresh_rate = there.fb_display_refresh_rate;
        set.fb_passthrough = there.fb_passthrough;
        set.ext_user_presence = there.ext_user_presence;
        set.ext_hand_tracking = there.ext_hand_tracking;
        set.ext_local_floor = version < (1, 1) && there.ext_local_floor;
        for name in choose(version, there) {
            let mut bytes = name.as_bytes().to_vec();
            bytes.push(0);
            if !set.names().iter().any(|n| **n == *bytes) {
                set.other.push(bytes);
            }
        }
        let about = xr::ApplicationInfo {
            application_name: "sinew",
            application_version: 1,
            engine_name: "sinew",
            engine_version: 1,
            api_version: xr::Version::new(version.0, version.1, 0),
        };
        entry.create_instance(&about, &set, &layers, &()).map(|instance| (instance, version, set))
    };
    match attempt((1, 1)) {
        Err(xr::sys::Result::ERROR_API_VERSION_UNSUPPORTED) => attempt((1, 0)),
        other => other,
    }
    .map_err(|result| match failed("xrCreateInstance")(result) {
        // No connection existed before, so the runtime is absent rather than lost.
        XrError::InstanceLost(problem) => XrError::Absent(Error::xr(problem, super::error::NO_RUNTIME)),
        other => other,
    })
}

/// Returns the opaque blend mode if available, because the scene has its own background.
fn blend_mode(modes: &[xr::EnvironmentBlendMode]) -> xr::EnvironmentBlendMode {
    let opaque = modes.contains(&xr::EnvironmentBlendMode::OPAQUE);
    let first = modes.first().copied().unwrap_or(xr::EnvironmentBlendMode::OPAQUE);
    if opaque { xr::EnvironmentBlendMode::OPAQUE } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_scaled_up_to_what_the_runtime_allows() {
        assert_eq!(scaled([321, 240], [4096, 4096], 1.0), [321, 240]);
        assert_eq!(scaled([321, 240], [4096, 4096], 2.0), [642, 480]);
        assert_eq!(scaled([1440, 1600], [2048, 2048], 1.5), [2048, 2048]);
        assert_eq!(scaled([1440, 1600], [2048, 2048], 0.5), [720, 800]);
        // A runtime that states no largest size.
        assert_eq!(scaled([1440, 1600], [0, 0], 1.5), [1440, 1600]);
    }
}
