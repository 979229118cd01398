//! Optional features of the runtime and the headset: hidden pixels, refresh rates, and the view of the room.
#![allow(unsafe_code, reason = "openxr has no safe calls for these features")]

use super::error::{Result, failed};
use openxr as xr;
use openxr::sys::Handle as _;

const STEREO: xr::ViewConfigurationType = xr::ViewConfigurationType::PRIMARY_STEREO;

/// How the headset shows the user's room behind the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passthrough {
    /// The runtime blends the picture with the room in this environment blend mode.
    Blend(xr::EnvironmentBlendMode),
    /// A layer of camera images below the picture (XR_FB_passthrough).
    Layer,
}

impl Passthrough {
    /// Chooses the best way to show the room: one of the environment blend modes or, if the runtime offers it, the
    /// layer of camera images. ADDITIVE is the last choice, because it cannot darken the room.
    pub fn choose(modes: &[xr::EnvironmentBlendMode], layer: bool) -> Option<Self> {
        use xr::EnvironmentBlendMode as M;
        let blend = |mode: M| modes.contains(&mode).then_some(Self::Blend(mode));
        blend(M::ALPHA_BLEND).or(layer.then_some(Self::Layer)).or(blend(M::ADDITIVE))
    }
}

/// Name of an environment blend mode in reports.
pub fn mode_name(mode: xr::EnvironmentBlendMode) -> &'static str {
    use xr::EnvironmentBlendMode as M;
    match mode {
        M::OPAQUE => "opaque",
        M::ADDITIVE => "additive",
        M::ALPHA_BLEND => "alpha",
        _ => "unknown",
    }
}

/// Returns whether the headset has camera images for the extension XR_FB_passthrough. The extension must be enabled.
pub fn has_cameras(instance: &xr::Instance, system: xr::SystemId) -> bool {
    if instance.exts().fb_passthrough.is_none() {
        return false;
    }
    let mut cameras = xr::sys::SystemPassthroughPropertiesFB {
        ty: xr::sys::SystemPassthroughPropertiesFB::TYPE,
        next: std::ptr::null(),
        supports_passthrough: false.into(),
    };
    let mut about = xr::sys::SystemProperties::out(std::ptr::from_mut(&mut cameras).cast());
    // SAFETY: instance and system are live, and both structs are initialised and outlive the call.
    let result =
        unsafe { (instance.fp().get_system_properties)(instance.as_raw(), system, about.as_mut_ptr()) };
    result == xr::sys::Result::SUCCESS && cameras.supports_passthrough.into()
}

/// Returns the pixels of an eye that the lenses hide, as triangles with three corners each in image coordinates (0..1, v
/// down). Empty if the runtime hides none. XR_KHR_visibility_mask must be enabled.
///
/// # Errors
/// Fails if an OpenXR call fails.
pub fn hidden_triangles(
    instance: &xr::Instance,
    session: &xr::Session<xr::Vulkan>,
    eye: u32,
    fov: xr::Fovf,
) -> Result<Vec<[f32; 2]>> {
    let Some(calls) = &instance.exts().khr_visibility_mask else { return Ok(Vec::new()) };
    let mut mask = xr::sys::VisibilityMaskKHR {
        ty: xr::sys::VisibilityMaskKHR::TYPE,
        next: std::ptr::null_mut(),
        vertex_capacity_input: 0,
        vertex_count_output: 0,
        vertices: std::ptr::null_mut(),
        index_capacity_input: 0,
        index_count_output: 0,
        indices: std::ptr::null_mut(),
    };
    let ask = |mask: &mut xr::sys::VisibilityMaskKHR| {
        // SAFETY: the session is live; the pointers are null or refer to arrays of the stated capacity.
        let result = unsafe {
            (calls.get_visibility_mask)(
                session.as_raw(),
                STEREO,
                eye,
                xr::VisibilityMaskTypeKHR::HIDDEN_TRIANGLE_MESH,
                mask,
            )
        };
        if result.into_raw() >= 0 { Ok(()) } else { Err(failed("xrGetVisibilityMaskKHR")(result)) }
    };
    ask(&mut mask)?;
    let mut vertices = vec![xr::Vector2f::default(); mask.vertex_count_output as usize];
    let mut indices = vec![0u32; mask.index_count_output as usize];
    if vertices.is_empty() || indices.is_empty() {
        return Ok(Vec::new());
    }
    (mask.vertex_capacity_input, mask.vertices) = (vertices.len() as u32, vertices.as_mut_ptr());
    (mask.index_capacity_input, mask.indices) = (indices.len() as u32, indices.as_mut_ptr());
    ask(&mut mask)?;
    Ok(corners(&vertices, &indices, fov))
}

/// Converts a mesh on the plane at unit distance to triangles in image coordinates.
fn corners(vertices: &[xr::Vector2f], indices: &[u32], fov: xr::Fovf) -> Vec<[f32; 2]> {
    let [left, right] = [fov.angle_left, fov.angle_right].map(f32::tan);
    let [up, down] = [fov.angle_up, fov.angle_down].map(f32::tan);
    let place = |v: &xr::Vector2f| [(v.x - left) / (right - left), (up - v.y) / (up - down)];
    let triangle = |of: &[u32]| {
        let all = of.iter().map(|&i| vertices.get(i as usize).map(place)).collect::<Option<Vec<_>>>()?;
        all.iter().flatten().all(|v| v.is_finite()).then_some(all)
    };
    indices.chunks_exact(3).filter_map(triangle).flatten().collect()
}

/// The refresh rates of a session (XR_FB_display_refresh_rate).
#[derive(Debug, Default)]
pub struct Rates {
    /// Rates to choose from, hertz; empty without the extension.
    pub all: Vec<f32>,
    chosen: Option<f32>,
}

impl Rates {
    /// Lists the rates.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn new(instance: &xr::Instance, session: &xr::Session<xr::Vulkan>) -> Result<Self> {
        if instance.exts().fb_display_refresh_rate.is_none() {
            return Ok(Self::default());
        }
        let all = session.enumerate_display_refresh_rates();
        Ok(Self { all: all.map_err(failed("xrEnumerateDisplayRefreshRatesFB"))?, chosen: None })
    }

    /// Asks the runtime for a rate, once per change; `None` leaves the rate to the runtime. A rate that the headset does
    /// not have counts as `None`.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn choose(&mut self, session: &xr::Session<xr::Vulkan>, wanted: Option<f32>) -> Result<()> {
        let known = wanted.and_then(|w| self.all.iter().copied().find(|rate| (rate - w).abs() < 0.5));
        if self.all.is_empty() || known == self.chosen {
            return Ok(());
        }
        self.chosen = known;
        // The rate 0 means that the program has no preference.
        let asked = session.request_display_refresh_rate(known.unwrap_or(0.0));
        asked.map_err(failed("xrRequestDisplayRefreshRateFB"))
    }
}

/// The camera images of the room (XR_FB_passthrough), which run as long as this exists.
pub struct Cameras {
    // Drop order: the layer, then the feature.
    layer: xr::PassthroughLayerFB,
    _feature: xr::Passthrough,
}

impl Cameras {
    /// Starts the cameras.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn new(session: &xr::Session<xr::Vulkan>) -> Result<Self> {
        let running = xr::PassthroughFlagsFB::IS_RUNNING_AT_CREATION;
        let feature = session.create_passthrough(running).map_err(failed("xrCreatePassthroughFB"))?;
        let whole = xr::PassthroughLayerPurposeFB::RECONSTRUCTION;
        let layer = session.create_passthrough_layer(&feature, running, whole);
        Ok(Self { layer: layer.map_err(failed("xrCreatePassthroughLayerFB"))?, _feature: feature })
    }

    /// Returns the composition layer, which lies below the picture. The cameras must outlive its use.
    pub fn layer(&self) -> CameraLayer {
        CameraLayer(xr::sys::CompositionLayerPassthroughFB {
            ty: xr::sys::CompositionLayerPassthroughFB::TYPE,
            next: std::ptr::null(),
            flags: xr::CompositionLayerFlags::BLEND_TEXTURE_SOURCE_ALPHA,
            space: xr::sys::Space::NULL,
            layer_handle: self.layer.as_raw(),
        })
    }
}

/// The composition layer of camera images.
pub struct CameraLayer(xr::sys::CompositionLayerPassthroughFB);

impl CameraLayer {
    /// Returns the layer as the frame stream takes it.
    pub fn base(&self) -> &xr::CompositionLayerBase<'_, xr::Vulkan> {
        // SAFETY: the base is a transparent wrapper of the header with which every composition layer begins. The runtime
        // reads the rest of the layer by its type.
        unsafe { &*std::ptr::from_ref(&self.0).cast() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_shows_by_the_best_way_that_there_is() {
        use xr::EnvironmentBlendMode as M;
        let alpha = Some(Passthrough::Blend(M::ALPHA_BLEND));
        assert_eq!(Passthrough::choose(&[M::OPAQUE, M::ADDITIVE, M::ALPHA_BLEND], true), alpha);
        assert_eq!(Passthrough::choose(&[M::OPAQUE, M::ADDITIVE], true), Some(Passthrough::Layer));
        assert_eq!(Passthrough::choose(&[M::ADDITIVE], false), Some(Passthrough::Blend(M::ADDITIVE)));
        assert_eq!(Passthrough::choose(&[M::OPAQUE], false), None);
    }

    #[test]
    fn hidden_triangles_are_in_image_coordinates() {
        let fov = xr::Fovf {
            angle_left: -0.8f32.atan(),
            angle_right: 0.4f32.atan(),
            angle_up: 0.5f32.atan(),
            angle_down: -0.5f32.atan(),
        };
        let vertex = |x: f32, y: f32| xr::Vector2f { x, y };
        let mesh = [vertex(-0.8, 0.5), vertex(0.4, 0.5), vertex(-0.8, -0.5), vertex(f32::NAN, 0.0)];
        let found = corners(&mesh, &[0, 1, 2, 0, 1, 3, 0, 1, 9, 2, 1], fov);
        let wanted = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        assert_eq!(found.len(), 3, "{found:?}");
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((0..2).all(|k| (found[k] - wanted[k]).abs() < 1e-6), "{found:?}, not {wanted:?}");
        }
    }
}
