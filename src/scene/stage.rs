//! The render stage: a character's surface on the GPU, the images of one or two eyes, and the probe cameras of the
//! hands. Headset, window and replay share it.
//!
//! A frame calls [`Stage::begin`] (which returns the probe samples), then the editor's step, then
//! [`Stage::record_body`] and, as late as possible, [`Stage::record_eyes`]. Frames never wait for a readback, access
//! files or allocate GPU memory. Another thread prepares a character with [`Actor::new`] and passes the finished actor
//! to the stage.

use super::{Actor, Ghosts, Model, Pipelines, SurfaceSample, VersionedPose};
use crate::base::Result;
use crate::base::math::Aabb;
use crate::gpu::{Device, Frame, Frames, Semaphores, Timings};
use crate::query::Hit;
use crate::render::{GhostMasks, HiddenArea, Lines, Look, Shot, Targets, View};
use std::sync::Arc;

/// Number of frames in flight on the GPU. A probe sample arrives this number of frames after its request.
pub const IN_FLIGHT: u64 = 2;

/// The probe cameras of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aim {
    /// Probe camera per hand; `None` if no surface sample is wanted.
    pub views: [Option<View>; 2],
    /// Trigger per hand, 0..=1.
    pub draw: [f32; 2],
    /// Time of the frame, seconds.
    pub time: f64,
}

/// Real-time rendering of one character.
pub struct Stage {
    pipelines: Pipelines,
    targets: Arc<Targets>,
    frames: Frames,
    actor: Box<Actor>,
    /// Onion skins, and their images for the targets.
    ghosts: Option<(Box<Ghosts>, GhostMasks)>,
    look: Look,
    /// The pixels that the lenses of the headset hide, and whether pictures omit them.
    hidden: Option<HiddenArea>,
    omits: bool,
    /// Views of the last recorded images; `None` before the first.
    views: [Option<View>; 2],
    number: u64,
    /// The samples of the last frame.
    samples: [Option<SurfaceSample>; 2],
    /// Numbers of the frames in flight in which the probe cameras saw the current actor; 0 for other frames.
    probed: [u64; IN_FLIGHT as usize],
    /// Frame number and submission value of the frames in flight.
    submitted: [(u64, u64); IN_FLIGHT as usize],
}

impl Stage {
    /// Creates an empty stage with images of `size` pixels; `views` and `samples` as for [`Targets::new`].
    ///
    /// # Errors
    /// As [`Targets::new`], and if memory runs out.
    pub fn new(pipelines: &Pipelines, size: [u32; 2], views: u32, samples: u32) -> Result<Self> {
        let targets = Arc::new(Targets::new(pipelines.device(), size, views, samples)?);
        let actor = Box::new(Actor::nobody(pipelines, &targets)?);
        Ok(Self {
            pipelines: pipelines.clone(),
            frames: Frames::new(pipelines.device(), IN_FLIGHT as usize),
            targets,
            actor,
            ghosts: None,
            look: Look::default(),
            hidden: None,
            omits: true,
            views: [None; 2],
            number: 0,
            samples: [None; 2],
            probed: [0; IN_FLIGHT as usize],
            submitted: [(0, 0); IN_FLIGHT as usize],
        })
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        self.pipelines.device()
    }

    /// The render targets. Actors for this stage must be created with them.
    pub fn targets(&self) -> &Arc<Targets> {
        &self.targets
    }

    /// The pipelines.
    pub fn pipelines(&self) -> &Pipelines {
        &self.pipelines
    }

    /// Lights, backdrop and line scale.
    pub fn look_mut(&mut self) -> &mut Look {
        &mut self.look
    }

    /// Sets the pixels of both eyes that the lenses of the headset hide: three corners per triangle and eye, in image
    /// coordinates (0..1, v down). Allocates, so call it between frames.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn set_hidden(&mut self, triangles: &[Vec<[f32; 2]>; 2]) -> Result<()> {
        self.hidden = self.pipelines.renderer.bind_hidden(&self.targets, triangles)?;
        Ok(())
    }

    /// Sets whether the next pictures omit these pixels.
    pub fn omit_hidden(&mut self, omits: bool) {
        self.omits = omits;
    }

    /// The current actor.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// The current actor, mutable: see [`Actor::set_sculpts`].
    pub fn actor_mut(&mut self) -> &mut Actor {
        &mut self.actor
    }

    /// Replaces the actor. The actor must have been created for these [`Stage::targets`]; otherwise use
    /// [`Stage::enter_anew`]. The old actor is freed after the GPU has finished with it.
    pub fn enter(&mut self, actor: Box<Actor>) {
        let old = std::mem::replace(&mut self.actor, actor);
        self.probed = [0; IN_FLIGHT as usize];
        let character = self.actor.model().map(|m| &m.bound.character);
        let same = |m: &Model| character.is_some_and(|c| Arc::ptr_eq(c, &m.bound.character));
        // Samples and ghosts of another character refer to other triangles and vertices.
        if !old.model().is_some_and(|m| same(m)) {
            self.samples = [None; 2];
        }
        self.ghosts.take_if(|(ghosts, _)| !same(ghosts.model()));
    }

    /// Removes the actor, so that the stage is empty. Allocates GPU memory, so call it between frames.
    ///
    /// # Errors
    /// If memory runs out; then the actor stays.
    pub fn clear(&mut self) -> Result<()> {
        let nobody = Actor::nobody(&self.pipelines, &self.targets)?;
        self.enter(Box::new(nobody));
        Ok(())
    }

    /// Shows these onion skins, or none. Allocates their images, so call it between frames. The ghosts must belong to the
    /// actor's character.
    ///
    /// # Errors
    /// If memory runs out; then the stage shows no onion skins.
    pub fn set_ghosts(&mut self, ghosts: Option<Box<Ghosts>>) -> Result<()> {
        self.ghosts = None;
        if let Some(ghosts) = ghosts {
            let masks = self.pipelines.renderer.ghost_masks(&self.targets)?;
            self.ghosts = Some((ghosts, masks));
        }
        Ok(())
    }

    /// The onion skins.
    pub fn ghosts_mut(&mut self) -> Option<&mut Ghosts> {
        self.ghosts.as_mut().map(|(ghosts, _)| &mut **ghosts)
    }

    /// As [`Stage::enter`], for an actor that was created for other render targets.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn enter_anew(&mut self, mut actor: Box<Actor>) -> Result<()> {
        actor.rebind(&self.pipelines, &self.targets)?;
        self.enter(actor);
        Ok(())
    }

    /// Recreates the render targets with this size, 1 or 2 views, and 1 or 4 samples per pixel; keeps the actor. Takes
    /// milliseconds and allocates GPU memory, so call it between frames and only if a value changes.
    ///
    /// # Errors
    /// As [`Targets::new`]; on an error the stage stays unchanged.
    pub fn resize(&mut self, size: [u32; 2], views: u32, samples: u32) -> Result<()> {
        let targets = Arc::new(Targets::new(self.pipelines.device(), size, views, samples)?);
        let masks =
            self.ghosts.as_ref().map(|_| self.pipelines.renderer.ghost_masks(&targets)).transpose()?;
        self.actor.rebind(&self.pipelines, &targets)?;
        self.targets = targets;
        if let (Some((_, old)), Some(new)) = (&mut self.ghosts, masks) {
            *old = new;
        }
        self.views = [None; 2];
        Ok(())
    }

    /// Starts a frame. Returns the probe samples of exactly [`IN_FLIGHT`] frames ago, whatever the GPU's speed, so
    /// that a take replays identically on any machine. Waits for that frame. If that frame was skipped, or showed
    /// another actor of the same character, returns the last samples, so that a press in this frame is not lost.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn begin(&mut self) -> Result<(Frame, [Option<SurfaceSample>; 2])> {
        let frame = self.frames.begin()?;
        self.number += 1;
        // The frame that is due may still be in flight if frames were skipped.
        let due = self.number.saturating_sub(IN_FLIGHT);
        for (number, value) in self.submitted {
            if number > 0 && number <= due {
                self.pipelines.device().wait(value)?;
            }
        }
        let answers = self.actor.answers(due)?;
        if self.probed.contains(&due) {
            self.samples = answers;
        }
        Ok((frame, self.samples))
    }

    /// Counts a frame that is not rendered. The samples that are due in it are lost.
    pub fn skip(&mut self) {
        self.number += 1;
    }

    /// Records the probe cameras, the deformation if the pose is new, and the solve of at most one ghost.
    ///
    /// # Errors
    /// No error is expected, because every probe camera has a view.
    pub fn record_body(
        &mut self,
        frame: &mut Frame,
        pose: Option<VersionedPose<'_>>,
        aim: &Aim,
    ) -> Result<()> {
        if let Some(pose) = pose {
            self.actor.pose(frame, &pose);
        }
        if let Some((ghosts, _)) = &mut self.ghosts {
            ghosts.record(frame);
        }
        self.probed[(self.number % IN_FLIGHT) as usize] = self.number;
        self.actor.look_through(frame, aim, self.number)
    }

    /// Records the images, one view per layer of the targets.
    ///
    /// # Errors
    /// If the number of views is wrong, or memory for the lines runs out.
    pub fn record_eyes(&mut self, frame: &mut Frame, views: &[View], lines: &Lines) -> Result<()> {
        let hidden = self.hidden.as_ref().filter(|_| self.omits);
        let ghosts = self.ghosts.as_ref().map(|(ghosts, masks)| ghosts.shown(masks));
        let shot = Shot { views, look: &self.look, lines, hidden, ghosts };
        self.views = [views.first().copied(), views.get(1).copied()];
        self.actor.draw(&self.pipelines, frame, &self.targets, &shot)
    }

    /// Looks up the skin at a pixel of the last recorded images; the origin is the upper left corner. [`Stage::picked`]
    /// returns the result with `tag`. Returns false if the stage is empty, the pixel is outside, or too many lookups
    /// are pending. Renders the pixel a second time into a G-buffer, because the recorded images hold no ids.
    ///
    /// # Errors
    /// No error is expected, because a lookup has one view.
    pub fn record_pick(&mut self, frame: &mut Frame, view: u32, pixel: [u32; 2], tag: u64) -> Result<bool> {
        let size = self.targets.size;
        let Some(Some(seen)) = self.views.get(view as usize) else { return Ok(false) };
        if pixel[0] >= size[0] || pixel[1] >= size[1] {
            return Ok(false);
        }
        self.actor.pick(&self.pipelines, frame, seen.of_pixel(pixel, size), tag)
    }

    /// Whether a lookup has no result yet. Another actor discards the lookups of the actor before.
    pub fn awaits_pick(&self) -> bool {
        self.actor.awaits_pick()
    }

    /// The oldest available lookup result: its tag, and the skin hit, if any. Never waits.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn picked(&mut self) -> Result<Option<(u64, Option<Hit>)>> {
        self.actor.picked()
    }

    /// Submits a frame. Returns the value for [`Device::wait`].
    ///
    /// # Errors
    /// If the device is lost, or recording failed.
    pub fn submit(&mut self, frame: Frame, semaphores: &Semaphores) -> Result<u64> {
        let value = self.frames.submit(frame, semaphores)?;
        self.submitted[(self.number % IN_FLIGHT) as usize] = (self.number, value);
        Ok(value)
    }

    /// Whether any image has been recorded yet.
    pub fn drawn(&self) -> bool {
        self.views[0].is_some()
    }

    /// Bounding box of the posed character, world space, metres.
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
