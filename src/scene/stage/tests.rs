use super::*;
use crate::base::Version;
use crate::base::math::{Quat, Vec3};
use crate::bind::BindOptions;
use crate::bind::shapes::Shape;
use crate::deform::Recipe;
use crate::deform::springs::Params;
use crate::gpu::testing::{assert_silent, device};
use crate::render::Tangents;
use crate::rig::PosedRig;
use crate::scene::Model;
use crate::take::Eye;
use crate::workbench::{Rigid, Similarity};
use std::time::Duration;

const SIZE: [u32; 2] = [48, 64];

fn stage_with_capsule(device: &Arc<Device>) -> (Stage, Arc<Model>) {
    let shape = Shape { bones: 2, rings: 16, segments: 24, radius: 0.2, length: 1.0, blend: 0.5 };
    let model = Model::bind(shape.capsule_asset(), &BindOptions::default(), Duration::ZERO).unwrap();
    let model = Arc::new(model);
    let pipelines = Pipelines::new(device).unwrap();
    let mut stage = Stage::new(&pipelines, SIZE, 2, 1).unwrap();
    let recipe = Recipe::from_name("lbs").unwrap();
    let actor = Actor::new(&pipelines, stage.targets(), &model, &recipe).unwrap();
    stage.enter(Box::new(actor));
    (stage, model)
}

/// A probe camera that looks along -Z at the given height.
fn looking(height: f32) -> View {
    let narrow = Tangents { left: -0.02, right: 0.02, up: 0.02, down: -0.02 };
    View::new(Vec3::new(0.0, height, 2.0), Quat::IDENTITY, narrow, 0.01)
}

/// Two views from very different directions. From similar directions, the images of a straight capsule would hardly
/// differ.
fn eyes(bounds: &Aabb) -> [View; 2] {
    [0.3, 1.2].map(|yaw| crate::render::Camera::framing(bounds, 0.75, yaw, 0.1).view(0.75))
}

#[test]
fn cameras_answer_exactly_two_frames_later_with_their_own_time_and_trigger() {
    let Some(device) = device() else { return };
    let (mut stage, model) = stage_with_capsule(&device);
    let rest = model.rest();
    let rig = PosedRig::new(model.skeleton(), &rest);
    let pose = VersionedPose { version: Version::new(), pose: &rest, rig: &rig };
    let height = |n: u64| 0.3 + 0.02 * n as f32;
    let mut seen = Vec::new();
    for n in 0..12u64 {
        if n == 7 {
            stage.skip();
            continue;
        }
        let (mut frame, samples) = stage.begin().unwrap();
        seen.push((n, samples));
        // Probe both hands, one hand, and none, in rotation.
        let views = [(n % 3 != 2).then(|| looking(height(n))), (n % 3 == 0).then(|| looking(5.0))];
        let aim = Aim { views, draw: [n as f32, 0.5], time: n as f64 * 0.1 };
        stage.record_body(&mut frame, Some(pose), &aim).unwrap();
        stage.record_eyes(&mut frame, &eyes(&model_bounds(&model)), &Lines::default()).unwrap();
        let value = stage.submit(frame, &Semaphores::default()).unwrap();
        if n % 4 == 1 {
            // The GPU finishes early here. Samples must arrive after the same number of frames nevertheless.
            device.wait(value).unwrap();
        }
    }
    for (n, samples) in seen {
        // Frame 7 asked for nothing. Frame 9 returns the samples of frame 8.
        let asked = if n == 9 { Some(6) } else { n.checked_sub(2).filter(|a| a % 3 != 2) };
        assert_eq!(samples[0].is_some(), asked.is_some(), "frame {n}: {samples:?}");
        assert_eq!(samples[1], None, "nothing is at 5 m");
        if let (Some(sample), Some(asked)) = (samples[0], asked) {
            assert_eq!((sample.time, sample.draw), (asked as f64 * 0.1, asked as f32));
            assert!((sample.position.y - height(asked)).abs() < 5e-3, "{sample:?}");
            assert!((sample.position.z - 0.2).abs() < 5e-3 && sample.normal.z > 0.95, "{sample:?}");
            let corners = model.bound.character.display.triangles[sample.triangle as usize]
                .map(|i| model.bound.character.display.positions[i as usize]);
            let point: Vec3 = corners.iter().zip(sample.barycentrics).map(|(c, w)| *c * w).sum();
            assert!((point - sample.position).length() < 1e-4);
        }
    }
    assert_silent(&device);
}

#[test]
fn a_new_actor_of_the_same_character_costs_no_sample() {
    let Some(device) = device() else { return };
    let (mut stage, model) = stage_with_capsule(&device);
    let rest = model.rest();
    let rig = PosedRig::new(model.skeleton(), &rest);
    let frames = |stage: &mut Stage, count: usize| {
        let mut last = [None; 2];
        for _ in 0..count {
            let (mut frame, samples) = stage.begin().unwrap();
            let pose = VersionedPose { version: Version::new(), pose: &rest, rig: &rig };
            let aim = Aim { views: [Some(looking(0.5)), None], draw: [0.0; 2], time: 0.0 };
            stage.record_body(&mut frame, Some(pose), &aim).unwrap();
            stage.submit(frame, &Semaphores::default()).unwrap();
            last = samples;
        }
        last
    };
    let actor = |stage: &Stage, model: &Arc<Model>| {
        let recipe = Recipe::from_name("dqs").unwrap();
        Box::new(Actor::new(stage.pipelines(), stage.targets(), model, &recipe).unwrap())
    };
    let sample = frames(&mut stage, 3)[0].expect("the skin is there");
    let same = actor(&stage, &model);
    stage.enter(same);
    for _ in 0..3 {
        let next = frames(&mut stage, 1)[0].expect("the skin is there");
        assert!(next.position.distance(sample.position) < 1e-4, "{next:?}");
    }
    // Triangles of another character have other numbers.
    let (_, other) = stage_with_capsule(&device);
    let other = actor(&stage, &other);
    stage.enter(other);
    assert_eq!(frames(&mut stage, 2)[0], None);
    assert!(frames(&mut stage, 1)[0].is_some());
    assert_silent(&device);
}

fn model_bounds(model: &Model) -> Aabb {
    Aabb::of(model.bound.character.display.positions.iter().copied())
}

#[test]
fn a_pose_stays_until_the_next_and_both_eyes_see_it() {
    let Some(device) = device() else { return };
    let (mut stage, model) = stage_with_capsule(&device);
    let bounds = model_bounds(&model);
    let mut bent = model.rest();
    let joint = model.skeleton().joints.last().unwrap().node;
    bent.local[joint.index()].rotation = Quat::from_rotation_z(1.2).to_array();
    let rig = PosedRig::new(model.skeleton(), &bent);
    let mut shoot = |posed| {
        let (mut frame, _) = stage.begin().unwrap();
        stage.record_body(&mut frame, posed, &Aim::default()).unwrap();
        stage.record_eyes(&mut frame, &eyes(&bounds), &Lines::default()).unwrap();
        let value = stage.submit(frame, &Semaphores::default()).unwrap();
        device.wait(value).unwrap();
        [0, 1].map(|eye| stage.targets().read(&device, eye).unwrap())
    };
    let differ = |a: &image::RgbaImage, b: &image::RgbaImage| {
        a.pixels().zip(b.pixels()).filter(|(a, b)| a.0[0].abs_diff(b.0[0]) > 24).count()
    };
    let rest = shoot(None);
    let posed = shoot(Some(VersionedPose { version: Version::new(), pose: &bent, rig: &rig }));
    let after = shoot(None);
    assert!(differ(&posed[0], &posed[1]) > 60, "the eyes see one picture");
    for eye in 0..2 {
        assert!(differ(&rest[eye], &posed[eye]) > 60, "{}", differ(&rest[eye], &posed[eye]));
        assert_eq!(differ(&posed[eye], &after[eye]), 0);
    }
    assert_silent(&device);
}

#[test]
fn flesh_that_swings_is_posed_again_while_a_motion_holds_a_pose() {
    let Some(device) = device() else { return };
    let (mut stage, model) = stage_with_capsule(&device);
    let swinging = Params { dynamics: 3.0, ..Params::default() };
    for (recipe, moves) in [(Recipe::springs(swinging), true), (Recipe::springs(Params::default()), false)] {
        let actor = Actor::new(stage.pipelines(), stage.targets(), &model, &recipe).unwrap();
        stage.enter(Box::new(actor));
        let rest = model.rest();
        let rig = PosedRig::new(model.skeleton(), &rest);
        let pose = VersionedPose { version: Version::new(), pose: &rest, rig: &rig };
        for (time, due) in
            [(Some(0.0), true), (Some(0.0), false), (Some(0.1), moves), (None, moves), (None, false)]
        {
            stage.actor_mut().set_time(time);
            assert_eq!(!stage.actor().has(&pose), due, "{time:?} {moves}");
            let (mut frame, _) = stage.begin().unwrap();
            stage.record_body(&mut frame, Some(pose), &Aim::default()).unwrap();
            device.wait(stage.submit(frame, &Semaphores::default()).unwrap()).unwrap();
            assert!(stage.actor().has(&pose));
        }
    }
    assert_silent(&device);
}

#[test]
fn an_empty_stage_shows_floor_and_lines_and_answers_nothing() {
    let Some(device) = device() else { return };
    let pipelines = Pipelines::new(&device).unwrap();
    let mut stage = Stage::new(&pipelines, SIZE, 1, device.samples(4)).unwrap();
    let view = crate::render::Camera::framing(stage.bounds(), 0.75, 0.0, 0.3).view(0.75);
    let mut lines = Lines::default();
    lines.polyline(&[Vec3::new(-0.5, 1.0, 0.0), Vec3::new(0.5, 1.0, 0.0)], [255, 0, 0, 255], 6.0, 0.0);
    let (mut frame, samples) = stage.begin().unwrap();
    assert_eq!(samples, [None; 2]);
    let aim = Aim { views: [Some(looking(1.0)), None], ..Aim::default() };
    stage.record_body(&mut frame, None, &aim).unwrap();
    stage.record_eyes(&mut frame, &[view], &lines).unwrap();
    device.wait(stage.submit(frame, &Semaphores::default()).unwrap()).unwrap();
    let picture = stage.targets().read(&device, 0).unwrap();
    let red = picture.pixels().filter(|p| p.0[0] > 150 && p.0[1] < 80).count();
    assert!(red > 60, "{red}");
    assert!(picture.get_pixel(24, 4).0[0] > 60, "no backdrop");
    assert_silent(&device);
}

/// A sphere and its centre.
fn sphere(radius: f32) -> (Arc<Model>, Vec3) {
    let shape = Shape { bones: 1, rings: 1, segments: 96, radius, length: 0.02, blend: 0.0 };
    let mut asset = shape.capsule_asset();
    let middle = Vec3::new(0.0, 0.01, 0.0);
    for position in &mut asset.meshes[0].primitives[0].positions {
        *position = middle + (*position - middle).normalize() * radius;
    }
    (Arc::new(Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap()), middle)
}

/// Centre of a sphere's image for an eye, pixels. Traces 4 x 4 rays per pixel, using only the eye's pose and angles
/// as a runtime gives them.
fn traced(eye: &Eye, size: [u32; 2], middle: Vec3, radius: f32) -> [f64; 2] {
    let [left, right, up, down] = eye.fov.map(f32::tan);
    let (mut sum, mut count) = ([0.0f64; 2], 0.0);
    for y in 0..size[1] * 4 {
        for x in 0..size[0] * 4 {
            let (u, v) = ((x as f32 + 0.5) / 4.0, (y as f32 + 0.5) / 4.0);
            let (a, b) = (u / size[0] as f32, v / size[1] as f32);
            let ray = Vec3::new(left + (right - left) * a, up + (down - up) * b, -1.0);
            let ray = (eye.pose.orientation * ray).normalize();
            let to = middle - eye.pose.position;
            let along = to.dot(ray);
            if along > 0.0 && to.length_squared() - along * along < radius * radius {
                sum = [sum[0] + f64::from(u), sum[1] + f64::from(v)];
                count += 1.0;
            }
        }
    }
    assert!(count > 500.0, "the eye does not see it");
    sum.map(|s| s / count)
}

#[test]
fn the_disparity_of_a_sphere_is_that_of_the_eyes_poses_and_angles() {
    let Some(device) = device() else { return };
    let radius = 0.12;
    let (model, middle) = sphere(radius);
    let pipelines = Pipelines::new(&device).unwrap();
    let mut stage = Stage::new(&pipelines, [160, 120], 2, 1).unwrap();
    let recipe = Recipe::from_name("lbs").unwrap();
    stage.enter(Box::new(Actor::new(&pipelines, stage.targets(), &model, &recipe).unwrap()));
    // Eyes as in a headset, at several distances: each eye sees farther outwards than inwards, both eyes are rotated
    // outwards, and the head is tilted.
    for (distance, roll) in [(0.9f32, 0.0f32), (1.6, 0.12), (2.2, -0.2)] {
        let head = Quat::from_euler(glam::EulerRot::YXZ, 0.05, -0.04, roll);
        let eyes = [-1.0f32, 1.0].map(|side| {
            let cant = Quat::from_rotation_y(-side * 0.06);
            let pose = Rigid {
                position: middle + Vec3::new(0.03, 0.05, distance) + head * Vec3::X * (side * 0.0325),
                orientation: head * cant,
            };
            let (outer, inner) = (0.81f32, 0.72f32);
            let fov = if side < 0.0 { [-outer, inner] } else { [-inner, outer] };
            Eye { pose, fov: [fov[0], fov[1], 0.62, -0.75] }
        });
        let views = eyes.map(|eye| eye.view(&Similarity::default()).unwrap());
        let (mut frame, _) = stage.begin().unwrap();
        stage.record_eyes(&mut frame, &views, &Lines::default()).unwrap();
        device.wait(stage.submit(frame, &Semaphores::default()).unwrap()).unwrap();
        let mut found = [[0.0f64; 2]; 2];
        let mut expected = found;
        for eye in 0..2 {
            // Depth 0 is infinitely far: the backdrop.
            let depth: Vec<f32> = device.read_image(&stage.targets().depth, eye as u32).unwrap();
            let hit = depth.iter().enumerate().filter(|(_, d)| **d > 0.0).map(|(i, _)| i as u32);
            let (mut sum, mut count) = ([0.0f64; 2], 0.0);
            for i in hit {
                sum = [sum[0] + f64::from(i % 160) + 0.5, sum[1] + f64::from(i / 160) + 0.5];
                count += 1.0;
            }
            found[eye] = sum.map(|s| s / count);
            expected[eye] = traced(&eyes[eye], [160, 120], middle, radius);
            for axis in 0..2 {
                let off = (found[eye][axis] - expected[eye][axis]).abs();
                assert!(off < 0.25, "eye {eye} at {distance} m: {:?}, not {:?}", found[eye], expected[eye]);
            }
        }
        let disparity = |of: [[f64; 2]; 2]| of[0][0] - of[1][0];
        let (is, should) = (disparity(found), disparity(expected));
        println!("{distance} m: disparity {is:.3} pixels, analytic {should:.3}");
        assert!((is - should).abs() < 0.5);
        // Swapped eyes, or one image for both, would fail here.
        assert!((is + should).abs() > 5.0 && is.abs() > 2.0, "{is} {should}");
    }
    assert_silent(&device);
}

#[test]
fn a_pick_names_the_same_skin_with_smooth_edges_and_without_and_after_a_resize() {
    let Some(device) = device() else { return };
    let (mut stage, model) = stage_with_capsule(&device);
    let (rest, bounds) = (model.rest(), model_bounds(&model));
    let rig = PosedRig::new(model.skeleton(), &rest);
    let mut pick = |size: [u32; 2], samples: u32, pixel: [u32; 2]| {
        stage.resize(size, 2, samples).unwrap();
        let (mut frame, _) = stage.begin().unwrap();
        assert!(!stage.record_pick(&mut frame, 0, pixel, 7).unwrap(), "nothing is drawn yet");
        let pose = VersionedPose { version: Version::new(), pose: &rest, rig: &rig };
        stage.record_body(&mut frame, Some(pose), &Aim::default()).unwrap();
        stage.record_eyes(&mut frame, &eyes(&bounds), &Lines::default()).unwrap();
        assert!(stage.record_pick(&mut frame, 1, pixel, 7).unwrap());
        assert!(!stage.record_pick(&mut frame, 1, size, 7).unwrap(), "outside");
        device.wait(stage.submit(frame, &Semaphores::default()).unwrap()).unwrap();
        let (tag, hit) = stage.picked().unwrap().unwrap();
        assert_eq!(tag, 7);
        hit
    };
    let hard = pick(SIZE, 1, [24, 32]).expect("the body's middle");
    let smooth = pick(SIZE, device.samples(4), [24, 32]).expect("the body's middle");
    assert_eq!(hard, smooth);
    assert_eq!(pick(SIZE, device.samples(4), [1, 1]), None);
    // An odd scale factor maps the pixel's centre to the centre of a larger image's pixel.
    let larger = pick(SIZE.map(|n| n * 3), 1, [24 * 3 + 1, 32 * 3 + 1]).expect("the body's middle");
    assert_eq!((larger.triangle, larger.part), (hard.triangle, hard.part));
    assert!(Vec3::from(larger.position).distance(hard.position.into()) < 1e-3);
    // Another actor discards a pick that has no result yet.
    let (mut frame, _) = stage.begin().unwrap();
    assert!(!stage.awaits_pick() && stage.record_pick(&mut frame, 1, [24, 32], 8).unwrap());
    device.wait(stage.submit(frame, &Semaphores::default()).unwrap()).unwrap();
    assert!(stage.awaits_pick());
    let recipe = Recipe::from_name("lbs").unwrap();
    let actor = Actor::new(stage.pipelines(), stage.targets(), &model, &recipe).unwrap();
    stage.enter(Box::new(actor));
    assert!(!stage.awaits_pick() && stage.picked().unwrap().is_none());
    assert_silent(&device);
}

#[test]
fn hands_and_picks_see_the_skin_below_hidden_parts() {
    let Some(device) = device() else { return };
    let shape = Shape { bones: 2, rings: 16, segments: 24, radius: 0.2, length: 1.0, blend: 0.5 };
    let mut asset = shape.capsule_asset();
    // A sleeve around the capsule is the second part.
    let mut sleeve = asset.meshes[0].primitives[0].clone();
    sleeve.positions.iter_mut().for_each(|x| *x *= Vec3::new(1.5, 1.0, 1.5));
    asset.meshes[0].primitives.push(sleeve);
    let model = Arc::new(Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap());
    assert_eq!(model.bound.character.display.parts.len(), 2);
    let pipelines = Pipelines::new(&device).unwrap();
    let mut stage = Stage::new(&pipelines, SIZE, 2, 1).unwrap();
    let recipe = Recipe::from_name("lbs").unwrap();
    let actor = Actor::new(&pipelines, stage.targets(), &model, &recipe).unwrap();
    stage.enter(Box::new(actor));
    let (rest, view) = (model.rest(), looking(0.5));
    let rig = PosedRig::new(model.skeleton(), &rest);
    let pose = VersionedPose { version: Version::new(), pose: &rest, rig: &rig };
    let mut depths = |hidden: &[u32]| {
        let changed = stage.actor_mut().set_hidden(hidden);
        assert!(!stage.actor_mut().set_hidden(hidden), "the same again changes nothing");
        let mut probed = None;
        for n in 0..4 {
            let (mut frame, samples) = stage.begin().unwrap();
            probed = samples[0].map(|s| s.position.z);
            let aim = Aim { views: [Some(view), None], draw: [1.0; 2], time: f64::from(n) };
            stage.record_body(&mut frame, Some(pose), &aim).unwrap();
            stage.record_eyes(&mut frame, &eyes(&model_bounds(&model)), &Lines::default()).unwrap();
            assert!(stage.actor_mut().pick(&pipelines, &mut frame, view, 7).unwrap() || n > 0);
            let value = stage.submit(frame, &Semaphores::default()).unwrap();
            device.wait(value).unwrap();
        }
        let mut picked = None;
        while let Some((tag, hit)) = stage.actor_mut().picked().unwrap() {
            assert_eq!(tag, 7);
            picked = hit.map(|h| h.part);
        }
        (changed, probed.map(|z| (z * 10.0).round()), picked)
    };
    assert_eq!(depths(&[]), (false, Some(3.0), Some(1)));
    assert_eq!(depths(&[1]), (true, Some(2.0), Some(0)));
    assert_eq!(depths(&[0, 1]), (true, None, None));
    assert_eq!(depths(&[7]), (true, Some(3.0), Some(1)));
    assert_silent(&device);
}

#[test]
fn the_skin_shows_firm_regions_and_follows_their_changes() {
    use crate::base::FirmId;
    use crate::bind::VertexRuns;
    use crate::deform::blend::Painted;
    use crate::deform::volume::{Firm, FirmRegion};
    use crate::scene::SkinColors;
    let Some(device) = device() else { return };
    let (mut stage, model) = stage_with_capsule(&device);
    let rest = model.rest();
    let rig = PosedRig::new(model.skeleton(), &rest);
    let firm = |factor| {
        let region = FirmRegion {
            id: FirmId(0),
            name: "all".into(),
            factor,
            vertices: VertexRuns::of(0..model.bound.character.control.positions.len() as u32),
            falloff: Painted::NONE,
        };
        Firm::new(vec![region])
    };
    let mut mean = |firm: &Firm, changes: bool| {
        let actor = stage.actor_mut();
        actor.set_firm(firm);
        assert_eq!(actor.show_colors(SkinColors::Firmness, None).unwrap(), changes);
        assert!(!actor.show_colors(SkinColors::Firmness, None).unwrap());
        let pose = VersionedPose { version: Version::new(), pose: &rest, rig: &rig };
        let (mut frame, _) = stage.begin().unwrap();
        stage.record_body(&mut frame, Some(pose), &Aim::default()).unwrap();
        stage.record_eyes(&mut frame, &eyes(&model_bounds(&model)), &Lines::default()).unwrap();
        let value = stage.submit(frame, &Semaphores::default()).unwrap();
        device.wait(value).unwrap();
        let picture: Vec<[u8; 4]> = device.read_image(&stage.targets().picture, 0).unwrap();
        let middle = picture[(SIZE[1] / 2 * SIZE[0] + SIZE[0] / 2) as usize];
        i32::from(middle[0]) - i32::from(middle[2])
    };
    // Red less blue in the middle of the picture.
    let grey = mean(&Firm::default(), true);
    let [red, blue] = [16.0, 1.0 / 16.0].map(|factor| mean(&firm(factor), true));
    assert!(red > grey + 40 && blue < grey - 40, "{blue} {grey} {red}");
    assert_eq!(mean(&firm(1.0 / 16.0), false), blue);
    assert_silent(&device);
}
