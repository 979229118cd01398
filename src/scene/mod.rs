//! A loaded character, the evaluation of its deformer, and rendering to images.

mod actor;
mod bone_sketch;
mod cage;
#[cfg(test)]
mod cage_tests;
mod classic;
mod evaluator;
mod factors;
mod lettering;
mod live;
mod measurement;
mod model;
pub mod onion;
mod probes;
mod refit;
mod settings;
mod shaper;
mod sheet;
mod skin_colors;
mod stage;
mod studio;

pub use actor::{Actor, Follows, Pipelines, VersionedPose};
pub use bone_sketch::{BoneSketch, DrawnBones};
pub use cage::{CageSource, NewCage, PosedCage};
pub use classic::{Classic, Reshaped, SurroundingsSolver, reshape, surroundings};
pub use evaluator::{Evaluation, Evaluator, Where};
pub use factors::FactorSource;
pub(crate) use lettering::print;
pub use live::LiveRecipe;
pub(crate) use live::{CONTACT, DAMPINGS, SWINGS};
pub use measurement::{Measurement, Reading};
pub(crate) use measurement::{angle, bend, text_of};
pub use model::Model;
pub use probes::SurfaceSample;
pub use refit::Refit;
pub(crate) use settings::method;
pub use settings::recipe;
pub use shaper::Shaper;
pub use sheet::{Cell, sheet};
pub use skin_colors::{SkinColors, paint};
pub(crate) use skin_colors::{color_of_index, color_of_weight};
pub use stage::{Aim, IN_FLIGHT, Stage};
pub use studio::{Angle, Studio};
