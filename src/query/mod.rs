//! Queries on the G-buffer: the surface under a cursor or controller, and silhouettes.

mod pick;
mod silhouette;

pub use pick::{Hit, Picker};
pub use silhouette::{SilhouettePoint, Silhouettes, chain};
