//! The file's materials, textures and images as plain data.

use crate::base::math::{Vec3, Vec4};
use crate::base::{ImageId, TextureId};

/// A metallic-roughness material.
#[derive(Clone, Debug)]
pub struct Material {
    /// Its name, or `material 0`.
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
    /// Linear RGB, the strength extension included.
    pub emissive: Vec3,
    /// Emissive texture (sRGB).
    pub emissive_texture: Option<TextureRef>,
    /// How alpha is used.
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
    /// Ignored.
    Opaque,
    /// Discard below this cutoff.
    Mask(f32),
    /// Blended.
    Blend,
}

/// A texture as a material uses it.
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
    /// Whether magnification is nearest.
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

/// A decoded image: RGBA8, rows from the top. A file that could not be decoded is 1x1 magenta and a problem.
#[derive(Clone, Debug)]
pub struct Image {
    /// Its name, or `image 0`.
    pub name: String,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// `4 * width * height` bytes.
    pub rgba: Vec<u8>,
}
