//! Cages: coarse meshes around a character. Their vertices move the skin and the joints of the rest shape.
//!
//! Corda, Thiery, Livesu, Puppo, Boubekeur, Scateni, "Real-Time Deformation with Coupled Cages and Skeletons", Computer
//! Graphics Forum, 2020; docs/internals.md, *Cages and the rest shape*. A document stores a [`Cage`]. [`Coupling`]
//! holds the data by which the cage, the skin and the skeleton follow each other.

mod check;
mod coupling;
mod joints;
mod kept;
mod local;
mod make;
mod max_vol;
mod mean_value;
mod mesh;
mod read;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use check::{CageReport, check, oriented};
pub use coupling::{CoordinateReport, Coupling, Reverse, Workspace};
pub use joints::{joint_coordinates, localisation};
pub use kept::{Cage, Coordinates};
pub use local::local;
pub use make::make_cage;
pub use max_vol::max_volume_rows;
pub use mean_value::mean_value;
pub use mesh::CageMesh;
pub use read::{fitted, from_asset, obj_text, read, read_glb, read_obj};

/// Maximum number of vertices of a cage. The cost of an edit of the posed cage grows with the cube of this number.
pub const MAX_VERTICES: usize = 500;
