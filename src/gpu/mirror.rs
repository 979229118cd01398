//! A window that shows images rendered for another purpose, such as the headset's view, without delaying them.
//!
//! The mirror acquires a swapchain image without waiting and writes it only after the display's fence is signalled.
//! So neither the caller nor the GPU queue waits for the display; without an available image, nothing is shown. After
//! a resize, the old swapchain is destroyed once the display shows images of the new swapchain.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::chain::{Chain, Pace};
use super::device::Device;
use super::error::failed;
use super::foreign::ForeignImage;
use super::window::{Raw, Window};
use crate::base::Result;
use ash::vk;
use std::sync::Arc;

/// Lists the requirements for presenting to a window that a device with this queue family does not meet; an empty
/// list means that it can present. The instance must have the extensions of [`super::surface_extensions`].
///
/// # Errors
/// An error if the window no longer exists.
pub fn presents(
    entry: &ash::Entry,
    instance: &ash::Instance,
    (physical, family): (vk::PhysicalDevice, u32),
    window: &dyn Window,
) -> Result<Vec<&'static str>> {
    Ok(Raw::new(entry, instance, window)?.lacks(instance, physical, family))
}

/// A swapchain image of a [`Mirror`] that may be written.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    index: u32,
    /// The image. The frame must leave it in the presentation layout.
    pub image: ForeignImage,
    finished: vk::Semaphore,
}

impl Held {
    /// Returns the semaphore that the frame's submission must signal, for [`super::Semaphores`].
    pub fn signal(&self) -> vk::SemaphoreSubmitInfo<'static> {
        vk::SemaphoreSubmitInfo::default()
            .semaphore(self.finished)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
    }
}

/// A replaced swapchain that waits for its destruction.
struct Old {
    chain: Chain,
    /// The fence of an image that was acquired from this swapchain but that the display has not released yet.
    fence: Option<Fence>,
    /// Timeline value of the last submission that wrote an image of this swapchain.
    written: u64,
    /// Number of images that the new swapchain must show before this one is destroyed.
    more: usize,
}

/// A window's surface that shows an image whenever the display has a swapchain image available.
pub struct Mirror {
    // Drop order: the swapchain before its surface, the surface before window and device.
    chain: Option<Chain>,
    fence: Fence,
    old: Vec<Old>,
    raw: Raw,
    window: Arc<dyn Window>,
    device: Arc<Device>,
    /// The acquired image: its index, and whether its fence is signalled. Only then may the mirror write the image.
    asked: Option<(u32, bool)>,
    written: u64,
    stale: bool,
    lost: bool,
    shown: u64,
}

impl Mirror {
    /// Creates a mirror in a window. The device must be able to present to the window, see [`presents`].
    ///
    /// # Errors
    /// An error if the window no longer exists or the driver fails.
    pub fn new(device: &Arc<Device>, window: Arc<dyn Window>) -> Result<Self> {
        Ok(Self {
            chain: None,
            fence: Fence::new(device)?,
            old: Vec::new(),
            raw: Raw::new(device.entry(), device.instance(), window.as_ref())?,
            window,
            device: device.clone(),
            asked: None,
            written: 0,
            stale: false,
            lost: false,
            shown: 0,
        })
    }

    /// Returns the number of images shown so far.
    pub fn shown(&self) -> u64 {
        self.shown
    }

    /// Returns a swapchain image if one may be written now; `size` is the window's size in pixels. The image stays
    /// available until [`Mirror::present`] shows it. If the frame that should write the image is never submitted, the
    /// image remains available.
    ///
    /// # Errors
    /// An error if the device is lost or the window can no longer be presented to.
    pub fn hold(&mut self, size: [u32; 2]) -> Result<Option<Held>> {
        self.tidy();
        if size.contains(&0) {
            return Ok(None);
        }
        if self.lost {
            self.renew()?;
        }
        if self.stale || self.chain.as_ref().is_none_or(|c| c.asked != size) {
            self.resize(size)?;
        }
        let Some(chain) = &mut self.chain else { return Ok(None) };
        if self.asked.is_none() {
            match chain.acquire_now(self.fence.handle) {
                Ok((index, suboptimal)) => {
                    self.asked = Some((index, false));
                    chain.suboptimal |= suboptimal;
                }
                Err(vk::Result::NOT_READY | vk::Result::TIMEOUT) => return Ok(None),
                Err(e) => return self.gone("vkAcquireNextImageKHR", e).map(|()| None),
            }
        }
        if let Some((_, ready @ false)) = &mut self.asked {
            *ready = self.fence.take()?;
        }
        Ok(self.asked.filter(|(_, ready)| *ready).map(|(index, _)| {
            let at = index as usize;
            Held { index, image: chain.images[at], finished: chain.finished[at] }
        }))
    }

    /// Shows an image. `value` is the timeline value returned by submitting the frame that wrote the image.
    ///
    /// # Errors
    /// An error if the device is lost.
    pub fn present(&mut self, held: &Held, value: u64) -> Result<()> {
        let Some(chain) = &mut self.chain else { return Ok(()) };
        self.asked = None;
        self.written = value;
        match chain.present(held.index) {
            Ok(suboptimal) => {
                // If even the first image of a swapchain is suboptimal, as on a rotated screen, a new swapchain would
                // be suboptimal too and is not created.
                let poor = suboptimal || chain.suboptimal;
                self.stale = poor && chain.shown;
                chain.shown |= !poor;
                chain.suboptimal = false;
                self.shown += 1;
                self.old.iter_mut().for_each(|o| o.more = o.more.saturating_sub(1));
                Ok(())
            }
            Err(e) => self.gone("vkQueuePresentKHR", e),
        }
    }

    /// Handles a failed call: marks the swapchain as out of date or the surface as lost, or returns the error.
    fn gone(&mut self, call: &'static str, result: vk::Result) -> Result<()> {
        match result {
            vk::Result::ERROR_OUT_OF_DATE_KHR => self.stale = true,
            vk::Result::ERROR_SURFACE_LOST_KHR => self.lost = true,
            other => return Err(failed(call)(other)),
        }
        Ok(())
    }

    /// Replaces the swapchain by a new one of another size; the old swapchain is kept for later destruction.
    fn resize(&mut self, size: [u32; 2]) -> Result<()> {
        let made = Chain::new(&self.device, &self.raw, size, self.chain.as_ref(), Pace::Newest);
        self.stale = false;
        let mut fence = None;
        if let Some((_, false)) = self.asked.take() {
            fence = Some(std::mem::replace(&mut self.fence, Fence::new(&self.device)?));
        }
        // Vulkan retires the old swapchain even if the creation of the new one fails.
        let (new, failure) = made.map_or_else(|e| (None, Some(e)), |new| (new, None));
        let more = new.as_ref().map_or(0, |c| c.images.len() + 1);
        if let Some(chain) = std::mem::replace(&mut self.chain, new) {
            self.old.push(Old { chain, fence, written: self.written, more });
        }
        failure.map_or(Ok(()), |e| self.gone("vkCreateSwapchainKHR", e))
    }

    /// Destroys old swapchains that the GPU has finished with and whose images the display no longer shows.
    fn tidy(&mut self) {
        let device = &self.device;
        let over = |old: &mut Old| {
            old.fence.take_if(|f| f.take().unwrap_or(false));
            old.fence.is_none() && old.more == 0 && device.is_done(old.written).unwrap_or(false)
        };
        for Old { mut chain, .. } in self.old.extract_if(.., over) {
            chain.idle = true;
            drop(chain);
        }
    }

    fn renew(&mut self) -> Result<()> {
        self.old.clear();
        self.chain = None;
        self.asked = None;
        self.fence = Fence::new(&self.device)?;
        self.raw = Raw::new(self.device.entry(), self.device.instance(), self.window.as_ref())?;
        self.lost = false;
        Ok(())
    }
}

/// A fence that the display signals; dropping this struct destroys it.
struct Fence {
    handle: vk::Fence,
    device: Arc<Device>,
}

impl Fence {
    fn new(device: &Arc<Device>) -> Result<Self> {
        // SAFETY: the call only creates an object.
        let made = unsafe { device.handle().create_fence(&vk::FenceCreateInfo::default(), None) };
        Ok(Self { handle: made.map_err(failed("vkCreateFence"))?, device: device.clone() })
    }

    /// Returns whether the fence was signalled, and resets it.
    fn take(&mut self) -> Result<bool> {
        // SAFETY: querying does not wait; the fence is reset only when signalled, and nothing else uses it then.
        unsafe {
            if !self.device.handle().get_fence_status(self.handle).map_err(failed("vkGetFenceStatus"))? {
                return Ok(false);
            }
            let reset = self.device.handle().reset_fences(&[self.handle]);
            reset.map_err(failed("vkResetFences")).map(|()| true)
        }
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        // SAFETY: dropped once, not before the image acquired with this fence.
        unsafe { self.device.handle().destroy_fence(self.handle, None) };
    }
}

impl std::fmt::Debug for Mirror {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mirror").field("shown", &self.shown).finish_non_exhaustive()
    }
}
