//! As-rigid-as-possible scale vectors (thesis 4.1.1, eq. 19-20).

use super::Lists;
use super::arap::{Cells, Energy, Laplacian};
use super::patch::Patch;
use crate::base::math::{DMat3, DQuat, DVec3, Vec3};
use crate::base::{Error, Result};

/// Rigid skinning of a pose, which provides the initial scale vectors. One entry per vertex of the mesh.
#[derive(Clone, Copy, Debug)]
pub struct Skinned<'a> {
    /// Rotation from bind to pose of the bone that the vertex is attached to.
    pub rotations: &'a [DQuat],
    /// Attachment point `a'` in the pose, metres.
    pub anchors: &'a [DVec3],
}

/// A region of a character with a factored matrix. The unknowns are scale vectors `s' = x' - a'`. Their rotations are
/// the bones' rotations, so a single solve suffices. The solve smooths rigid skinning across the joints as rigidly as
/// possible. The energy has the same weights and the same sum over edges as [`Energy::Spokes`].
pub struct ArapScale {
    patch: Patch,
    cells: Cells,
    laplacian: Laplacian,
    x: Vec<DVec3>,
    b: Vec<DVec3>,
}

impl ArapScale {
    /// Factorises the matrix of a region. `bind` and `scale_vectors` have an entry for every vertex of the mesh, bind
    /// space, metres. The cotangents are computed from the bind shape.
    ///
    /// # Errors
    /// Same as [`super::Arap::new`]; also if `scale_vectors` does not match the mesh in length.
    pub fn new(
        bind: &[Vec3],
        scale_vectors: &[Vec3],
        triangles: &[[u32; 3]],
        lists: &Lists<'_>,
    ) -> Result<Self> {
        let patch = Patch::new(bind, triangles, lists)?;
        if scale_vectors.len() != bind.len() || scale_vectors.iter().any(|s| !s.is_finite()) {
            let problem = "the scale vectors are not one per vertex and finite";
            return Err(Error::input(problem, "bind the character again"));
        }
        let laplacian = Laplacian::new(&patch)?;
        // The rest edges are differences of scale vectors, not of positions.
        let local = |&v: &u32| scale_vectors[v as usize].as_dvec3();
        let cells =
            Cells::with_rest(&patch, Energy::Spokes, &patch.vertex.iter().map(local).collect::<Vec<_>>());
        let b = vec![DVec3::ZERO; patch.unknowns];
        Ok(Self { patch, cells, laplacian, x: Vec::new(), b })
    }

    /// Moves the passive vertices of `shape`, which has a posed position per mesh vertex. Holds all other vertices.
    ///
    /// # Errors
    /// [`Error::Input`] if a list does not match the mesh in length or if an entry near the region is not finite.
    pub fn solve(&mut self, skinned: Skinned<'_>, shape: &mut [DVec3]) -> Result<()> {
        let Skinned { rotations, anchors } = skinned;
        self.patch.gather(shape, &mut self.x)?;
        let mut local = Vec::new();
        self.patch.gather(anchors, &mut local)?;
        if rotations.len() != shape.len()
            || self.patch.vertex.iter().any(|&v| !rotations[v as usize].is_finite())
        {
            let problem = "the rotations are not one per vertex and finite";
            return Err(Error::input(problem, "give one per vertex"));
        }
        self.x.iter_mut().zip(&local).for_each(|(x, a)| *x -= *a);
        let of_cell = |&v: &u32| DMat3::from_quat(rotations[v as usize].normalize());
        let turns: Vec<DMat3> = self.patch.vertex[..self.patch.cells].iter().map(of_cell).collect();
        self.cells.right_side(&turns, &mut self.b);
        self.laplacian.solve(&self.x, &mut self.b);
        self.b.iter_mut().zip(&local).for_each(|(s, a)| *s += *a);
        self.patch.scatter(&self.b, shape);
        Ok(())
    }
}
