//! Measures a headset frame: deformation with 50 iterations, both eyes, two controllers' cameras, panels and the CPU
//! loop.
//!
//! As in a session, two frames are in flight. Every frame has a new pose, a slider of the palette moves in every
//! frame, and both controllers point at the body. A session with resting hands is cheaper.

use super::measure::{Effort, Sample};
use super::poses;
use crate::base::math::{Aabb, Vec3};
use crate::base::{Result, Version};
use crate::deform::Recipe;
use crate::deform::springs::{Params, Solver, Stop};
use crate::gpu::{Semaphores, Timings};
use crate::render::{Camera, Lines, View};
use crate::rig::PosedRig;
use crate::scene::{Actor, Aim, Model, Pipelines, Stage, VersionedPose};
use crate::ui::palette::{PanelScreens, PanelState, Panels};
use crate::workbench::{Input, Preferences, Rigid, Tracked, Tracking, Workbench};
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// Eye sizes in pixels: the recommendation of Monado's null compositor, and a headset with about 2000 pixels per eye.
pub(super) const EYES: [[u32; 2]; 2] = [[320, 240], [2064, 2208]];
/// Spring iterations per frame.
const ITERATIONS: u32 = 50;
/// Smallest number of unmeasured frames at the start: the driver compiles lazily, and two frames are in flight.
const WARM_UP: usize = 4;
/// Vertical field of view of a controller's camera, radians.
const BRUSH: f32 = 0.02;

/// Groups of device phases, in the order of a frame.
pub(super) const GROUPS: [(&str, &[&str]); 4] = [
    ("deformation", &["pose", "skinning", "springs", "surface"]),
    ("controllers", &["probe", "pick"]),
    ("eyes", &["upload views", "shadow", "picture", "anchors", "lines"]),
    ("panels", &["panels", "panels in the scene"]),
];

/// Times of a headset frame.
#[derive(Clone, Debug, Serialize)]
pub struct VrFrame {
    /// Name of the mesh.
    pub mesh: String,
    /// Size of each eye's picture, pixels.
    pub eye: [u32; 2],
    /// Device time per group of phases: deformation, the controllers' cameras, both eyes, panels.
    pub groups: Vec<(&'static str, Sample)>,
    /// Device time per phase, by name.
    pub phases: Vec<(String, Sample)>,
    /// Device time of the whole frame.
    pub device: Sample,
    /// CPU time of the loop: panels, editor, pose, recording and submission, without waiting for the device.
    pub cpu: Sample,
    /// CPU time for the step of the panels and the step of the editor; `cpu` includes it.
    pub editor: Sample,
    /// Time from the end of a frame to the end of the next frame.
    pub interval: Sample,
}

/// Measures a character's frame at both eye sizes.
pub(super) fn measure(
    pipelines: &Pipelines,
    name: &str,
    model: &Arc<Model>,
    effort: &Effort,
) -> Result<Vec<VrFrame>> {
    EYES.iter().map(|&eye| frame(pipelines, name, model, eye, effort)).collect()
}

/// Measures a character's frame at one eye size.
pub(super) fn frame(
    pipelines: &Pipelines,
    name: &str,
    model: &Arc<Model>,
    eye: [u32; 2],
    effort: &Effort,
) -> Result<VrFrame> {
    let mut stage = Stage::new(pipelines, eye, 2, pipelines.device().samples(4))?;
    let params =
        Params { max_iterations: ITERATIONS, stop: Stop::Never, solver: Solver::Jacobi, ..Params::default() };
    let recipe = Recipe { springs: Some(params), ..Recipe::default() };
    stage.enter(Box::new(Actor::new(pipelines, stage.targets(), model, &recipe)?));
    let poses = [1, 2].map(|seed| poses::bent(model.skeleton(), seed));
    let bounds = Aabb::of(model.bound.character.display.positions.iter().copied());
    let eyes = [0.4f32, -0.3].map(|yaw| {
        let aspect = eye[0] as f32 / eye[1] as f32;
        Camera::framing(&bounds, aspect, yaw, 0.1).stereo(aspect, 0.063)
    });
    let brushes = [0.8f32, -0.9]
        .map(|yaw| -> View { Camera { fov_y: BRUSH, ..Camera::framing(&bounds, 1.0, yaw, 0.0) }.view(1.0) });
    let mut bench = Workbench::new(model.start(None)?, model.bound.character.clone(), Preferences::default());

    let (mut panels, mut state) = (Panels::new(), PanelState::default());
    let mut screens = PanelScreens::new(stage.device())?;
    let bound = screens.bind(stage.targets())?;

    let mut laps = Laps::default();
    let (mut begin, mut warm) = (Instant::now(), false);
    let mut last = Instant::now();
    for i in 0.. {
        if !warm && i >= WARM_UP && begin.elapsed() >= effort.warm_up(stage.device()) {
            (begin, warm) = (Instant::now(), true);
        }
        let measured = laps.cpu.len();
        if measured >= 2 && begin.elapsed() >= effort.budget || measured >= 2 * effort.most {
            break;
        }
        let (mut frame, _) = stage.begin()?;
        let timings = stage.timings().clone();
        let start = Instant::now();
        let input = input(i);
        state.follow(&bench);
        panels.see(&bench, bench.rig());
        // This simulates a controller's stick that changes the radius, so the radius slider moves.
        state.preferences.radius = 0.05 + 0.01 * (i % 8) as f32;
        panels.step(&input, 1, &state, Some(&bench));
        let output = bench.step(&input);
        let (lines, place): (&Lines, _) = (&output.lines, output.world_from_room);
        let stepped = Instant::now();
        let pose = &poses[i % 2];
        let rig = PosedRig::new(model.skeleton(), pose);
        let aim = Aim { views: brushes.map(Some), draw: [0.5; 2], time: i as f64 / 90.0 };
        let posed = VersionedPose { version: Version::new(), pose, rig: &rig };
        stage.record_body(&mut frame, Some(posed), &aim)?;
        screens.record(&mut frame, &mut panels)?;
        stage.record_eyes(&mut frame, &eyes[i % 2], lines)?;
        screens.record_quads(&mut frame, &stage.targets().clone(), &bound, &panels, &place);
        stage.submit(frame, &Semaphores::default())?;
        let done = Instant::now();
        if warm {
            let ms = |a: Instant, b: Instant| b.duration_since(a).as_secs_f64() * 1e3;
            laps.interval.push(ms(last, done));
            laps.cpu.push(ms(start, done));
            laps.editor.push(ms(start, stepped));
            laps.device.push(timings);
        }
        last = done;
    }
    stage.device().wait_idle()?;
    Ok(laps.report(name, eye))
}

/// Builds input with the head still and both hands swaying in front of the character.
fn input(i: usize) -> Input {
    let at = |x: f32, y: f32, z: f32| {
        let pose = Rigid { position: Vec3::new(x, y, z), ..Rigid::default() };
        Tracked { pose, tracking: Tracking::Tracked }
    };
    let time = i as f64 / 90.0;
    let sway = 0.2 * (time as f32 * 3.0).sin();
    let mut out = Input { time, head: at(0.0, 1.6, 0.0), focused: true, ..Input::default() };
    for (hand, x) in out.hands.iter_mut().zip([-0.25, 0.25]) {
        hand.grip = at(x + sway, 1.2, -0.4);
        hand.aim = at(x + sway, 1.22, -0.45);
    }
    out
}

#[derive(Default)]
struct Laps {
    interval: Vec<f64>,
    cpu: Vec<f64>,
    editor: Vec<f64>,
    device: Vec<Timings>,
}

impl Laps {
    fn report(&self, mesh: &str, eye: [u32; 2]) -> VrFrame {
        let sum = |counts: &dyn Fn(&str) -> bool| -> Sample {
            let of = |timings: &Timings| -> f64 {
                let counted = timings.iter().filter(|(name, _)| counts(name));
                counted.map(|(_, time)| time.as_secs_f64() * 1e3).sum()
            };
            Sample::of(&self.device.iter().map(of).collect::<Vec<_>>())
        };
        let mut names: Vec<String> = Vec::new();
        for (name, _) in self.device.iter().flatten() {
            if !names.iter().any(|n| n == name) {
                names.push(name.to_string());
            }
        }
        VrFrame {
            mesh: mesh.to_owned(),
            eye,
            groups: GROUPS.map(|(group, phases)| (group, sum(&|name| phases.contains(&name)))).to_vec(),
            phases: names.into_iter().map(|n| (n.clone(), sum(&|name| name == n))).collect(),
            device: sum(&|_| true),
            cpu: Sample::of(&self.cpu),
            editor: Sample::of(&self.editor),
            interval: Sample::of(&self.interval),
        }
    }
}
