//! Evaluates a deformer on the GPU or on the CPU behind one face. For tools and pictures: it reads back.

use super::Model;
use crate::base::math::Vec3;
use crate::base::{Result, SculptId};
use crate::deform::sculpt::{Reform, SculptState};
use crate::deform::surface::Display;
use crate::deform::{CpuGraph, Graph, Kernels, Recipe};
use crate::document::Document;
use crate::rig::{Pose, PosedRig};
use crate::surface::{Sculpt, bind_sculpts};
use std::sync::Arc;
use std::time::Duration;

/// Which side evaluates.
#[derive(Clone)]
pub enum Where {
    /// Compute stages on a device.
    Gpu(Arc<Kernels>),
    /// The CPU references.
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

/// A posed surface and what it took.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    /// World position per display vertex, metres.
    pub positions: Vec<Vec3>,
    /// World normal per display vertex.
    pub normals: Vec<Vec3>,
    /// World position per control vertex, metres, morphs not included.
    pub control: Vec<Vec3>,
    /// Spring iterations, zero without springs.
    pub iterations: u32,
    /// Time per stage.
    pub stages: Vec<(String, Duration)>,
}

/// A recipe bound to a model.
pub enum Evaluator {
    /// On a device.
    Gpu(Box<Graph>, Arc<Kernels>),
    /// The CPU references.
    Cpu(Box<CpuGraph>),
}

impl Evaluator {
    /// Binds. A project's own sculpt layers are shown, at the time 0 of waves. Errors when memory is short or the
    /// model has parts that do not fit together.
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
            new.set_document_sculpts(model, document)?;
        }
        Ok(new)
    }

    /// Takes these sculpt layers in place of any others; off until [`Evaluator::set_sculpt_states`].
    ///
    /// # Errors
    /// When memory is short; an edit that does not fit the model.
    pub fn set_sculpts(&mut self, model: &Model, sculpts: &[Sculpt]) -> Result<()> {
        let sculpts = bind_sculpts(sculpts, &model.bound)?;
        match self {
            Self::Gpu(graph, _) => graph.set_sculpts(&sculpts)?,
            Self::Cpu(graph) => graph.set_sculpts(&sculpts),
        }
        Ok(())
    }

    /// Gives an edit another form, from the next [`Evaluator::set_sculpt_states`] on; false where it does not fit.
    pub fn reform(&mut self, id: SculptId, to: Reform<'_>) -> bool {
        match self {
            Self::Gpu(graph, _) => graph.reform_sculpt(id, to),
            Self::Cpu(graph) => graph.reform_sculpt(id, to),
        }
    }

    /// Sets the moment of the edits; those without a state are off.
    pub fn set_sculpt_states(&mut self, states: &[SculptState]) {
        match self {
            Self::Gpu(graph, _) => graph.set_sculpt_states(states),
            Self::Cpu(graph) => graph.set_sculpt_states(states),
        }
    }

    /// Takes another recipe without binding again, so that what swings goes on. False, and nothing is changed, where it
    /// needs binding.
    pub fn adopt(&mut self, recipe: &Recipe) -> bool {
        match self {
            Self::Gpu(graph, _) => graph.adopt(recipe),
            Self::Cpu(graph) => graph.adopt(recipe),
        }
    }

    /// Sets the time of the evaluations to come, seconds, so that dynamics move from one to the next; none: nothing swings.
    pub fn set_time(&mut self, seconds: Option<f64>) {
        match self {
            Self::Gpu(graph, _) => graph.set_time(seconds),
            Self::Cpu(graph) => graph.set_time(seconds),
        }
    }

    /// Shows a document's sculpt layers as they are at the time 0 of waves.
    ///
    /// # Errors
    /// As [`Evaluator::set_sculpts`].
    pub fn set_document_sculpts(&mut self, model: &Model, document: &Document) -> Result<()> {
        self.set_sculpts(model, document.sculpts())?;
        self.set_sculpt_states(&document.sculpt_states(0.0));
        Ok(())
    }

    /// Evaluates a pose.
    ///
    /// # Errors
    /// Where the device is lost or memory is short.
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
                    stages: stages.into_iter().map(|(name, time)| (name.to_owned(), time)).collect(),
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
