//! Checks a file's version and required extensions.

use super::container::version_1;
use super::context::{Buffers, Context};
use crate::asset::Problem;
use crate::base::{Error, Result};
use serde_json::{Map, Value};
use std::path::Path;

/// Required extensions that the loader supports or that only affect shading.
const KNOWN: &[&str] = &[
    "EXT_meshopt_compression",
    "EXT_texture_webp",
    "KHR_animation_pointer",
    "KHR_draco_mesh_compression",
    "KHR_materials_emissive_strength",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_unlit",
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
    "KHR_texture_transform",
];

/// Name prefixes of extensions that affect shading but not the geometry. The file loads without them, even if they
/// are required.
const PICTURE_ONLY: &[&str] = &["KHR_lights_punctual", "KHR_materials_", "KHR_xmp"];

/// Rejects unsupported versions and required extensions.
pub(super) fn check(path: &Path, json: &Map<String, Value>, problems: &mut Vec<Problem>) -> Result<()> {
    let none = Buffers::default();
    let ctx = Context::new(path, json, &none, Vec::new());
    let Some(asset) = json.get("asset").and_then(Value::as_object) else {
        if ["meshes", "accessors", "nodes", "scenes"]
            .iter()
            .any(|k| json.get(*k).is_some_and(Value::is_object))
        {
            return Err(version_1(path));
        }
        return Err(Error::broken(
            path,
            "JSON",
            "\"asset\" with the version is missing",
            "choose a glTF 2.0 file",
        ));
    };
    let version = |key| match asset.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => parse(text).map(Some),
        // Some early exporters write the version as a number.
        Some(Value::Number(number)) => parse(&format!("{:.1}", number.as_f64().unwrap_or(0.0))).map(Some),
        Some(_) => Err(()),
    };
    let malformed = |_| ctx.broken("asset", "its version is not of the form \"2.0\"");
    let (major, minor) = version("version")
        .map_err(malformed)?
        .ok_or_else(|| ctx.broken("asset", "its version is missing"))?;
    if major == 1 {
        return Err(version_1(path));
    }
    let least = version("minVersion").map_err(malformed)?.unwrap_or((major, 0));
    if major != 2 || least > (2, 0) {
        let (major, minor) = if major != 2 { (major, minor) } else { least };
        return Err(Error::unsupported(path, format!("glTF {major}.{minor}"), "export the file as glTF 2.0"));
    }
    if minor > 0 {
        problems.push(Problem {
            at: "asset".into(),
            text: format!("it is glTF 2.{minor}; what is new since 2.0 was ignored"),
        });
    }
    for name in names(&ctx, "extensionsRequired")?.into_iter().filter(|name| !KNOWN.contains(name)) {
        if !PICTURE_ONLY.iter().any(|known| name.starts_with(known)) {
            return Err(Error::unsupported(path, format!("required extension {name}"), remedy(name)));
        }
        problems.push(Problem {
            at: format!("extension {name}"),
            text: "it is required but not drawn; the shape is complete".into(),
        });
    }
    names(&ctx, "extensionsUsed")?;
    Ok(())
}

fn remedy(name: &str) -> &'static str {
    match name {
        "KHR_texture_basisu" => "export the textures as PNG or JPEG",
        "EXT_mesh_gpu_instancing" => "export the instances as nodes",
        _ => "export without this extension",
    }
}

fn parse(text: &str) -> Result<(u32, u32), ()> {
    let (major, minor) = text.split_once('.').ok_or(())?;
    Ok((major.parse().map_err(|_| ())?, minor.parse().map_err(|_| ())?))
}

fn names<'a>(ctx: &Context<'a>, key: &str) -> Result<Vec<&'a str>> {
    let table = ctx.table(key, 1000)?;
    table
        .iter()
        .map(|v| v.as_str().ok_or_else(|| ctx.broken(format!("\"{key}\""), "an entry is not a string")))
        .collect()
}
