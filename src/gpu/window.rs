//! Windows: a device that can present to one, and the swapchain that finished pictures are copied into.
//!
//! Presentation is FIFO: a picture a refresh at most, none torn. A surface that is lost, out of date or of another
//! size is made anew inside [`Surface::acquire`]; a window that shows nothing gives no image.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::device::{Device, DeviceOptions};
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

/// A window of any library, as Vulkan needs it.
pub trait Window: HasDisplayHandle + HasWindowHandle + Send + Sync + 'static {}
impl<T: HasDisplayHandle + HasWindowHandle + Send + Sync + 'static> Window for T {}

/// Nanoseconds to wait for an image: a compositor may keep those of a window that nobody sees.
const PATIENCE: u64 = 200_000_000;
/// Our pictures are sRGB encoded already, so the formats are those that do not encode again.
const FORMATS: [vk::Format; 3] =
    [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM, vk::Format::A2B10G10R10_UNORM_PACK32];

fn handles(window: &dyn Window) -> Result<(RawDisplayHandle, RawWindowHandle)> {
    let gone = |e| Error::gpu(format!("the window has no handle: {e}"), "start again");
    let display = window.display_handle().map_err(gone)?.as_raw();
    Ok((display, window.window_handle().map_err(gone)?.as_raw()))
}

/// Vulkan instance extensions that a window's surface needs. Errors on a system whose windows Vulkan does not know.
pub fn surface_extensions(window: &dyn Window) -> Result<Vec<&'static CStr>> {
    let (display, _) = handles(window)?;
    let names =
        ash_window::enumerate_required_extensions(display).map_err(failed("vkCreateSurface (extensions)"))?;
    // SAFETY: the names are static strings of ash.
    Ok(names.iter().map(|name| unsafe { CStr::from_ptr(*name) }).collect())
}

/// A surface that is destroyed with its owner, who keeps instance and window alive.
struct Raw {
    functions: khr::surface::Instance,
    handle: vk::SurfaceKHR,
}

impl Raw {
    fn new(entry: &ash::Entry, instance: &ash::Instance, window: &dyn Window) -> Result<Self> {
        let (display, native) = handles(window)?;
        // SAFETY: the instance was made with the window's extensions; owners keep the window as long as this.
        let handle = unsafe { ash_window::create_surface(entry, instance, display, native, None) }
            .map_err(failed("vkCreateSurface"))?;
        Ok(Self { functions: khr::surface::Instance::new(entry, instance), handle })
    }

    /// Whether the device has swapchains, and a queue of this family may present here.
    fn lacks(
        &self,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        family: u32,
    ) -> Vec<&'static str> {
        // SAFETY: plain queries; `physical` belongs to the surface's instance.
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
        // SAFETY: dropped once; swapchains on it are gone by then.
        unsafe { self.functions.destroy_surface(self.handle, None) };
    }
}

/// Makes a device that can present to a window: where there are several, those that cannot are passed over.
struct ForWindow<'a> {
    window: &'a dyn Window,
    extensions: Vec<&'static CStr>,
    /// Asked which device presents to it.
    probe: Mutex<Option<Raw>>,
}

impl DeviceFactory for ForWindow<'_> {
    fn instance_extensions(&self) -> Vec<&'static CStr> {
        self.extensions.clone()
    }

    fn device_extensions(&self) -> Vec<&'static CStr> {
        vec![khr::swapchain::NAME]
    }

    fn create_instance(
        &self,
        entry: &ash::Entry,
        info: &vk::InstanceCreateInfo<'_>,
    ) -> Result<ash::Instance> {
        // SAFETY: `info` and all it points to outlive the call; the loader is held by the device.
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
    /// As [`Device::with_factory`]; no device there is can present to this window.
    pub fn for_window(options: &DeviceOptions, window: &dyn Window) -> Result<Arc<Self>> {
        let extensions = surface_extensions(window)?;
        let factory = ForWindow { window, extensions, probe: Mutex::default() };
        let device = Self::with_factory(options, &factory)?;
        // The surface goes before the instance, which the device holds.
        drop(factory);
        Ok(device)
    }
}

/// Where finished pictures are shown.
pub struct Surface {
    // In this order: a chain goes before its surface, and that before window and device.
    chain: Option<Chain>,
    raw: Raw,
    window: Arc<dyn Window>,
    device: Arc<Device>,
    /// Another chain is needed: the window has changed, or an image was taken and never shown.
    stale: bool,
    lost: bool,
    remade: u64,
}

/// An image of the window to be filled in this frame.
pub struct Acquired {
    index: u32,
    image: ForeignImage,
    acquired: vk::Semaphore,
    finished: vk::Semaphore,
}

impl Acquired {
    /// What the frame's submission waits for and signals, for [`super::Sync`].
    pub fn semaphores(
        &self,
    ) -> ([vk::SemaphoreSubmitInfo<'static>; 1], [vk::SemaphoreSubmitInfo<'static>; 1]) {
        let info =
            |semaphore, stage| vk::SemaphoreSubmitInfo::default().semaphore(semaphore).stage_mask(stage);
        (
            [info(self.acquired, vk::PipelineStageFlags2::ALL_TRANSFER)],
            [info(self.finished, vk::PipelineStageFlags2::ALL_COMMANDS)],
        )
    }

    /// Records the copy of a finished picture into the window, stretched where sizes differ, as they may for a frame
    /// while a window is being resized.
    pub fn show(&self, frame: &mut Frame, picture: &Image) {
        frame.blit_to_foreign(picture, &self.image, vk::ImageLayout::PRESENT_SRC_KHR);
    }
}

impl Surface {
    /// The surface of a window on a device.
    ///
    /// # Errors
    /// The device was not made for windows of this kind, or cannot present to this one.
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

    /// Pixels of the window's images; none before the first was acquired.
    pub fn size(&self) -> Option<[u32; 2]> {
        self.chain.as_ref().map(|c| c.size)
    }

    /// How often images were made: for the first window, for sizes, for what was lost.
    pub fn remade(&self) -> u64 {
        self.remade
    }

    /// The next image of a window of this size, pixels; none where it shows nothing now: minimised, hidden, being
    /// resized. Waits for the display, a moment at most.
    ///
    /// # Errors
    /// A lost device; a window that can no more be presented to.
    pub fn acquire(&mut self, size: [u32; 2]) -> Result<Option<Acquired>> {
        if size.contains(&0) {
            return Ok(None);
        }
        // Each turn mends one thing; a window that is being resized may be out of date again at once.
        for _ in 0..4 {
            if self.lost {
                self.renew()?;
            }
            if self.stale || self.chain.as_ref().is_none_or(|c| c.asked != size) {
                self.stale = false;
                let old = self.chain.take();
                match Chain::new(&self.device, &self.raw, size, old) {
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
                    // Until it is presented: an image that never is leaves its semaphore behind.
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

    /// Shows an image; `value` is what its frame's submission returned.
    ///
    /// # Errors
    /// A lost device.
    pub fn present(&mut self, acquired: Acquired, value: u64) -> Result<()> {
        let Some(chain) = &mut self.chain else { return Ok(()) };
        chain.submitted(acquired.acquired, value);
        let (wait, chains, indices) = ([acquired.finished], [chain.handle], [acquired.index]);
        let info =
            vk::PresentInfoKHR::default().wait_semaphores(&wait).swapchains(&chains).image_indices(&indices);
        // SAFETY: the image was acquired from this chain and its frame submitted; the queue's lock is held.
        let shown = self.device.with_queue(|queue| unsafe { chain.functions.queue_present(queue, &info) });
        self.stale = false;
        match shown {
            Ok(suboptimal) => {
                // Where the first picture is suboptimal already, as on a turned screen, another chain would be too.
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

struct Chain {
    device: Arc<Device>,
    functions: khr::swapchain::Device,
    handle: vk::SwapchainKHR,
    images: Vec<ForeignImage>,
    /// Signalled when an image's frame is finished: one per image, since the display may hold on to it.
    finished: Vec<vk::Semaphore>,
    /// Signalled when an image may be written, and the submission that waits for it.
    acquired: Vec<(vk::Semaphore, u64)>,
    turn: usize,
    /// What it was made for, and what it is: desktops may insist.
    asked: [u32; 2],
    size: [u32; 2],
    suboptimal: bool,
    /// It has fitted well once.
    shown: bool,
}

type Raced<T> = std::result::Result<T, vk::Result>;

impl Chain {
    /// None where the window has no pixels now.
    fn new(device: &Arc<Device>, surface: &Raw, asked: [u32; 2], old: Option<Self>) -> Raced<Option<Self>> {
        let physical = device.physical();
        // SAFETY: plain queries of a live surface.
        let (caps, formats) = unsafe {
            (
                surface.functions.get_physical_device_surface_capabilities(physical, surface.handle)?,
                surface.functions.get_physical_device_surface_formats(physical, surface.handle)?,
            )
        };
        let size = match caps.current_extent {
            vk::Extent2D { width: u32::MAX, .. } => [
                asked[0].clamp(caps.min_image_extent.width, caps.max_image_extent.width),
                asked[1].clamp(caps.min_image_extent.height, caps.max_image_extent.height),
            ],
            vk::Extent2D { width, height } => [width, height],
        };
        if size.contains(&0) {
            return Ok(None);
        }
        let srgb = |f: &&vk::SurfaceFormatKHR| f.color_space == vk::ColorSpaceKHR::SRGB_NONLINEAR;
        let there: Vec<_> = formats.iter().filter(srgb).map(|f| f.format).collect();
        let format = choose(&there).ok_or(vk::Result::ERROR_FORMAT_NOT_SUPPORTED)?;
        let most = if caps.max_image_count == 0 { u32::MAX } else { caps.max_image_count };
        let alpha = [vk::CompositeAlphaFlagsKHR::OPAQUE, vk::CompositeAlphaFlagsKHR::INHERIT]
            .into_iter()
            .find(|a| caps.supported_composite_alpha.contains(*a))
            .unwrap_or(vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED);
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface.handle)
            .min_image_count((caps.min_image_count + 1).min(most))
            .image_format(format)
            .image_color_space(vk::ColorSpaceKHR::SRGB_NONLINEAR)
            .image_extent(vk::Extent2D { width: size[0], height: size[1] })
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::TRANSFER_DST)
            .pre_transform(caps.current_transform)
            .composite_alpha(alpha)
            .present_mode(vk::PresentModeKHR::FIFO)
            .clipped(true)
            .old_swapchain(old.as_ref().map_or(vk::SwapchainKHR::null(), |c| c.handle));
        let functions = khr::swapchain::Device::new(device.instance(), device.handle());
        // SAFETY: complete infos; the old chain is dropped after, which waits for the device.
        let mut chain = unsafe {
            Self {
                handle: functions.create_swapchain(&info, None)?,
                device: device.clone(),
                functions,
                images: Vec::new(),
                finished: Vec::new(),
                acquired: Vec::new(),
                turn: 0,
                asked,
                size,
                suboptimal: false,
                shown: false,
            }
        };
        drop(old);
        // SAFETY: the chain was just made; what was made before a failure goes with it.
        unsafe {
            let semaphore = || device.handle().create_semaphore(&vk::SemaphoreCreateInfo::default(), None);
            for image in chain.functions.get_swapchain_images(chain.handle)? {
                let aspect = vk::ImageAspectFlags::COLOR;
                // The images live as long as the chain, whose drop waits for the device.
                chain.images.push(ForeignImage::new(image, size, 1, aspect));
                chain.finished.push(semaphore()?);
                chain.acquired.push((semaphore()?, 0));
            }
        }
        Ok(Some(chain))
    }

    /// The next image and whether the chain no longer fits well.
    fn acquire(&mut self, device: &Device) -> Result<Raced<(Acquired, bool)>> {
        self.turn = (self.turn + 1) % self.acquired.len();
        let (semaphore, value) = self.acquired[self.turn];
        // Its last wait must be over before it is signalled again.
        device.wait(value)?;
        // SAFETY: the semaphore is not signalled and nobody waits for it.
        let next =
            unsafe { self.functions.acquire_next_image(self.handle, PATIENCE, semaphore, vk::Fence::null()) };
        Ok(next.map(|(index, suboptimal)| {
            let (image, finished) = (self.images[index as usize], self.finished[index as usize]);
            (Acquired { index, image, acquired: semaphore, finished }, suboptimal)
        }))
    }

    fn submitted(&mut self, semaphore: vk::Semaphore, value: u64) {
        if let Some(entry) = self.acquired.iter_mut().find(|(s, _)| *s == semaphore) {
            entry.1 = value;
        }
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        // Presentation is work of the queue too. A lost device cannot be waited for.
        let _ = self.device.wait_idle();
        // SAFETY: nothing uses them any more, and the chain is dropped once.
        unsafe {
            for semaphore in self.finished.iter().chain(self.acquired.iter().map(|(s, _)| s)) {
                self.device.handle().destroy_semaphore(*semaphore, None);
            }
            self.functions.destroy_swapchain(self.handle, None);
        }
    }
}

fn choose(there: &[vk::Format]) -> Option<vk::Format> {
    FORMATS.into_iter().find(|f| there.contains(f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_do_not_encode_a_second_time() {
        let [bgra, rgba] = [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM];
        assert_eq!(choose(&[vk::Format::B8G8R8A8_SRGB, rgba, bgra]), Some(bgra));
        assert_eq!(choose(&[rgba]), Some(rgba));
        assert_eq!(choose(&[vk::Format::B8G8R8A8_SRGB, vk::Format::R16G16B16A16_SFLOAT]), None);
    }
}
