//! What is under a cursor or a controller, and where the silhouettes are.

mod pick;
mod silhouette;

pub use pick::{Hit, Picker};
pub use silhouette::{Filter, SilhouetteOptions, SilhouettePoint, Silhouettes, chain};
