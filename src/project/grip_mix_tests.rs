//! Grips together with cages, sculpt layers, clips, keys, bakes and exports, on a file of several meshes, at any size.

use crate::asset::{Asset, Influences, Mesh, Node, Primitive, Property};
use crate::base::math::{Quat, Vec3};
use crate::base::{BoneId, GripId, MarkId, MeshId, NodeId, Progress, SculptId};
use crate::bind::BindOptions;
use crate::bind::shapes::Shape;
use crate::cage::Coordinates;
use crate::deform::sculpt::{Curve, Profile};
use crate::document::{
    CageMove, ClipLayer, DeformerSettings, Edit, KeyEdit, KeyValue, Operation, Session, Target,
};
use crate::export::{Options, unedited};
use crate::project::bake::Bake;
use crate::project::{export, save};
use crate::rig::{Axis, GripHold, PosedRig};
use crate::scene::{CageSource, Evaluator, Model, Shaper, Where};
use crate::surface::{Form, Grip, Reach, Region, Sculpt, ring_mark};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

const RADIUS: f32 = 0.15;
const LENGTH: f32 = 1.8;
const BONES: usize = 8;

/// A capsule in which every vertex follows up to eight joints, and a shell of armour around its middle in a mesh of its own.
fn armoured(size: f32) -> Asset {
    let shape = Shape { bones: BONES, rings: 18, segments: 12, radius: RADIUS, length: LENGTH, blend: 0.5 };
    let mut asset = shape.capsule_asset();
    let skin = &mut asset.meshes[0].primitives[0];
    let smeared = |x: &Vec3| {
        let weight = |j: usize| {
            let away = (x.y - LENGTH * (j as f32 + 0.5) / BONES as f32) / 0.35;
            (-away * away).exp() + 1e-3
        };
        let sum: f32 = (0..BONES).map(weight).sum();
        let mut row: Vec<(u16, f32)> = (0..BONES).map(|j| (j as u16, weight(j) / sum)).collect();
        row.sort_by(|a, b| b.1.total_cmp(&a.1));
        row
    };
    skin.influences = Influences::default();
    skin.positions.iter().for_each(|x| skin.influences.push(smeared(x)));
    // The armour has the middle rows of the skin, further out.
    let inside = |v: u32| (0.5..1.3).contains(&skin.positions[v as usize].y);
    let own: Vec<u32> = (0..skin.positions.len() as u32).filter(|v| inside(*v)).collect();
    let place = |v: &u32| own.binary_search(v).ok().map(|k| k as u32);
    let triangles = skin.triangles.iter().filter_map(|t| {
        let [a, b, c] = t.each_ref().map(place);
        Some([a?, b?, c?])
    });
    let mut armour = Primitive {
        positions: own.iter().map(|v| skin.positions[*v as usize] * Vec3::new(1.2, 1.0, 1.2)).collect(),
        normals: own.iter().map(|v| skin.normals[*v as usize]).collect(),
        uvs: own.iter().map(|v| skin.uvs[*v as usize]).collect(),
        triangles: triangles.collect(),
        influences: Influences::default(),
        ..skin.clone()
    };
    armour.positions.iter().for_each(|x| armour.influences.push(smeared(x)));
    asset.meshes.push(Mesh { name: "armour".into(), primitives: vec![armour] });
    let drawn = asset.nodes.iter().find(|n| n.mesh.is_some()).unwrap();
    let node = Node { name: "armour".into(), mesh: Some(MeshId(1)), ..drawn.clone() };
    asset.roots.push(NodeId::from(asset.nodes.len()));
    asset.nodes.push(node);
    for primitive in asset.meshes.iter_mut().flat_map(|m| &mut m.primitives) {
        primitive.positions.iter_mut().for_each(|x| *x *= size);
    }
    for node in &mut asset.nodes {
        node.rest.translation = (node.rest.translation() * size).into();
    }
    let columns = asset.skins.iter_mut().flat_map(|s| &mut s.inverse_bind);
    columns.for_each(|m| m.w_axis = (m.w_axis.truncate() * size).extend(1.0));
    Asset::from_slice(&unedited(&asset).unwrap(), "armoured.glb").unwrap()
}

fn bound(asset: Asset) -> Model {
    Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap()
}

fn nearest(model: &Model, to: Vec3) -> u32 {
    let positions = &model.bound.character.control.positions;
    let away = |v: &u32| positions[*v as usize].distance_squared(to);
    (0..positions.len() as u32).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap()
}

/// A prism of eight sides around the capsule as `.obj`, and the index of its first vertex at the top.
fn prism(size: f32) -> (String, usize) {
    let (mut out, sides, heights) = (String::new(), 8, [-0.3, 0.4, 0.9, 1.4, 2.1]);
    for y in heights {
        for k in 0..sides {
            let (sin, cos) = (std::f32::consts::TAU * k as f32 / sides as f32).sin_cos();
            writeln!(out, "v {} {} {}", 0.35 * size * cos, y * size, 0.35 * size * sin).unwrap();
        }
    }
    let at = |ring: usize, k: usize| ring * sides + k % sides + 1;
    for (r, k) in (0..heights.len() - 1).flat_map(|r| (0..sides).map(move |k| (r, k))) {
        writeln!(out, "f {} {} {} {}", at(r, k), at(r + 1, k), at(r + 1, k + 1), at(r, k + 1)).unwrap();
    }
    let top = heights.len() - 1;
    for k in 1..sides - 1 {
        writeln!(out, "f {} {} {}", at(0, 0), at(0, k), at(0, k + 1)).unwrap();
        writeln!(out, "f {} {} {}", at(top, 0), at(top, k + 1), at(top, k)).unwrap();
    }
    (out, top * sides)
}

/// A ring of the skin that swells by a fraction of its thickness.
fn swollen(model: &Model, id: u32, t: f32) -> Edit {
    let (character, attachments) = (&model.bound.character, &model.bound.attachments);
    let mark = ring_mark(character, attachments, MarkId(id), BoneId(3), t).unwrap();
    let region = Region::from_mark(character, &mark, Reach::Edges(2)).unwrap();
    let profile = Profile { curve: Curve::Even, amount: 0.3, ..Profile::default() };
    Edit::AddSculpt {
        index: None,
        sculpt: Box::new(Sculpt::new(SculptId(id), None, region, Form::Profile(profile))),
    }
}

fn key(target: Target, time: f64, value: &[f32]) -> Edit {
    Edit::Keys(KeyEdit::Insert { time, keys: vec![KeyValue { target, value: value.to_vec() }] })
}

/// A session with a layer below the grips, a cage, a point of the armour, a region at the top, a layer over the grips, keys
/// and a clip.
fn mixed(model: &Model, size: f32, folder: &Path) -> Session<'static> {
    let mut session = model.start(None).unwrap();
    let (text, top) = prism(size);
    std::fs::write(folder.join("cage.obj"), text).unwrap();
    let source = CageSource::File(folder.join("cage.obj"), None);
    let (cage, _) = model.new_cage(&source, Coordinates::MeanValue, &Progress::default()).unwrap();
    let positions = &model.bound.character.control.positions;
    let head = (0..positions.len() as u32).filter(|v| positions[*v as usize].y > 1.75 * size);
    let point = Grip::new(GripId(0), [nearest(model, Vec3::new(1.2 * RADIUS, 0.9, 0.0) * size)]);
    let region = Grip {
        hold: GripHold::Full,
        translation: [0.1 * size, 0.0, 0.05 * size],
        rotation: Quat::from_rotation_z(-0.3).to_array(),
        ..Grip::new(GripId(1), head)
    };
    let add = |grip: &Grip| Edit::AddGrip { index: None, grip: Box::new(grip.clone()) };
    let node = model.skeleton().find("joint 4").unwrap();
    let grip = |property| Target::Grip { grip: point.id, property };
    let mut edits = vec![
        Edit::SetDeformer(DeformerSettings::of("fast")),
        swollen(model, 0, 0.3),
        Edit::SetCage(Some(Box::new(cage.cage.clone()))),
        Edit::MoveCage(
            (top..top + 8).map(|v| CageMove { vertex: v as u32, offset: [0.0, 0.1 * size, 0.0] }).collect(),
        ),
        add(&point),
        add(&region),
        swollen(model, 1, 0.8),
        Edit::SetHidden(vec![1]),
        key(grip(Property::Translation), 0.0, &[0.0; 3]),
        key(grip(Property::Translation), 1.0, &[0.2 * size, 0.0, 0.0]),
        Edit::RotateJoint { node, turns: vec![(Axis::X, 25.0)] },
    ];
    if model.asset.clips.is_empty() {
        let elbow = Target::node(model.skeleton().find("joint 2").unwrap(), Property::Rotation);
        edits.push(key(elbow.clone(), 0.0, &[0.0, 0.0, 0.0, 1.0]));
        edits.push(key(elbow, 1.0, &Quat::from_rotation_x(0.3).to_array()));
    } else {
        edits.push(Edit::Keys(KeyEdit::Clips(vec![ClipLayer::new(0, model.skeleton())])));
    }
    edits.into_iter().for_each(|edit| session.apply(edit).unwrap());
    session
}

fn evaluator(model: &Model, session: &Session) -> Evaluator {
    Evaluator::new(&Where::Cpu, model, &session.document().recipe().unwrap()).unwrap()
}

#[test]
fn grips_work_beside_cages_layers_clips_keys_bakes_and_exports_at_any_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut unit: Option<Vec<Vec3>> = None;
    for size in [1.0, 0.03 / LENGTH, 200.0 / LENGTH] {
        let model = bound(armoured(size));
        let most = (0..model.bound.character.control.positions.len())
            .map(|v| model.bound.character.control.influences.of(v).len());
        assert_eq!((most.max(), model.asset.meshes.len()), (Some(BONES), 2));
        let mut session = mixed(&model, size, folder.path());
        let mut evaluator = evaluator(&model, &session);
        let document = session.document().clone();
        let mut shape = |document: &crate::document::Document, time: f64| {
            let state = document.state(model.skeleton(), Some(time));
            Shaper::new(&model, document, &mut evaluator).evaluate(&state).unwrap()
        };
        // The shape does not depend on the size.
        let [start, end] = [0.0, 1.0].map(|time| shape(&document, time));
        let scaled: Vec<Vec3> = end.control.iter().map(|x| *x / size).collect();
        let unit = unit.get_or_insert_with(|| scaled.clone());
        let off = scaled.iter().zip(&*unit).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        println!("size {size}: {off} off");
        assert!(off < 2e-3, "a size of {size} differs by {off}");
        // The key moves the point of the armour; the cage and the layers stay.
        let point = document.grips()[0].vertices.iter().next().unwrap() as usize;
        let moved = (end.control[point] - start.control[point]) / size;
        assert!(moved.distance(Vec3::X * 0.2) < 0.02, "{moved}");
        // Both layers add what they add without grips.
        for id in [0, 1] {
            session.apply(Edit::RemoveSculpt(SculptId(id))).unwrap();
        }
        let bare = shape(session.document(), 1.0);
        let swelling = end.control.iter().zip(&bare.control).map(|(a, b)| a.distance(*b) / size);
        let swelling = swelling.fold(0.0, f32::max);
        assert!((0.2 * RADIUS..0.9 * RADIUS).contains(&swelling), "{swelling}");
        session.run(Operation::Undo).unwrap();
        session.run(Operation::Undo).unwrap();
        assert_eq!(session.document().hash(), document.hash());
        // Away from FAST and back, the shape is the same.
        let before = document.deformer().clone();
        session.apply(Edit::SetDeformer(DeformerSettings::of("dqs"))).unwrap();
        session.apply(Edit::SetDeformer(before)).unwrap();
        assert_eq!(session.document().hash(), document.hash());
        let replayed = model.replay(&session.recording(), Path::new("a.journal")).unwrap();
        assert_eq!(replayed.document().hash(), document.hash());
        // Project and export, within the usual bound: a tenth of a millimetre for a person.
        let saved = path(&format!("{size}.glb"));
        let receipt = save(&saved, &model, &document, &mut evaluator).unwrap();
        assert!(receipt.largest_mm() < 0.1 * f64::from(size), "{receipt}");
        let again = Model::load(&saved, &BindOptions::default()).unwrap();
        assert_eq!(again.document.as_ref().unwrap().hash(), document.hash());
        let out = path(&format!("{size}.posed.glb"));
        let budget = 0.1 * f64::from(size);
        let options = Options { budget_mm: Some(budget), ..Options::default() };
        let receipt = export(&out, &model, &document, &mut evaluator, &options).unwrap();
        assert!(receipt.largest_mm() <= budget, "{receipt}");
        if size != 1.0 {
            continue;
        }
        // The export has a clip. With its own clip below, the file's baked frames are those of the editor.
        let model = Model::load(&out, &BindOptions::default()).unwrap();
        assert_eq!(model.asset.clips.len(), 1);
        let session = mixed(&model, size, folder.path());
        let document = session.document();
        let mut evaluator = self::evaluator(&model, &session);
        let bake = Bake::begin(&path("bake"), &model, document, 2.0, "cpu").unwrap();
        bake.run(&model, document, &mut evaluator, [0, 2], |_, _| {}).unwrap();
        let rigs = [0.0, 1.0]
            .map(|t| PosedRig::new(model.skeleton(), &document.state(model.skeleton(), Some(t)).pose));
        assert_ne!(rigs[0].world, rigs[1].world, "the clip plays");
        for frame in [0, 1, 2] {
            let state = document.state(model.skeleton(), Some(bake.time(frame)));
            let shape = Shaper::new(&model, document, &mut evaluator).evaluate(&state).unwrap();
            assert_eq!(bake.frame(&model, frame).unwrap().positions, shape.positions);
        }
    }
}
