//! The classical surface tools on a region (thesis 2.2.2, 2.2.3 and 4.1.1), beside the springs and a check on them.
//!
//! - [`Lse`]: Laplacian surface editing with implicit transforms. Sorkine, Cohen-Or, Lipman, Alexa, Rössl, Seidel,
//!   "Laplacian surface editing", 2004.
//! - [`Arap`]: as rigid as possible. Sorkine, Alexa, "As-rigid-as-possible surface modeling", 2007; with rims: Chao,
//!   Pinkall, Sanan, Schröder, "A simple geometric model for elastic deformation", 2010.
//! - [`ArapScale`]: the same system for scale vectors, with the bones' rotations.
//!
//! All three are made once per region and rest shape, which factors their matrix (sparse Cholesky, f64, on the CPU), and
//! solved for as many handle positions as are wanted. `solve` takes the whole mesh's positions and changes those of the
//! region's passive vertices; **all others are held where they are given**, those outside the region too: the
//! energy is the whole mesh's, of which only the cells that touch a passive vertex matter.
//!
//! Any triangles will do. One that names a vertex twice is left out; one without area weighs as an equilateral one, where
//! its cotangents would be infinite; edges of three and more triangles add up what each of them gives. Passive vertices
//! from which no way along edges leads to a held one stay where they are given.
//!
//! faer factors the matrices (MIT; its dense and sparse parts only, no threads of its own). LSE's has three rows to a
//! vertex and reaches over two rings, which is why it takes ten times as long to factor as ARAP's.

mod arap;
mod arap_scale;
mod factor;
mod lse;
mod patch;
#[cfg(test)]
mod tests;

pub use arap::{Arap, ArapOptions, Energy, Solved};
pub use arap_scale::{ArapScale, Skinned};
pub use lse::{Lse, LseOptions};

use crate::base::{Error, Result};

/// A region of interest (thesis 4.2.2) over the vertices of a mesh; no vertex is in two lists or twice in one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lists<'a> {
    /// Moved by the user: held at the given positions.
    pub kinematic: &'a [u32],
    /// Moved by the solver.
    pub passive: &'a [u32],
    /// The region's rim, the thesis's static vertices: held like everything outside the region. May be empty.
    pub fixed: &'a [u32],
}

impl Lists<'_> {
    /// Errors where a vertex is not one of `vertices`, or named twice, or nothing is moved.
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
