//! Classical surface deformation of a region (thesis 2.2.2, 2.2.3 and 4.1.1): an alternative to the springs.
//!
//! - [`Lse`]: Laplacian surface editing with implicit transforms. Sorkine, Cohen-Or, Lipman, Alexa, Rössl, Seidel,
//!   "Laplacian surface editing", 2004.
//! - [`Arap`]: as-rigid-as-possible deformation. Sorkine, Alexa, "As-rigid-as-possible surface modeling", 2007; with
//!   rims: Chao, Pinkall, Sanan, Schröder, "A simple geometric model for elastic deformation", 2010.
//! - [`ArapScale`]: the ARAP system for scale vectors, with the rotations of the bones.
//!
//! Create a solver once per region and rest shape: this factorises its matrix (sparse Cholesky, f64, on the CPU).
//! Then solve for any number of handle positions. `solve` takes the positions of the whole mesh and changes only the
//! region's passive vertices. **All other vertices are held at their given positions**, including vertices outside
//! the region. The energy is that of the whole mesh, but only cells (one-rings) that contain a passive vertex vary.
//!
//! Any triangles are allowed. A triangle with a repeated vertex is skipped. A triangle without area gets the weights
//! of an equilateral triangle, because its cotangents would be infinite. An edge of three or more triangles sums the
//! contributions of all of them. Passive vertices that no path of edges connects to a held vertex do not move.
//!
//! faer factorises the matrices (MIT; only its dense and sparse parts, without its own threads). Factorisation takes
//! ten times longer for LSE than for ARAP, because the LSE matrix has three rows per vertex and couples two rings.

mod arap;
mod arap_scale;
mod lse;
mod patch;
#[cfg(test)]
mod tests;

pub use arap::{Arap, ArapOptions, Energy, Solved};
pub use arap_scale::{ArapScale, Skinned};
pub use lse::{Lse, LseOptions};

use crate::base::{Error, Result};
use crate::geom::{Cholesky, Entry};
use serde::{Deserialize, Serialize};

/// A classical tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// [`Lse`]: preserves the details of the shape.
    Lse,
    /// [`Arap`] with spokes and rims: preserves the local rigidity of the shape.
    Arap,
    /// [`ArapScale`]: preserves the bind-pose scale vectors, rotated by the bones.
    ArapScale,
}

impl Method {
    /// All tools.
    pub const ALL: [Self; 3] = [Self::Lse, Self::Arap, Self::ArapScale];

    /// Name in files and on the command line.
    pub fn name(self) -> &'static str {
        ["lse", "arap", "arap-scale"][self as usize]
    }

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        ["LSE", "ARAP", "ARAP of scale vectors"][self as usize]
    }
}

/// Factorises the matrix of a region, given by its lower triangle.
fn factored(size: usize, lower: &[Entry]) -> Result<Cholesky> {
    let remedy = "make the region smaller, or repair its degenerate triangles";
    Cholesky::new(size, lower, "the region's matrix", remedy)
}

/// A region of interest of a mesh (thesis 4.2.2), as lists of vertices. No vertex appears more than once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lists<'a> {
    /// Vertices that the user moves; the solver holds them at their given positions.
    pub kinematic: &'a [u32],
    /// Vertices that the solver moves.
    pub passive: &'a [u32],
    /// Static vertices of the thesis, at the region's border. Held like vertices outside the region. May be empty.
    pub fixed: &'a [u32],
}

impl Lists<'_> {
    /// Errors if an index is not below `vertices`, if an index appears twice, or if no vertex is kinematic.
    fn validate(&self, vertices: usize) -> Result<()> {
        let wrong = |problem| Err(Error::input(problem, "make the region again from this mesh"));
        if self.kinematic.is_empty() {
            return wrong("the region has no kinematic vertex".into());
        }
        let mut seen = vec![false; vertices];
        for &v in self.kinematic.iter().chain(self.passive).chain(self.fixed) {
            match seen.get_mut(v as usize) {
                None => return wrong(format!("the region has vertex {v}, the mesh {vertices} vertices")),
                Some(true) => return wrong(format!("the region has vertex {v} twice")),
                Some(seen) => *seen = true,
            }
        }
        Ok(())
    }
}
