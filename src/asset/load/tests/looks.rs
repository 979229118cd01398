use super::builder::everything;
use super::told;
use crate::asset::{Alpha, Wrap};
use crate::base::math::{Vec2, Vec3, Vec4};
use serde_json::json;

#[test]
fn materials_and_textures_are_read() {
    let mut b = everything();
    b.push("samplers", json!({"magFilter": 9728, "wrapS": 33071, "wrapT": 33648}));
    b.json["textures"][0]["sampler"] = json!(0);
    b.json["materials"][0] = json!({"name": "skin", "doubleSided": true, "alphaMode": "MASK", "alphaCutoff": 0.25,
        "emissiveFactor": [0.5, 1.0, 0.0], "normalTexture": {"index": 0, "scale": 0.5, "texCoord": 1},
        "pbrMetallicRoughness": {"baseColorFactor": [0.5, 0.25, 1, 0.5], "metallicFactor": 0.25, "roughnessFactor": 0.75},
        "extensions": {"KHR_materials_unlit": {}, "KHR_materials_emissive_strength": {"emissiveStrength": 4.0}}});
    let asset = b.load().unwrap();
    let material = &asset.materials[0];
    assert_eq!((material.name.as_str(), material.alpha), ("skin", Alpha::Mask(0.25)));
    assert_eq!(material.base_color, Vec4::new(0.5, 0.25, 1.0, 0.5));
    assert_eq!((material.metallic, material.roughness), (0.25, 0.75));
    assert_eq!(material.emissive, Vec3::new(2.0, 4.0, 0.0));
    assert!(material.unlit && material.double_sided && material.base_color_texture.is_none());
    assert_eq!(material.normal_texture.unwrap().0.uv_set, 1);
    assert_eq!(asset.textures[0].wrap, [Wrap::Clamp, Wrap::Mirror]);
    assert!(asset.textures[0].nearest);
    assert_eq!((asset.images[0].width, asset.images[0].rgba[4..].to_vec()), (2, vec![200, 100, 1, 255]));
}

#[test]
fn texture_transforms_move_the_coordinates() {
    let mut b = everything();
    b.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["extensions"] = json!({
        "KHR_texture_transform": {"offset": [0.5, 0.25], "rotation": std::f32::consts::FRAC_PI_2, "scale": [2, 4]}});
    let asset = b.load().unwrap();
    // A rotation by 90 degrees maps (1, 0) * scale to (0, -2) and (0, 1) * scale to (4, 0).
    let uvs = &asset.meshes[0].primitives[0].uvs;
    assert!(uvs[1].distance(Vec2::new(0.5, -1.75)) < 1e-5, "{}", uvs[1]);
    assert!(uvs[3].distance(Vec2::new(4.5, 0.25)) < 1e-5, "{}", uvs[3]);
    b.json["materials"][0]["emissiveTexture"] = json!({"index": 0});
    assert!(told(&b.load().unwrap(), "square", "different texture transforms"));
}

#[test]
fn what_cannot_be_decoded_is_magenta() {
    let magenta = [255, 0, 255, 255];
    let mut b = everything();
    b.json["images"][0]["bufferView"] = json!(0);
    let asset = b.load().unwrap();
    assert!(asset.images[0].rgba == magenta && told(&asset, "image 0", "only PNG, JPEG and WebP"));
    let mut b = everything();
    b.json["images"][0] = json!({"uri": "elsewhere.png"});
    let asset = b.load().unwrap();
    assert!(asset.images[0].rgba == magenta && told(&asset, "image 0", "elsewhere.png"));
    let mut b = everything();
    b.json["textures"][0] = json!({"extensions": {"KHR_texture_basisu": {"source": 0}}});
    assert!(told(&b.load().unwrap(), "texture 0", "KHR_texture_basisu is not supported"));
    b.json["extensionsRequired"] = json!(["KHR_texture_basisu"]);
    assert!(
        b.refusal()
            .contains("required extension KHR_texture_basisu is not supported; export the textures as PNG")
    );
}
