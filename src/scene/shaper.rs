//! The shapes of a document's states: an evaluator whose method and settings follow what is keyed.

use super::{Evaluation, Evaluator, Model, Where, recipe};
use crate::base::Result;
use crate::document::{DeformerSettings, Document, State};

/// Evaluates states of a document one after another.
pub struct Shaper<'a> {
    model: &'a Model,
    document: &'a Document,
    /// Whether the given evaluator has the document's sculpt layers.
    sculpted: bool,
    evaluator: &'a mut Evaluator,
    /// What another evaluator was made for, after keyed settings had changed.
    own: Option<(DeformerSettings, Evaluator)>,
    /// What the given one was made for.
    given: DeformerSettings,
    time: Option<f64>,
}

impl<'a> Shaper<'a> {
    /// With an evaluator that was made for the document's settings, or for others that are meant to replace them:
    /// keyed settings are heeded all the same.
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

    /// The shape of a state at a time, seconds: dynamics have gone on from the states before.
    ///
    /// # Errors
    /// As [`Shaper::evaluate`].
    pub fn evaluate_at(&mut self, state: &State, seconds: f64) -> Result<Evaluation> {
        self.time = Some(seconds);
        self.evaluate(state)
    }

    /// The shape of a state. Nothing swings, unless it is one of [`Shaper::evaluate_at`].
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`]; settings that the method does not have.
    pub fn evaluate(&mut self, state: &State) -> Result<Evaluation> {
        let time = self.time.take();
        if state.deformer == self.given {
            if !std::mem::replace(&mut self.sculpted, true) {
                self.evaluator.set_sculpts(self.model, self.document.sculpts())?;
            }
            self.evaluator.set_sculpt_states(&state.sculpts);
            self.evaluator.set_time(time);
            return self.evaluator.evaluate(self.model, &state.pose);
        }
        let recipe = recipe(&state.deformer)?;
        let made = match self.own.take() {
            Some((settings, evaluator)) if settings == state.deformer => Some(evaluator),
            Some((_, mut evaluator)) => evaluator.adopt(&recipe).then_some(evaluator),
            None => None,
        };
        let made = match made {
            Some(evaluator) => evaluator,
            None => {
                let mut new = Evaluator::new(&self.evaluator.side(), self.model, &recipe)?;
                new.set_sculpts(self.model, self.document.sculpts())?;
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
    /// Where it evaluates.
    pub fn side(&self) -> Where {
        match self {
            Self::Gpu(_, kernels) => Where::Gpu(kernels.clone()),
            Self::Cpu(_) => Where::Cpu,
        }
    }
}
