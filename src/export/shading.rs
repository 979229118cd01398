//! Adds normals to primitives without normals in the file. Viewers shade such primitives flat (glTF 2.0, 3.7.2.1), but
//! Sinew's renderer shades edges below 60° smoothly.

use super::Builder;
use super::posed::{Job, Shape};
use crate::asset::Problem;
use crate::base::{MeshId, counted};
use std::collections::BTreeSet;

/// Deviating normals count as invisible if they are fewer than one in this many.
pub(super) const FEW: usize = 100;

/// Writes a NORMAL attribute for each primitive without normals in the file if `shape` is smooth there. Returns, for
/// each display part, whether normals were written.
pub(super) fn write(
    job: &Job,
    builder: &mut Builder,
    shape: &Shape,
    problems: &mut Vec<Problem>,
) -> Vec<bool> {
    let parts = &job.character.display.parts;
    if !job.asset.source.json.is_object() {
        // An in-memory asset is always written with its normals.
        return vec![false; parts.len()];
    }
    let limit = f64::from(job.options.normal_tolerance_degrees).to_radians();
    let smooth: BTreeSet<(MeshId, usize)> = parts
        .iter()
        .filter(|p| p.computed_normals && is_smooth(job, p, shape, limit))
        .map(|p| (p.mesh, p.primitive))
        .collect();
    let mut written = BTreeSet::new();
    for &(mesh, index) in &smooth {
        let primitive = &job.asset.meshes[mesh.index()].primitives[index];
        let at = format!("/meshes/{}/primitives/{}", mesh.index(), primitive.file_index);
        // Skip primitives with Draco compression: decoders may order their vertices differently, so written normals
        // could belong to other vertices.
        let packed = |v: &serde_json::Value| v.pointer("/extensions/KHR_draco_mesh_compression").is_some();
        if builder.json.pointer(&at).is_none_or(packed) {
            continue;
        }
        let normals = builder.vec3(&primitive.normals, false);
        if let Some(attributes) = builder.json.pointer_mut(&(at + "/attributes")) {
            attributes["NORMAL"] = normals.into();
            written.insert((mesh, index));
        }
    }
    if !written.is_empty() {
        problems.push(Problem {
            at: "normals".into(),
            text: format!(
                "viewers shade {} flat, because the file has no normals there; Sinew's smooth normals are written",
                counted(written.len(), "primitive")
            ),
        });
    }
    parts.iter().map(|p| written.contains(&(p.mesh, p.primitive))).collect()
}

/// Returns whether the normals differ from the face normals at more than a few corners.
fn is_smooth(job: &Job, part: &crate::geom::Part, shape: &Shape, limit: f64) -> bool {
    let display = &job.character.display;
    let triangles = &display.triangles[part.triangles.start as usize..part.triangles.end as usize];
    let mut bent = 0;
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| shape.positions[v as usize].as_dvec3());
        let Some(face) = (b - a).cross(c - a).try_normalize() else { continue };
        let leans = |v: &&u32| face.angle_between(shape.normals[**v as usize].as_dvec3()) > limit;
        bent += triangle.iter().filter(leans).count();
    }
    bent * FEW >= triangles.len() * 3 && bent > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Asset;
    use crate::base::math::{Quat, Vec3};
    use crate::bind::Character;
    use crate::bind::shapes::Shape as Procedural;
    use crate::export::{Export, Key, Moment, Options, Receipt, evaluate, posed, unedited};
    use crate::geom::vertex_normals;
    use crate::rig::Pose;
    use serde_json::json;

    /// A capsule as a file, with or without normals.
    fn capsule(normals: bool) -> Asset {
        let shape = Procedural { bones: 2, rings: 10, segments: 8, radius: 0.15, length: 1.0, blend: 0.5 };
        let asset = Asset::from_slice(&unedited(&shape.capsule_asset()).unwrap(), "capsule.glb").unwrap();
        let mut builder = Builder::of(&asset).unwrap();
        if !normals {
            let attributes =
                builder.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap();
            attributes.shift_remove("NORMAL").unwrap();
        }
        Asset::from_slice(&builder.glb().unwrap(), "capsule.glb").unwrap()
    }

    /// Exports the capsule, bent by bones alone, with the normals of the bent surface.
    fn bent(asset: &Asset, degrees: f32) -> (Export, Receipt) {
        let character = Character::from_asset(asset).unwrap();
        let mut pose = Pose::rest(&character.skeleton);
        pose.local[1].rotation = Quat::from_rotation_x(degrees.to_radians()).to_array();
        let mut moved = asset.clone();
        moved.nodes[1].rest = pose.local[1];
        let drawn = evaluate(&moved, Moment::Static);
        let positions: Vec<Vec3> = drawn.iter().map(|d| d.position.as_vec3()).collect();
        let normals = vertex_normals(&positions, &character.display.triangles);
        let shape = Some(Shape { positions: &positions, normals: &normals });
        let key = Key { time_s: 0.0, pose: &pose, shape };
        let export = posed(asset, &character, &[key], &Options::default()).unwrap();
        let written = Asset::from_slice(&export.glb, "bent.glb").unwrap();
        let receipt = export.receipt(&written, &[key]).unwrap();
        (export, receipt)
    }

    #[test]
    fn normals_follow_the_surface_where_bones_give_every_position() {
        let (export, receipt) = bent(&capsule(true), 80.0);
        assert_eq!((export.targets, export.morph_vertices), (1, 0));
        assert!(export.morph_normals > 10 && receipt.keys[0].normal_largest_degrees < 0.6, "{receipt}");
        assert!(receipt.problems.iter().any(|p| p.at == "normals" && p.text.contains("with the bones")));
        let written = Asset::from_slice(&export.glb, "bent.glb").unwrap();
        let target = &written.meshes[0].primitives[0].morphs[0];
        assert!(target.positions.iter().all(|p| *p == Vec3::ZERO) && !target.normals.is_empty());
        // Without bending, the skinned normals equal the surface's.
        let (export, _) = bent(&capsule(true), 0.0);
        assert_eq!((export.targets, export.morph_normals), (0, 0));
    }

    #[test]
    fn smooth_primitives_without_normals_get_some_and_flat_ones_none() {
        let (export, receipt) = bent(&capsule(false), 80.0);
        assert!(receipt.keys[0].normal_largest_degrees < 0.6 && export.morph_normals > 10, "{receipt}");
        assert!(receipt.problems.iter().any(|p| p.text.contains("smooth normals are written")));
        let written = Asset::from_slice(&export.glb, "bent.glb").unwrap();
        assert!(written.meshes[0].primitives[0].normals_from_file);
        let mut builder = Builder::new("square.glb");
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE - Vec3::Z];
        let (position, indices) = (builder.vec3(&corners, true), builder.indices(&[[0, 1, 2], [2, 1, 3]]));
        let primitive = json!({ "attributes": { "POSITION": position }, "indices": indices });
        builder.push("meshes", json!({ "primitives": [primitive] }));
        builder.push("nodes", json!({ "mesh": 0 }));
        builder.push("nodes", json!({}));
        builder.push("scenes", json!({ "nodes": [0, 1] }));
        let square = Asset::from_slice(&builder.glb().unwrap(), "square.glb").unwrap();
        let (export, _) = bent(&square, 0.0);
        let written = Asset::from_slice(&export.glb, "square.glb").unwrap();
        assert!(!written.meshes[0].primitives[0].normals_from_file && export.problems.is_empty());
    }
}
