//! The deformation of a character on the GPU that follows a document from frame to frame: sculpt layers, cage, settings
//! and poses. The visible character has one [`LiveGraph`]; all ghosts of the onion skins share another.

use super::cage::skin_cage;
use super::{Model, VersionedPose};
use crate::base::math::Vec3;
use crate::base::{Progress, Result, Version};
use crate::cage::Coupling;
use crate::deform::sculpt::SculptState;
use crate::deform::{Graph, Kernels, Recipe};
use crate::gpu::{Buffer, Frame};
use crate::rig::PosedRig;
use crate::surface::{Sculpt, bind_sculpts};
use std::sync::Arc;

/// Result of [`super::Actor::follow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// The recipe is unchanged.
    Same,
    /// The recipe changed; the actor must be redrawn.
    Changed,
    /// The recipe needs another method or another bind, so a new actor is required.
    Not,
}

/// A character's deformation, with the state of the document that it has.
pub(super) struct LiveGraph {
    model: Arc<Model>,
    recipe: Recipe,
    graph: Graph,
    morph: Vec<Vec3>,
    padded: Vec<[f32; 4]>,
    weights: Vec<Vec<f32>>,
    /// The coupling in the graph.
    coupling: Option<Arc<Coupling>>,
    /// Sculpt layers in the graph.
    sculpts: Vec<Sculpt>,
    states: Vec<SculptState>,
    /// Version of the pose in the last recorded frame; the default once sculpt layers or the recipe have changed since.
    posed: Version,
    /// The time of the poses, seconds.
    time: Option<f64>,
}

impl LiveGraph {
    /// Binds a recipe and uploads the character. Takes seconds for a large character. If `progress` is cancelled, the
    /// result may be an error.
    pub fn new(
        kernels: &Arc<Kernels>,
        model: &Arc<Model>,
        recipe: &Recipe,
        progress: &Progress,
    ) -> Result<Self> {
        let mut bound = model.bound.clone();
        bound.progress = progress.clone();
        let morphs = !model.morphs.is_empty();
        let graph = Graph::new(kernels, &bound, recipe, morphs).map_err(|e| model.named(e))?;
        let vertices = if morphs { model.bound.character.display.positions.len() } else { 0 };
        Ok(Self {
            model: model.clone(),
            recipe: recipe.clone(),
            graph,
            morph: vec![Vec3::ZERO; vertices],
            padded: Vec::new(),
            weights: Vec::new(),
            coupling: None,
            sculpts: Vec::new(),
            states: Vec::new(),
            posed: Version::default(),
            time: None,
        })
    }

    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Records a pose without version, as for the rest pose of a new actor.
    pub fn rest(&mut self, frame: &mut Frame, rig: &PosedRig) {
        self.graph.record(frame, rig);
    }

    /// As [`super::Actor::set_sculpts`].
    pub fn set_sculpts<'s>(
        &mut self,
        sculpts: impl Iterator<Item = &'s Sculpt> + Clone,
        states: &[SculptState],
    ) -> Result<()> {
        let mut formed = false;
        let mut others = self.sculpts.len() != sculpts.clone().count();
        for (own, new) in self.sculpts.iter_mut().zip(sculpts.clone()) {
            let same = own.region == new.region && own.surroundings == new.surroundings;
            if others || own.id != new.id || !same {
                others = true;
                break;
            }
            if own.form == new.form {
                continue;
            }
            others = !new.form.reform(&own.form).is_some_and(|to| self.graph.reform_sculpt(new.id, to));
            own.form.become_like(&new.form);
            formed = true;
        }
        if others {
            self.posed = Version::default();
            self.sculpts = sculpts.cloned().collect();
            let bound = bind_sculpts(&self.sculpts, &self.model.bound);
            self.graph.set_sculpts(bound.as_deref().unwrap_or_default())?;
            self.states.clear();
            bound?;
        }
        if others || formed || self.states != states {
            self.posed = Version::default();
            self.states.clear();
            self.states.extend_from_slice(states);
            self.graph.set_sculpt_states(states);
        }
        Ok(())
    }

    /// As [`super::Actor::set_cage`].
    pub fn set_cage(&mut self, coupling: Option<&Arc<Coupling>>) -> Result<()> {
        let same = match (&self.coupling, coupling) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if same {
            return Ok(());
        }
        self.coupling = coupling.cloned();
        self.posed = Version::default();
        let skin = coupling.map(|c| skin_cage(c));
        self.graph.set_cage(skin.as_ref())
    }

    /// As [`super::Actor::follow`].
    pub fn follow(&mut self, recipe: &Recipe) -> Follows {
        if self.recipe == *recipe {
            return Follows::Same;
        }
        if !self.graph.adopt(recipe) {
            return Follows::Not;
        }
        self.recipe.clone_from(recipe);
        self.posed = Version::default();
        Follows::Changed
    }

    /// As [`super::Actor::set_time`].
    pub fn set_time(&mut self, seconds: Option<f64>) {
        self.graph.set_time(seconds);
        // With dynamics, the flesh continues to move while the pose is constant.
        let swings = self.recipe.swings();
        if std::mem::replace(&mut self.time, seconds) != seconds && swings {
            self.posed = Version::default();
        }
    }

    /// Lets the recorded poses write the colours of the strain, see [`Graph::show_strain`].
    pub fn show_strain(&mut self, colors: Option<&Buffer>) -> Result<()> {
        if colors.is_some() {
            // The next pose writes the colours.
            self.posed = Version::default();
        }
        self.graph.show_strain(colors)
    }

    /// Discards the last frame, so that the next frame does not depend on it.
    pub fn forget(&mut self) {
        self.graph.forget();
    }

    /// Whether the graph already has this pose with its current sculpt layers and recipe.
    pub fn has(&self, pose: &VersionedPose<'_>) -> bool {
        self.posed == pose.version
    }

    /// Records the deformation of a pose.
    pub fn record(&mut self, frame: &mut Frame, posed: &VersionedPose<'_>) {
        let VersionedPose { version, pose, rig } = *posed;
        self.posed = version;
        if !self.morph.is_empty() && self.weights != pose.weights {
            self.weights.clone_from(&pose.weights);
            self.morph.fill(Vec3::ZERO);
            self.model.morphs.add_to_display(&pose.weights, &mut self.morph);
            self.padded.clear();
            self.padded.extend(self.morph.iter().map(|d| [d.x, d.y, d.z, 0.0]));
            self.graph.set_morph(frame, &self.padded);
        }
        self.graph.record(frame, rig);
    }
}
