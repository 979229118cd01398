//! Paints egui's triangles into an image, for panels in the world or in a window.
//!
//! egui blends sRGB-encoded colours with premultiplied alpha. The image therefore has no sRGB format: its bytes are
//! sRGB-encoded colours times alpha. [`super::QuadPainter`] reads the image as a texture. For a compositor's quad
//! layer, the bytes are copied to an sRGB swapchain.

use crate::base::{Error, Result};
use crate::gpu::{
    Bindings, Blend, Buffer, Device, Frame, Graphics, GraphicsInfo, Image, ImageInfo, Load, Memory,
    Reflection, Resource, Sampler,
};
use crate::shared_with_shaders;
use crate::spv;
use ash::vk::{Format, ImageUsageFlags, SamplerAddressMode};
use egui::epaint::{ClippedPrimitive, ImageData, ImageDelta, Mesh, Primitive};
use egui::{Rect, TextureId};
use std::sync::Arc;

const FORMAT: Format = Format::R8G8B8A8_UNORM;
/// Minimum number of rows of a texture. A font atlas starts with few rows and repeatedly doubles its height, each time
/// with a full upload. With this minimum, most doublings do not replace the texture.
const LEAST_ROWS: u32 = 512;

shared_with_shaders! {
    /// A vertex, as declared in `glsl/types/panel.glsl`.
    #[derive(Debug, Default, PartialEq)]
    struct PanelVertex as "PanelVertex" {
        position: [f32; 2],
        uv: [f32; 2],
        color: u32,
    }

    struct PanelPush as "Push" {
        size: [f32; 2],
        uv_scale: [f32; 2],
    }
}

/// egui's output for one frame. Texture changes must be uploaded in order, each exactly once.
#[derive(Default)]
pub struct PanelPaint {
    /// Triangles in drawing order; later triangles are on top.
    pub primitives: Vec<ClippedPrimitive>,
    /// New textures and changed rectangles of existing textures.
    pub textures: Vec<(TextureId, ImageDelta)>,
    /// Textures to release; neither this frame nor the previous frame draws them.
    pub freed: Vec<TextureId>,
    /// Pixels of the image per egui point.
    pub pixels_per_point: f32,
}

/// The pipeline that paints panels, created once per device.
pub struct PanelPainter {
    device: Arc<Device>,
    pipeline: Graphics,
    sampler: Sampler,
}

/// A panel's image, with the buffers and textures for painting it; kept between frames.
pub struct PanelImage {
    /// The painted image, with sRGB-encoded colours times alpha. The background is transparent, or the existing image
    /// of [`PanelPainter::over`].
    pub image: Image,
    load: Load,
    textures: Vec<Texture>,
    vertices: Buffer,
    vertex_bindings: Bindings,
    indices: Buffer,
    draws: Vec<Draw>,
    points: [f32; 2],
    vertex_scratch: Vec<PanelVertex>,
    index_scratch: Vec<u32>,
    texel_scratch: Vec<u8>,
}

struct Texture {
    id: TextureId,
    /// The texture's image; at least as large as the texture.
    image: Image,
    size: [u32; 2],
    bindings: Bindings,
}

struct Draw {
    texture: usize,
    corner: [u32; 2],
    size: [u32; 2],
    first: u32,
    indices: u32,
}

fn check(stages: &[Reflection]) -> Result<()> {
    stages[0].check::<PanelVertex>()?;
    stages[0].check::<PanelPush>()
}

impl PanelPainter {
    /// Creates the pipeline. Fails if structs of shaders and Rust differ or the device lacks support.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let stages = GraphicsInfo::new(spv!("render/panel.vert"), spv!("render/panel.frag"), &[FORMAT]);
        let pipeline = Graphics::new(device, &GraphicsInfo { blend: Blend::Alpha, ..stages })?;
        check(pipeline.reflections())?;
        let sampler = Sampler::new(device, [SamplerAddressMode::CLAMP_TO_EDGE; 2], false)?;
        Ok(Self { device: device.clone(), pipeline, sampler })
    }

    /// Creates a panel of `size` pixels. Fails if memory is short or the size exceeds the device's limit.
    pub fn image(&self, name: &str, size: [u32; 2]) -> Result<PanelImage> {
        self.make(Image::target(&self.device, name, FORMAT, size, 1)?, Load::Clear([0.0; 4]))
    }

    /// Creates a panel that is painted over an existing image, such as a window's image. The image must be an 8-bit
    /// RGBA colour attachment. Fails if memory is short.
    pub fn over(&self, picture: &Image) -> Result<PanelImage> {
        self.make(picture.clone(), Load::Keep)
    }

    fn make(&self, image: Image, load: Load) -> Result<PanelImage> {
        let vertices = self.room::<PanelVertex>("panel vertices", 4096)?;
        Ok(PanelImage {
            image,
            load,
            textures: Vec::new(),
            vertex_bindings: self.pipeline.bind(0, &[("vertices", &vertices)])?,
            vertices,
            indices: self.room::<u32>("panel indices", 3 * 4096)?,
            draws: Vec::new(),
            points: [1.0; 2],
            vertex_scratch: Vec::new(),
            index_scratch: Vec::new(),
            texel_scratch: Vec::new(),
        })
    }

    fn room<T>(&self, name: &str, count: usize) -> Result<Buffer> {
        Buffer::new(&self.device, name, (count * size_of::<T>()) as u64, Memory::Device)
    }

    /// Uploads vertices, indices and textures. These are copies: put a barrier before [`PanelPainter::draw`]. Buffers
    /// and textures that are too small are replaced; replacing a texture waits for the device. Nothing else is
    /// allocated.
    ///
    /// Fails if memory is short or a triangle refers to an unknown texture.
    pub fn upload(&self, frame: &mut Frame, panel: &mut PanelImage, paint: &PanelPaint) -> Result<()> {
        panel.textures.retain(|t| !paint.freed.contains(&t.id));
        for (id, delta) in &paint.textures {
            self.set_texture(frame, panel, *id, delta)?;
        }
        let ratio = paint.pixels_per_point;
        let pixels = panel.image.size();
        panel.points = pixels.map(|n| n as f32 / ratio);
        panel.draws.clear();
        panel.vertex_scratch.clear();
        panel.index_scratch.clear();
        for ClippedPrimitive { clip_rect, primitive } in &paint.primitives {
            // Paint callbacks need another graphics interface, which is not available here.
            let Primitive::Mesh(mesh) = primitive else { continue };
            if let Some((corner, size)) = scissor(*clip_rect, ratio, pixels) {
                panel.append(mesh, corner, size)?;
            }
        }
        if (panel.vertex_scratch.len() * size_of::<PanelVertex>()) as u64 > panel.vertices.bytes() {
            let count = panel.vertex_scratch.len().next_power_of_two();
            panel.vertices = self.room::<PanelVertex>("panel vertices", count)?;
            panel.vertex_bindings = self.pipeline.bind(0, &[("vertices", &panel.vertices)])?;
        }
        if size_of_val(panel.index_scratch.as_slice()) as u64 > panel.indices.bytes() {
            let count = panel.index_scratch.len().next_power_of_two();
            panel.indices = self.room::<u32>("panel indices", count)?;
        }
        frame.upload(&panel.vertices, 0, &panel.vertex_scratch);
        frame.upload(&panel.indices, 0, &panel.index_scratch);
        Ok(())
    }

    fn set_texture(
        &self,
        frame: &mut Frame,
        panel: &mut PanelImage,
        id: TextureId,
        delta: &ImageDelta,
    ) -> Result<()> {
        let ImageData::Color(picture) = &delta.image;
        let size = picture.size.map(|n| n as u32);
        if size.contains(&0) {
            return Ok(());
        }
        let known = panel.textures.iter().position(|t| t.id == id);
        let index = match (known, delta.pos) {
            (Some(index), Some(_)) => index,
            (None, Some(_)) => return Err(unknown(id)),
            (known, None) => {
                let fits = known.filter(|&i| (0..2).all(|k| panel.textures[i].image.size()[k] >= size[k]));
                let index = match fits {
                    Some(index) => index,
                    None => {
                        let larger = self.texture(id, size)?;
                        match known {
                            Some(index) => panel.textures[index] = larger,
                            None => panel.textures.push(larger),
                        }
                        known.unwrap_or(panel.textures.len() - 1)
                    }
                };
                panel.textures[index].size = size;
                index
            }
        };
        panel.texel_scratch.clear();
        panel.texel_scratch.extend(picture.pixels.iter().flat_map(|c| c.to_array()));
        let corner = delta.pos.unwrap_or_default().map(|n| n as u32);
        frame.upload_texels(&panel.textures[index].image, 0, corner, size, &panel.texel_scratch);
        // Two changes in one frame may write the same texels, hence the barrier.
        frame.barrier();
        Ok(())
    }

    fn texture(&self, id: TextureId, size: [u32; 2]) -> Result<Texture> {
        let room = [size[0], size[1].next_power_of_two().max(LEAST_ROWS)];
        let info = ImageInfo {
            name: "panel texture",
            format: FORMAT,
            size: room,
            layers: 1,
            levels: 1,
            usage: ImageUsageFlags::SAMPLED,
        };
        let image = Image::new(&self.device, &info)?;
        let bindings = self.pipeline.bind(1, &[("colors", Resource::Sampled(&image, &self.sampler))])?;
        Ok(Texture { id, image, size, bindings })
    }

    /// Paints the triangles of the latest [`PanelPainter::upload`] over the cleared or existing image. Put a barrier
    /// after it, before the image is read.
    pub fn draw(&self, frame: &mut Frame, panel: &PanelImage) {
        frame.render(&[(&panel.image, panel.load)], None, 1, |pass| {
            let mut bound = None;
            pass.indices(&panel.indices);
            for draw in &panel.draws {
                let texture = &panel.textures[draw.texture];
                if bound != Some(draw.texture) {
                    bound = Some(draw.texture);
                    let room = texture.image.size();
                    pass.bind(&self.pipeline, &[&panel.vertex_bindings, &texture.bindings]);
                    let uv_scale = std::array::from_fn(|i| texture.size[i] as f32 / room[i] as f32);
                    pass.push(&self.pipeline, &PanelPush { size: panel.points, uv_scale });
                }
                pass.scissor(draw.corner, draw.size);
                pass.draw_indexed(draw.first, draw.indices);
            }
        });
    }
}

impl PanelImage {
    /// Switches to painting over another image, e.g. for a window of another size. Textures are kept.
    pub fn paint_over(&mut self, picture: &Image) {
        self.image = picture.clone();
        self.load = Load::Keep;
    }

    fn append(&mut self, mesh: &Mesh, corner: [u32; 2], size: [u32; 2]) -> Result<()> {
        let id = mesh.texture_id;
        let texture = self.textures.iter().position(|t| t.id == id).ok_or_else(|| unknown(id))?;
        let base = self.vertex_scratch.len() as u32;
        let first = self.index_scratch.len() as u32;
        self.index_scratch.extend(mesh.indices.iter().map(|i| base + i));
        self.vertex_scratch.extend(mesh.vertices.iter().map(|v| PanelVertex {
            position: v.pos.into(),
            uv: v.uv.into(),
            color: u32::from_le_bytes(v.color.to_array()),
        }));
        self.draws.push(Draw { texture, corner, size, first, indices: mesh.indices.len() as u32 });
        Ok(())
    }
}

fn unknown(id: TextureId) -> Error {
    Error::gpu(
        format!("the panel's texture {id:?} was never given"),
        "this is a mistake in the program: report it",
    )
}

/// Returns the part of a clip rectangle inside the image, pixels; `None` if that part is empty.
fn scissor(clip: Rect, pixels_per_point: f32, pixels: [u32; 2]) -> Option<([u32; 2], [u32; 2])> {
    let bound = |v: f32, most: u32| ((v * pixels_per_point).round().max(0.0) as u32).min(most);
    let corner = [bound(clip.min.x, pixels[0]), bound(clip.min.y, pixels[1])];
    let end = [bound(clip.max.x, pixels[0]), bound(clip.max.y, pixels[1])];
    let inside = end[0] > corner[0] && end[1] > corner[1];
    inside.then(|| (corner, [end[0] - corner[0], end[1] - corner[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Spv;
    use egui::pos2;

    #[test]
    fn shaders_and_rust_agree_without_a_device() {
        let reflect = |spv: Spv| Reflection::new(spv.name, &spv.words().unwrap()).unwrap();
        check(&[reflect(spv!("render/panel.vert"))]).unwrap();
    }

    #[test]
    fn clip_rectangles_stay_inside_the_image() {
        let clip = |a: [f32; 2], b: [f32; 2]| {
            scissor(Rect::from_min_max(pos2(a[0], a[1]), pos2(b[0], b[1])), 2.0, [100, 50])
        };
        assert_eq!(clip([-9.0, 3.0], [20.0, 999.0]), Some(([0, 6], [40, 44])));
        assert_eq!(clip([60.0, 0.0], [70.0, 10.0]), None);
        assert_eq!(clip([5.0, 5.0], [5.0, 9.0]), None);
        assert_eq!(clip([f32::NEG_INFINITY; 2], [f32::INFINITY; 2]), Some(([0, 0], [100, 50])));
        assert_eq!(clip([f32::NAN; 2], [f32::NAN; 2]), None);
    }
}
