//! Report on the installed OpenXR runtime, with advice if something is missing.
#![allow(unsafe_code, reason = "loading a shared library runs its code")]

use crate::app::xr::actions;
use crate::app::xr::offers::mode_name;
use openxr as xr;
use serde::Serialize;
use std::fmt;

/// Findings about the runtime; fields stay empty if a query fails.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RuntimeReport {
    /// Whether the OpenXR loader was found.
    pub loader: bool,
    /// Name and version of the runtime.
    pub runtime: Option<String>,
    /// OpenXR version of the instance.
    pub version: Option<String>,
    /// Name of the headset.
    pub system: Option<String>,
    /// Extensions that Sinew uses, and whether the runtime supports them.
    pub extensions: Vec<(&'static str, bool)>,
    /// Interaction profiles that the runtime may support.
    pub profiles: Vec<&'static str>,
    /// Recommended image size of each eye, pixels.
    pub views: Vec<[u32; 2]>,
    /// Environment blend modes of the headset. All but `opaque` can show the room behind the picture.
    pub blend_modes: Vec<&'static str>,
    /// Advice, one line per missing component.
    pub advice: Vec<String>,
}

impl RuntimeReport {
    /// Returns whether a session can be created.
    pub fn ready(&self) -> bool {
        self.views.len() == 2 && self.advice.is_empty()
    }
}

/// Extensions that a session uses, and whether they are required.
const USED: [(&str, bool); 9] = [
    ("XR_KHR_vulkan_enable2", true),
    ("XR_KHR_composition_layer_depth", false),
    ("XR_KHR_visibility_mask", false),
    ("XR_FB_display_refresh_rate", false),
    ("XR_FB_passthrough", false),
    ("XR_EXT_local_floor", false),
    ("XR_EXT_debug_utils", false),
    ("XR_EXT_hand_interaction", false),
    ("XR_EXT_hand_tracking", false),
];

const NO_LOADER: &str =
    "there is no OpenXR loader: install one (Debian: libopenxr-loader1), or run through tools/xr-runtime";
const NO_RUNTIME: &str = "no OpenXR runtime answers: start SteamVR or Monado and make it the active one, set \
                          XR_RUNTIME_JSON to its manifest, or run through tools/xr-runtime";
const NO_HEADSET: &str = "the runtime has no headset: connect it, switch it on, put it on";

/// Queries the runtime, if there is one, without creating a session.
pub fn probe() -> RuntimeReport {
    let mut report = RuntimeReport::default();
    // SAFETY: the system's OpenXR loader is trusted like every other shared library that this program loads.
    match unsafe { xr::Entry::load(&()) } {
        Ok(entry) => {
            report.loader = true;
            if let Err((advice, error)) = ask(&entry, &mut report) {
                report.advice.push(format!("{advice} ({error})"));
            }
        }
        Err(_) => report.advice.push(NO_LOADER.into()),
    }
    report
}

fn ask(entry: &xr::Entry, report: &mut RuntimeReport) -> Result<(), (&'static str, xr::sys::Result)> {
    let offered = entry.enumerate_extensions().map_err(|e| (NO_RUNTIME, e))?;
    report.extensions = USED.map(|(name, _)| (name, actions::offers(&offered, name))).to_vec();
    let application = |api_version| xr::ApplicationInfo {
        application_name: "sinew doctor",
        application_version: 1,
        engine_name: "sinew",
        engine_version: 1,
        api_version,
    };
    let nothing = xr::ExtensionSet::default();
    let make = |minor| entry.create_instance(&application(xr::Version::new(1, minor, 0)), &nothing, &[], &());
    let (instance, version) = match make(1) {
        Err(xr::sys::Result::ERROR_API_VERSION_UNSUPPORTED) => (make(0), (1, 0)),
        other => (other, (1, 1)),
    };
    let instance = instance.map_err(|e| (NO_RUNTIME, e))?;
    report.version = Some(format!("{}.{}", version.0, version.1));
    let all = crate::app::xr::profiles::profiles();
    let usable = all.iter().filter(|p| p.usable(version, |name| actions::offers(&offered, name)));
    report.profiles = usable.map(|p| p.name).collect();
    let about = instance.properties().map_err(|e| (NO_RUNTIME, e))?;
    report.runtime = Some(format!("{} {}", about.runtime_name, about.runtime_version));
    for (name, needed) in USED {
        if needed && !actions::offers(&offered, name) {
            report.advice.push(format!("the runtime lacks {name}: update it, or use another one"));
        }
    }
    let system = instance.system(xr::FormFactor::HEAD_MOUNTED_DISPLAY).map_err(|e| (NO_HEADSET, e))?;
    report.system = instance.system_properties(system).ok().map(|p| p.system_name);
    let views = instance
        .enumerate_view_configuration_views(system, xr::ViewConfigurationType::PRIMARY_STEREO)
        .map_err(|e| (NO_HEADSET, e))?;
    let modes = instance
        .enumerate_environment_blend_modes(system, xr::ViewConfigurationType::PRIMARY_STEREO)
        .map_err(|e| (NO_HEADSET, e))?;
    report.blend_modes = modes.into_iter().map(mode_name).collect();
    report.views =
        views.iter().map(|v| [v.recommended_image_rect_width, v.recommended_image_rect_height]).collect();
    Ok(())
}

impl fmt::Display for RuntimeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Loader: {}", if self.loader { "found" } else { "none" })?;
        if let (Some(runtime), Some(version)) = (&self.runtime, &self.version) {
            writeln!(f, "Runtime: {runtime}, OpenXR {version}")?;
        }
        if let Some(system) = &self.system {
            writeln!(f, "Headset: {system}")?;
        }
        for [w, h] in &self.views {
            writeln!(f, "Eye: {w} x {h} pixels recommended")?;
        }
        if !self.blend_modes.is_empty() {
            writeln!(f, "Blending with the room: {}", self.blend_modes.join(", "))?;
        }
        for (name, there) in &self.extensions {
            writeln!(f, "{name}: {}", if *there { "there" } else { "not there" })?;
        }
        if !self.profiles.is_empty() {
            writeln!(f, "Controllers it may know: {}", self.profiles.join(", "))?;
        }
        for advice in &self.advice {
            writeln!(f, "Advice: {advice}")?;
        }
        Ok(())
    }
}
