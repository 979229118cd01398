//! What every front end shares: a loaded character, its evaluation and its pictures.

mod actor;
pub mod bake;
mod classic;
mod command;
pub mod desk;
mod evaluator;
mod film;
mod gauge;
mod input;
mod lettering;
mod live;
mod model;
mod navigation;
pub mod onion;
mod output;
pub mod panels;
mod playhead;
mod preferences;
mod probes;
mod project;
pub mod recovery;
mod routes;
mod settings;
mod settle;
mod shape;
mod shaper;
mod sheet;
mod shown;
mod sketch;
mod space;
mod stage;
mod studio;
mod take;
mod tools;
mod workbench;

#[cfg(test)]
mod sculpt_tests;

pub use actor::{Actor, Follows, Pipelines};
pub use classic::{Classic, Reshaped, reshape};
pub use command::{Command, GrabBy, MeasureBy, Tool};
pub use evaluator::{Evaluation, Evaluator, Where};
pub use gauge::{Gauge, Reading};
pub use input::{Hand, Input, SurfaceSample, Tracked, Tracking};
pub use live::LiveRecipe;
pub use model::Model;
pub use output::{Haptic, Output, Request};
pub use playhead::{Playhead, Timeline};
pub use preferences::{Preferences, RADIUS_RANGE};
pub use project::{Opened, open};
pub use routes::{CommandKind, Control, Labels, Route};
pub use settings::recipe;
pub use settle::Settle;
pub use shape::ShapeState;
pub use shaper::Shaper;
pub use sheet::{Cell, sheet};
pub use shown::{Saving, export, save, save_as};
pub use sketch::Sketch;
pub use space::{Rigid, Similarity};
pub use stage::{Aim, IN_FLIGHT, Stage};
pub use studio::{Angle, Studio};
pub use take::{
    Eye, Recorder, Replay, TakeEnd, TakeEvent, TakeFrame, TakeReader, TakeStart, TornTake, is_take,
};
pub use tools::Measure;
pub use workbench::Workbench;
