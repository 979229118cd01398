//! The file's materials, textures and images as plain data.

use crate::base::math::{Vec3, Vec4};
use crate::base::{ImageId, TextureId};

/// A metallic-roughness material.
#[derive(Clone, Debug)]
pub struct Material {
    /// Name, or `material 0` if unnamed.
    pub name: String,
    /// Base colour factor, linear RGBA.
    pub base_color: Vec4,
    /// Base colour texture (sRGB).
    pub base_color_texture: Option<TextureRef>,
    /// Metallic factor, 0..=1.
    pub metallic: f32,
    /// Roughness factor, 0..=1.
    pub roughness: f32,
    /// Metallic-roughness texture, linear: roughness in green, metallic in blue.
    pub metallic_roughness_texture: Option<TextureRef>,
    /// Tangent-space normal map (linear) and its scale.
    pub normal_texture: Option<(TextureRef, f32)>,
    /// Emissive factor, linear RGB, multiplied by the strength of KHR_materials_emissive_strength.
    pub emissive: Vec3,
    /// Emissive texture (sRGB).
    pub emissive_texture: Option<TextureRef>,
    /// Alpha mode.
    pub alpha: Alpha,
    /// Whether back faces are drawn.
    pub double_sided: bool,
    /// Whether the material is unlit (KHR_materials_unlit).
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

/// Alpha mode of a material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alpha {
    /// Alpha is ignored.
    Opaque,
    /// Fragments with alpha below this cutoff are discarded.
    Mask(f32),
    /// Alpha is used for blending.
    Blend,
}

/// A material's reference to a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureRef {
    /// The texture.
    pub texture: TextureId,
    /// Texture coordinate set: 0 for [`super::Primitive::uvs`], 1 for [`super::Primitive::uvs1`].
    pub uv_set: u32,
}

/// An image with a sampler.
#[derive(Clone, Debug)]
pub struct Texture {
    /// The image; `None` if the file has only an unsupported format.
    pub image: Option<ImageId>,
    /// Wrap modes in u and v.
    pub wrap: [Wrap; 2],
    /// Whether magnification uses nearest filtering.
    pub nearest: bool,
}

/// Texture coordinate wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// The texture repeats.
    Repeat,
    /// Coordinates are clamped to the edge.
    Clamp,
    /// The texture repeats mirrored.
    Mirror,
}

/// A decoded image, RGBA8, rows from the top. An undecodable image is 1x1 magenta and is reported as a problem.
#[derive(Clone, Debug)]
pub struct Image {
    /// Name, or `image 0` if unnamed.
    pub name: String,
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// Pixels, `4 * width * height` bytes.
    pub rgba: Vec<u8>,
}
