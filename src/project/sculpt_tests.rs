//! Tests of sculpt layers on real characters: saving and loading, and poses.

use crate::base::math::Vec3;
use crate::base::testing::shared;
use crate::base::{BoneId, MarkId, SculptId};
use crate::bind::BindOptions;
use crate::deform::classic::{Energy, Lists, LseOptions, Method};
use crate::deform::sculpt::{Curve, Profile};
use crate::document::{DeformerSettings, Edit, KeyEdit, KeyValue, Operation, Target};
use crate::project::save;
use crate::rig::{Axis, Pose, PosedRig};
use crate::scene::{Classic, Evaluation, Evaluator, Model, Shaper, Where, recipe, reshape, surroundings};
use crate::surface::{Form, Reach, Region, Sculpt, drawn, mirrored_mark, mirrored_sculpt, ring_mark};

fn swollen(model: &Model, bone: BoneId, form: Form) -> Sculpt {
    let (character, attachments) = (&model.bound.character, &model.bound.attachments);
    let mark = ring_mark(character, attachments, MarkId(0), bone, 0.5).unwrap();
    let region = Region::from_mark(character, &mark, Reach::Edges(5)).unwrap();
    Sculpt::new(SculptId(0), None, region, form)
}

fn bits(shape: &Evaluation) -> String {
    let mut hash = blake3::Hasher::new();
    shape.positions.iter().flat_map(|p| p.to_array()).for_each(|v| {
        hash.update(&v.to_le_bytes());
    });
    hash.finalize().to_string()
}

#[test]
fn twenty_rounds_of_saving_and_editing_do_not_drift() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tube.glb");
    std::fs::write(&file, crate::generate::tube(700).unwrap()).unwrap();
    let mut model = Model::load(&file, &BindOptions::default()).unwrap();
    let mut session = model.start(None).unwrap();
    let profile = Profile { curve: Curve::Even, amount: 0.4, ..Profile::default() };
    let mut sculpt = swollen(&model, BoneId(1), Form::Profile(profile));
    sculpt.region.falloff.iter_mut().for_each(|w| *w *= 0.999);
    session.apply(Edit::AddSculpt { index: None, sculpt: Box::new(sculpt.clone()) }).unwrap();
    session.apply(Edit::RotateJoint { node: 1.into(), turns: vec![(Axis::Z, 40.0)] }).unwrap();
    let mut first: Option<(String, String)> = None;
    for round in 0..20 {
        // Undoing an edit by hand restores the document.
        let other = Sculpt { amplitude: 0.3 + round as f32 * 0.01, ..sculpt.clone() };
        session.apply(Edit::SetSculpt(Box::new(other))).unwrap();
        session.apply(Edit::SetSculpt(Box::new(sculpt.clone()))).unwrap();
        let document = session.document().clone();
        let mut evaluator =
            Evaluator::new(&Where::Cpu, &model, &recipe(document.deformer()).unwrap()).unwrap();
        evaluator.set_document(&model, &document).unwrap();
        let now = (bits(&evaluator.evaluate(&model, &session.posed()).unwrap()), document.hash());
        let first = first.get_or_insert_with(|| now.clone());
        assert!(*first == now, "round {round}");
        let saved = folder.path().join(format!("{round}.glb"));
        let receipt = save(&saved, &model, &document, &mut evaluator).unwrap();
        if round == 0 {
            assert!(!receipt.to_string().is_empty());
        }
        model = Model::load(&saved, &BindOptions::default()).unwrap();
        session = model.start(None).unwrap();
        assert_eq!(session.document().hash(), first.1);
        sculpt = session.document().sculpts()[0].clone();
    }
}

#[test]
fn an_edit_has_another_side() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plus.glb");
    crate::generate::generate(crate::generate::Kind::Plus, &file).unwrap();
    let model = Model::load(&file, &BindOptions::default()).unwrap();
    let character = &model.bound.character;
    let mirror = crate::rig::Mirror::new(model.skeleton()).unwrap();
    // Choose a bone along x, away from the symmetry plane.
    let bones = &model.skeleton().bones;
    let side = |b: &crate::rig::Bone| (b.tail - b.head).normalize_or_zero().x * b.head.x.signum();
    let bone = (0..bones.len()).find(|&b| side(&bones[b]) > 0.9 && bones[b].head.x.abs() > 0.05).unwrap();
    let mark = ring_mark(character, &model.bound.attachments, MarkId(0), BoneId::from(bone), 0.5).unwrap();
    let region = Region::from_mark(character, &mark, Reach::Edges(3)).unwrap();
    let form = Form::Drawn(vec![[0.02, 0.01, 0.005]; region.kinematic.len()]);
    let sculpt = Sculpt::new(SculptId(0), Some(mark.id), region, form);
    let image = mirrored_mark(character, &mirror, &mark).unwrap();
    let other = mirrored_sculpt(character, &mirror, &sculpt, &image).unwrap();
    let middle = |s: &Sculpt| {
        let sum: Vec3 = s.region.kinematic.iter().map(|&v| character.control.positions[v as usize]).sum();
        sum / s.region.kinematic.len() as f32
    };
    let reflected = mirror.reflect_bind(middle(&sculpt).as_dvec3()).as_vec3();
    assert!(reflected.distance(middle(&other)) < 0.01 * character.control.aabb.diagonal());
    let Form::Drawn(offsets) = &other.form else { panic!() };
    assert!(offsets.iter().all(|o| *o == [-0.02, 0.01, 0.005]), "{:?}", offsets[0]);
}

#[test]
fn posing_and_editing_commute_on_real_characters() {
    for file in [
        "khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
        "khronos/Fox/glTF-Binary/Fox.glb",
        "characters/mannequiny.glb",
    ] {
        let Some(path) = shared(file) else { continue };
        let model = Model::load(&path, &BindOptions::default()).unwrap();
        let character = &model.bound.character;
        // Among the bones with a ring of skin, choose the bone with the most skin.
        let deforming = character.deforming_bones();
        let skin = |b: usize| model.bound.attachments.bone.iter().filter(|x| x.index() == b).count();
        let mut bones: Vec<usize> = (0..deforming.len()).filter(|&b| deforming[b]).collect();
        bones.sort_by_key(|&b| std::cmp::Reverse(skin(b)));
        let ring = |b: &usize| {
            let mark =
                ring_mark(character, &model.bound.attachments, MarkId(0), BoneId::from(*b), 0.5).ok()?;
            Region::from_mark(character, &mark, Reach::Edges(4)).ok()
        };
        let region = bones.iter().find_map(ring).unwrap();
        let size = character.control.aabb.diagonal();
        let offset = Vec3::new(0.012, 0.008, -0.01) * size;
        let form = Form::Drawn(vec![offset.to_array(); region.kinematic.len()]);
        let sculpt = Sculpt::new(SculptId(0), None, region, form);
        let mut pose = model.rest();
        for (k, local) in pose.local.iter_mut().enumerate() {
            let turn =
                crate::base::math::Quat::from_scaled_axis(Vec3::new(0.2, -0.15, 0.25) * (k as f32).sin());
            local.rotation = (local.rotation() * turn).into();
        }
        let rig = PosedRig::new(model.skeleton(), &pose);
        // The results of these two methods are printed but not checked: rigid attachment fails near joints, and IRS
        // fails if a ring meets a joint.
        for (method, claims) in [
            ("rigid", false),
            ("lbs", true),
            ("dqs", true),
            ("blend", true),
            ("irs", false),
            ("cor", true),
            ("stb", true),
            ("swing-twist", true),
            ("fast", true),
            ("springs", true),
        ] {
            let recipe = crate::deform::Recipe::from_name(method).unwrap();
            let mut evaluator = Evaluator::new(&Where::Cpu, &model, &recipe).unwrap();
            let mut shape = |sculpts: &[Sculpt]| {
                evaluator.set_sculpts(&model, sculpts).unwrap();
                let states: Vec<_> = sculpts.iter().filter_map(|s| s.state(0.0)).collect();
                evaluator.set_sculpt_states(&states);
                evaluator.evaluate(&model, &pose).unwrap().control
            };
            let wanted = shape(std::slice::from_ref(&sculpt));
            let mut now = shape(&[]);
            // Draw offsets in the pose that reproduce a sculpt made in bind space. One pass is not exact with springs,
            // so repeat it there to correct the remaining error.
            let at = |x: &[Vec3]| -> Vec<Vec3> {
                sculpt.region.kinematic.iter().map(|&v| x[v as usize]).collect()
            };
            let mut offsets = vec![Vec3::ZERO; sculpt.region.kinematic.len()];
            for _ in 0..if method == "springs" { 3 } else { 1 } {
                let Form::Drawn(more) = drawn(character, &rig, &sculpt.region, &at(&now), &at(&wanted))
                else {
                    panic!()
                };
                offsets.iter_mut().zip(more).for_each(|(o, m)| *o += Vec3::from(m));
                let form = Form::Drawn(offsets.iter().map(|o| o.to_array()).collect());
                now = shape(&[Sculpt { form, ..sculpt.clone() }]);
            }
            let off = now.iter().zip(&wanted).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            println!("{file} {method}: {} of the box's diagonal", off / size);
            assert!(off <= 1e-3 * size || !claims, "{file} {method}: {off}");
        }
    }
}

/// A tube with a bent pose, and a drawn layer around it whose kinematic vertices were pulled aside.
fn pulled() -> (Model, Pose, Sculpt) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tube.glb");
    std::fs::write(&file, crate::generate::tube(900).unwrap()).unwrap();
    let model = Model::load(&file, &BindOptions::default()).unwrap();
    let mut pose = model.rest();
    let node = model.skeleton().joints[1].node;
    crate::rig::rotate_joint(model.skeleton(), &mut pose, node, &[(Axis::Z, 50.0)]).unwrap();
    let sculpt = swollen(&model, BoneId(1), Form::Drawn(Vec::new()));
    let size = model.bound.character.control.aabb.diagonal();
    let offset = (Vec3::new(0.03, 0.02, -0.025) * size).to_array();
    let form = Form::Drawn(vec![offset; sculpt.region.kinematic.len()]);
    (model, pose, Sculpt { form, ..sculpt })
}

fn largest(a: &[Vec3], b: &[Vec3]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn a_layer_by_a_classical_tool_is_what_the_tool_makes_of_the_pose() {
    let (model, pose, sculpt) = pulled();
    let (character, size) = (&model.bound.character, model.bound.character.control.aabb.diagonal());
    let rig = PosedRig::new(model.skeleton(), &pose);
    let turns = crate::surface::turns(character, &rig, &sculpt.region);
    let mut evaluator =
        Evaluator::new(&Where::Cpu, &model, &recipe(&DeformerSettings::of("dqs")).unwrap()).unwrap();
    let shape = evaluator.evaluate(&model, &pose).unwrap();
    let region = &sculpt.region;
    let Form::Drawn(offsets) = &sculpt.form else { panic!() };
    let target = |((v, q), o): ((&u32, &crate::base::math::Quat), &[f32; 3])| {
        shape.control[*v as usize] + *q * Vec3::from(*o)
    };
    let targets: Vec<Vec3> = region.kinematic.iter().zip(&turns).zip(offsets).map(target).collect();
    let lists = Lists { kinematic: &region.kinematic, passive: &region.passive, fixed: &region.fixed };
    let mut results = Vec::new();
    for (method, tool) in [
        (Method::Lse, Classic::Lse(LseOptions::default())),
        (Method::Arap, Classic::Arap(Energy::SpokesAndRims, 40)),
        (Method::ArapScale, Classic::ArapScale),
    ] {
        let wanted = reshape(&model, (&pose, &shape), (&lists, &targets), tool).unwrap().shape.control;
        let found = surroundings(&model, &pose, &shape.control, &sculpt, method).unwrap();
        let layer = Sculpt { surroundings: Some(found), ..sculpt.clone() };
        evaluator.set_sculpts(&model, std::slice::from_ref(&layer)).unwrap();
        evaluator.set_sculpt_states(&[layer.state(0.0).unwrap()]);
        let now = evaluator.evaluate(&model, &pose).unwrap().control;
        let off = largest(&now, &wanted);
        assert!(off <= 1e-5 * size, "{method:?}: {off}");
        // The tool changes what a layer without it does.
        evaluator.set_sculpts(&model, std::slice::from_ref(&sculpt)).unwrap();
        evaluator.set_sculpt_states(&[sculpt.state(0.0).unwrap()]);
        let smooth = evaluator.evaluate(&model, &pose).unwrap().control;
        assert!(largest(&now, &smooth) > 1e-3 * size, "{method:?} does nothing");
        results.push(now);
    }
    assert!(largest(&results[0], &results[1]) > 1e-4 * size, "LSE and ARAP are the same");
}

#[test]
fn classical_edits_are_posed_keyed_undone_saved_and_exported_like_other_layers() {
    let (model, drawn_in, sculpt) = pulled();
    let size = model.bound.character.control.aabb.diagonal();
    let settings = DeformerSettings::of("dqs");
    let recipe = recipe(&settings).unwrap();
    let mut evaluator = Evaluator::new(&Where::Cpu, &model, &recipe).unwrap();
    let control = evaluator.evaluate(&model, &drawn_in).unwrap().control;
    for method in [Method::Lse, Method::Arap] {
        let found = surroundings(&model, &drawn_in, &control, &sculpt, method).unwrap();
        let layer = Sculpt { surroundings: Some(found), ..sculpt.clone() };
        let mut session = model.start(None).unwrap();
        session.apply(Edit::SetDeformer(settings.clone())).unwrap();
        let before = session.document().hash();
        session.apply(Edit::AddSculpt { index: None, sculpt: Box::new(layer.clone()) }).unwrap();
        let with = session.document().hash();
        let mut other = layer.clone();
        if let Some(surroundings) = &mut other.surroundings {
            surroundings.offsets[0][0] += 1e-3;
        }
        session.apply(Edit::SetSculpt(Box::new(other))).unwrap();
        assert_ne!(session.document().hash(), with, "the hash does not see the surroundings");
        session.run(Operation::Undo).unwrap();
        assert_eq!(session.document().hash(), with);
        session.run(Operation::Undo).unwrap();
        assert_eq!(session.document().hash(), before);
        session.run(Operation::Redo).unwrap();
        assert_eq!(session.document().hash(), with);
        // Another pose than the one in which the layer was drawn, and a key half-way.
        let node = model.skeleton().joints[1].node;
        session.apply(Edit::RotateJoint { node, turns: vec![(Axis::X, -35.0)] }).unwrap();
        for (time, amplitude) in [(0.0, 0.0), (1.0, 1.0)] {
            let keys = vec![KeyValue { target: Target::SculptAmplitude(layer.id), value: vec![amplitude] }];
            session.apply(Edit::Keys(KeyEdit::Insert { time, keys })).unwrap();
        }
        let document = session.document().clone();
        let shape = |model: &Model, document: &crate::document::Document, time: f64| {
            let mut evaluator = Evaluator::new(&Where::Cpu, model, &recipe).unwrap();
            let state = document.state(model.skeleton(), Some(time));
            Shaper::new(model, document, &mut evaluator).evaluate(&state).unwrap().control
        };
        let [none, half, full] = [0.0, 0.5, 1.0].map(|t| shape(&model, &document, t));
        let v = sculpt.region.passive[0] as usize;
        let whole = none[v].distance(full[v]);
        assert!(whole > 1e-3 * size, "{method:?}: the passive vertices stay");
        assert!((none[v].distance(half[v]) - 0.5 * whole).abs() < 0.1 * whole, "{method:?}: half-way");
        // A project keeps the shape to the bit, and the receipt of the file says how far the file's shape is off.
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("edited.glb");
        let mut writer = Evaluator::new(&Where::Cpu, &model, &recipe).unwrap();
        let receipt = save(&file, &model, &document, &mut writer).unwrap();
        assert!(receipt.largest_mm() <= 0.1 * f64::from(size), "{method:?}: {receipt}");
        let back = Model::load(&file, &BindOptions::default()).unwrap();
        let again = back.start(None).unwrap();
        assert_eq!(again.document().hash(), document.hash());
        assert_eq!(shape(&back, again.document(), 0.5), half);
    }
}
