//! The classical surface tools on a region (thesis 2.2.2, 2.2.3 and 4.1.1): an alternative to the springs
//! and a check on them.
//!
//! - [`Lse`]: Laplacian surface editing with implicit transforms. Sorkine, Cohen-Or, Lipman, Alexa, Rössl, Seidel,
//!   "Laplacian surface editing", 2004.
//! - [`Arap`]: as rigid as possible. Sorkine, Alexa, "As-rigid-as-possible surface modeling", 2007; with rims: Chao,
//!   Pinkall, Sanan, Schröder, "A simple geometric model for elastic deformation", 2010.
//! - [`ArapScale`]: the same system for scale vectors, with the bones' rotations.
//!
//! Each is created once per region and rest shape, which factors its matrix (sparse Cholesky, f64, on the CPU). It is
//! then solved for any number of handle positions. `solve` takes the positions of the whole mesh and changes those of
//! the region's passive vertices. **All other vertices are held where they are given**, including those outside the
//! region: the energy is the whole mesh's, of which only the cells that touch a passive vertex matter.
//!
//! Any triangles are allowed. A triangle that names a vertex twice is skipped. A triangle without area has
//! the weights of an equilateral one, because its cotangents would be infinite. Edges of three and more
//! triangles sum the contributions of all of them. Passive vertices that no path of edges connects to a
//! held vertex stay where they are given.
//!
//! faer factors the matrices (MIT; its dense and sparse parts only, no threads of its own). LSE's has three rows to a
//! vertex and reaches over two rings, which is why it takes ten times as long to factor as ARAP's.

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

/// The factor of a region's matrix, given its lower triangle.
fn factored(size: usize, lower: &[Entry]) -> Result<Cholesky> {
    let remedy = "make the region smaller, or repair its degenerate triangles";
    Cholesky::new(size, lower, "the region's matrix", remedy)
}

/// A region of interest (thesis 4.2.2) over the vertices of a mesh. No vertex appears twice, in one list or in two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lists<'a> {
    /// Vertices that the user moves, held at the given positions.
    pub kinematic: &'a [u32],
    /// Vertices that the solver moves.
    pub passive: &'a [u32],
    /// The region's rim, the thesis's static vertices: held like all vertices outside the region. May be empty.
    pub fixed: &'a [u32],
}

impl Lists<'_> {
    /// Errors if an index is not below `vertices` or appears twice, or no vertex is kinematic.
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
