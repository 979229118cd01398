//! Materials in the memory layout that the shaders read.

use crate::asset::{Alpha, Asset, Material, TextureRef};
use crate::base::math::{Vec3, Vec4};
use crate::{shared_constants, shared_with_shaders};

shared_with_shaders! {
    /// A material, as declared in `glsl/types/material.glsl`.
    #[derive(Debug, PartialEq)]
    pub(super) struct GpuMaterial as "Material" {
        pub base_color: Vec4,
        pub emissive: Vec3,
        pub metallic: f32,
        pub roughness: f32,
        pub normal_scale: f32,
        pub alpha_cutoff: f32,
        pub flags: u32,
    }
}

shared_constants! {
    "types/material.glsl" {
        /// Material flag: fragments with alpha below the cutoff are discarded.
        const MATERIAL_MASK: u32 = 1;
        /// Material flag: the material is alpha-blended.
        const MATERIAL_BLEND: u32 = 2;
        /// Material flag: the base colour is shown without lighting.
        const MATERIAL_UNLIT: u32 = 4;
        /// Material flag: the material has a base colour texture.
        const MATERIAL_BASE_COLOR_TEXTURE: u32 = 8;
        /// Material flag: the material has a metallic-roughness texture.
        const MATERIAL_METALLIC_ROUGHNESS_TEXTURE: u32 = 16;
        /// Material flag: the material has a normal map.
        const MATERIAL_NORMAL_TEXTURE: u32 = 32;
        /// Material flag: the material has an emissive texture.
        const MATERIAL_EMISSIVE_TEXTURE: u32 = 64;
        /// Material flag: the base colour texture uses the second set of texture coordinates.
        const MATERIAL_BASE_COLOR_UV1: u32 = 128;
        /// Material flag: the metallic-roughness texture uses the second set of texture coordinates.
        const MATERIAL_METALLIC_ROUGHNESS_UV1: u32 = 256;
        /// Material flag: the normal map uses the second set of texture coordinates.
        const MATERIAL_NORMAL_UV1: u32 = 512;
        /// Material flag: the emissive texture uses the second set of texture coordinates.
        const MATERIAL_EMISSIVE_UV1: u32 = 1024;
    }
}

/// Indices into the array that [`textures`] returns.
pub(super) const BASE_COLOR: usize = 0;
pub(super) const METALLIC_ROUGHNESS: usize = 1;
pub(super) const NORMAL: usize = 2;
pub(super) const EMISSIVE: usize = 3;

/// Returns a material's textures in shader binding order; `None` for an absent texture or a missing image.
pub(super) fn textures(asset: &Asset, material: &Material) -> [Option<TextureRef>; 4] {
    [
        material.base_color_texture,
        material.metallic_roughness_texture,
        material.normal_texture.map(|(texture, _)| texture),
        material.emissive_texture,
    ]
    .map(|t| t.filter(|t| asset.textures[t.texture.index()].image.is_some()))
}

impl GpuMaterial {
    pub(super) fn new(asset: &Asset, material: &Material) -> Self {
        const BITS: [(u32, u32); 4] = [
            (MATERIAL_BASE_COLOR_TEXTURE, MATERIAL_BASE_COLOR_UV1),
            (MATERIAL_METALLIC_ROUGHNESS_TEXTURE, MATERIAL_METALLIC_ROUGHNESS_UV1),
            (MATERIAL_NORMAL_TEXTURE, MATERIAL_NORMAL_UV1),
            (MATERIAL_EMISSIVE_TEXTURE, MATERIAL_EMISSIVE_UV1),
        ];
        let (alpha_flag, alpha_cutoff) = match material.alpha {
            Alpha::Opaque => (0, 0.0),
            Alpha::Mask(cutoff) => (MATERIAL_MASK, cutoff),
            Alpha::Blend => (MATERIAL_BLEND, 0.0),
        };
        let mut flags = alpha_flag | if material.unlit { MATERIAL_UNLIT } else { 0 };
        for (texture, (there, second)) in textures(asset, material).iter().zip(BITS) {
            if let Some(texture) = texture {
                flags |= there | if texture.uv_set == 1 { second } else { 0 };
            }
        }
        Self {
            base_color: material.base_color,
            emissive: material.emissive,
            metallic: material.metallic,
            roughness: material.roughness,
            normal_scale: material.normal_texture.map_or(1.0, |(_, scale)| scale),
            alpha_cutoff,
            flags,
        }
    }
}
