//! Presentation of finished images in a window: a device that can present, and the window's surface with its
//! swapchain.
//!
//! Presentation is FIFO: without tearing, at most one image per display refresh. [`Surface::acquire`] recreates a
//! surface that is lost, out of date or of another size. It returns no image while the window is invisible.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::chain::{Chain, Pace};
use super::device::{Device, DeviceOptions, Semaphores};
use super::error::failed;
use super::factory::DeviceFactory;
use super::foreign::ForeignImage;
use super::frame::Frame;
use super::image::Image;
use crate::base::{Error, Result};
use ash::{khr, vk};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle, RawDisplayHandle, RawWindowHandle};
use std::ffi::CStr;
use std::sync::{Arc, Mutex};

/// A window of any library that provides raw window handles.
pub trait Window: HasDisplayHandle + HasWindowHandle + Send + Sync + 'static {}
impl<T: HasDisplayHandle + HasWindowHandle + Send + Sync + 'static> Window for T {}

fn handles(window: &dyn Window) -> Result<(RawDisplayHandle, RawWindowHandle)> {
    let gone = |e| Error::gpu(format!("the window has no handle: {e}"), "start again");
    let display = window.display_handle().map_err(gone)?.as_raw();
    Ok((display, window.window_handle().map_err(gone)?.as_raw()))
}

/// Returns the Vulkan instance extensions for a window's surface. Fails on a window system without Vulkan support.
pub fn surface_extensions(window: &dyn Window) -> Result<Vec<&'static CStr>> {
    let (display, _) = handles(window)?;
    let names =
        ash_window::enumerate_required_extensions(display).map_err(failed("vkCreateSurface (extensions)"))?;
    // SAFETY: the names are static, null-terminated strings of ash.
    Ok(names.iter().map(|name| unsafe { CStr::from_ptr(*name) }).collect())
}

/// A surface. Its owner keeps the instance and the window alive.
pub(super) struct Raw {
    pub(super) functions: khr::surface::Instance,
    pub(super) handle: vk::SurfaceKHR,
}

impl Raw {
    pub(super) fn new(entry: &ash::Entry, instance: &ash::Instance, window: &dyn Window) -> Result<Self> {
        let (display, native) = handles(window)?;
        // SAFETY: the instance has the window's extensions; the owner keeps the window longer than the surface.
        let handle = unsafe { ash_window::create_surface(entry, instance, display, native, None) }
            .map_err(failed("vkCreateSurface"))?;
        Ok(Self { functions: khr::surface::Instance::new(entry, instance), handle })
    }

    /// Lists what the device lacks for presenting to this surface: swapchains, or presentation by this queue family.
    pub(super) fn lacks(
        &self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        family: u32,
    ) -> Vec<&'static str> {
        // SAFETY: the calls only query properties; `physical` belongs to the surface's instance.
        let (extensions, presents) = unsafe {
            (
                instance.enumerate_device_extension_properties(physical).unwrap_or_default(),
                self.functions.get_physical_device_surface_support(physical, family, self.handle),
            )
        };
        let has = extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(khr::swapchain::NAME));
        let mut out = Vec::new();
        if !has {
            out.push("VK_KHR_swapchain");
        } else if !presents.unwrap_or(false) {
            out.push("presenting to this window");
        }
        out
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: dropped once; the surface's swapchains are destroyed before.
        unsafe { self.functions.destroy_surface(self.handle, None) };
    }
}

/// Creates a device that can present to a window; devices that cannot present are skipped.
struct ForWindow<'a> {
    window: &'a dyn Window,
    extensions: Vec<&'static CStr>,
    /// A temporary surface for checking which device can present to the window.
    probe: Mutex<Option<Raw>>,
}

impl DeviceFactory for ForWindow<'_> {
    fn instance_extensions(&self) -> Vec<&'static CStr> {
        self.extensions.clone()
    }

    fn device_extensions(&self, _: &ash::Instance, _: vk::PhysicalDevice, _: u32) -> Vec<&'static CStr> {
        vec![khr::swapchain::NAME]
    }

    fn create_instance(
        &self,
        entry: &ash::Entry,
        info: &vk::InstanceCreateInfo<'_>,
    ) -> Result<ash::Instance> {
        // SAFETY: `info` and everything it points to outlive the call; the device holds the Vulkan loader.
        let instance = unsafe { entry.create_instance(info, None) }.map_err(|e| match e {
            vk::Result::ERROR_EXTENSION_NOT_PRESENT => Error::gpu(
                "Vulkan here cannot show pictures in a window of this desktop",
                "install the graphics driver of this machine, or mesa-vulkan-drivers",
            ),
            other => failed("vkCreateInstance")(other),
        })?;
        *super::error::lock(&self.probe) = Some(Raw::new(entry, &instance, self.window)?);
        Ok(instance)
    }

    fn lacks(
        &self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        family: u32,
    ) -> Vec<&'static str> {
        super::error::lock(&self.probe)
            .as_ref()
            .map_or_else(Vec::new, |s| s.lacks(instance, physical, family))
    }
}

impl Device {
    /// Opens a device that can present to a window.
    ///
    /// # Errors
    /// The errors of [`Device::with_factory`]; also an error if no available device can present to this window.
    pub fn for_window(options: &DeviceOptions, window: &dyn Window) -> Result<Arc<Self>> {
        let extensions = surface_extensions(window)?;
        let factory = ForWindow { window, extensions, probe: Mutex::default() };
        let device = Self::with_factory(options, &factory)?;
        // The surface must be destroyed before the instance, which the device owns.
        drop(factory);
        Ok(device)
    }
}

/// The surface of a window, which shows finished images.
pub struct Surface {
    // Drop order: the swapchain before its surface, the surface before window and device.
    chain: Option<Chain>,
    raw: Raw,
    window: Arc<dyn Window>,
    device: Arc<Device>,
    /// Whether the swapchain must be recreated: the window has changed, or an acquired image was never presented.
    stale: bool,
    lost: bool,
    remade: u64,
}

/// A swapchain image to be written in this frame.
pub struct Acquired {
    pub(super) index: u32,
    pub(super) image: ForeignImage,
    pub(super) acquired: vk::Semaphore,
    pub(super) finished: vk::Semaphore,
}

impl Acquired {
    /// Returns the semaphores of the submission that writes the image.
    pub fn semaphores(&self) -> Semaphores {
        let info =
            |semaphore, stage| vk::SemaphoreSubmitInfo::default().semaphore(semaphore).stage_mask(stage);
        Semaphores {
            wait: Some(info(self.acquired, vk::PipelineStageFlags2::ALL_TRANSFER)),
            signal: Some(info(self.finished, vk::PipelineStageFlags2::ALL_COMMANDS)),
        }
    }

    /// Records the copy of a finished image into the window. The image is scaled if the sizes differ, which can
    /// happen while the window is being resized.
    pub fn show(&self, frame: &mut Frame, picture: &Image) {
        frame.blit_to_foreign(picture, &self.image, vk::ImageLayout::PRESENT_SRC_KHR);
    }
}

impl Surface {
    /// Creates the surface of a window.
    ///
    /// # Errors
    /// An error if the device was not created for this window system, or cannot present to this window.
    pub fn new(device: &Arc<Device>, window: Arc<dyn Window>) -> Result<Self> {
        let raw = Raw::new(device.entry(), device.instance(), window.as_ref())?;
        let lacks = raw.lacks(device.instance(), device.physical(), device.queue_family());
        if let Some(lack) = lacks.first() {
            return Err(Error::gpu(
                format!("{} lacks {lack}", device.name()),
                "choose another --device, or unplug the display from the other graphics card",
            ));
        }
        Ok(Self { chain: None, raw, window, device: device.clone(), stale: false, lost: false, remade: 0 })
    }

    /// Returns the size of the swapchain images, pixels; `None` before the first image was acquired.
    pub fn size(&self) -> Option<[u32; 2]> {
        self.chain.as_ref().map(|c| c.size)
    }

    /// Returns the number of swapchains created so far: the first one, and one after each change of size and each loss
    /// of the surface.
    pub fn remade(&self) -> u64 {
        self.remade
    }

    /// Acquires the next swapchain image. `size` is the window's size in pixels. Returns `None` while the window is
    /// minimised, hidden or being resized. Waits for the display for at most 0.2 s.
    ///
    /// # Errors
    /// An error if the device is lost or the window can no longer be presented to.
    pub fn acquire(&mut self, size: [u32; 2]) -> Result<Option<Acquired>> {
        if size.contains(&0) {
            return Ok(None);
        }
        // Each iteration fixes one problem and tries again. Several are necessary, because the swapchain of a window
        // that is being resized may be out of date again immediately.
        for _ in 0..4 {
            if self.lost {
                self.renew()?;
            }
            if self.stale || self.chain.as_ref().is_none_or(|c| c.asked != size) {
                self.stale = false;
                let old = self.chain.take();
                match Chain::new(&self.device, &self.raw, size, old.as_ref(), Pace::Refresh) {
                    Ok(chain) => self.chain = chain,
                    Err(vk::Result::ERROR_SURFACE_LOST_KHR) => {
                        self.lost = true;
                        continue;
                    }
                    Err(e) => return Err(failed("vkCreateSwapchainKHR")(e)),
                }
                self.remade += 1;
            }
            let Some(chain) = &mut self.chain else { return Ok(None) };
            match chain.acquire(&self.device)? {
                Ok((acquired, suboptimal)) => {
                    // The chain is stale until `present` is called: if the image is never presented, its semaphore
                    // stays signalled.
                    self.stale = true;
                    chain.suboptimal |= suboptimal;
                    return Ok(Some(acquired));
                }
                Err(vk::Result::NOT_READY | vk::Result::TIMEOUT) => return Ok(None),
                Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => self.stale = true,
                Err(vk::Result::ERROR_SURFACE_LOST_KHR) => self.lost = true,
                Err(e) => return Err(failed("vkAcquireNextImageKHR")(e)),
            }
        }
        Ok(None)
    }

    /// Presents an image. `value` is the timeline value returned by submitting the image's frame.
    ///
    /// # Errors
    /// An error if the device is lost.
    pub fn present(&mut self, acquired: Acquired, value: u64) -> Result<()> {
        let Some(chain) = &mut self.chain else { return Ok(()) };
        chain.submitted(acquired.acquired, value);
        let shown = chain.present(acquired.index);
        self.stale = false;
        match shown {
            Ok(suboptimal) => {
                // If even the first image of a swapchain is suboptimal, as on a rotated screen, a new swapchain would
                // be suboptimal too and is not created.
                self.stale = (suboptimal || chain.suboptimal) && chain.shown;
                chain.shown |= !(suboptimal || chain.suboptimal);
                chain.suboptimal = false;
            }
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => self.stale = true,
            Err(vk::Result::ERROR_SURFACE_LOST_KHR) => self.lost = true,
            Err(e) => return Err(failed("vkQueuePresentKHR")(e)),
        }
        Ok(())
    }

    fn renew(&mut self) -> Result<()> {
        self.chain = None;
        self.raw = Raw::new(self.device.entry(), self.device.instance(), self.window.as_ref())?;
        self.lost = false;
        self.stale = false;
        Ok(())
    }
}
