//! A window that shows pictures rendered for another purpose and never delays them.
//!
//! The mirror requests an image without waiting and fills it only when the display's fence is signalled, so neither the
//! caller nor the GPU's queue ever waits for the display. If no image is available, the picture is not shown. Images of
//! another size are created beside the old ones, which are destroyed when the display shows the new ones.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::chain::{Chain, Pace};
use super::device::Device;
use super::error::failed;
use super::foreign::ForeignImage;
use super::window::{Raw, Window};
use crate::base::Result;
use ash::vk;
use std::sync::Arc;

/// Requirements for presenting to a window that a device with a queue of this family does not meet; empty
/// if it meets all. The instance must have [`super::surface_extensions`].
///
/// # Errors
/// The window no longer exists.
pub fn presents(
    entry: &ash::Entry,
    instance: &ash::Instance,
    (physical, family): (vk::PhysicalDevice, u32),
    window: &dyn Window,
) -> Result<Vec<&'static str>> {
    Ok(Raw::new(entry, instance, window)?.lacks(instance, physical, family))
}

/// An image of a [`Mirror`] that may be filled.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    index: u32,
    /// The image; leave it in the presentation layout.
    pub image: ForeignImage,
    finished: vk::Semaphore,
}

impl Held {
    /// The semaphore that the frame's submission must signal, for [`super::Sync`].
    pub fn signal(&self) -> [vk::SemaphoreSubmitInfo<'static>; 1] {
        [vk::SemaphoreSubmitInfo::default()
            .semaphore(self.finished)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)]
    }
}

/// Images of an earlier size that wait for their destruction.
struct Old {
    chain: Chain,
    /// Set while the display has not released an acquired image.
    fence: Option<Fence>,
    /// Timeline value of the last submission that wrote one of them.
    written: u64,
    /// Number of pictures that the new images must show first.
    more: usize,
}

/// A window's surface that shows a picture whenever the display has an image available.
pub struct Mirror {
    // Drop order: the chain before its surface, and that before window and device.
    chain: Option<Chain>,
    fence: Fence,
    old: Vec<Old>,
    raw: Raw,
    window: Arc<dyn Window>,
    device: Arc<Device>,
    /// The requested image, and whether it may be filled.
    asked: Option<(u32, bool)>,
    written: u64,
    stale: bool,
    lost: bool,
    shown: u64,
}

impl Mirror {
    /// A mirror in a window, on a device that can present to it: see [`presents`].
    ///
    /// # Errors
    /// The window no longer exists; errors of the driver.
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

    /// Number of pictures shown so far.
    pub fn shown(&self) -> u64 {
        self.shown
    }

    /// An image for a window of this size, pixels, if one may be filled now. It stays available until
    /// [`Mirror::present`] shows it; a frame that is never submitted leaves it unchanged.
    ///
    /// # Errors
    /// A lost device; a window that can no longer be presented to.
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

    /// Shows an image; `value` is the result of submitting the frame that filled it.
    ///
    /// # Errors
    /// A lost device.
    pub fn present(&mut self, held: &Held, value: u64) -> Result<()> {
        let Some(chain) = &mut self.chain else { return Ok(()) };
        self.asked = None;
        self.written = value;
        match chain.present(held.index) {
            Ok(suboptimal) => {
                // If the first picture is already suboptimal, as on a rotated screen, another chain would be too.
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

    /// Handles a failed call: decides what the next call does.
    fn gone(&mut self, call: &'static str, result: vk::Result) -> Result<()> {
        match result {
            vk::Result::ERROR_OUT_OF_DATE_KHR => self.stale = true,
            vk::Result::ERROR_SURFACE_LOST_KHR => self.lost = true,
            other => return Err(failed(call)(other)),
        }
        Ok(())
    }

    /// Creates images of another size, beside the existing ones.
    fn resize(&mut self, size: [u32; 2]) -> Result<()> {
        let made = Chain::new(&self.device, &self.raw, size, self.chain.as_ref(), Pace::Newest);
        self.stale = false;
        let mut fence = None;
        if let Some((_, false)) = self.asked.take() {
            fence = Some(std::mem::replace(&mut self.fence, Fence::new(&self.device)?));
        }
        // A failure has retired the old images too.
        let (new, failure) = made.map_or_else(|e| (None, Some(e)), |new| (new, None));
        let more = new.as_ref().map_or(0, |c| c.images.len() + 1);
        if let Some(chain) = std::mem::replace(&mut self.chain, new) {
            self.old.push(Old { chain, fence, written: self.written, more });
        }
        failure.map_or(Ok(()), |e| self.gone("vkCreateSwapchainKHR", e))
    }

    /// Destroys old images when the GPU has finished with them and the display shows others.
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

/// A fence that the display signals; destroyed with its owner.
struct Fence {
    handle: vk::Fence,
    device: Arc<Device>,
}

impl Fence {
    fn new(device: &Arc<Device>) -> Result<Self> {
        // SAFETY: a plain creation.
        let made = unsafe { device.handle().create_fence(&vk::FenceCreateInfo::default(), None) };
        Ok(Self { handle: made.map_err(failed("vkCreateFence"))?, device: device.clone() })
    }

    /// Returns whether it was signalled, and resets it.
    fn take(&mut self) -> Result<bool> {
        // SAFETY: asked without waiting; reset where the display has signalled it and nothing else uses it.
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
        // SAFETY: dropped once, with the images that it was for or after them.
        unsafe { self.device.handle().destroy_fence(self.handle, None) };
    }
}

impl std::fmt::Debug for Mirror {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mirror").field("shown", &self.shown).finish_non_exhaustive()
    }
}
