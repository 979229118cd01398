//! What every front end shares: a loaded character, its evaluation and its pictures.

mod evaluator;
mod model;
mod settings;
mod sheet;
mod studio;

pub use evaluator::{Evaluation, Evaluator, Where};
pub use model::Model;
pub use settings::recipe;
pub use sheet::{Cell, sheet};
pub use studio::{Angle, Studio};
