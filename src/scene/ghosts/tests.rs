use super::*;
use crate::base::math::{Aabb, Vec3};
use crate::document::{DeformerSettings, Edit, Session};
use crate::gpu::testing::{assert_silent, device};
use crate::gpu::{Buffer, Device, Semaphores};
use crate::project::bake::tests::capsule;
use crate::render::{Camera, FUTURE, Lines, PAST};
use crate::scene::{Actor, Aim, Evaluator, Shaper, Stage, Where, recipe};

const SIZE: [u32; 2] = [72, 96];
const NEVER: [Option<f64>; GHOSTS] = [None; GHOSTS];

/// Times of the nearest ghosts on both sides.
fn near(before: Option<f64>, after: Option<f64>) -> GhostTimes {
    [[before, None, None, None], [after, None, None, None]]
}

/// A stage with the capsule, whose upper part bends to one side at 1 s and to the other at 2 s.
struct Scene {
    session: Session<'static>,
    model: Arc<Model>,
    stage: Stage,
    device: Arc<Device>,
}

impl Scene {
    fn new(device: &Arc<Device>, views: u32, settings: DeformerSettings) -> Self {
        let (mut session, model) = capsule();
        session.apply(Edit::SetDeformer(settings)).unwrap();
        let pipelines = Pipelines::new(device).unwrap();
        let mut stage = Stage::new(&pipelines, SIZE, views, device.samples(4)).unwrap();
        let model = Arc::new(model);
        let recipe = recipe(session.document().deformer()).unwrap();
        stage.enter(Box::new(Actor::new(&pipelines, stage.targets(), &model, &recipe).unwrap()));
        Self { session, model, stage, device: device.clone() }
    }

    fn of_method(device: &Arc<Device>, method: &str, settings: &[(&str, serde_json::Value)]) -> Self {
        let mut of = DeformerSettings::of(method);
        of.parameters.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        Self::new(device, 1, of)
    }

    fn haunt(&mut self, counts: [u32; 2]) {
        let recipe = self.stage.actor().recipe().unwrap().clone();
        let ghosts = Ghosts::new(self.stage.pipelines(), &self.model, &recipe, &Progress::default());
        let mut ghosts = ghosts.unwrap();
        ghosts.set_counts(counts).unwrap();
        self.stage.set_ghosts(Some(Box::new(ghosts))).unwrap();
    }

    fn follow(&mut self, times: &GhostTimes) -> Follows {
        let document = (self.session.document(), self.session.revision());
        self.stage.ghosts_mut().map_or(Follows::Same, |g| g.follow(document, None, times).unwrap())
    }

    /// Runs a frame that shows the motion at a time, with these ghosts.
    fn frame(&mut self, time: f64, times: &GhostTimes) -> Follows {
        let follows = self.follow(times);
        let skeleton = self.model.skeleton();
        let pose = self.session.document().state(skeleton, Some(time)).pose;
        let rig = PosedRig::new(skeleton, &pose);
        let posed = VersionedPose { version: Version::new(), pose: &pose, rig: &rig };
        self.stage.actor_mut().set_time(Some(time));
        let (mut frame, _) = self.stage.begin().unwrap();
        self.stage.record_body(&mut frame, Some(posed), &Aim::default()).unwrap();
        let box_of = Aabb { min: Vec3::new(-1.5, 0.0, -1.5), max: Vec3::new(1.5, 1.9, 1.5) };
        // The views from two sides differ more than those of two eyes.
        let views = [1.2, 1.5].map(|yaw| Camera::framing(&box_of, 0.75, yaw, 0.1).view(0.75));
        let views = &views[..self.stage.targets().views as usize];
        self.stage.record_eyes(&mut frame, views, &Lines::default()).unwrap();
        self.device.wait(self.stage.submit(frame, &Semaphores::default()).unwrap()).unwrap();
        follows
    }

    /// Runs frames until no ghost waits; returns their number.
    fn settle(&mut self, time: f64, times: &GhostTimes) -> usize {
        let mut frames = 0;
        loop {
            self.follow(times);
            if !self.stage.ghosts_mut().unwrap().waits() {
                return frames;
            }
            self.frame(time, times);
            frames += 1;
            assert!(frames < 20, "the ghosts never settle");
        }
    }

    fn read(&self, buffer: &Buffer) -> Vec<Vec3> {
        let count = self.model.bound.character.display.positions.len();
        let all: Vec<[f32; 4]> = self.device.read(buffer, count).unwrap();
        all.into_iter().map(|[x, y, z, _]| Vec3::new(x, y, z)).collect()
    }

    /// The positions of the ghost at a time.
    fn ghost(&mut self, time: f64) -> Vec<Vec3> {
        let mut shapes = self.stage.ghosts_mut().unwrap().shapes();
        let buffer = shapes.find(|s| s.0 == time).map(|s| s.1.positions.clone());
        drop(shapes);
        self.read(&buffer.unwrap_or_else(|| panic!("no ghost at {time}")))
    }

    fn live(&self) -> Vec<Vec3> {
        self.read(&self.stage.actor().surface().positions)
    }

    fn pictures(&self) -> Vec<image::RgbaImage> {
        let targets = self.stage.targets();
        (0..targets.views).map(|view| targets.read(&self.device, view).unwrap()).collect()
    }
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn ghosts_do_not_change_a_bit_of_the_live_character() {
    let Some(device) = device() else { return };
    for (method, settings) in [
        ("springs", [("frames", "dependent".into()), ("max_iterations", 6.into())]),
        ("springs", [("dynamics", 3.0.into()), ("max_iterations", 6.into())]),
        ("volume", [("frames", "dependent".into()), ("dynamics", 2.0.into())]),
        ("fast", [("iterations", 3.into()), ("extra", 4.into())]),
    ] {
        let run = |haunted: bool| {
            let mut scene = Scene::of_method(&device, method, &settings);
            if haunted {
                scene.haunt([0, 1]);
            }
            let shapes: Vec<Vec<Vec3>> = (0..5)
                .map(|k| {
                    let time = 0.2 * f64::from(k);
                    // Every frame solves a ghost of another time.
                    scene.frame(time, &near(None, Some(2.0 - time)));
                    scene.live()
                })
                .collect();
            (shapes, haunted.then(|| scene.ghost(2.0 - 0.8)))
        };
        let ((alone, _), (haunted, ghost)) = (run(false), run(true));
        assert_eq!(alone, haunted, "{method} {settings:?}");
        assert!(farthest(&alone[0], &alone[4]) > 0.1, "{method}: the character moves");
        assert!(ghost.is_none_or(|g| farthest(&g, &alone[4]) > 0.05), "{method}: the ghost is elsewhere");
    }
    assert_silent(&device);
}

#[test]
fn a_ghost_is_the_deformed_skin_at_its_time() {
    let Some(device) = device() else { return };
    for (method, tolerance) in [("lbs", 1e-5), ("springs", 2e-3), ("volume", 2e-3), ("fast", 1e-4)] {
        let mut scene = Scene::of_method(&device, method, &[]);
        scene.haunt([2, 2]);
        let times = [[Some(0.5), Some(0.25), None, None], [Some(1.0), Some(2.0), None, None]];
        assert_eq!(scene.settle(0.75, &times), 4, "one ghost per frame");
        let document = scene.session.document().clone();
        let recipe = recipe(document.deformer()).unwrap();
        let mut evaluator = Evaluator::new(&Where::Cpu, &scene.model, &recipe).unwrap();
        let model = scene.model.clone();
        let mut shaper = Shaper::new(&model, &document, &mut evaluator);
        for time in [0.25, 0.5, 1.0, 2.0] {
            let wanted = shaper.evaluate(&document.state(model.skeleton(), Some(time))).unwrap().positions;
            let off = farthest(&scene.ghost(time), &wanted);
            assert!(off < tolerance, "{method} at {time} s: {off}");
        }
        // The order of the solves does not matter.
        let first = scene.ghost(0.25);
        let mut other = Scene::of_method(&device, method, &[]);
        other.haunt([1, 1]);
        other.settle(0.0, &near(Some(0.25), Some(2.0)));
        assert_eq!(other.ghost(0.25), first, "{method}");
    }
    assert_silent(&device);
}

#[test]
fn both_eyes_see_ghosts_and_queries_and_shadows_do_not() {
    let Some(device) = device() else { return };
    let mut scene = Scene::new(&device, 2, DeformerSettings::of("lbs"));
    scene.frame(0.0, &[NEVER; 2]);
    let plain = scene.pictures();
    scene.haunt([1, 1]);
    scene.settle(0.0, &near(None, Some(1.0)));
    let future = scene.pictures();
    scene.settle(0.0, &near(Some(1.0), None));
    scene.frame(0.0, &near(Some(1.0), None));
    let past = scene.pictures();
    for eye in 0..2 {
        for (pictures, color) in [(&future, FUTURE), (&past, PAST)] {
            let mut changed = 0;
            for (old, new) in plain[eye].pixels().zip(pictures[eye].pixels()) {
                let part = |i: usize| i32::from(new.0[i]) - i32::from(old.0[i]);
                let to = |i: usize| i32::from(color[i]) - i32::from(old.0[i]);
                if (0..3).any(|i| part(i).abs() > 6) {
                    changed += 1;
                    // A shadow would darken; a ghost only mixes its own colour in.
                    let along: i32 = (0..3).map(|i| part(i) * to(i)).sum();
                    assert!(along > 0, "eye {eye}: {old:?} became {new:?}");
                }
            }
            assert!(changed > 150, "eye {eye}: {changed} pixels");
        }
        let differ = future[eye].pixels().zip(past[eye].pixels()).filter(|(a, b)| a != b).count();
        assert!(differ > 150, "past and future have different colours");
    }
    assert_ne!(future[0], future[1], "the eyes see the ghost from two places");
    // A pick where only the ghost is finds nothing; a pick on the body finds the body.
    let at = |wanted: fn(i32) -> bool| {
        let found = plain[0].enumerate_pixels().zip(past[0].pixels()).find(|((_, _, old), new)| {
            wanted((0..3).map(|i| (i32::from(new.0[i]) - i32::from(old.0[i])).abs()).sum())
        });
        found.map(|((x, y, _), _)| [x, y]).unwrap()
    };
    let ghost = at(|change| change > 60);
    let mut answers = Vec::new();
    for (tag, pixel) in [(1, ghost), (2, SIZE.map(|n| n / 2))] {
        let (mut frame, _) = scene.stage.begin().unwrap();
        assert!(scene.stage.record_pick(&mut frame, 0, pixel, tag).unwrap());
        device.wait(scene.stage.submit(frame, &Semaphores::default()).unwrap()).unwrap();
        answers.extend(scene.stage.picked().unwrap());
    }
    let seen: Vec<(u64, bool)> = answers.iter().map(|(tag, hit)| (*tag, hit.is_some())).collect();
    assert_eq!(seen, [(1, false), (2, true)]);
    // Without ghosts, the picture is the one before.
    scene.stage.set_ghosts(None).unwrap();
    scene.frame(0.0, &[NEVER; 2]);
    assert_eq!(scene.pictures(), plain);
    assert_silent(&device);
}

#[test]
fn a_step_of_the_playhead_solves_only_new_ghosts_and_an_edit_solves_all() {
    let Some(device) = device() else { return };
    let mut scene = Scene::new(&device, 1, DeformerSettings::of("lbs"));
    scene.haunt([3, 3]);
    let around = |frame: i32| -> GhostTimes {
        let at = |k: i32| (k >= 0).then(|| f64::from(k) / 24.0);
        [[-1, -2, -3], [1, 2, 3]].map(|side| {
            let [a, b, c] = side.map(|k| at(frame + k));
            [a, b, c, None]
        })
    };
    assert_eq!(scene.settle(0.5, &around(12)), 6);
    assert_eq!(scene.frame(0.5, &around(12)), Follows::Same);
    // The frame that the playhead leaves, and the frame at the far end.
    assert_eq!(scene.settle(0.5, &around(13)), 2);
    assert_eq!(scene.settle(0.5, &around(12)), 2);
    // An edit makes all ghosts stale: they show their last shapes until they are solved again.
    let before = scene.ghost(9.0 / 24.0);
    scene.session.apply(Edit::SetDeformer(DeformerSettings::of("lbs").switched("dqs"))).unwrap();
    assert!(!scene.stage.ghosts_mut().unwrap().fits(&recipe(scene.session.document().deformer()).unwrap()));
    scene.session.apply(Edit::SetDeformer(DeformerSettings::of("lbs"))).unwrap();
    assert_eq!(scene.follow(&around(12)), Follows::Changed);
    assert_eq!(scene.stage.ghosts_mut().unwrap().shapes().count(), 0);
    assert_eq!(scene.settle(0.5, &around(12)), 6);
    assert_eq!(scene.ghost(9.0 / 24.0), before);
    // Fewer ghosts need no solve; the stage forgets ghosts of another character.
    scene.stage.ghosts_mut().unwrap().set_counts([1, 0]).unwrap();
    assert_eq!((scene.settle(0.5, &around(12)), scene.stage.ghosts_mut().unwrap().counts()), (0, [1, 0]));
    scene.stage.resize([40, 50], 2, 1).unwrap();
    scene.frame(0.5, &around(12));
    let other = Scene::new(&device, 1, DeformerSettings::of("lbs"));
    let recipe = recipe(other.session.document().deformer()).unwrap();
    let actor = Actor::new(scene.stage.pipelines(), scene.stage.targets(), &other.model, &recipe).unwrap();
    scene.stage.enter(Box::new(actor));
    assert!(scene.stage.ghosts_mut().is_none());
    assert_silent(&device);
}
