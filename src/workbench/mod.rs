//! The editor logic, without clock, files or devices: applies frames of input to the document.

mod accent;
mod borrow;
mod choices;
mod command;
mod input;
mod limits;
mod navigation;
mod notice;
mod onion;
mod output;
mod path;
mod playhead;
mod preferences;
mod recording;
mod routes;
mod shape;
mod space;
mod step;
mod surroundings;
mod timeline;
pub mod tools;
mod tour;
mod transform;

pub use accent::{AccentOutcome, AccentSolver, AccentStart, AccentStroke};
pub use choices::{BindChange, CageSet, FirmChange, GrabBy, MarkBy, MeasureBy, Pen, SkinPart, Tool};
pub use command::{Command, CommandKind, WindowPlace};
pub use input::{Hand, Input, Tracked, Tracking};
pub use limits::LimitChange;
pub(crate) use navigation::Rules;
pub use navigation::{Travel, VIEWPOINTS, Viewpoint};
pub use notice::{Notice, NoticeKind};
pub use onion::{GhostSpacing, OnionSkins, WIDEST_SPACING};
pub use output::{Haptic, Output, Request};
pub use playhead::{Playhead, Timeline};
pub use preferences::{MOST_BONES, Preferences, RADIUS_RANGE, RENDER_SCALE_RANGE};
pub use routes::{Control, Labels, Route};
pub use shape::ShapeState;
pub(crate) use shape::{AMPLITUDES, COUNTS, GROWTHS, SPEEDS, STIFFNESSES, TILTS, WAVE};
pub use space::{Rigid, Similarity};
pub(crate) use step::TURNTABLE;
#[cfg(test)]
pub(crate) use step::tests::{biped, session, with_morphs};
pub use step::{CAGE_VERTICES, MAX_RINGS, Workbench};
pub use surroundings::{Capsule, Surroundings};
pub use tools::Measure;
