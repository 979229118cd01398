//! The deformation graph on the CPU: runs the CPU references in sequence, for tests and machines without Vulkan.

use super::rest::{Rested, SkinCage};
use super::sculpt::cpu::{displace, rotation};
use super::sculpt::{BoundSculpt, Field, Reform, SculptState};
use super::surface::{self, Display};
use super::volume::solve::VolumeReference;
use super::volume::{Exact, Firm, Params, Rest};
use super::{Bound, Geometric, Recipe, Reference, Streams, springs};
use crate::base::math::Vec3;
use crate::base::{Error, Result, SculptId};
use crate::rig::{PosedRig, RestShift};
use std::time::{Duration, Instant};

/// A bound chain of nodes, followed by the display stage.
pub struct CpuGraph {
    geometric: Box<dyn Reference>,
    /// The settings of the bound geometric method.
    first: Geometric,
    crease: surface::Crease,
    springs: Option<springs::solve::Springs>,
    volume: Option<VolumeReference>,
    iterations: u32,
    surface: surface::Surface,
    streams: Streams,
    bound: Bound,
    field: Field,
    /// Whether the geometric method has applied the sculpt layers.
    radial: bool,
    cage: Option<SkinCage>,
    /// The rest shape of the bound nodes.
    rest: RestShift,
}

impl CpuGraph {
    /// Binds a recipe. Errors if the attachments do not match the character.
    pub fn new(bound: &Bound, recipe: &Recipe) -> Result<Self> {
        let springs = recipe.springs.as_ref().map(|params| {
            let levels = bound.levels(params.variant);
            springs::solve::Springs::new(bound, &levels, params)
        });
        let volume = match &recipe.volume {
            Some(params) => {
                let mut volume = VolumeReference::new(bound, &recipe.geometric, params)?;
                volume.set_firm(&recipe.firm);
                Some(volume)
            }
            None => None,
        };
        Ok(Self {
            geometric: recipe.geometric.bind(bound)?,
            first: recipe.geometric.clone(),
            crease: recipe.crease,
            springs,
            volume,
            iterations: 0,
            surface: surface::bind(&bound.character, recipe.crease),
            streams: Streams::default(),
            bound: bound.clone(),
            field: Field::default(),
            radial: false,
            cage: None,
            rest: RestShift::default(),
        })
    }

    /// Sets the coordinates of the skin in a cage, like [`super::Graph::set_cage`].
    ///
    /// # Errors
    /// If the coordinates belong to another character.
    pub fn set_cage(&mut self, skin: Option<&SkinCage>) -> Result<()> {
        if skin.is_some_and(|s| s.vertices() != self.bound.character.control.positions.len()) {
            return Err(Error::input(
                "the cage's coordinates belong to another character",
                "bind the cage again",
            ));
        }
        self.set_rest(&RestShift::default());
        self.cage = skin.cloned();
        if let Some(skin) = skin {
            self.geometric.set_cage(&self.bound, skin);
        }
        Ok(())
    }

    fn set_rest(&mut self, rest: &RestShift) {
        let Some(skin) = self.cage.as_ref().filter(|_| self.rest != *rest) else { return };
        let rested = Rested::new(&self.bound, skin, rest);
        self.rest.copy_from(rest);
        self.geometric.set_rest(&rested);
        if let Some(springs) = &mut self.springs {
            springs.set_rest(&rested);
        }
        if self.radial {
            self.geometric.set_offsets(&[], &self.field);
        }
    }

    /// Replaces the sculpt layers; all new layers are off.
    pub fn set_sculpts(&mut self, sculpts: &[BoundSculpt]) {
        let before = std::mem::replace(&mut self.field, Field::new(sculpts)).vertices;
        // The volume places the skin itself, so its layers come after it.
        self.radial = !self.places_skin() && self.geometric.set_offsets(&before, &self.field);
        if let Some(springs) = &mut self.springs {
            springs.set_edits(&self.field);
        }
        if let Some(volume) = &mut self.volume {
            volume.set_sculpts(&self.field);
        }
    }

    /// Changes the shape of a sculpt layer, like [`super::Graph::reform_sculpt`].
    pub fn reform_sculpt(&mut self, id: SculptId, to: Reform<'_>) -> bool {
        self.field.reform(id, to)
    }

    /// Sets the states of the sculpt layers. Layers without a state are off.
    pub fn set_sculpt_states(&mut self, states: &[SculptState]) {
        if !self.field.set(states) {
            return;
        }
        if let Some(volume) = &mut self.volume {
            volume.set_sculpts(&self.field);
        }
        if !self.places_skin() {
            self.geometric.set_offsets(&[], &self.field);
        }
        if let Some(springs) = &mut self.springs {
            springs.set_moment(&self.field);
        }
    }

    /// Replaces the spring parameters. Returns false if the recipe needs a new binding, like [`super::Graph::adopt`].
    pub fn adopt(&mut self, recipe: &Recipe) -> bool {
        if self.first != recipe.geometric || self.crease != recipe.crease {
            return false;
        }
        let own = self.volume.as_ref().map(VolumeReference::params);
        let volumes = Params::may_become(own, recipe.volume.as_ref());
        let nothing = self.springs.is_none() && self.volume.is_none();
        let own = self.springs.as_ref().map(|s| s.params().variant);
        if nothing || !volumes || own != recipe.springs.map(|params| params.variant) {
            return false;
        }
        if let (Some(springs), Some(params)) = (&mut self.springs, &recipe.springs) {
            springs.set_params(params);
        }
        if let (Some(volume), Some(params)) = (&mut self.volume, &recipe.volume) {
            volume.set_params(params);
            volume.set_firm(&recipe.firm);
        }
        true
    }

    /// Whether the volume places the skin instead of the nodes before it.
    fn places_skin(&self) -> bool {
        self.volume.as_ref().is_some_and(|v| v.params().rest == Rest::Bind)
    }

    /// Sets the time of the next frames, seconds, like [`super::Graph::set_time`].
    pub fn set_time(&mut self, seconds: Option<f64>) {
        if let Some(springs) = &mut self.springs {
            springs.set_time(seconds);
        }
        if let Some(volume) = &mut self.volume {
            volume.set_time(seconds);
        }
    }

    /// Evaluates a pose and returns the name and time of each node. `morph` is either empty or the displacement of
    /// every display vertex in bind space, metres.
    pub fn evaluate(
        &mut self,
        rig: &PosedRig,
        morph: &[Vec3],
        out: &mut Display,
    ) -> Vec<(&'static str, Duration)> {
        // Flesh is solved in the file's rest shape, and the skin carries the change.
        let carried = self.places_skin().then(|| rig.rest.clone());
        let mut plain = PosedRig::default();
        let rig = if carried.as_ref().is_some_and(|rest| !rest.is_empty()) {
            rig.with_rest_into(&self.bound.character.skeleton, &RestShift::default(), &mut plain);
            &plain
        } else {
            rig
        };
        self.set_rest(&rig.rest);
        let mut times = Vec::with_capacity(3);
        let start = Instant::now();
        let posed = self.geometric.evaluate(rig, &mut self.streams);
        let rig = posed.as_ref().unwrap_or(rig);
        times.push((self.geometric.name(), start.elapsed()));
        let (field, character) = (&self.field, &self.bound.character);
        if !self.places_skin() {
            if !self.radial {
                displace(field, character, rig, &mut self.streams.position);
            }
            if let Some(springs) = &self.springs {
                let start = Instant::now();
                self.iterations = springs.solve(rig, &mut self.streams).iterations;
                times.push(("springs", start.elapsed()));
            }
        }
        if let Some(volume) = &mut self.volume {
            let start = Instant::now();
            let name = if volume.params().rest == Rest::Bind { "volume" } else { "contact" };
            volume.solve(rig, &mut self.streams.position, |x| displace(field, character, rig, x));
            times.push((name, start.elapsed()));
        }
        if let Some((skin, rest)) = self.cage.as_ref().zip(carried).filter(|(_, rest)| !rest.is_empty()) {
            for (v, x) in self.streams.position.iter_mut().enumerate() {
                *x += rotation(character, rig, v as u32) * skin.offset(v, &rest.cage);
            }
        }
        let start = Instant::now();
        self.surface.reference(rig, &self.streams.position, morph, out);
        times.push(("surface", start.elapsed()));
        times
    }

    /// Returns a graph with a volume node that solves to convergence in f64 in every evaluation, with these firm and soft
    /// regions. An evaluation takes up to seconds.
    ///
    /// # Errors
    /// As [`CpuGraph::new`].
    pub fn exact(bound: &Bound, exact: Exact, params: &Params, firm: &Firm) -> Result<Self> {
        let geometric = if exact == Exact::Tets { Geometric::Lbs } else { Geometric::Dqs };
        let mut recipe = Recipe { volume: Some(*params), ..Recipe::geometric(geometric) };
        recipe.firm.clone_from(firm);
        let mut out = Self::new(bound, &recipe)?;
        if let Some(volume) = &mut out.volume {
            volume.make_exact(exact, bound)?;
        }
        Ok(out)
    }

    /// Returns the number of spring iterations of the last evaluation; zero without springs.
    pub fn iterations(&self) -> u32 {
        self.iterations
    }

    /// Returns the control vertices of the last evaluation in world space, metres.
    pub fn control(&self) -> &[Vec3] {
        &self.streams.position
    }
}
