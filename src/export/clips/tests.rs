use crate::asset::{Asset, Channel, Clip, Interpolation, Property};
use crate::base::NodeId;
use crate::base::math::{Quat, Vec3};
use crate::bind::Character;
use crate::bind::shapes::Shape as Procedural;
use crate::export::*;
use crate::rig::Pose;
use serde_json::{Value, json};

const POINTER: &str = "KHR_animation_pointer";

fn turn(degrees: f32) -> [f32; 4] {
    Quat::from_rotation_z(degrees.to_radians()).to_array()
}

fn channel(node: u32, property: Property, times: &[f32], values: Vec<f32>) -> Channel {
    let interpolation = Interpolation::Linear;
    Channel { node: NodeId(node), property, interpolation, times: times.to_vec(), values }
}

/// Returns a capsule of three bones with two clips. The nodes are 0 to 3, and node 3 draws the mesh. One clip bends the
/// second joint; the other translates and scales the first joint.
fn with_clips() -> Asset {
    let shape = Procedural { bones: 3, rings: 9, segments: 8, radius: 0.1, length: 1.2, blend: 0.5 };
    let mut asset = shape.capsule_asset();
    let bend = channel(1, Property::Rotation, &[0.0, 1.0], [turn(0.0), turn(70.0)].concat());
    let jump = channel(0, Property::Translation, &[0.0, 0.5], vec![0.0, 0.0, 0.0, 0.0, 2.0, 0.0]);
    let grow = channel(0, Property::Scale, &[0.0, 0.5], vec![1.0, 1.0, 1.0, 1.5, 1.5, 1.5]);
    asset.clips = vec![
        Clip { name: "Bend".into(), channels: vec![bend] },
        Clip { name: "Jump".into(), channels: vec![jump, grow] },
    ];
    Asset::from_slice(&unedited(&asset).unwrap(), "clips.glb").unwrap()
}

/// Returns a pose with two rotated joints; a clip rotates one of them too.
fn posed_by_hand(character: &Character) -> Pose {
    let mut pose = Pose::rest(&character.skeleton);
    pose.local[1].rotation = turn(-40.0);
    pose.local[2].rotation = turn(30.0);
    pose
}

/// Returns the surface in the pose, with every third vertex displaced from its skinned position.
fn shape(asset: &Asset, pose: &Pose) -> (Vec<Vec3>, Vec<Vec3>) {
    let mut asset = asset.clone();
    for (node, local) in asset.nodes.iter_mut().zip(&pose.local) {
        node.rest = *local;
    }
    let drawn = evaluate(&asset, Moment::Static);
    let off = |v: usize| if v.is_multiple_of(3) { Vec3::new(0.02, 0.0, 0.01) } else { Vec3::ZERO };
    let position = |(v, d): (usize, &Drawn)| d.position.as_vec3() + off(v);
    (drawn.iter().enumerate().map(position).collect(), drawn.iter().map(|d| d.normal.as_vec3()).collect())
}

/// Exports an animation in which `keys` keys all have the same pose. Returns the export and the expected positions.
fn exported(asset: &Asset, keys: usize, options: &Options) -> (Export, Vec<Vec3>) {
    let character = Character::from_asset(asset).unwrap();
    let pose = posed_by_hand(&character);
    let (positions, normals) = shape(asset, &pose);
    let at = |k: usize| {
        let shape = Some(Shape { positions: &positions, normals: &normals });
        Key { time_s: k as f32, pose: &pose, shape }
    };
    let keys: Vec<Key> = (0..keys).map(at).collect();
    let export = posed(asset, &character, &keys, options).unwrap();
    let written = Asset::from_slice(&export.glb, "out.glb").unwrap();
    let receipt = export.receipt(&written, &keys).unwrap();
    assert!(receipt.largest_mm() < 0.01 && receipt.independent, "{receipt}");
    (export, positions)
}

fn assert_shows(asset: &Asset, moment: Moment, positions: &[Vec3]) {
    let drawn = evaluate(asset, moment);
    assert_eq!(drawn.len(), positions.len());
    for (a, b) in drawn.iter().zip(positions) {
        assert!(a.position.distance(b.as_dvec3()) < 1e-5, "{moment:?}: {} is not {b}", a.position);
    }
}

/// Checks that clip `index` of the original looks like clip `index + 1` of the written file.
fn assert_plays_as_before(original: &Asset, written: &Asset, index: usize) {
    for time_s in [0.0, 0.3, 0.5, 0.9, 2.0] {
        let wanted = evaluate(original, Moment::Clip { clip: index, time_s });
        let wanted: Vec<Vec3> = wanted.iter().map(|d| d.position.as_vec3()).collect();
        assert_shows(written, Moment::Clip { clip: index + 1, time_s }, &wanted);
    }
}

#[test]
fn the_first_animation_is_the_pose_and_the_file_s_clips_play_as_before() {
    let asset = with_clips();
    for keys in [1, 2] {
        let (export, positions) = exported(&asset, keys, &Options::default());
        assert_eq!(export.clip, Some(0));
        // Use the independent reader, because the loader may share an error with the exporter.
        let written = reread::reread(&export.glb).unwrap();
        let names: Vec<String> =
            Asset::from_slice(&export.glb, "out.glb").unwrap().clips.into_iter().map(|c| c.name).collect();
        assert_eq!(names, ["Sinew", "Bend", "Jump"]);
        for time_s in [0.0, 0.7] {
            assert_shows(&written, Moment::Clip { clip: 0, time_s }, &positions);
        }
        assert_shows(&written, Moment::Static, &positions);
        assert_plays_as_before(&asset, &written, 0);
        assert_plays_as_before(&asset, &written, 1);
        // A viewer may keep values of a previously played animation; Sinew's animation must show the pose even then.
        let own = &written.clips[0].channels;
        for channel in written.clips[1..].iter().flat_map(|c| &c.channels) {
            assert!(own.iter().any(|c| (c.node, c.property) == (channel.node, channel.property)));
        }
        if keys == 1 {
            assert!(own.iter().all(|c| c.times == [0.0]));
        }
    }
}

#[test]
fn clips_are_left_out_where_that_is_asked_for() {
    let asset = with_clips();
    let (kept, _) = exported(&asset, 1, &Options::default());
    let options = Options { clips: Clips::None, ..Options::default() };
    let (still, positions) = exported(&asset, 1, &options);
    let written = Asset::from_slice(&still.glb, "out.glb").unwrap();
    assert!(still.clip.is_none() && written.clips.is_empty() && still.glb.len() < kept.glb.len());
    assert!(written.source.json.get("animations").is_none());
    assert_shows(&written, Moment::Static, &positions);
    let (moving, _) = exported(&asset, 2, &options);
    let written = Asset::from_slice(&moving.glb, "out.glb").unwrap();
    assert!(moving.clip == Some(0) && written.clips.len() == 1);
    // If the file has no clips, the export of a single pose needs no animation.
    let (alone, _) = exported(&written_without(&asset), 1, &Options::default());
    assert!(alone.clip.is_none());
}

fn written_without(asset: &Asset) -> Asset {
    let mut builder = Builder::of(asset).unwrap();
    builder.json.as_object_mut().unwrap().shift_remove("animations");
    Asset::from_slice(&builder.glb().unwrap(), "none.glb").unwrap()
}

#[test]
fn references_to_animations_follow() {
    let mut builder = Builder::of(&with_clips()).unwrap();
    builder.json["extras"] =
        json!({ "start": "/animations/1/name", "not": "/animation/1", "deep": ["/animations/0"] });
    let node = |value: Value| json!({ "declaration": 1, "values": { "animation": value } });
    builder.json["extensions"]["KHR_interactivity"] = json!({ "graphs": [{
        "declarations": [{ "op": "math/add" }, { "op": "animation/start" }],
        "nodes": [node(json!({ "value": [1], "type": 0 })), { "declaration": 0, "values": { "animation": { "value": [1] } } }]
    }] });
    builder.use_extension("KHR_interactivity");
    let load = |b: &Builder| Asset::from_slice(&b.clone().glb().unwrap(), "refers.glb").unwrap();
    let (export, _) = exported(&load(&builder), 1, &Options::default());
    let json = Asset::from_slice(&export.glb, "out.glb").unwrap().source.json;
    assert_eq!(
        json["extras"],
        json!({ "start": "/animations/2/name", "not": "/animation/1", "deep": ["/animations/1"] })
    );
    let graph = &json["extensions"]["KHR_interactivity"]["graphs"][0];
    assert_eq!(graph["nodes"][0]["values"]["animation"]["value"], json!([2]));
    assert_eq!(graph["nodes"][1]["values"]["animation"]["value"], json!([1]));
    assert!(export.problems.is_empty());
    // A computed index cannot be updated; the export reports this.
    builder.json["extensions"]["KHR_interactivity"]["graphs"][0]["nodes"][0] = node(json!({ "node": 1 }));
    let (export, _) = exported(&load(&builder), 1, &Options::default());
    assert!(export.problems.iter().any(|p| p.at == "animations"));
}

/// Saves the pose as a project; the caller must keep `folder`.
fn saved(asset: &Asset, clips: Clips, folder: &std::path::Path) -> std::path::PathBuf {
    let character = Character::from_asset(asset).unwrap();
    let pose = posed_by_hand(&character);
    let (positions, normals) = shape(asset, &pose);
    let key =
        Key { time_s: 0.0, pose: &pose, shape: Some(Shape { positions: &positions, normals: &normals }) };
    let path = folder.join("p.glb");
    let options = Options { clips, ..Options::default() };
    project::save_shown(&path, asset, &character, &[key], &options, &json!({ "n": 1 })).unwrap();
    let shown = reread::reread(&std::fs::read(&path).unwrap()).unwrap();
    let moment = if clips == Clips::Keep { Moment::Clip { clip: 0, time_s: 0.0 } } else { Moment::Static };
    assert_shows(&shown, moment, &positions);
    path
}

#[test]
fn projects_with_their_own_animation_first_return_the_original() {
    let folder = tempfile::tempdir().unwrap();
    for asset in [with_clips(), pointed_at()] {
        let packed = unedited(&asset).unwrap();
        for clips in [Clips::Keep, Clips::None] {
            let path = saved(&asset, clips, folder.path());
            let (original, document) = project::load(&path).unwrap();
            assert_eq!(document, json!({ "n": 1 }));
            assert!(unedited(&original).unwrap() == packed, "{clips:?}");
            assert_eq!(original.clips.len(), asset.clips.len());
            let shown = Asset::load(&path).unwrap();
            let count = if clips == Clips::Keep { asset.clips.len() + 1 } else { 0 };
            assert_eq!(shown.clips.len(), count);
        }
    }
}

/// Version 1 wrote Sinew's own animation last.
#[test]
fn older_projects_open_and_show_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let asset = with_clips();
    let path = saved(&asset, Clips::Keep, folder.path());
    let mut builder = Builder::of(&Asset::load(&path).unwrap()).unwrap();
    let animations = builder.json["animations"].as_array_mut().unwrap();
    animations.rotate_left(1);
    let project = &mut builder.json["extensions"]["SINEW_project"];
    assert_eq!(project["version"], 2);
    project["version"] = 1.into();
    let changes = project["original"]["changes"].as_array_mut().unwrap();
    assert_eq!(changes.remove(0), json!({ "at": "/animations", "before": 1 }));
    changes.push(json!({ "at": "/animations", "length": 2 }));
    std::fs::write(&path, builder.glb().unwrap()).unwrap();
    let (original, _) = project::load(&path).unwrap();
    assert!(unedited(&original).unwrap() == unedited(&asset).unwrap());
    // When the project is saved again, Sinew's own animation is the first.
    saved(&original, Clips::Keep, folder.path());
}

/// Returns the file of [`with_clips`] with animation pointers: its first clip animates a node and a material by
/// pointer, and its second clip animates a morph target of the mesh.
fn pointed_at() -> Asset {
    let mut builder = Builder::of(&with_clips()).unwrap();
    let to = |pointer: &str| json!({ "path": "pointer", "extensions": { POINTER: { "pointer": pointer } } });
    builder.json["animations"][0]["channels"][0]["target"] = to("/nodes/1/rotation");
    let (times, colours) = (builder.times(&[0.0, 1.0]), builder.floats(&[1.0; 8], 4, Usage::Other, false));
    let weights = builder.floats(&[0.25, 1.0], 1, Usage::Other, false);
    let count = builder.json["accessors"][0]["count"].as_u64().unwrap() as usize;
    let bulge = builder.vec3(&vec![Vec3::new(0.0, 0.0, 0.3); count], true);
    builder.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": bulge }]);
    builder.push("materials", json!({}));
    for (clip, output, pointer) in
        [(0, colours, "/materials/0/pbrMetallicRoughness/baseColorFactor"), (1, weights, "/meshes/0/weights")]
    {
        let animation = &mut builder.json["animations"][clip];
        let samplers = animation["samplers"].as_array_mut().unwrap();
        samplers.push(json!({ "input": times, "output": output }));
        let channel = json!({ "sampler": samplers.len() - 1, "target": to(pointer) });
        animation["channels"].as_array_mut().unwrap().push(channel);
    }
    builder.use_extension(POINTER);
    builder.push("extensionsRequired", POINTER.into());
    Asset::from_slice(&builder.glb().unwrap(), "pointers.glb").unwrap()
}

#[test]
fn pointers_to_nodes_are_ordinary_channels() {
    let (asset, plain) = (pointed_at(), with_clips());
    let drawn_by = asset.nodes.iter().position(|n| n.mesh.is_some()).unwrap();
    let bend = &asset.clips[0].channels;
    assert_eq!((bend.len(), bend[0].node, bend[0].property), (1, NodeId(1), Property::Rotation));
    assert_eq!(bend[0].values, plain.clips[0].channels[0].values);
    let bulge = &asset.clips[1].channels[2];
    assert_eq!((bulge.node, bulge.property), (NodeId::from(drawn_by), Property::Weights));
    assert_eq!(bulge.values, [0.25, 1.0]);
    let told: Vec<&str> = asset.problems.iter().map(|p| p.text.as_str()).collect();
    assert!(
        told.len() == 1 && told[0].contains("baseColorFactor") && told[0].contains("not played"),
        "{told:?}"
    );

    // The export converts the node pointers to ordinary targets; the material keeps its pointer.
    let (export, _) = exported(&asset, 1, &Options::default());
    let written = Asset::from_slice(&export.glb, "out.glb").unwrap();
    let json = &written.source.json;
    let targets: Vec<&Value> =
        json["animations"][1]["channels"].as_array().unwrap().iter().map(|c| &c["target"]).collect();
    assert_eq!(*targets[0], json!({ "node": 1, "path": "rotation" }));
    assert_eq!(targets.iter().filter(|t| t["path"] == "pointer").count(), 1);
    assert_eq!(json["extensionsRequired"], json!([POINTER]));
    let again = reread::reread(&export.glb).unwrap();
    assert_plays_as_before(&asset, &again, 0);
    assert_plays_as_before(&asset, &again, 1);

    // Without the material's channel, the extension is no longer used.
    let mut builder = Builder::of(&asset).unwrap();
    builder.json["animations"][0]["channels"].as_array_mut().unwrap().pop();
    let asset = Asset::from_slice(&builder.glb().unwrap(), "pointers.glb").unwrap();
    let (export, _) = exported(&asset, 1, &Options::default());
    let json = Asset::from_slice(&export.glb, "out.glb").unwrap().source.json;
    assert!(json.get("extensionsRequired").is_none() && json.get("extensionsUsed").is_none());
    assert!(!json.to_string().contains(POINTER));
}

#[test]
fn hostile_pointers_move_nothing_and_are_told() {
    let twice = "/meshes/0/weights";
    for pointer in [
        "/nodes/99/rotation",
        "/nodes/1/weights/0",
        "/nodes/x/scale",
        "nodes/1/scale",
        "",
        "/meshes/7/weights",
    ] {
        let mut builder = Builder::of(&pointed_at()).unwrap();
        builder.json["animations"][0]["channels"][0]["target"]["extensions"][POINTER]["pointer"] =
            pointer.into();
        let asset = Asset::from_slice(&builder.glb().unwrap(), "pointers.glb").unwrap();
        assert!(asset.clips[0].channels.is_empty() && asset.problems.len() == 2, "{pointer}");
        exported(&asset, 1, &Options::default());
    }
    let mut builder = Builder::of(&pointed_at()).unwrap();
    let copy = builder.json["animations"][1]["channels"][2].clone();
    assert!(copy.to_string().contains(twice));
    builder.json["animations"][1]["channels"].as_array_mut().unwrap().push(copy);
    let asset = Asset::from_slice(&builder.glb().unwrap(), "pointers.glb").unwrap();
    assert!(
        asset.clips[1].channels.len() == 3 && asset.problems.iter().any(|p| p.text.contains("same property"))
    );
    exported(&asset, 1, &Options::default());
}
