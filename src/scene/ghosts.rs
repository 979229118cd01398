//! Onion skins in window and headset: the shapes of the character at other times of the motion, as ghosts.
//!
//! All ghosts share one deformation, separate from that of the visible character, so ghosts never change the state of
//! the visible character. A frame solves at most one ghost and copies its positions on the GPU. After a change of the
//! document, a ghost shows its last shape, fainter, until a frame solves the ghost again. Every solve starts from the
//! geometric method's shape and without dynamics, so a ghost depends on its time alone.

use super::live_graph::LiveGraph;
use super::{Follows, LiveRecipe, Model, Pipelines, VersionedPose};
use crate::base::{Progress, Result, Version};
use crate::cage::Coupling;
use crate::deform::Recipe;
use crate::deform::sculpt::SculptState;
use crate::document::{Document, Sampler};
use crate::gpu::Frame;
use crate::render::{GHOSTS, GhostMasks, GhostShape, Renderer, ShownGhosts};
use crate::rig::{Pose, PosedRig};
use std::sync::Arc;

/// Factor on the opacity of a ghost that waits for its solve.
const WAITING: f32 = 0.4;

/// Times of the ghosts before and after the displayed time, seconds, nearest first; `None` for no ghost.
pub type GhostTimes = [[Option<f64>; GHOSTS]; 2];

/// The ghosts of a character.
pub struct Ghosts {
    live: LiveGraph,
    renderer: Arc<Renderer>,
    recipe: LiveRecipe,
    sampler: Sampler,
    /// The pose of the next ghost.
    pose: Pose,
    rig: PosedRig,
    states: Vec<SculptState>,
    /// The revision of the document that `recipe` and `sampler` know.
    revision: Option<Version>,
    coupling: Option<Arc<Coupling>>,
    /// Identifies the state of document and cage; a ghost of another state waits for its solve.
    content: Version,
    slots: Vec<Slot>,
    /// The ghost that the next frame solves.
    next: Option<usize>,
    /// What [`Ghosts::follow`] found last.
    looks: [[Look; GHOSTS]; 2],
    solved: u64,
}

/// A ghost.
struct Slot {
    /// 0 before the displayed time, 1 after it; and the rank on this side, the nearest ghost first.
    place: [usize; 2],
    shape: GhostShape,
    wanted: Option<f64>,
    done: Option<Done>,
}

/// What the shape of a ghost shows.
#[derive(Clone, Copy)]
struct Done {
    time: f64,
    content: Version,
    /// Number of the solve.
    number: u64,
}

/// How a ghost looks.
#[derive(Clone, Copy, Default, PartialEq)]
enum Look {
    #[default]
    Hidden,
    /// Shows an earlier state of the document.
    Waits(f64),
    Shows(f64),
}

impl Slot {
    /// Whether the shape shows the wanted time of the document.
    fn is_done(&self, content: Version) -> bool {
        matches!(self.look(content), Look::Shows(_))
    }

    fn look(&self, content: Version) -> Look {
        match (self.wanted, &self.done) {
            (Some(wanted), Some(done)) if done.time == wanted && done.content == content => {
                Look::Shows(wanted)
            }
            (Some(wanted), Some(done)) if done.time == wanted => Look::Waits(wanted),
            _ => Look::Hidden,
        }
    }
}

impl Ghosts {
    /// Uploads the deformer of a character a second time. Takes seconds for a large character, so call it on a background
    /// thread. There are no ghosts until [`Ghosts::set_counts`].
    ///
    /// # Errors
    /// If memory runs out, model and recipe do not fit together, or `progress` is cancelled.
    pub fn new(
        pipelines: &Pipelines,
        model: &Arc<Model>,
        recipe: &Recipe,
        progress: &Progress,
    ) -> Result<Self> {
        Ok(Self {
            live: LiveGraph::new(&pipelines.kernels, model, recipe, progress)?,
            renderer: pipelines.renderer.clone(),
            recipe: LiveRecipe::default(),
            sampler: Sampler::default(),
            pose: Pose::default(),
            rig: PosedRig::default(),
            states: Vec::new(),
            revision: None,
            coupling: None,
            content: Version::default(),
            slots: Vec::new(),
            next: None,
            looks: Default::default(),
            solved: 0,
        })
    }

    /// The character.
    pub fn model(&self) -> &Arc<Model> {
        self.live.model()
    }

    /// Whether the ghosts can follow a recipe without a new binding.
    pub fn fits(&self, recipe: &Recipe) -> bool {
        self.live.recipe().can_become(recipe)
    }

    /// Sets the largest number of ghosts before and after the displayed time, each at most [`GHOSTS`]. Allocates 16 bytes
    /// per display vertex for each new ghost, so call it between frames.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn set_counts(&mut self, counts: [u32; 2]) -> Result<()> {
        let vertices = self.live.model().bound.character.display.positions.len();
        let counts = counts.map(|count| (count as usize).min(GHOSTS));
        self.next = None;
        self.slots.retain(|slot| slot.place[1] < counts[slot.place[0]]);
        for (side, count) in counts.into_iter().enumerate() {
            for rank in self.counts()[side] as usize..count {
                let shape = self.renderer.ghost_shape(vertices)?;
                self.slots.push(Slot { place: [side, rank], shape, wanted: None, done: None });
            }
        }
        Ok(())
    }

    /// The numbers of [`Ghosts::set_counts`].
    pub fn counts(&self) -> [u32; 2] {
        [0, 1].map(|side| self.slots.iter().filter(|slot| slot.place[0] == side).count() as u32)
    }

    /// Follows the document and the times at which ghosts are wanted. Poses the ghost that the next frame solves. Does not
    /// allocate while the document is unchanged. [`Follows::Changed`] means that the picture must be drawn.
    ///
    /// # Errors
    /// If memory runs out, or a sculpt layer or the cage does not fit the character.
    pub fn follow(
        &mut self,
        (document, revision): (&Document, Version),
        coupling: Option<&Arc<Coupling>>,
        times: &GhostTimes,
    ) -> Result<Follows> {
        let same_cage = match (&self.coupling, coupling) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if self.revision != Some(revision) || !same_cage {
            self.recipe.learn(document);
            self.sampler.forget();
            (self.revision, self.coupling) = (Some(revision), coupling.cloned());
            self.content = Version::new();
        }
        self.assign(times);
        self.next = self.oldest();
        if let Some(time) = self.next.and_then(|next| self.slots[next].wanted) {
            let skeleton = &self.live.model().bound.character.skeleton;
            self.pose.copy_from(self.sampler.sample(document, skeleton, time));
            self.rig.pose(skeleton, &self.pose);
            self.recipe.go_to(document, Some(time));
            if self.live.follow(self.recipe.recipe()) == Follows::Not {
                self.next = None;
                return Ok(Follows::Not);
            }
            self.states.clear();
            document.sculpt_states_into(Some(time), time, &mut self.states);
            self.live.set_cage(coupling)?;
            self.live.set_sculpts(document.sculpts().iter(), &self.states)?;
        }
        let mut looks = [[Look::Hidden; GHOSTS]; 2];
        for slot in &self.slots {
            looks[slot.place[0]][slot.place[1]] = slot.look(self.content);
        }
        let same = std::mem::replace(&mut self.looks, looks) == looks;
        Ok(if same && self.next.is_none() { Follows::Same } else { Follows::Changed })
    }

    /// Whether a ghost waits for its solve.
    pub fn waits(&self) -> bool {
        self.oldest().is_some()
    }

    /// Gives each ghost its time. A shape that already shows a time keeps it, so that a step of the playhead makes few
    /// ghosts stale.
    fn assign(&mut self, times: &GhostTimes) {
        let content = self.content;
        for slot in &mut self.slots {
            slot.wanted = times[slot.place[0]][slot.place[1]];
        }
        for at in 0..self.slots.len() {
            let slot = &self.slots[at];
            let Some(wanted) = slot.wanted.filter(|_| !slot.is_done(content)) else { continue };
            let shows = |s: &Slot| s.done.is_some_and(|d| d.time == wanted && d.content == content);
            let spare = self.slots.iter().position(|s| shows(s) && !s.is_done(content));
            if let Some(Ok([slot, spare])) = spare.map(|spare| self.slots.get_disjoint_mut([at, spare])) {
                std::mem::swap(&mut slot.shape, &mut spare.shape);
                std::mem::swap(&mut slot.done, &mut spare.done);
            }
        }
    }

    /// The ghost to solve next. Of the ghosts that wait for a solve, it is the one with the oldest shape; of several
    /// ghosts without a shape, it is the nearest in time.
    fn oldest(&self) -> Option<usize> {
        let waiting = self.slots.iter().enumerate();
        let waiting = waiting.filter(|(_, slot)| slot.wanted.is_some() && !slot.is_done(self.content));
        let age = |(_, slot): &(usize, &Slot)| {
            let [side, rank] = slot.place;
            (slot.done.map_or(0, |d| d.number), rank, side)
        };
        waiting.min_by_key(age).map(|(at, _)| at)
    }

    /// Records the solve of the ghost that [`Ghosts::follow`] has posed, if any.
    pub(super) fn record(&mut self, frame: &mut Frame) {
        let Some(at) = self.next.take() else { return };
        let Some(time) = self.slots[at].wanted else { return };
        // A ghost depends neither on the ghost before nor on the time between both.
        self.live.forget();
        self.live.set_time(None);
        let posed = VersionedPose { version: Version::new(), pose: &self.pose, rig: &self.rig };
        self.live.record(frame, &posed);
        frame.phase("ghost");
        let (slot, source) = (&mut self.slots[at], self.live.graph().positions());
        frame.copy(source, &slot.shape.positions, slot.shape.positions.bytes().min(source.bytes()));
        self.solved += 1;
        slot.done = Some(Done { time, content: self.content, number: self.solved });
    }

    /// The ghosts to draw.
    pub(super) fn shown<'a>(&'a self, masks: &'a GhostMasks) -> ShownGhosts<'a> {
        let mut shapes = [[None; GHOSTS]; 2];
        for slot in &self.slots {
            let [side, rank] = slot.place;
            shapes[side][rank] = match slot.look(self.content) {
                Look::Hidden => None,
                Look::Waits(_) => Some((&slot.shape, WAITING)),
                Look::Shows(_) => Some((&slot.shape, 1.0)),
            };
        }
        ShownGhosts { masks, shapes }
    }

    /// The time and the shape of each ghost that is up to date, for tests and tools.
    pub fn shapes(&self) -> impl Iterator<Item = (f64, &GhostShape)> {
        self.slots.iter().filter_map(|slot| match slot.look(self.content) {
            Look::Shows(time) => Some((time, &slot.shape)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests;
