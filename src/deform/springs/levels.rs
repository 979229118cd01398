//! A character's springs on all levels: the mesh itself and ever coarser ones.

use super::bind::{Binding, bind};
use super::coarse::{Coarse, coarsen};
use super::momentum::Momentum;
use super::{Params, Solver};
use crate::base::math::Vec3;
use crate::deform::Bound;

/// Rest measures per level. Bound once; parameters may change later.
#[derive(Clone, Debug)]
pub struct Levels {
    /// The mesh itself.
    pub fine: Binding,
    /// Coarser ones, each over the one before.
    pub coarse: Vec<Level>,
}

/// A coarse level.
#[derive(Clone, Debug)]
pub struct Level {
    /// Its mesh, and how the finer one follows it.
    pub mesh: Coarse,
    /// Its rest measures; the stop threshold's unit is the fine mesh's.
    pub binding: Binding,
}

impl Levels {
    /// Measures the bind pose on all levels.
    pub fn bind(bound: &Bound) -> Self {
        let fine = bind(bound);
        let mut coarse: Vec<Level> = Vec::new();
        while let Some(mesh) = coarsen(coarse.last().map_or(bound, |l| &l.mesh.bound)) {
            let binding = Binding { thickness: fine.thickness, on_bone: fine.on_bone, ..bind(&mesh.bound) };
            coarse.push(Level { mesh, binding });
        }
        Self { fine, coarse }
    }

    /// How many coarse levels a solver uses.
    pub fn used(&self, params: &Params) -> usize {
        if params.solver == Solver::Cascade { self.coarse.len() } else { 0 }
    }

    /// Momenta of the fine level and the coarse ones, for these parameters. Linear in vertices.
    pub fn momenta(&self, params: &Params) -> Vec<Momentum> {
        std::iter::once(&self.fine)
            .chain(self.coarse.iter().map(|l| &l.binding))
            .map(|binding| Momentum::new(params, binding))
            .collect()
    }
}

impl Level {
    /// Values of the coarse vertices in a stream of the finer level.
    pub fn restrict(&self, fine: &[Vec3]) -> Vec<Vec3> {
        self.mesh.seeds.iter().map(|&s| fine[s as usize]).collect()
    }

    /// Moves the finer level's start by what the coarse vertices have moved.
    pub fn prolong(&self, start: &[Vec3], solved: &[Vec3]) -> Vec<Vec3> {
        let moved = |c: u32| solved[c as usize] - start[self.mesh.seeds[c as usize] as usize];
        (start.iter().zip(&self.mesh.parents).zip(&self.mesh.weights))
            .map(|((x, parents), weights)| {
                let sum: Vec3 = parents.iter().zip(weights).map(|(&p, &w)| moved(p) * w).sum();
                *x + sum
            })
            .collect()
    }
}
