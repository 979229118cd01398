//! Reads materials and textures. They do not affect the geometry, so flaws are repaired and reported.

use super::context::Context;
use super::item::Item;
use crate::asset::{Alpha, Material, Primitive, Texture, TextureRef, Wrap};
use crate::base::math::{Vec2, Vec3, Vec4};
use crate::base::{ImageId, Result, TextureId};

/// A material with the transforms of texture coordinates that its textures require.
pub(super) struct Look {
    pub material: Material,
    /// KHR_texture_transform per texture coordinate set. The first texture on a set determines the set's transform;
    /// `None` if no texture uses the set.
    transforms: [Option<Transform>; 2],
    /// Whether textures on one coordinate set require different transforms.
    mixed: bool,
}

/// KHR_texture_transform: `uv' = offset + rotation * scale * uv`.
#[derive(Clone, Copy, PartialEq)]
struct Transform {
    offset: Vec2,
    rotation: f32,
    scale: Vec2,
}

impl Transform {
    const IDENTITY: Self = Self { offset: Vec2::ZERO, rotation: 0.0, scale: Vec2::ONE };

    fn apply(&self, uv: Vec2) -> Vec2 {
        let (sin, cos) = self.rotation.sin_cos();
        let scaled = uv * self.scale;
        // The extension rotates anticlockwise in a space whose v axis points down.
        self.offset + Vec2::new(cos * scaled.x + sin * scaled.y, cos * scaled.y - sin * scaled.x)
    }
}

impl Look {
    /// Applies the material's texture transforms to the primitive's texture coordinates.
    pub fn transform_uvs(&self, item: &Item, primitive: &mut Primitive) {
        for (uvs, transform) in [&mut primitive.uvs, &mut primitive.uvs1].into_iter().zip(self.transforms) {
            let Some(transform) = transform.filter(|t| *t != Transform::IDENTITY) else { continue };
            for uv in uvs.iter_mut() {
                let moved = transform.apply(*uv);
                *uv = if moved.is_finite() { moved } else { Vec2::ZERO };
            }
        }
        if self.mixed {
            item.mend(format!(
                "the textures of material \"{}\" have different texture transforms; one was used for all",
                self.material.name
            ));
        }
    }
}

/// Reads all textures of the file.
pub(super) fn textures(ctx: &Context, images: usize) -> Result<Vec<Texture>> {
    let samplers = ctx.items("samplers", "sampler")?;
    let mut textures = Vec::new();
    for item in ctx.items("textures", "texture")? {
        let webp = item.extension("EXT_texture_webp");
        let source = match webp.map(|e| e.index("source", images, "image")).transpose()?.flatten() {
            Some(source) => Some(source),
            None => item.index("source", images, "image")?,
        };
        // Without a supported source, the texture refers to an undecodable image, which is magenta.
        let source = match source {
            Some(source) => Some(source),
            None => super::images::foreign_source(&item, images)?,
        };
        if source.is_none() {
            item.mend("it has no image and is not shown");
        }
        let sampler = item.index("sampler", samplers.len(), "sampler")?.map(|index| &samplers[index]);
        let (wrap, nearest) = match sampler {
            None => ([Wrap::Repeat; 2], false),
            Some(s) => ([wrap(s, "wrapS")?, wrap(s, "wrapT")?], s.whole("magFilter")? == Some(9728)),
        };
        textures.push(Texture { image: source.map(ImageId::from), wrap, nearest });
    }
    Ok(textures)
}

fn wrap(item: &Item, key: &str) -> Result<Wrap> {
    Ok(match item.whole(key)? {
        None | Some(10497) => Wrap::Repeat,
        Some(33071) => Wrap::Clamp,
        Some(33648) => Wrap::Mirror,
        Some(other) => {
            item.mend(format!("{key} {other} is unknown; the texture repeats"));
            Wrap::Repeat
        }
    })
}

/// Reads all materials of the file.
pub(super) fn materials(ctx: &Context, textures: &[Texture]) -> Result<Vec<Look>> {
    let items = ctx.items("materials", "material")?;
    items.iter().enumerate().map(|(index, item)| material(item, index, textures.len())).collect()
}

fn material(item: &Item, index: usize, textures: usize) -> Result<Look> {
    let mut reader = TextureReader { textures, transforms: [None; 2], mixed: false };
    let mut out = Material { name: item.name("material", index), ..Material::default() };
    if let Some(pbr) = item.child("pbrMetallicRoughness")? {
        out.base_color = factor(&pbr, "baseColorFactor")?;
        out.metallic = unit(&pbr, "metallicFactor", 1.0)?;
        out.roughness = unit(&pbr, "roughnessFactor", 1.0)?;
        out.base_color_texture = reader.read(&pbr, "baseColorTexture")?.map(|t| t.0);
        out.metallic_roughness_texture = reader.read(&pbr, "metallicRoughnessTexture")?.map(|t| t.0);
    } else if let Some(gloss) = item.extension("KHR_materials_pbrSpecularGlossiness") {
        item.mend("specular-glossiness was approximated: its specular colour is not shown");
        out.base_color = factor(&gloss, "diffuseFactor")?;
        out.metallic = 0.0;
        out.roughness = 1.0 - unit(&gloss, "glossinessFactor", 1.0)?;
        out.base_color_texture = reader.read(&gloss, "diffuseTexture")?.map(|t| t.0);
    }
    if let Some((texture, info)) = reader.read(item, "normalTexture")? {
        out.normal_texture = Some((texture, info.float("scale")?.unwrap_or(1.0)));
    }
    out.emissive_texture = reader.read(item, "emissiveTexture")?.map(|t| t.0);
    out.emissive = Vec3::from(item.fixed::<3>("emissiveFactor")?.unwrap_or([0.0; 3])).max(Vec3::ZERO);
    if let Some(strength) = item.extension("KHR_materials_emissive_strength") {
        let strong = out.emissive * strength.float("emissiveStrength")?.unwrap_or(1.0).max(0.0);
        out.emissive = if strong.is_finite() { strong } else { out.emissive };
    }
    out.unlit = item.extension("KHR_materials_unlit").is_some();
    out.double_sided = item.flag("doubleSided")?;
    out.alpha = match item.text("alphaMode")? {
        None | Some("OPAQUE") => Alpha::Opaque,
        Some("MASK") => Alpha::Mask(item.float("alphaCutoff")?.unwrap_or(0.5)),
        Some("BLEND") => Alpha::Blend,
        Some(other) => {
            item.mend(format!("its alphaMode \"{other}\" is unknown; it is drawn opaque"));
            Alpha::Opaque
        }
    };
    Ok(Look { material: out, transforms: reader.transforms, mixed: reader.mixed })
}

fn factor(item: &Item, key: &str) -> Result<Vec4> {
    Ok(Vec4::from(item.fixed::<4>(key)?.unwrap_or([1.0; 4])).max(Vec4::ZERO))
}

fn unit(item: &Item, key: &str, default: f32) -> Result<f32> {
    Ok(item.float(key)?.unwrap_or(default).clamp(0.0, 1.0))
}

/// Reads a material's texture references and collects their transforms.
struct TextureReader {
    textures: usize,
    transforms: [Option<Transform>; 2],
    mixed: bool,
}

impl TextureReader {
    fn read<'c>(&mut self, item: &Item<'c>, key: &str) -> Result<Option<(TextureRef, Item<'c>)>> {
        let Some(info) = item.child(key)? else { return Ok(None) };
        let texture = info
            .index("index", self.textures, "texture")?
            .ok_or_else(|| info.broken("\"index\" is missing"))?;
        let mut set = info.whole("texCoord")?.unwrap_or(0);
        let mut transform = Transform::IDENTITY;
        if let Some(own) = info.extension("KHR_texture_transform") {
            transform.offset = own.fixed::<2>("offset")?.map_or(transform.offset, Vec2::from);
            transform.rotation = own.float("rotation")?.unwrap_or(0.0);
            transform.scale = own.fixed::<2>("scale")?.map_or(transform.scale, Vec2::from);
            set = own.whole("texCoord")?.unwrap_or(set);
        }
        if set > 1 {
            info.mend(format!("it uses TEXCOORD_{set}; only the first two are shown, it is left out"));
            return Ok(None);
        }
        let slot = &mut self.transforms[set as usize];
        self.mixed |= slot.is_some_and(|other| other != transform);
        slot.get_or_insert(transform);
        Ok(Some((TextureRef { texture: TextureId::from(texture), uv_set: set as u32 }, info)))
    }
}
