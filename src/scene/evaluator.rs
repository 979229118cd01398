//! Evaluates a deformer on the GPU or the CPU through one interface, and returns the result in CPU memory. Tools and
//! offline images use it.

use super::Model;
use super::cage::skin_cage;
use crate::base::math::Vec3;
use crate::base::{Progress, Result, SculptId};
use crate::cage::Coupling;
use crate::deform::sculpt::{Reform, SculptState};
use crate::deform::surface::Display;
use crate::deform::volume::{Exact, Params};
use crate::deform::{CpuGraph, Graph, Kernels, Recipe};
use crate::document::Document;
use crate::rig::{Pose, PosedRig};
use crate::surface::{Sculpt, bind_sculpts};
use std::sync::Arc;
use std::time::Duration;

/// The processor that evaluates.
#[derive(Clone)]
pub enum Where {
    /// Compute shaders on a device.
    Gpu(Arc<Kernels>),
    /// CPU references of the compute shaders.
    Cpu,
}

impl Where {
    /// The device's name, or `cpu`.
    pub fn name(&self) -> &str {
        match self {
            Self::Gpu(kernels) => kernels.device().name(),
            Self::Cpu => "cpu",
        }
    }
}

/// An evaluated surface with statistics.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    /// World position per display vertex, metres.
    pub positions: Vec<Vec3>,
    /// World normal per display vertex.
    pub normals: Vec<Vec3>,
    /// World position per control vertex, metres, morphs not included.
    pub control: Vec<Vec3>,
    /// Number of spring iterations; 0 without springs.
    pub iterations: u32,
    /// Time per stage.
    pub stages: Vec<(&'static str, Duration)>,
}

/// A recipe that is bound to a model.
pub enum Evaluator {
    /// Compute shaders on a device.
    Gpu(Box<Graph>, Arc<Kernels>),
    /// CPU references of the compute shaders.
    Cpu(Box<CpuGraph>),
}

impl Evaluator {
    /// Binds a recipe to a model. Sets the cage and the sculpt layers of the model's document, with waves at time 0. Fails if
    /// memory runs out or parts of the model do not fit together.
    pub fn new(side: &Where, model: &Model, recipe: &Recipe) -> Result<Self> {
        let mut new = match side {
            Where::Gpu(kernels) => {
                let graph = Graph::new(kernels, &model.bound, recipe, !model.morphs.is_empty());
                let graph = graph.map_err(|e| model.named(e))?;
                Self::Gpu(Box::new(graph), kernels.clone())
            }
            Where::Cpu => {
                let graph = CpuGraph::new(&model.bound, recipe).map_err(|e| model.named(e))?;
                Self::Cpu(Box::new(graph))
            }
        };
        if let Some(document) = &model.document {
            new.set_document(model, document)?;
        }
        Ok(new)
    }

    /// Creates an evaluator on the CPU that solves every pose until convergence ([`CpuGraph::exact`]), with the firm and
    /// soft regions of the model's document.
    ///
    /// # Errors
    /// As [`Evaluator::new`].
    pub fn exact(model: &Model, exact: Exact) -> Result<Self> {
        let firm = model.document.as_ref().map(|d| d.firm().clone()).unwrap_or_default();
        let graph = CpuGraph::exact(&model.bound, exact, &Params::default(), &firm);
        let graph = graph.map_err(|e| model.named(e))?;
        let mut new = Self::Cpu(Box::new(graph));
        if let Some(document) = &model.document {
            new.set_document(model, document)?;
        }
        Ok(new)
    }

    /// Replaces all sculpt layers. The new layers stay off until [`Evaluator::set_sculpt_states`].
    ///
    /// # Errors
    /// If memory runs out, or a sculpt layer does not fit the model.
    pub fn set_sculpts(&mut self, model: &Model, sculpts: &[Sculpt]) -> Result<()> {
        let sculpts = bind_sculpts(sculpts, &model.bound)?;
        match self {
            Self::Gpu(graph, _) => graph.set_sculpts(&sculpts)?,
            Self::Cpu(graph) => graph.set_sculpts(&sculpts),
        }
        Ok(())
    }

    /// Changes the form of a sculpt layer from the next [`Self::set_sculpt_states`] on. Returns false on a mismatch.
    pub fn reform(&mut self, id: SculptId, to: Reform<'_>) -> bool {
        match self {
            Self::Gpu(graph, _) => graph.reform_sculpt(id, to),
            Self::Cpu(graph) => graph.reform_sculpt(id, to),
        }
    }

    /// Sets the states of the sculpt layers; layers without a state are off.
    pub fn set_sculpt_states(&mut self, states: &[SculptState]) {
        match self {
            Self::Gpu(graph, _) => graph.set_sculpt_states(states),
            Self::Cpu(graph) => graph.set_sculpt_states(states),
        }
    }

    /// Changes the recipe without a new bind, so that dynamics continue. Returns false and changes nothing if the
    /// recipe requires a new bind.
    pub fn adopt(&mut self, recipe: &Recipe) -> bool {
        match self {
            Self::Gpu(graph, _) => graph.adopt(recipe),
            Self::Cpu(graph) => graph.adopt(recipe),
        }
    }

    /// Sets the time of the following evaluations, seconds, for dynamics; `None` switches dynamics off.
    pub fn set_time(&mut self, seconds: Option<f64>) {
        match self {
            Self::Gpu(graph, _) => graph.set_time(seconds),
            Self::Cpu(graph) => graph.set_time(seconds),
        }
    }

    /// Sets the coordinates of the skin in a cage, or none.
    ///
    /// # Errors
    /// If memory runs out, or the coupling belongs to another model.
    pub fn set_cage(&mut self, coupling: Option<&Coupling>) -> Result<()> {
        let skin = coupling.map(skin_cage);
        match self {
            Self::Gpu(graph, _) => graph.set_cage(skin.as_ref()),
            Self::Cpu(graph) => graph.set_cage(skin.as_ref()),
        }
    }

    /// Sets a document's cage and sculpt layers. The layers stay off until [`Evaluator::set_sculpt_states`].
    ///
    /// # Errors
    /// As [`Evaluator::set_sculpts`] and [`Model::couple`].
    pub fn set_layers(&mut self, model: &Model, document: &Document) -> Result<()> {
        let coupling = document.cage().map(|cage| model.couple(cage, &Progress::default())).transpose()?;
        self.set_cage(coupling.as_deref())?;
        self.set_sculpts(model, document.sculpts())
    }

    /// Sets a document's cage, sculpt layers and states, with waves at time 0.
    ///
    /// # Errors
    /// As [`Evaluator::set_sculpts`] and [`Model::couple`].
    pub fn set_document(&mut self, model: &Model, document: &Document) -> Result<()> {
        self.set_layers(model, document)?;
        self.set_sculpt_states(&document.sculpt_states(0.0));
        Ok(())
    }

    /// Evaluates a pose.
    ///
    /// # Errors
    /// If the device is lost or memory runs out.
    pub fn evaluate(&mut self, model: &Model, pose: &Pose) -> Result<Evaluation> {
        let rig = PosedRig::new(model.skeleton(), pose);
        let morph = model.morph(pose);
        match self {
            Self::Cpu(graph) => {
                let mut display = Display::default();
                let stages = graph.evaluate(&rig, &morph, &mut display);
                Ok(Evaluation {
                    positions: display.positions,
                    normals: display.normals,
                    control: graph.control().to_vec(),
                    iterations: graph.iterations(),
                    stages,
                })
            }
            Self::Gpu(graph, kernels) => {
                let device = kernels.device();
                let morph: Vec<[f32; 4]> = morph.iter().map(|d| [d.x, d.y, d.z, 0.0]).collect();
                let stages = device.run(|frame| {
                    graph.set_morph(frame, &morph);
                    graph.record(frame, &rig);
                    Ok(())
                })?;
                let read = |buffer, count| -> Result<Vec<Vec3>> {
                    let data: Vec<[f32; 4]> = device.read(buffer, count)?;
                    Ok(data.into_iter().map(|[x, y, z, _]| Vec3::new(x, y, z)).collect())
                };
                let character = &model.bound.character;
                Ok(Evaluation {
                    positions: read(graph.positions(), character.display.positions.len())?,
                    normals: read(graph.normals(), character.display.positions.len())?,
                    control: read(graph.control_positions(), character.control.positions.len())?,
                    iterations: graph.iterations()?,
                    stages,
                })
            }
        }
    }
}
