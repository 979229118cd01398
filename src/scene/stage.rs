//! What is live in every frame: a character's surface on the GPU, the pictures of one or two eyes, the cameras of the
//! controllers. The same for a headset, a window and the replay of a take.
//!
//! A frame is [`Stage::begin`] (answers of the cameras), then the editor's step, then [`Stage::record_body`] and, as
//! late as possible, [`Stage::record_eyes`]. Nothing is read back with waiting, no file is touched and no GPU memory
//! is allocated in between; a character is made ready on another thread ([`Actor::new`]) and handed over whole.

use super::{Actor, Pipelines, SurfaceSample, VersionedPose};
use crate::base::Result;
use crate::base::math::Aabb;
use crate::gpu::{Device, Frame, Frames, Sync, Timings};
use crate::query::Hit;
use crate::render::{Lines, Look, Shot, Targets, View};
use std::sync::Arc;

/// Frames with the GPU at a time, and so the age of a camera's answer in frames.
pub const IN_FLIGHT: u64 = 2;

/// What the cameras of the controllers look at in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aim {
    /// Per hand: its camera, `None` if no surface is wanted.
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
    /// Of the pictures as recorded last; none before.
    views: [Option<View>; 2],
    number: u64,
    /// The frames that may be with the GPU still: number and submission.
    submitted: [(u64, u64); IN_FLIGHT as usize],
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
            views: [None; 2],
            number: 0,
            submitted: [(0, 0); IN_FLIGHT as usize],
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

    /// Lights, backdrop and the scale of lines.
    pub fn look_mut(&mut self) -> &mut Look {
        &mut self.look
    }

    /// Who is on the stage.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// The same, to be changed: see [`Actor::set_sculpts`].
    pub fn actor_mut(&mut self) -> &mut Actor {
        &mut self.actor
    }

    /// Puts another character, or the same with another deformer, on the stage; it must have been made for these
    /// [`Stage::targets`], or else be given to [`Stage::enter_anew`]. The one before is freed when the GPU has finished
    /// with it.
    pub fn enter(&mut self, actor: Box<Actor>) {
        self.actor = actor;
    }

    /// [`Stage::enter`] for an actor that was made for other pictures.
    ///
    /// # Errors
    /// When memory is short.
    pub fn enter_anew(&mut self, mut actor: Box<Actor>) -> Result<()> {
        actor.rebind(&self.pipelines, &self.targets)?;
        self.enter(actor);
        Ok(())
    }

    /// Replaces the pictures by others of this size, for one view or two, with 1 or 4 samples per pixel; the character stays.
    /// Takes milliseconds and GPU memory: between frames, and only where something changes.
    ///
    /// # Errors
    /// As [`Targets::new`]; the stage is as it was then.
    pub fn resize(&mut self, size: [u32; 2], views: u32, samples: u32) -> Result<()> {
        let targets = Arc::new(Targets::new(self.pipelines.device(), size, views, samples)?);
        self.actor.rebind(&self.pipelines, &targets)?;
        self.targets = targets;
        self.views = [None; 2];
        Ok(())
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

    /// Records the deformation of a pose that the character has not yet, and the cameras of the controllers.
    ///
    /// # Errors
    /// Wrong use only.
    pub fn record_body(
        &mut self,
        frame: &mut Frame,
        pose: Option<VersionedPose<'_>>,
        aim: &Aim,
    ) -> Result<()> {
        if let Some(pose) = pose {
            self.actor.pose(frame, &pose);
        }
        self.actor.look_through(frame, aim, self.number)
    }

    /// Records the pictures: one view for each of the targets'.
    ///
    /// # Errors
    /// A wrong number of views; when lines outgrow their buffer and memory is short.
    pub fn record_eyes(&mut self, frame: &mut Frame, views: &[View], lines: &Lines) -> Result<()> {
        let shot = Shot { views, look: &self.look, lines };
        self.views = [views.first().copied(), views.get(1).copied()];
        self.actor.draw(&self.pipelines, frame, &self.targets, &shot)
    }

    /// Looks up a pixel (of a view, from the upper left) in the pictures as recorded last, in this frame or before; the
    /// tag comes back with the answer. False where nobody is on the stage, the pixel is outside or too many are under
    /// way. The pixel is drawn once more, alone: the pictures hold no ids.
    ///
    /// # Errors
    /// Wrong use only.
    pub fn record_pick(&mut self, frame: &mut Frame, view: u32, pixel: [u32; 2], tag: u64) -> Result<bool> {
        let size = self.targets.size;
        let Some(Some(seen)) = self.views.get(view as usize) else { return Ok(false) };
        if pixel[0] >= size[0] || pixel[1] >= size[1] {
            return Ok(false);
        }
        self.actor.pick(&self.pipelines, frame, seen.of_pixel(pixel, size), tag)
    }

    /// The oldest answer that has come: its tag, and the skin there or none. Never waits.
    ///
    /// # Errors
    /// A lost device.
    pub fn picked(&mut self) -> Result<Option<(u64, Option<Hit>)>> {
        self.actor.picked()
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
        self.views[0].is_some()
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
mod tests;
