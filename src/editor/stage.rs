//! What is live in every frame: a character's surface on the GPU, the pictures of one or two eyes, the cameras of the
//! controllers. The same for a headset, a window and the replay of a take.
//!
//! A frame is [`Stage::begin`] (answers of the cameras), then the editor's step, then [`Stage::record_body`] and, as
//! late as possible, [`Stage::record_eyes`]. Nothing is read back with waiting, no file is touched and no GPU memory
//! is allocated in between; a character is made ready on another thread ([`Actor::new`]) and handed over whole.

use super::{Actor, Pipelines, SurfaceSample};
use crate::base::Result;
use crate::base::math::Aabb;
use crate::gpu::{Device, Frame, Frames, Sync, Timings};
use crate::render::{Lines, Look, Shot, Targets, View};
use crate::rig::{Pose, PosedRig};
use std::sync::Arc;

/// Frames with the GPU at a time, and so the age of a camera's answer in frames.
pub const IN_FLIGHT: u64 = 2;

/// What the cameras of the controllers look at in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aim {
    /// Per hand: its camera, none where no surface is wanted.
    pub views: [Option<View>; 2],
    /// Per hand: the trigger, 0..=1.
    pub draw: [f32; 2],
    /// Of the frame, seconds.
    pub time: f64,
}

/// The live pictures of one character.
pub struct Stage {
    pipelines: Pipelines,
    targets: Arc<Targets>,
    frames: Frames,
    actor: Box<Actor>,
    look: Look,
    number: u64,
    /// The frames that may be with the GPU still: number and submission.
    submitted: [(u64, u64); IN_FLIGHT as usize],
    drawn: bool,
}

impl Stage {
    /// An empty stage whose pictures have this size; `views` and `samples` as for [`Targets::new`].
    ///
    /// # Errors
    /// As [`Targets::new`], and when memory is short.
    pub fn new(pipelines: &Pipelines, size: [u32; 2], views: u32, samples: u32) -> Result<Self> {
        let targets = Arc::new(Targets::new(pipelines.device(), size, views, samples)?);
        let actor = Box::new(Actor::nobody(pipelines, &targets)?);
        Ok(Self {
            pipelines: pipelines.clone(),
            frames: Frames::new(pipelines.device(), IN_FLIGHT as usize),
            targets,
            actor,
            look: Look::default(),
            number: 0,
            submitted: [(0, 0); IN_FLIGHT as usize],
            drawn: false,
        })
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        self.pipelines.device()
    }

    /// The pictures' images: what an actor must be made for, and what is shown.
    pub fn targets(&self) -> &Arc<Targets> {
        &self.targets
    }

    /// The pipelines.
    pub fn pipelines(&self) -> &Pipelines {
        &self.pipelines
    }

    /// Lights and backdrop.
    pub fn look_mut(&mut self) -> &mut Look {
        &mut self.look
    }

    /// Who is on the stage.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Puts another character, or the same with another deformer, on the stage; it must have been made for these
    /// [`Stage::targets`]. The one before is freed when the GPU has finished with it.
    pub fn enter(&mut self, actor: Box<Actor>) {
        self.actor = actor;
    }

    /// Starts a frame and hands over what the cameras of exactly [`IN_FLIGHT`] frames ago saw, whatever the speed of
    /// the GPU: so a recording gives the same drawing everywhere. Waits for that frame.
    ///
    /// # Errors
    /// A lost device.
    pub fn begin(&mut self) -> Result<(Frame, [Option<SurfaceSample>; 2])> {
        let frame = self.frames.begin()?;
        self.number += 1;
        // Where frames were skipped in between it may still be under way.
        let due = self.number.saturating_sub(IN_FLIGHT);
        for (number, value) in self.submitted {
            if number > 0 && number <= due {
                self.pipelines.device().wait(value)?;
            }
        }
        Ok((frame, self.actor.answers(due)?))
    }

    /// Counts a frame that is not drawn: answers that fall due in it are lost.
    pub fn skip(&mut self) {
        self.number += 1;
    }

    /// Records the deformation, where there is a new pose (or one was never given), and the cameras of the
    /// controllers.
    ///
    /// # Errors
    /// Wrong use only.
    pub fn record_body(
        &mut self,
        frame: &mut Frame,
        posed: Option<(&Pose, &PosedRig)>,
        aim: &Aim,
    ) -> Result<()> {
        if let Some((pose, rig)) = posed {
            self.actor.pose(frame, pose, rig);
        }
        self.actor.look_through(frame, aim, self.number)
    }

    /// Records the pictures: one view for each of the targets'.
    ///
    /// # Errors
    /// A wrong number of views; when lines outgrow their buffer and memory is short.
    pub fn record_eyes(&mut self, frame: &mut Frame, views: &[View], lines: &Lines) -> Result<()> {
        let shot = Shot { views, look: &self.look, lines };
        self.drawn = true;
        self.actor.draw(&self.pipelines, frame, &self.targets, &shot)
    }

    /// Submits a frame; returns the value to wait for ([`Device::wait`]).
    ///
    /// # Errors
    /// A lost device, or what went wrong in recording.
    pub fn submit(&mut self, frame: Frame, sync: &Sync<'_>) -> Result<u64> {
        let value = self.frames.submit(frame, sync)?;
        self.submitted[(self.number % IN_FLIGHT) as usize] = (self.number, value);
        Ok(value)
    }

    /// Whether the pictures show anything yet.
    pub fn drawn(&self) -> bool {
        self.drawn
    }

    /// The box of the character as posed, world, metres.
    pub fn bounds(&self) -> &Aabb {
        self.actor.bounds()
    }

    /// GPU time of each phase of the last finished frame.
    pub fn timings(&self) -> &Timings {
        self.frames.timings()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::{Quat, Vec3};
    use crate::bind::BindOptions;
    use crate::bind::shapes::Shape;
    use crate::deform::Recipe;
    use crate::editor::Model;
    use crate::gpu::testing::{assert_silent, device};
    use crate::render::Tangents;
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

    /// A controller's camera that looks along -Z at a height.
    fn looking(height: f32) -> View {
        let narrow = Tangents { left: -0.02, right: 0.02, up: 0.02, down: -0.02 };
        View::new(Vec3::new(0.0, height, 2.0), Quat::IDENTITY, narrow, 0.01)
    }

    fn eyes(bounds: &Aabb) -> [View; 2] {
        crate::render::Camera::framing(bounds, 0.75, 0.3, 0.1).stereo(0.75, 0.4)
    }

    #[test]
    fn cameras_answer_exactly_two_frames_later_with_their_own_time_and_trigger() {
        let Some(device) = device() else { return };
        let (mut stage, model) = stage_with_capsule(&device);
        let rest = model.rest();
        let rig = PosedRig::new(model.skeleton(), &rest);
        let height = |n: u64| 0.3 + 0.02 * n as f32;
        let mut seen = Vec::new();
        for n in 0..12u64 {
            if n == 7 {
                stage.skip();
                continue;
            }
            let (mut frame, samples) = stage.begin().unwrap();
            seen.push((n, samples));
            // Both hands, one, none, in turns.
            let views = [(n % 3 != 2).then(|| looking(height(n))), (n % 3 == 0).then(|| looking(5.0))];
            let aim = Aim { views, draw: [n as f32, 0.5], time: n as f64 * 0.1 };
            stage.record_body(&mut frame, (n == 0).then_some((&rest, &rig)), &aim).unwrap();
            stage.record_eyes(&mut frame, &eyes(&model_bounds(&model)), &Lines::default()).unwrap();
            let value = stage.submit(frame, &Sync::default()).unwrap();
            if n % 4 == 1 {
                // A GPU that is done early does not answer early.
                device.wait(value).unwrap();
            }
        }
        for (n, samples) in seen {
            let asked = n.checked_sub(2).filter(|a| a % 3 != 2 && *a != 7);
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
            let value = stage.submit(frame, &Sync::default()).unwrap();
            device.wait(value).unwrap();
            [0, 1].map(|eye| stage.targets().read(&device, eye).unwrap())
        };
        let differ = |a: &image::RgbaImage, b: &image::RgbaImage| {
            a.pixels().zip(b.pixels()).filter(|(a, b)| a.0[0].abs_diff(b.0[0]) > 24).count()
        };
        let rest = shoot(None);
        let posed = shoot(Some((&bent, &rig)));
        let after = shoot(None);
        assert!(differ(&rest[0], &rest[1]) > 20, "the eyes see one picture");
        for eye in 0..2 {
            assert!(differ(&rest[eye], &posed[eye]) > 60, "{}", differ(&rest[eye], &posed[eye]));
            assert_eq!(differ(&posed[eye], &after[eye]), 0);
        }
        assert_silent(&device);
    }

    #[test]
    fn an_empty_stage_shows_floor_and_lines_and_answers_nothing() {
        let Some(device) = device() else { return };
        let pipelines = Pipelines::new(&device).unwrap();
        let mut stage = Stage::new(&pipelines, SIZE, 1, 2).unwrap();
        let view = crate::render::Camera::framing(stage.bounds(), 0.75, 0.0, 0.3).view(0.75);
        let mut lines = Lines::default();
        lines.polyline(&[Vec3::new(-0.5, 1.0, 0.0), Vec3::new(0.5, 1.0, 0.0)], [255, 0, 0, 255], 6.0, 0.0);
        let (mut frame, samples) = stage.begin().unwrap();
        assert_eq!(samples, [None; 2]);
        let aim = Aim { views: [Some(looking(1.0)), None], ..Aim::default() };
        stage.record_body(&mut frame, None, &aim).unwrap();
        stage.record_eyes(&mut frame, &[view], &lines).unwrap();
        device.wait(stage.submit(frame, &Sync::default()).unwrap()).unwrap();
        let picture = stage.targets().read(&device, 0).unwrap();
        let red = picture.pixels().filter(|p| p.0[0] > 150 && p.0[1] < 80).count();
        assert!(red > 60, "{red}");
        assert!(picture.get_pixel(24, 4).0[0] > 60, "no backdrop");
        assert_silent(&device);
    }
}
