//! A window's swapchain: its images and the semaphores that synchronise them with the display.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::device::Device;
use super::foreign::ForeignImage;
use super::window::{Acquired, Raw};
use crate::base::Result;
use ash::{khr, vk};
use std::sync::Arc;

/// Maximum wait for an image, nanoseconds. The wait is limited because a compositor may keep all images of an invisible
/// window.
const PATIENCE: u64 = 200_000_000;
/// Rendered images are already sRGB-encoded; these formats do not encode them again.
const FORMATS: [vk::Format; 3] =
    [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM, vk::Format::A2B10G10R10_UNORM_PACK32];

/// When the display shows a presented image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// At most one image per refresh of the display; a caller that is faster waits.
    Refresh,
    /// The newest image as soon as possible. The caller does not wait if the display supports such a mode.
    Newest,
}

impl Pace {
    /// Returns the first supported present mode for this pace. FIFO is always supported.
    fn mode(self, there: &[vk::PresentModeKHR]) -> vk::PresentModeKHR {
        let newest = [vk::PresentModeKHR::MAILBOX, vk::PresentModeKHR::IMMEDIATE];
        let found = newest.into_iter().find(|m| self == Self::Newest && there.contains(m));
        found.unwrap_or(vk::PresentModeKHR::FIFO)
    }
}

/// A swapchain: the images of a window at one size.
pub(super) struct Chain {
    device: Arc<Device>,
    functions: khr::swapchain::Device,
    handle: vk::SwapchainKHR,
    pub(super) images: Vec<ForeignImage>,
    /// One semaphore per image, signalled when the image's frame is finished. The images do not share semaphores,
    /// because the display may keep an image.
    pub(super) finished: Vec<vk::Semaphore>,
    /// Semaphores that are signalled when an image may be written. Each is paired with the timeline value of the last
    /// submission that waited for it.
    acquired: Vec<(vk::Semaphore, u64)>,
    turn: usize,
    /// The requested size; `size` is the actual size, which some window systems choose.
    pub(super) asked: [u32; 2],
    pub(super) size: [u32; 2],
    pub(super) suboptimal: bool,
    /// Whether an image was presented without the result being suboptimal.
    pub(super) shown: bool,
    /// Whether neither the GPU nor the display uses the swapchain, so that dropping it need not wait.
    pub(super) idle: bool,
}

pub(super) type Raced<T> = std::result::Result<T, vk::Result>;

impl Chain {
    /// Creates the swapchain; `None` if the window currently has no pixels.
    pub(super) fn new(
        device: &Arc<Device>,
        surface: &Raw,
        asked: [u32; 2],
        old: Option<&Self>,
        pace: Pace,
    ) -> Raced<Option<Self>> {
        let physical = device.physical();
        // SAFETY: the calls only query properties of a live surface.
        let (caps, formats, modes) = unsafe {
            (
                surface.functions.get_physical_device_surface_capabilities(physical, surface.handle)?,
                surface.functions.get_physical_device_surface_formats(physical, surface.handle)?,
                surface.functions.get_physical_device_surface_present_modes(physical, surface.handle)?,
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
        let mode = pace.mode(&modes);
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
            .present_mode(mode)
            .clipped(true)
            .old_swapchain(old.map_or(vk::SwapchainKHR::null(), |c| c.handle));
        let functions = khr::swapchain::Device::new(device.instance(), device.handle());
        // SAFETY: the infos are complete; the old swapchain stays valid until its owner drops it.
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
                idle: false,
            }
        };
        // SAFETY: the swapchain was just created; a failure destroys everything created so far.
        unsafe {
            let semaphore = || device.handle().create_semaphore(&vk::SemaphoreCreateInfo::default(), None);
            for image in chain.functions.get_swapchain_images(chain.handle)? {
                let aspect = vk::ImageAspectFlags::COLOR;
                // The images live as long as the swapchain, which waits for the device before it is dropped.
                chain.images.push(ForeignImage::new(image, size, 1, aspect));
                chain.finished.push(semaphore()?);
                chain.acquired.push((semaphore()?, 0));
            }
        }
        Ok(Some(chain))
    }

    /// Acquires the next image. Also returns whether the swapchain is suboptimal.
    pub(super) fn acquire(&mut self, device: &Device) -> Result<Raced<(Acquired, bool)>> {
        self.turn = (self.turn + 1) % self.acquired.len();
        let (semaphore, value) = self.acquired[self.turn];
        // This semaphore is reused. The submission that last waited for it must finish before it is signalled again.
        device.wait(value)?;
        // SAFETY: the semaphore is not signalled and nobody waits for it.
        let next =
            unsafe { self.functions.acquire_next_image(self.handle, PATIENCE, semaphore, vk::Fence::null()) };
        Ok(next.map(|(index, suboptimal)| {
            let (image, finished) = (self.images[index as usize], self.finished[index as usize]);
            (Acquired { index, image, acquired: semaphore, finished }, suboptimal)
        }))
    }

    /// Returns an image index without waiting; the display signals `fence` when the image may be written.
    pub(super) fn acquire_now(&mut self, fence: vk::Fence) -> Raced<(u32, bool)> {
        // SAFETY: the fence is not signalled and nobody waits for it.
        unsafe { self.functions.acquire_next_image(self.handle, 0, vk::Semaphore::null(), fence) }
    }

    /// Presents an image whose frame was submitted; returns whether the swapchain is suboptimal.
    pub(super) fn present(&self, index: u32) -> Raced<bool> {
        let (wait, chains, indices) = ([self.finished[index as usize]], [self.handle], [index]);
        let info =
            vk::PresentInfoKHR::default().wait_semaphores(&wait).swapchains(&chains).image_indices(&indices);
        // SAFETY: the image comes from this swapchain, its frame was submitted, and the queue's lock is held.
        self.device.with_queue(|queue| unsafe { self.functions.queue_present(queue, &info) })
    }

    pub(super) fn submitted(&mut self, semaphore: vk::Semaphore, value: u64) {
        if let Some(entry) = self.acquired.iter_mut().find(|(s, _)| *s == semaphore) {
            entry.1 = value;
        }
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        if !self.idle {
            // Waiting for the device includes pending presentations, because these are also work of the queue. The
            // result is ignored: waiting fails on a lost device.
            let _ = self.device.wait_idle();
        }
        // SAFETY: nothing uses these objects any more, and the swapchain is dropped once.
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
    #[test]
    fn the_newest_picture_is_shown_where_the_display_can_and_refreshes_everywhere() {
        use vk::PresentModeKHR as M;
        let all = [M::FIFO, M::FIFO_RELAXED, M::IMMEDIATE, M::MAILBOX];
        assert_eq!(Pace::Newest.mode(&all), M::MAILBOX);
        assert_eq!(Pace::Newest.mode(&all[..3]), M::IMMEDIATE);
        assert_eq!((Pace::Newest.mode(&all[..2]), Pace::Refresh.mode(&all)), (M::FIFO, M::FIFO));
    }
}
