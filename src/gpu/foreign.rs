//! Images with another owner: those of a headset's or a window's swapchain. Finished pictures are copied into them.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::frame::Frame;
use super::image::Image;
use ash::vk;

/// An image of a swapchain.
#[derive(Clone, Copy, Debug)]
pub struct ForeignImage {
    handle: vk::Image,
    size: [u32; 2],
    layers: u32,
    aspect: vk::ImageAspectFlags,
}

/// A rectangle of a picture's layer, and where it should be: corners, the first inside and the second beyond, texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Layer of the picture.
    pub layer: u32,
    /// Corners in the picture: first inside, second beyond.
    pub from: [[u32; 2]; 2],
    /// Corners in the target: first inside, second beyond.
    pub to: [[u32; 2]; 2],
}

impl Piece {
    fn fits(&self, source: &Image, target: [u32; 2]) -> bool {
        let inside =
            |c: [[u32; 2]; 2], size: [u32; 2]| (0..2).all(|i| c[0][i] < c[1][i] && c[1][i] <= size[i]);
        self.layer < source.layers() && inside(self.from, source.size()) && inside(self.to, target)
    }
}

impl ForeignImage {
    /// Size in texels.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Wraps a swapchain's image of this size (texels) and number of layers; `aspect` is colour or depth.
    ///
    /// # Safety
    /// The image belongs to the device of the frames that will write it, allows copies into it,
    /// has that size, and outlives their execution.
    pub unsafe fn new(handle: vk::Image, size: [u32; 2], layers: u32, aspect: vk::ImageAspectFlags) -> Self {
        Self { handle, size, layers, aspect }
    }

    fn layers(&self) -> vk::ImageSubresourceLayers {
        vk::ImageSubresourceLayers::default().aspect_mask(self.aspect).layer_count(self.layers)
    }
}

impl Frame {
    /// Copies all layers of a picture, texel by texel and without conversion. The formats must have texels
    /// of the same size; the caller is responsible for encodings (an sRGB-encoded picture belongs in an
    /// sRGB swapchain). The target's old content is discarded; afterwards it is in `layout`.
    pub fn copy_to_foreign(&mut self, source: &Image, target: &ForeignImage, layout: vk::ImageLayout) {
        if source.size() != target.size || source.layers() < target.layers {
            return self.fail(format!(
                "copy of {:?} texels to a swapchain of {:?}",
                source.size(),
                target.size
            ));
        }
        self.foreign_barrier(target, vk::ImageLayout::UNDEFINED, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
        let region = [vk::ImageCopy::default()
            .src_subresource(target.layers())
            .dst_subresource(target.layers())
            .extent(vk::Extent3D { width: target.size[0], height: target.size[1], depth: 1 })];
        // SAFETY: recording; sizes were checked, layouts are those of our images and of the barrier above.
        unsafe {
            self.device().handle.cmd_copy_image(
                self.commands,
                source.handle(),
                vk::ImageLayout::GENERAL,
                target.handle,
                vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                &region,
            );
        }
        self.foreign_barrier(target, vk::ImageLayout::TRANSFER_DST_OPTIMAL, layout);
    }

    /// Copies the first layer of a picture, scaled to the target's size and converted to its format (so sRGB bytes
    /// belong in a format that does not encode). The target's old content is discarded; afterwards it is in `layout`.
    pub fn blit_to_foreign(&mut self, source: &Image, target: &ForeignImage, layout: vk::ImageLayout) {
        let piece = Piece { layer: 0, from: [[0; 2], source.size()], to: [[0; 2], target.size] };
        self.blit_pieces_to_foreign(source, &[piece], target, layout);
    }

    /// As [`Self::blit_to_foreign`] for pieces of a picture, each scaled to its target rectangle.
    pub fn blit_pieces_to_foreign(
        &mut self,
        source: &Image,
        pieces: &[Piece],
        target: &ForeignImage,
        layout: vk::ImageLayout,
    ) {
        if !pieces.iter().all(|p| p.fits(source, target.size)) {
            return self.fail("pieces of a picture lie inside of it and of their target".into());
        }
        self.foreign_barrier(target, vk::ImageLayout::UNDEFINED, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
        let layers = |layer| {
            let color = vk::ImageAspectFlags::COLOR;
            vk::ImageSubresourceLayers::default().aspect_mask(color).base_array_layer(layer).layer_count(1)
        };
        let corners = |c: [[u32; 2]; 2]| {
            let at = |[x, y]: [u32; 2], z| vk::Offset3D { x: x as i32, y: y as i32, z };
            [at(c[0], 0), at(c[1], 1)]
        };
        let same = |p: &Piece| (0..2).all(|i| p.from[1][i] - p.from[0][i] == p.to[1][i] - p.to[0][i]);
        let filter = if pieces.iter().all(same) { vk::Filter::NEAREST } else { vk::Filter::LINEAR };
        let regions: Vec<_> = pieces
            .iter()
            .map(|p| {
                vk::ImageBlit::default()
                    .src_subresource(layers(p.layer))
                    .src_offsets(corners(p.from))
                    .dst_subresource(layers(0))
                    .dst_offsets(corners(p.to))
            })
            .collect();
        // SAFETY: recording; pieces were checked; layouts are those of our images and of the barrier above.
        unsafe {
            self.device().handle.cmd_blit_image(
                self.commands,
                source.handle(),
                vk::ImageLayout::GENERAL,
                target.handle,
                vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                &regions,
                filter,
            );
        }
        self.foreign_barrier(target, vk::ImageLayout::TRANSFER_DST_OPTIMAL, layout);
    }

    /// Copies a rectangle of one layer of a picture to the first layer of another of the same format. Parts
    /// outside either image are clipped. This is a copy: put barriers around it.
    pub fn copy_rectangle(
        &mut self,
        (source, layer, from): (&Image, u32, [u32; 2]),
        (target, to): (&Image, [u32; 2]),
        size: [u32; 2],
    ) {
        if source.format() != target.format() || layer >= source.layers() {
            return self.fail("a rectangle is copied between pictures of one format".into());
        }
        let fits = |i: usize| {
            let room = |whole: [u32; 2], corner: [u32; 2]| whole[i].saturating_sub(corner[i]);
            size[i].min(room(source.size(), from)).min(room(target.size(), to))
        };
        let extent = vk::Extent3D { width: fits(0), height: fits(1), depth: 1 };
        if extent.width == 0 || extent.height == 0 {
            return;
        }
        let layers = |layer| {
            let color = vk::ImageAspectFlags::COLOR;
            vk::ImageSubresourceLayers::default().aspect_mask(color).base_array_layer(layer).layer_count(1)
        };
        let corner = |c: [u32; 2]| vk::Offset3D { x: c[0] as i32, y: c[1] as i32, z: 0 };
        let region = [vk::ImageCopy::default()
            .src_subresource(layers(layer))
            .src_offset(corner(from))
            .dst_subresource(layers(0))
            .dst_offset(corner(to))
            .extent(extent)];
        let general = vk::ImageLayout::GENERAL;
        // SAFETY: recording; the rectangle was cut to both; our images stay in GENERAL.
        unsafe {
            let handle = &self.device().handle;
            let (source, target) = (source.handle(), target.handle());
            handle.cmd_copy_image(self.commands, source, general, target, general, &region);
        }
    }

    /// Exchanges red and blue: both images have the same size, and formats that differ only in the order of
    /// channels. A barrier must follow.
    pub fn reorder_channels(&mut self, source: &Image, target: &Image) {
        if source.size() != target.size() || source.layers() != target.layers() {
            return self.fail("pictures of one size are to be reordered".into());
        }
        let size = source.size();
        let layers =
            vk::ImageSubresourceLayers::default().aspect_mask(source.aspect()).layer_count(source.layers());
        let corners = [vk::Offset3D::default(), vk::Offset3D { x: size[0] as i32, y: size[1] as i32, z: 1 }];
        let region = [vk::ImageBlit::default()
            .src_subresource(layers)
            .src_offsets(corners)
            .dst_subresource(layers)
            .dst_offsets(corners)];
        let general = vk::ImageLayout::GENERAL;
        // SAFETY: recording; sizes were checked; our images stay in GENERAL.
        unsafe {
            self.device().handle.cmd_blit_image(
                self.commands,
                source.handle(),
                general,
                target.handle(),
                general,
                &region,
                vk::Filter::NEAREST,
            );
        }
    }

    fn foreign_barrier(&mut self, image: &ForeignImage, from: vk::ImageLayout, to: vk::ImageLayout) {
        let barrier = [vk::ImageMemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)
            .old_layout(from)
            .new_layout(to)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image.handle)
            .subresource_range(
                vk::ImageSubresourceRange::default()
                    .aspect_mask(image.aspect)
                    .level_count(1)
                    .layer_count(image.layers),
            )];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barrier);
        // SAFETY: recording, outside a render pass; the image is live by the contract of `ForeignImage::new`.
        unsafe { self.device().handle.cmd_pipeline_barrier2(self.commands, &info) };
    }
}
