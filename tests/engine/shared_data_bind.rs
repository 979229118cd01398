//! Every skinned file of the shared data binds with every method to finite attachments. Smoothing lowers the gap. Joints
//! and bind space give the rest pose that glTF prescribes.

use sinew::base::testing::shared;

use sinew::asset::Asset;
use sinew::base::math::{Aabb, DAffine3, DVec3, Vec3};
use sinew::bind::{Attachments, BindOptions, BindReport, Binding, Character, bind_attachments};
use sinew::rig::{Pose, PosedRig};
use std::path::{Path, PathBuf};

fn gltf_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let listing = std::fs::read_dir(folder).expect("a readable folder");
    let mut entries: Vec<PathBuf> = listing.filter_map(|e| e.ok().map(|e| e.path())).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            gltf_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "glb" || e == "gltf") {
            out.push(path);
        }
    }
}

/// Returns all skinned files that load, with their names in the data folder.
fn skinned() -> Vec<(String, Asset)> {
    let Some(folder) = shared("") else { return Vec::new() };
    let mut files = Vec::new();
    gltf_files(&folder, &mut files);
    let name = |p: &Path| p.strip_prefix(&folder).unwrap_or(p).display().to_string();
    let loaded = files.iter().filter_map(|p| Asset::load(p).ok().map(|a| (name(p), a)));
    loaded.filter(|(_, a)| !a.skins.is_empty()).collect()
}

fn is_finite(attachments: &Attachments, vertices: usize) -> bool {
    let lengths = [attachments.bone.len(), attachments.t.len(), attachments.scale_vector.len()];
    lengths == [vertices; 3]
        && attachments.t.iter().all(|t| (0.0..=1.0).contains(t))
        && attachments.scale_vector.iter().all(|s| s.is_finite())
}

#[test]
fn every_skinned_file_binds_and_smoothing_lowers_the_gap() {
    let mut failures = Vec::new();
    for (name, asset) in skinned() {
        let character = match Character::from_asset(&asset) {
            Ok(c) => c,
            Err(e) => {
                failures.push(format!("{name}: {e}"));
                continue;
            }
        };
        for method in [Binding::Direct, Binding::Weights, Binding::Planar] {
            let options = BindOptions { method, ..Default::default() };
            let (attachments, report): (Attachments, BindReport) =
                bind_attachments(&character, &options).unwrap();
            let vertices = character.control.positions.len();
            println!(
                "{name} {method:?}: {vertices} vertices, |s| {:.4} {:.4}, gap {:.2} -> {:.2}, mean {:.3} -> {:.3}",
                report.mean_length,
                report.max_length,
                report.before.max,
                report.after.max,
                report.before.mean,
                report.after.mean
            );
            if !is_finite(&attachments, vertices) {
                failures.push(format!("{name} {method:?}: attachments are not finite"));
            }
            // A straight tube has a gap of 1 along its length, which smoothing cannot lower.
            let lower = report.after.max < report.before.max
                || (report.before.max < 1.05 && report.after.max <= report.before.max * 1.0002);
            if !lower {
                failures.push(format!("{name} {method:?}: gap {:?} -> {:?}", report.before, report.after));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Computes world transforms of the file's nodes at rest in f64, as the glTF specification defines them.
fn world(asset: &Asset, node: usize) -> DAffine3 {
    let n = &asset.nodes[node];
    let local = match n.matrix {
        Some(m) => DAffine3::from_mat4(m.as_dmat4()),
        None => DAffine3::from_scale_rotation_translation(
            n.rest.scale().as_dvec3(),
            n.rest.rotation().as_dquat().normalize(),
            n.rest.translation().as_dvec3(),
        ),
    };
    n.parent.map_or(local, |p| world(asset, p.index()) * local)
}

#[test]
fn the_rest_pose_is_where_gltf_puts_it() {
    for (name, asset) in skinned() {
        let character = Character::from_asset(&asset).unwrap();
        let rig = PosedRig::new(&character.skeleton, &Pose::rest(&character.skeleton));
        let worlds: Vec<DAffine3> = (0..asset.nodes.len()).map(|i| world(&asset, i)).collect();
        let (mut exact, mut ours) = (Vec::<DVec3>::new(), Vec::<DVec3>::new());
        for part in &character.display.parts {
            let node = &asset.nodes[part.node.index()];
            let primitive = &asset.meshes[part.mesh.index()].primitives[part.primitive];
            for (v, p) in primitive.positions.iter().enumerate() {
                let p = p.as_dvec3();
                exact.push(match node.skin.filter(|_| !primitive.influences.is_empty()) {
                    Some(skin) => {
                        let skin = &asset.skins[skin.index()];
                        let moved = |(j, w): (u16, f32)| {
                            let joint_from_mesh =
                                DAffine3::from_mat4(skin.inverse_bind[usize::from(j)].as_dmat4());
                            let map = worlds[skin.joints[usize::from(j)].index()] * joint_from_mesh;
                            map.transform_point3(p) * f64::from(w)
                        };
                        primitive.influences.of(v).map(moved).sum()
                    }
                    None => worlds[part.node.index()].transform_point3(p),
                });
                let control = character.display.control_of[part.vertices.start as usize + v] as usize;
                let x = character.control.positions[control];
                let moved = |(j, w): (u16, f32)| w * rig.skinning[usize::from(j)].transform_point3(x);
                ours.push(character.control.influences.of(control).map(moved).sum::<Vec3>().as_dvec3());
            }
        }
        let size = f64::from(Aabb::of(exact.iter().map(|p| p.as_vec3())).diagonal());
        let error = exact.iter().zip(&ours).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        println!("{name}: largest error {:.2e} of the size", error / size.max(1e-30));
        assert!(error <= 1e-5 * size, "{name}: {error} of {size}");
    }
}
