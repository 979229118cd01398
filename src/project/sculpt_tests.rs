//! Tests of sculpt layers on real characters: saving and loading, and poses.

use crate::base::math::Vec3;
use crate::base::testing::shared;
use crate::base::{BoneId, MarkId, SculptId};
use crate::bind::BindOptions;
use crate::deform::sculpt::{Curve, Profile};
use crate::document::Edit;
use crate::project::save;
use crate::rig::{Axis, PosedRig};
use crate::scene::{Evaluation, Evaluator, Model, Where, recipe};
use crate::surface::{Form, Reach, Region, Sculpt, drawn, mirrored_sculpt, ring_mark};

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
    let (_, other) = mirrored_sculpt(character, &mirror, &sculpt, &mark, (SculptId(1), MarkId(1))).unwrap();
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
