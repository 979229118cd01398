//! A window that shows pictures made for somebody else, and never makes them wait.
//!
//! An image is asked for without patience, and is filled only once the display's fence says that it may be: neither the
//! caller nor the GPU's queue ever waits for the display. Where no image is at hand the picture is not shown. Images of
//! another size are made beside the old ones, which go when the display has others.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::chain::{Chain, Pace};
use super::device::Device;
use super::error::failed;
use super::foreign::ForeignImage;
use super::window::{Raw, Window};
use crate::base::Result;
use ash::vk;
use std::sync::Arc;

/// What a device lacks to present to a window, its queue being of this family; nothing where it can. The instance was
/// made with [`super::surface_extensions`].
///
/// # Errors
/// The window is gone.
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
    /// The image; leave it in the layout of presentation.
    pub image: ForeignImage,
    finished: vk::Semaphore,
}

impl Held {
    /// What the frame's submission signals, for [`super::Sync`].
    pub fn signal(&self) -> [vk::SemaphoreSubmitInfo<'static>; 1] {
        [vk::SemaphoreSubmitInfo::default()
            .semaphore(self.finished)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)]
    }
}

/// Images on their way out: those of an earlier size.
struct Old {
    chain: Chain,
    /// Where the display has not answered yet.
    fence: Option<Fence>,
    /// The last submission that wrote one of them.
    written: u64,
    /// Pictures that the new images must have shown first.
    more: usize,
}

/// Where pictures are shown when the display has an image at hand.
pub struct Mirror {
    // In this order: chains go before their surface, and that before window and device.
    chain: Option<Chain>,
    fence: Fence,
    old: Vec<Old>,
    raw: Raw,
    window: Arc<dyn Window>,
    device: Arc<Device>,
    /// The image that was asked for; may it be filled?
    asked: Option<(u32, bool)>,
    written: u64,
    stale: bool,
    lost: bool,
    shown: u64,
}

impl Mirror {
    /// A window on a device that can present to it: see [`presents`].
    ///
    /// # Errors
    /// The window is gone; the driver's.
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

    /// Pictures shown so far.
    pub fn shown(&self) -> u64 {
        self.shown
    }

    /// An image of a window of this size, pixels, if one may be filled now. It stays at hand until it is shown by
    /// [`Mirror::present`]; a frame that is never submitted leaves it as it was.
    ///
    /// # Errors
    /// A lost device; a window that can no more be presented to.
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

    /// Shows an image; `value` is what the submission that filled it returned.
    ///
    /// # Errors
    /// A lost device.
    pub fn present(&mut self, held: &Held, value: u64) -> Result<()> {
        let Some(chain) = &mut self.chain else { return Ok(()) };
        self.asked = None;
        self.written = value;
        match chain.present(held.index) {
            Ok(suboptimal) => {
                // Where the first picture is suboptimal already, as on a turned screen, another chain would be too.
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

    /// What a failed call means for the next one.
    fn gone(&mut self, call: &'static str, result: vk::Result) -> Result<()> {
        match result {
            vk::Result::ERROR_OUT_OF_DATE_KHR => self.stale = true,
            vk::Result::ERROR_SURFACE_LOST_KHR => self.lost = true,
            other => return Err(failed(call)(other)),
        }
        Ok(())
    }

    /// Images of another size, beside those that are there.
    fn resize(&mut self, size: [u32; 2]) -> Result<()> {
        let made = Chain::new(&self.device, &self.raw, size, self.chain.as_ref(), Pace::Newest);
        self.stale = false;
        let mut fence = None;
        if let Some((_, false)) = self.asked.take() {
            fence = Some(std::mem::replace(&mut self.fence, Fence::new(&self.device)?));
        }
        // What went wrong has retired the old images too.
        let (new, failure) = made.map_or_else(|e| (None, Some(e)), |new| (new, None));
        let more = new.as_ref().map_or(0, |c| c.images.len() + 1);
        if let Some(chain) = std::mem::replace(&mut self.chain, new) {
            self.old.push(Old { chain, fence, written: self.written, more });
        }
        failure.map_or(Ok(()), |e| self.gone("vkCreateSwapchainKHR", e))
    }

    /// Old images go when the GPU has done with them and the display shows others.
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

/// Signalled by the display; destroyed with its owner.
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

    /// Whether it was signalled; then it is no more.
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
