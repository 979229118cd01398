//! OpenXR swapchains. One swapchain holds the colour of both eyes in two layers, one holds their depth in two layers,
//! and each panel has a swapchain with one layer.
#![allow(unsafe_code, reason = "images belong to another library")]

use super::error::{Result, XrError, failed};
use crate::base::Error;
use crate::gpu::{Device, ForeignImage, Frame, Image, ImageInfo};
use ash::vk::{self, Handle};
use openxr as xr;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// Content of a swapchain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// sRGB-encoded colour.
    Color,
    /// Depth, reversed (1 near, 0 at infinity).
    Depth,
}

/// An OpenXR swapchain into which rendered images are copied.
pub struct Swapchain {
    device: Arc<Device>,
    handle: ManuallyDrop<xr::Swapchain<xr::Vulkan>>,
    images: Vec<ForeignImage>,
    content: Content,
    /// Size of a layer, pixels.
    pub size: [u32; 2],
    acquired: Option<usize>,
    /// Intermediate image for swapchains in BGRA order, into which the channels are reordered.
    scratch: Option<Image>,
}

/// Colour formats in order of preference. For depth, only the renderer's format is valid.
const COLORS: [vk::Format; 2] = [vk::Format::R8G8B8A8_SRGB, vk::Format::B8G8R8A8_SRGB];
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;

fn choose(content: Content, offered: &[u32]) -> Option<vk::Format> {
    let has = |format: &vk::Format| offered.contains(&(format.as_raw() as u32));
    match content {
        Content::Color => COLORS.into_iter().find(has),
        Content::Depth => Some(DEPTH).filter(has),
    }
}

impl Swapchain {
    /// Creates a swapchain (`size` in pixels, 1 or 2 layers); `None` if the renderer's depth format is unavailable.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails or the runtime has no 8-bit sRGB format.
    pub fn new(
        session: &xr::Session<xr::Vulkan>,
        device: &Arc<Device>,
        content: Content,
        size: [u32; 2],
        layers: u32,
    ) -> Result<Option<Self>> {
        let offered = session.enumerate_swapchain_formats().map_err(failed("xrEnumerateSwapchainFormats"))?;
        let Some(format) = choose(content, &offered) else {
            if content == Content::Depth {
                return Ok(None);
            }
            return Err(XrError::Fatal(Error::xr(
                format!("the runtime has no sRGB swapchain of 8 bits (formats {offered:?})"),
                "update it, or use another one",
            )));
        };
        let (usage, aspect) = match content {
            Content::Color => (xr::SwapchainUsageFlags::COLOR_ATTACHMENT, vk::ImageAspectFlags::COLOR),
            Content::Depth => {
                (xr::SwapchainUsageFlags::DEPTH_STENCIL_ATTACHMENT, vk::ImageAspectFlags::DEPTH)
            }
        };
        let info = xr::SwapchainCreateInfo {
            create_flags: xr::SwapchainCreateFlags::EMPTY,
            usage_flags: usage | xr::SwapchainUsageFlags::TRANSFER_DST | xr::SwapchainUsageFlags::SAMPLED,
            format: format.as_raw() as u32,
            sample_count: 1,
            width: size[0],
            height: size[1],
            face_count: 1,
            array_size: layers,
            mip_count: 1,
        };
        let handle =
            device.with_queue(|_| session.create_swapchain(&info)).map_err(failed("xrCreateSwapchain"))?;
        let raw = handle.enumerate_images().map_err(failed("xrEnumerateSwapchainImages"))?;
        // SAFETY: the runtime created the images for this device as `info` says; the swapchain is stored with them
        // and lives until the GPU is idle.
        let foreign = |image| unsafe { ForeignImage::new(vk::Image::from_raw(image), size, layers, aspect) };
        let scratch = match format {
            vk::Format::B8G8R8A8_SRGB => Some(Image::new(
                device,
                &ImageInfo {
                    name: "reordered picture",
                    format: vk::Format::B8G8R8A8_UNORM,
                    size,
                    layers,
                    levels: 1,
                    usage: vk::ImageUsageFlags::TRANSFER_SRC,
                },
            )?),
            _ => None,
        };
        Ok(Some(Self {
            device: device.clone(),
            images: raw.into_iter().map(foreign).collect(),
            handle: ManuallyDrop::new(handle),
            content,
            size,
            acquired: None,
            scratch,
        }))
    }

    /// Acquires the next image and waits until the compositor has finished reading it.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn acquire(&mut self) -> Result<()> {
        let handle = &mut self.handle;
        let index =
            self.device.with_queue(|_| handle.acquire_image()).map_err(failed("xrAcquireSwapchainImage"))?;
        handle.wait_image(xr::Duration::INFINITE).map_err(failed("xrWaitSwapchainImage"))?;
        self.acquired = Some(index as usize);
        Ok(())
    }

    /// Copies an image of the same size into the acquired image. The rendered bytes are already sRGB-encoded. They are
    /// copied unchanged into an sRGB format, so that they are not encoded twice.
    pub fn copy(&mut self, frame: &mut Frame, picture: &Image) {
        let Some(image) = self.acquired.and_then(|i| self.images.get(i)) else { return };
        let layout = match self.content {
            Content::Color => vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
            Content::Depth => vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        };
        let mut source = picture;
        if let Some(scratch) = &self.scratch {
            frame.reorder_channels(picture, scratch);
            frame.barrier();
            source = scratch;
        }
        frame.copy_to_foreign(source, image, layout);
    }

    /// Releases the acquired image; the copy must have been submitted.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn release(&mut self) -> Result<()> {
        if self.acquired.take().is_none() {
            return Ok(());
        }
        let handle = &mut self.handle;
        self.device.with_queue(|_| handle.release_image()).map_err(failed("xrReleaseSwapchainImage"))
    }

    /// Returns one full layer as a sub-image for a composition layer.
    pub fn layer(&self, index: u32) -> xr::SwapchainSubImage<'_, xr::Vulkan> {
        let extent = xr::Extent2Di { width: self.size[0] as i32, height: self.size[1] as i32 };
        xr::SwapchainSubImage::new()
            .swapchain(&self.handle)
            .image_array_index(index)
            .image_rect(xr::Rect2Di { offset: xr::Offset2Di { x: 0, y: 0 }, extent })
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        // The GPU must finish its copies before the runtime frees the images. Waiting fails on a lost device.
        let _ = self.device.wait_idle();
        let handle = &mut self.handle;
        // Destroying the swapchain may submit to the queue.
        // SAFETY: the handle is dropped only here and not used afterwards.
        self.device.with_queue(|_| unsafe { ManuallyDrop::drop(handle) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_srgb_or_nothing_and_depth_is_the_renderers() {
        let raw = |f: vk::Format| f.as_raw() as u32;
        let bgra = [raw(vk::Format::B8G8R8A8_UNORM), raw(vk::Format::B8G8R8A8_SRGB)];
        assert_eq!(choose(Content::Color, &bgra), Some(vk::Format::B8G8R8A8_SRGB));
        let both = [bgra[1], raw(vk::Format::R8G8B8A8_SRGB), raw(DEPTH)];
        assert_eq!(choose(Content::Color, &both), Some(vk::Format::R8G8B8A8_SRGB));
        assert_eq!(choose(Content::Depth, &both), Some(DEPTH));
        assert_eq!(choose(Content::Color, &[raw(vk::Format::R8G8B8A8_UNORM)]), None);
        assert_eq!(choose(Content::Depth, &[raw(vk::Format::D16_UNORM)]), None);
    }
}
