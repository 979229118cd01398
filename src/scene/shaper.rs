//! Evaluates the shape of a document's character at any time, including keyed deformer settings.

use super::{Evaluation, Evaluator, Model, Where};
use crate::base::Result;
use crate::document::{DeformerSettings, Document, State};

/// Evaluates states of a document in sequence.
pub struct Shaper<'a> {
    model: &'a Model,
    document: &'a Document,
    /// Whether `evaluator` already has the document's sculpt layers.
    sculpted: bool,
    evaluator: &'a mut Evaluator,
    /// A second evaluator and its settings, created when a state's keyed settings differ from `given`.
    own: Option<(DeformerSettings, Evaluator)>,
    /// Deformer settings of the document; `evaluator` evaluates the states that have these settings.
    given: DeformerSettings,
    time: Option<f64>,
}

impl<'a> Shaper<'a> {
    /// Creates a shaper. `evaluator` was created for the document's deformer settings or for settings that replace
    /// them. Keyed settings apply in both cases.
    pub fn new(model: &'a Model, document: &'a Document, evaluator: &'a mut Evaluator) -> Self {
        Self {
            model,
            document,
            sculpted: false,
            evaluator,
            own: None,
            given: document.deformer().clone(),
            time: None,
        }
    }

    /// Evaluates a state at a time, seconds; dynamics continue from the previous state.
    ///
    /// # Errors
    /// As [`Shaper::evaluate`].
    pub fn evaluate_at(&mut self, state: &State, seconds: f64) -> Result<Evaluation> {
        self.time = Some(seconds);
        self.evaluate(state)
    }

    /// Evaluates a state without dynamics.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`]; if the method lacks a setting.
    pub fn evaluate(&mut self, state: &State) -> Result<Evaluation> {
        let time = self.time.take();
        if state.deformer == self.given {
            if !std::mem::replace(&mut self.sculpted, true) {
                self.evaluator.set_layers(self.model, self.document)?;
            }
            self.evaluator.set_sculpt_states(&state.sculpts);
            self.evaluator.set_time(time);
            return self.evaluator.evaluate(self.model, &state.pose);
        }
        let recipe = self.document.recipe_of(&state.deformer)?;
        let made = match self.own.take() {
            Some((settings, evaluator)) if settings == state.deformer => Some(evaluator),
            Some((_, mut evaluator)) => evaluator.adopt(&recipe).then_some(evaluator),
            None => None,
        };
        let made = match made {
            Some(evaluator) => evaluator,
            None => {
                let mut new = Evaluator::new(&self.evaluator.side(), self.model, &recipe)?;
                new.set_layers(self.model, self.document)?;
                new
            }
        };
        let (_, evaluator) = self.own.insert((state.deformer.clone(), made));
        evaluator.set_sculpt_states(&state.sculpts);
        evaluator.set_time(time);
        evaluator.evaluate(self.model, &state.pose)
    }
}

impl Evaluator {
    /// The processor that evaluates.
    pub fn side(&self) -> Where {
        match self {
            Self::Gpu(_, kernels) => Where::Gpu(kernels.clone()),
            Self::Cpu(_) => Where::Cpu,
        }
    }
}
