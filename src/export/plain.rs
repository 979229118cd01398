//! Writes an asset that was made in memory, without a source file, as glTF.

use super::influences::write_sets;
use super::targets::write_channels;
use super::{Builder, Usage, number, numbers};
use crate::asset::{Alpha, Asset, Image, Material, Mesh, Primitive, Texture, TextureRef, Wrap};
use crate::base::math::Trs;
use crate::base::{Error, Result};
use serde_json::{Value, json};

impl Builder {
    /// Creates a file for an in-memory asset: scene, nodes, meshes, morph targets, skins, clips, materials, textures.
    ///
    /// # Errors
    /// [`Error::Input`] if an image's pixels are not `4 * width * height` bytes.
    pub fn from_asset(asset: &Asset) -> Result<Self> {
        let mut b = Self::new(&asset.path);
        if !asset.roots.is_empty() {
            let roots: Vec<u32> = asset.roots.iter().map(|r| r.0).collect();
            b.json["scene"] = 0.into();
            b.push("scenes", json!({ "nodes": roots }));
        }
        for node in &asset.nodes {
            let value = write_node(node);
            b.push("nodes", value);
        }
        for mesh in &asset.meshes {
            let value = write_mesh(&mut b, mesh);
            b.push("meshes", value);
        }
        for skin in &asset.skins {
            let matrices: Vec<f32> = skin.inverse_bind.iter().flat_map(|m| m.to_cols_array()).collect();
            let matrices = b.floats(&matrices, 16, Usage::Other, false);
            let joints: Vec<u32> = skin.joints.iter().map(|j| j.0).collect();
            b.push("skins", json!({ "name": skin.name, "joints": joints, "inverseBindMatrices": matrices }));
        }
        for clip in asset.clips.iter().filter(|c| !c.channels.is_empty()) {
            write_channels(&mut b, &clip.name, &clip.channels);
        }
        for material in &asset.materials {
            let value = write_material(&mut b, material);
            b.push("materials", value);
        }
        for texture in &asset.textures {
            write_texture(&mut b, texture);
        }
        for image in &asset.images {
            let view = b.view(&png(image)?, Usage::Other);
            b.push("images", json!({ "name": image.name, "bufferView": view, "mimeType": "image/png" }));
        }
        Ok(b)
    }
}

fn write_node(node: &crate::asset::Node) -> Value {
    let mut out = json!({ "name": node.name });
    if !node.children.is_empty() {
        out["children"] = node.children.iter().map(|c| c.0).collect::<Vec<_>>().into();
    }
    let rest = Trs::IDENTITY;
    match node.matrix {
        Some(matrix) => out["matrix"] = numbers(&matrix.to_cols_array()),
        None => {
            for (name, value, default) in [
                ("translation", &node.rest.translation[..], &rest.translation[..]),
                ("rotation", &node.rest.rotation, &rest.rotation),
                ("scale", &node.rest.scale, &rest.scale),
            ] {
                if value != default {
                    out[name] = numbers(value);
                }
            }
        }
    }
    if let Some(mesh) = node.mesh {
        out["mesh"] = mesh.0.into();
    }
    if let Some(skin) = node.skin {
        out["skin"] = skin.0.into();
    }
    if !node.weights.is_empty() {
        out["weights"] = numbers(&node.weights);
    }
    out
}

fn write_mesh(b: &mut Builder, mesh: &Mesh) -> Value {
    let primitives: Vec<Value> = mesh.primitives.iter().map(|p| write_primitive(b, p)).collect();
    let mut out = json!({ "name": mesh.name, "primitives": primitives });
    let morphs = mesh.primitives.first().map_or(&[][..], |p| &p.morphs);
    if !morphs.is_empty() {
        out["extras"]["targetNames"] = morphs.iter().map(|m| m.name.clone()).collect::<Vec<_>>().into();
    }
    out
}

fn write_primitive(b: &mut Builder, p: &Primitive) -> Value {
    let mut attributes =
        json!({ "POSITION": b.vec3(&p.positions, true), "NORMAL": b.vec3(&p.normals, false) });
    for (name, uvs) in [("TEXCOORD_0", &p.uvs), ("TEXCOORD_1", &p.uvs1)] {
        if uvs.iter().any(|uv| uv.length_squared() > 0.0) {
            attributes[name] = b.floats(bytemuck::cast_slice(uvs), 2, Usage::Vertices, false).into();
        }
    }
    if !p.colors.is_empty() {
        attributes["COLOR_0"] = b.floats(bytemuck::cast_slice(&p.colors), 4, Usage::Vertices, false).into();
    }
    for (name, accessor) in write_sets(b, &p.influences, p.positions.len()) {
        attributes[name] = accessor;
    }
    let mut out = json!({ "attributes": attributes, "indices": b.indices(&p.triangles) });
    if let Some(material) = p.material {
        out["material"] = material.0.into();
    }
    for morph in &p.morphs {
        let nonzero = |d: &[crate::base::math::Vec3]| -> Vec<(u32, crate::base::math::Vec3)> {
            d.iter().enumerate().filter(|e| e.1.length_squared() > 0.0).map(|(i, d)| (i as u32, *d)).collect()
        };
        let mut target =
            json!({ "POSITION": b.displacements(p.positions.len(), &nonzero(&morph.positions)) });
        if !morph.normals.is_empty() {
            target["NORMAL"] = b.displacements(p.positions.len(), &nonzero(&morph.normals)).into();
        }
        match out.get_mut("targets").and_then(Value::as_array_mut) {
            Some(targets) => targets.push(target),
            None => out["targets"] = json!([target]),
        }
    }
    out
}

fn write_material(b: &mut Builder, m: &Material) -> Value {
    let reference = |t: &TextureRef| json!({ "index": t.texture.0, "texCoord": t.uv_set });
    let mut out = json!({ "name": m.name, "pbrMetallicRoughness": {
        "baseColorFactor": numbers(&m.base_color.to_array()),
        "metallicFactor": number(m.metallic),
        "roughnessFactor": number(m.roughness),
    } });
    if let Some(t) = &m.base_color_texture {
        out["pbrMetallicRoughness"]["baseColorTexture"] = reference(t);
    }
    if let Some(t) = &m.metallic_roughness_texture {
        out["pbrMetallicRoughness"]["metallicRoughnessTexture"] = reference(t);
    }
    if let Some((t, scale)) = &m.normal_texture {
        out["normalTexture"] = reference(t);
        out["normalTexture"]["scale"] = number(*scale);
    }
    if let Some(t) = &m.emissive_texture {
        out["emissiveTexture"] = reference(t);
    }
    let strength = m.emissive.max_element().max(1.0);
    if m.emissive.max_element() > 0.0 {
        out["emissiveFactor"] = numbers(&(m.emissive / strength).to_array());
    }
    if strength > 1.0 {
        out["extensions"]["KHR_materials_emissive_strength"] =
            json!({ "emissiveStrength": number(strength) });
        b.use_extension("KHR_materials_emissive_strength");
    }
    if m.unlit {
        out["extensions"]["KHR_materials_unlit"] = json!({});
        b.use_extension("KHR_materials_unlit");
    }
    match m.alpha {
        Alpha::Opaque => {}
        Alpha::Blend => out["alphaMode"] = "BLEND".into(),
        Alpha::Mask(cutoff) => {
            out["alphaMode"] = "MASK".into();
            out["alphaCutoff"] = number(cutoff);
        }
    }
    if m.double_sided {
        out["doubleSided"] = true.into();
    }
    out
}

fn write_texture(b: &mut Builder, texture: &Texture) {
    let wrap = texture.wrap.map(|w| match w {
        Wrap::Repeat => 10497,
        Wrap::Clamp => 33071,
        Wrap::Mirror => 33648,
    });
    let filter = if texture.nearest { 9728 } else { 9729 };
    let sampler = b.push("samplers", json!({ "magFilter": filter, "wrapS": wrap[0], "wrapT": wrap[1] }));
    let mut out = json!({ "sampler": sampler });
    if let Some(image) = texture.image {
        out["source"] = image.0.into();
    }
    b.push("textures", out);
}

fn png(image: &Image) -> Result<Vec<u8>> {
    let wrong =
        |problem: String| Error::input(format!("image \"{}\": {problem}", image.name), "decode it again");
    let pixels = image::RgbaImage::from_raw(image.width, image.height, image.rgba.clone())
        .ok_or_else(|| wrong(format!("its pixels are not {} x {}", image.width, image.height)))?;
    let mut out = std::io::Cursor::new(Vec::new());
    pixels.write_to(&mut out, image::ImageFormat::Png).map_err(|e| wrong(e.to_string()))?;
    Ok(out.into_inner())
}
