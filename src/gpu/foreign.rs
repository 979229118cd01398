//! Swapchain images of a headset or a window, owned by the swapchain. Finished images are copied into them.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::frame::Frame;
use super::image::Image;
use ash::vk;

/// An image of a swapchain, owned by the swapchain.
#[derive(Clone, Copy, Debug)]
pub struct ForeignImage {
    handle: vk::Image,
    size: [u32; 2],
    layers: u32,
    aspect: vk::ImageAspectFlags,
}

/// A copy region: a rectangle in one layer of the source image, and the rectangle of the target that receives it, in
/// texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Layer of the source image.
    pub layer: u32,
    /// Upper left (inclusive) and lower right (exclusive) corner in the source image.
    pub from: [[u32; 2]; 2],
    /// Upper left (inclusive) and lower right (exclusive) corner in the target.
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

    /// Wraps a swapchain image of this size (texels) and number of layers; `aspect` is colour or depth.
    ///
    /// # Safety
    /// The image must belong to the device of the frames that write it, allow transfer writes, have this size, and
    /// outlive the execution of those frames.
    pub unsafe fn new(handle: vk::Image, size: [u32; 2], layers: u32, aspect: vk::ImageAspectFlags) -> Self {
        Self { handle, size, layers, aspect }
    }

    fn layers(&self) -> vk::ImageSubresourceLayers {
        vk::ImageSubresourceLayers::default().aspect_mask(self.aspect).layer_count(self.layers)
    }
}

impl Frame {
    /// Copies all layers of an image texel by texel, without conversion. Both formats must have the same texel size.
    /// The caller must match the encodings: copy an sRGB-encoded image only to an sRGB swapchain. The target's old
    /// content is discarded. After the copy, the target is in `layout`.
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
        // SAFETY: the command buffer is recording; the sizes were checked; the layouts are correct.
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

    /// Copies the first layer of an image, scaled to the target's size and converted to its format. If the image is
    /// already sRGB-encoded, the target's format must not encode again. Discards the target's old content and leaves
    /// the target in `layout`.
    pub fn blit_to_foreign(&mut self, source: &Image, target: &ForeignImage, layout: vk::ImageLayout) {
        let piece = Piece { layer: 0, from: [[0; 2], source.size()], to: [[0; 2], target.size] };
        self.blit_pieces_to_foreign(source, &[piece], target, layout);
    }

    /// Copies rectangles of an image, with the conversion and the rules of [`Self::blit_to_foreign`]. Each rectangle is
    /// scaled to its target rectangle.
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
        // SAFETY: the command buffer is recording; the rectangles were checked; the layouts are correct.
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

    /// Copies a rectangle of one layer of an image to the first layer of another image of the same format. Parts
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
        // SAFETY: the command buffer is recording; the rectangle was clipped to both images, which stay in GENERAL.
        unsafe {
            let handle = &self.device().handle;
            let (source, target) = (source.handle(), target.handle());
            handle.cmd_copy_image(self.commands, source, general, target, general, &region);
        }
    }

    /// Swaps the red and blue channels while copying. Both images have the same size, and their formats differ only
    /// in channel order. Put a barrier after the copy.
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
        // SAFETY: the command buffer is recording; the sizes were checked; images of this program stay in GENERAL.
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
        // SAFETY: the command buffer is recording outside a render pass; the image exists by the contract of
        // `ForeignImage::new`.
        unsafe { self.device().handle.cmd_pipeline_barrier2(self.commands, &info) };
    }
}
