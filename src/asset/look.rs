//! The file's materials, textures and images as plain data.

use crate::base::math::{Vec3, Vec4};
use crate::base::{ImageId, TextureId};

/// A metallic-roughness material.
#[derive(Clone, Debug)]
pub struct Material {
    /// Name, or `material 0` if the file has none.
    pub name: String,
    /// Linear RGBA factor.
    pub base_color: Vec4,
    /// Base colour texture (sRGB).
    pub base_color_texture: Option<TextureRef>,
    /// Factor in 0..=1.
    pub metallic: f32,
    /// Factor in 0..=1.
    pub roughness: f32,
    /// Green roughness, blue metallic, linear.
    pub metallic_roughness_texture: Option<TextureRef>,
    /// Tangent-space normal map, linear, and its scale.
    pub normal_texture: Option<(TextureRef, f32)>,
    /// Linear RGB, including the strength extension.
    pub emissive: Vec3,
    /// Emissive texture (sRGB).
    pub emissive_texture: Option<TextureRef>,
    /// The use of alpha.
    pub alpha: Alpha,
    /// Whether back faces are drawn.
    pub double_sided: bool,
    /// KHR_materials_unlit.
    pub unlit: bool,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: "default".into(),
            base_color: Vec4::ONE,
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            emissive: Vec3::ZERO,
            emissive_texture: None,
            alpha: Alpha::Opaque,
            double_sided: false,
            unlit: false,
        }
    }
}

/// A material's use of alpha.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alpha {
    /// Alpha is ignored.
    Opaque,
    /// Fragments with alpha below this cutoff are discarded.
    Mask(f32),
    /// Alpha blending.
    Blend,
}

/// A material's reference to a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureRef {
    /// The texture.
    pub texture: TextureId,
    /// 0 for [`super::Primitive::uvs`], 1 for [`super::Primitive::uvs1`].
    pub uv_set: u32,
}

/// An image with a sampler.
#[derive(Clone, Debug)]
pub struct Texture {
    /// The image, `None` if only an unsupported format is given.
    pub image: Option<ImageId>,
    /// Wrap modes in u and v.
    pub wrap: [Wrap; 2],
    /// Whether magnification uses nearest filtering.
    pub nearest: bool,
}

/// Texture coordinate wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// Repeat.
    Repeat,
    /// Clamp to the edge.
    Clamp,
    /// Mirrored repeat.
    Mirror,
}

/// A decoded image: RGBA8, rows from the top. An image that could not be decoded is 1x1 magenta and a problem.
#[derive(Clone, Debug)]
pub struct Image {
    /// Name, or `image 0` if the file has none.
    pub name: String,
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// `4 * width * height` bytes.
    pub rgba: Vec<u8>,
}
