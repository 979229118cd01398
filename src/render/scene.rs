//! A character's display mesh and materials on the device. The deformer provides the positions and normals.

use super::material::{GpuMaterial, textures};
use super::outline::OutlinedPart;
use super::texture;
use crate::asset::{Alpha, Asset, Image as Picture, Material, Wrap};
use crate::base::math::{Aabb, Vec3};
use crate::base::{Error, Result, Version};
use crate::deform::surface::hard_edges;
use crate::geom::DisplayMesh;
use crate::gpu::{Bindings, Buffer, Cull, Device, Frame, Image, Pass, Resource, Sampler};
use crate::shared_with_shaders;
use std::collections::HashMap;
use std::sync::Arc;

shared_with_shaders! {
    /// Vertex attributes, as declared in `glsl/types/material.glsl`.
    #[derive(Debug, PartialEq)]
    pub(super) struct Attributes as "Attributes" {
        pub uv0: [f32; 2],
        pub uv1: [f32; 2],
        pub color: [u32; 2],
        pub hard: f32,
    }

    /// Push constants of the passes that draw mesh parts.
    #[derive(Debug)]
    pub(super) struct PartPush as "Push" {
        pub part: u32,
        pub first_triangle: u32,
        pub material: u32,
    }
}

/// The deformed surface on the device: one `vec4` position (world space, metres) and one `vec4` normal per display
/// vertex.
///
/// The deformer writes these buffers. Tools without a deformer upload into them.
#[derive(Clone, Debug)]
pub struct SurfaceBuffers {
    /// Positions; shaders ignore the fourth component.
    pub positions: Buffer,
    /// Unit normals; shaders ignore the fourth component.
    pub normals: Buffer,
}

impl SurfaceBuffers {
    /// Creates buffers with these positions and normals.
    pub fn from_slices(device: &Arc<Device>, positions: &[Vec3], normals: &[Vec3]) -> Result<Self> {
        Ok(Self {
            positions: Buffer::from_slice(device, "display positions", &padded(positions))?,
            normals: Buffer::from_slice(device, "display normals", &padded(normals))?,
        })
    }

    /// Replaces the surface within a frame. This is a copy: put a phase or barrier before the surface is drawn.
    pub fn upload(&self, frame: &mut Frame, positions: &[Vec3], normals: &[Vec3]) {
        frame.upload(&self.positions, 0, &padded(positions));
        frame.upload(&self.normals, 0, &padded(normals));
    }
}

fn padded(vectors: &[Vec3]) -> Vec<[f32; 4]> {
    vectors.iter().map(|v| [v.x, v.y, v.z, 0.0]).collect()
}

/// A range of the mesh's triangles with one material.
pub(super) struct DrawPart {
    pub id: u32,
    pub first_triangle: u32,
    pub triangles: u32,
    pub material: u32,
}

/// A character's mesh, materials and textures on the device, ready to draw.
pub struct Scene {
    /// The surface to draw.
    pub surface: SurfaceBuffers,
    /// Bounding box of the current pose, metres, for lights, floor and framing. The caller updates it with the pose.
    pub bounds: Aabb,
    /// Version of the shape that the surface holds. A caller that gives each new shape a new version saves the shadow map
    /// of frames without one; with the default value, every frame may have a new shape.
    pub shape: Version,
    /// Diagonal of the bounding box of the bind pose, metres.
    pub(super) rest_size: f32,
    pub(super) triangles: Buffer,
    pub(super) attributes: Buffer,
    paint: Buffer,
    pub(super) materials: Buffer,
    /// Whether each material is double-sided, i.e. drawn without culling. The last entry is glTF's default material.
    pub(super) double_sided: Vec<bool>,
    /// Whether each material is alpha-tested or alpha-blended, and therefore may discard fragments or samples.
    pub(super) cut_out: Vec<bool>,
    pub(super) textures: Vec<[(Image, Sampler); 4]>,
    pub(super) parts: Vec<DrawPart>,
    /// Whether each part of the display mesh is hidden. Pictures, shadows and queries ignore hidden parts.
    hidden: Vec<bool>,
    /// The outlined part, if it may have one.
    pub(super) outlined: Option<OutlinedPart>,
    /// Triangles for probes: as `triangles`, but those of hidden parts have no area.
    probed: Buffer,
}

impl Scene {
    /// Uploads a display mesh and the materials and textures of its asset. `bounds` is initially the bounding box of
    /// the bind pose. The surface buffers must hold one entry per display vertex. Fails if memory is short.
    pub fn new(
        device: &Arc<Device>,
        asset: &Asset,
        display: &DisplayMesh,
        surface: &SurfaceBuffers,
    ) -> Result<Self> {
        let needed = display.positions.len() as u64 * 16;
        if surface.positions.bytes() < needed || surface.normals.bytes() < needed {
            return Err(Error::gpu(
                format!("{:?} and {:?} hold fewer than {needed} bytes", surface.positions, surface.normals),
                "give buffers with one vec4 per display vertex",
            ));
        }
        let default = Material { metallic: 0.0, roughness: 0.7, ..Material::default() };
        let materials: Vec<&Material> = asset.materials.iter().chain([&default]).collect();
        let gpu: Vec<GpuMaterial> = materials.iter().map(|m| GpuMaterial::new(asset, m)).collect();
        let mut cache = TextureCache::new(device)?;
        let textures = materials.iter().map(|m| cache.of(asset, m)).collect::<Result<Vec<_>>>()?;
        let parts = display
            .parts
            .iter()
            .enumerate()
            .map(|(index, part)| DrawPart {
                id: index as u32,
                first_triangle: part.triangles.start,
                triangles: part.triangles.len() as u32,
                material: part.material.map_or(asset.materials.len() as u32, |m| m.0),
            })
            .filter(|part| part.triangles > 0)
            .collect();
        let bounds = Aabb::of(display.positions.iter().copied());
        Ok(Self {
            surface: surface.clone(),
            bounds,
            shape: Version::default(),
            rest_size: bounds.diagonal(),
            triangles: Buffer::from_slice(device, "display triangles", &display.triangles)?,
            attributes: Buffer::from_slice(device, "display attributes", &attributes(display))?,
            paint: Buffer::from_slice(device, "paint", &vec![0u32; display.positions.len().max(1)])?,
            materials: Buffer::from_slice(device, "materials", &gpu)?,
            double_sided: materials.iter().map(|m| m.double_sided).collect(),
            cut_out: materials.iter().map(|m| m.alpha != Alpha::Opaque).collect(),
            textures,
            parts,
            hidden: vec![false; display.parts.len()],
            outlined: None,
            probed: Buffer::from_slice(device, "probed triangles", &display.triangles)?,
        })
    }

    /// Hides these parts of the display mesh, by index, and shows all others. Unknown indices are ignored. Returns whether
    /// anything changed; then record [`Scene::hide_from_probes`] before the next probe.
    pub fn hide(&mut self, hidden: &[u32]) -> bool {
        let mut changed = false;
        for (index, now) in self.hidden.iter_mut().enumerate() {
            let new = hidden.contains(&(index as u32));
            changed |= std::mem::replace(now, new) != new;
        }
        if changed && self.shape != Version::default() {
            self.shape = Version::new();
        }
        changed
    }

    /// Returns whether a part of the display mesh is hidden.
    pub(super) fn is_hidden(&self, part: u32) -> bool {
        self.hidden.get(part as usize).is_some_and(|hidden| *hidden)
    }

    /// Records the upload of the triangles that probes see. This is a copy: put a phase or barrier before the probes.
    pub fn hide_from_probes(&self, frame: &mut Frame, display: &DisplayMesh) {
        let mut triangles = display.triangles.clone();
        for (part, _) in display.parts.iter().zip(&self.hidden).filter(|p| *p.1) {
            triangles[part.triangles.start as usize..part.triangles.end as usize].fill([0; 3]);
        }
        frame.upload(&self.probed, 0, &triangles);
    }

    /// Returns the index buffer of the triangles that probes see.
    pub(super) fn probed(&self) -> &Buffer {
        &self.probed
    }

    /// Records the upload of a colour over the material's colour for every display vertex: linear RGBA8, red in the lowest
    /// bits, alpha 0 for none. This is a copy: put a phase or barrier before the surface is drawn.
    pub fn paint(&self, frame: &mut Frame, colors: &[u32]) {
        frame.upload(&self.paint, 0, colors);
    }

    /// Returns the colours of [`Scene::paint`].
    pub fn paint_buffer(&self) -> &Buffer {
        &self.paint
    }

    /// Returns the index buffer of the display mesh: three `u32` per triangle.
    pub fn triangles(&self) -> &Buffer {
        &self.triangles
    }

    /// Returns the number of triangles in all drawn parts.
    pub(super) fn triangle_count(&self) -> u32 {
        self.parts.iter().map(|p| p.first_triangle + p.triangles).max().unwrap_or(0)
    }

    /// Returns the part index of each triangle, and the number of triangles. The top bit of a part index is set if the
    /// part's material is double-sided.
    pub(super) fn part_of_triangle(&self) -> (Vec<u32>, u32) {
        let count = self.triangle_count();
        let mut out = vec![0; count as usize];
        for part in &self.parts {
            let both = u32::from(self.double_sided[part.material as usize]) << 31;
            let range = part.first_triangle as usize..(part.first_triangle + part.triangles) as usize;
            out[range].fill(part.id | both);
        }
        (out, count)
    }

    /// Draws every part that is not hidden. `bind` sets the bindings of a material; `push` sets a part's push constants.
    pub(super) fn draw(
        &self,
        pass: &mut Pass<'_>,
        all_sides: bool,
        mut bind: impl FnMut(&mut Pass<'_>, usize),
        mut push: impl FnMut(&mut Pass<'_>, &PartPush),
    ) {
        pass.indices(&self.triangles);
        let mut bound = None;
        for part in self.parts.iter().filter(|p| !self.hidden[p.id as usize]) {
            let material = part.material as usize;
            if bound != Some(material) {
                bound = Some(material);
                let both = all_sides || self.double_sided[material];
                pass.cull(if both { Cull::None } else { Cull::Back });
                bind(pass, material);
            }
            push(
                pass,
                &PartPush { part: part.id, first_triangle: part.first_triangle, material: part.material },
            );
            pass.draw_indexed(part.first_triangle * 3, part.triangles * 3);
        }
    }

    /// Creates one descriptor set per material; `bind` creates it from the material's four textures.
    pub(super) fn material_sets(
        &self,
        names: &[(&str, usize)],
        bind: impl Fn(&[(&str, Resource<'_>)]) -> Result<Bindings>,
    ) -> Result<Vec<Bindings>> {
        self.textures
            .iter()
            .map(|textures| {
                let resources: Vec<_> = names
                    .iter()
                    .map(|&(name, index)| {
                        let (image, sampler) = &textures[index];
                        (name, Resource::Sampled(image, sampler))
                    })
                    .collect();
                bind(&resources)
            })
            .collect()
    }
}

fn attributes(display: &DisplayMesh) -> Vec<Attributes> {
    let hard = hard_edges(display);
    (0..display.positions.len())
        .map(|v| Attributes {
            hard: f32::from(u8::from(hard[v])),
            uv0: display.uvs.get(v).copied().unwrap_or_default().into(),
            uv1: display.uvs1.get(v).copied().unwrap_or_default().into(),
            color: halves(display.colors.get(v).map_or([1.0; 4], |c| c.to_array())),
        })
        .collect()
}

/// Packs four numbers as half floats, the first in the lowest bits.
fn halves(c: [f32; 4]) -> [u32; 2] {
    let h = c.map(|v| u32::from(half_from(v.clamp(0.0, 65504.0))));
    [h[0] | h[1] << 16, h[2] | h[3] << 16]
}

/// Converts a finite, non-negative float to an IEEE half float, rounded to nearest; tiny values become zero.
fn half_from(v: f32) -> u16 {
    // 2^-14 is the smallest normal half float.
    if v < 6.103_515_6e-5 {
        return 0;
    }
    // Change the bias of the exponent from 127 to 15. Round the mantissa (half up) and drop its lowest 13 bits.
    let bits = v.to_bits() + 0x1000;
    (((bits >> 23) - 112) << 10 | (bits >> 13) & 0x3ff).min(0x7bff) as u16
}

/// Caches textures by image and colour space, and samplers by texture. A white texel replaces missing images.
struct TextureCache<'a> {
    device: &'a Arc<Device>,
    white: (Image, Sampler),
    images: HashMap<(u32, bool), Image>,
    samplers: HashMap<u32, Sampler>,
}

impl<'a> TextureCache<'a> {
    fn new(device: &'a Arc<Device>) -> Result<Self> {
        let white = Picture { name: "white".into(), width: 1, height: 1, rgba: vec![255; 4] };
        let white =
            (texture::upload(device, &white, true)?, texture::sampler(device, [Wrap::Repeat; 2], false)?);
        Ok(Self { device, white, images: HashMap::new(), samplers: HashMap::new() })
    }

    fn of(&mut self, asset: &Asset, material: &Material) -> Result<[(Image, Sampler); 4]> {
        let mut out = std::array::from_fn(|_| self.white.clone());
        // Base colour and emission are sRGB; normals and metallic-roughness are linear data.
        let srgb = [true, false, false, true];
        for ((slot, reference), srgb) in out.iter_mut().zip(textures(asset, material)).zip(srgb) {
            let Some(reference) = reference else { continue };
            let described = &asset.textures[reference.texture.index()];
            let Some(picture) = described.image else { continue };
            let image = match self.images.get(&(picture.0, srgb)) {
                Some(image) => image.clone(),
                None => {
                    let image = texture::upload(self.device, &asset.images[picture.index()], srgb)?;
                    self.images.insert((picture.0, srgb), image.clone());
                    image
                }
            };
            let sampler = match self.samplers.get(&reference.texture.0) {
                Some(sampler) => sampler.clone(),
                None => {
                    let sampler = texture::sampler(self.device, described.wrap, described.nearest)?;
                    self.samplers.insert(reference.texture.0, sampler.clone());
                    sampler
                }
            };
            *slot = (image, sampler);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_exact_where_a_half_can_be() {
        let known = [
            (0.0, 0u16),
            (1.0, 0x3c00),
            (0.5, 0x3800),
            (2.0, 0x4000),
            (65504.0, 0x7bff),
            (1.0 / 3.0, 0x3555),
        ];
        for (value, half) in known {
            assert_eq!(half_from(value), half, "{value}");
        }
        assert_eq!(half_from(0.999_99), 0x3c00);
        assert_eq!(halves([1.0, 0.0, 0.5, 1.0]), [0x3c00, 0x3c00_3800]);
    }
}
