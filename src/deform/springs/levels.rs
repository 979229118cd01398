//! A character's springs on all multigrid levels: the original mesh and successively coarser meshes.

use super::Params;
use super::anchors::drawn_together;
use super::bind::{Binding, bind};
use super::coarse::{Coarse, coarsen};
use super::corrections::bind::{Corrections, bind as bind_corrections};
use crate::deform::Bound;

/// Rest measures of all levels, computed once. Spring parameters may change later.
#[derive(Clone, Debug)]
pub struct Levels {
    /// The springs of the original mesh.
    pub fine: Binding,
    /// Coarser levels, each built from the previous level.
    pub coarse: Vec<Level>,
    /// Data of the corrections that follow the iterations.
    pub corrections: Corrections,
}

/// A coarse level.
#[derive(Clone, Debug)]
pub struct Level {
    /// The level's mesh and its interpolation to the finer mesh. The interpolation weights are halved where all edges
    /// lack torsion springs.
    pub mesh: Coarse,
    /// Rest measures of the level. `thickness`, the unit of the stop threshold, is the original mesh's.
    pub binding: Binding,
    /// Vertex of the original mesh, per vertex of the level.
    pub origin: Vec<u32>,
    /// CSR offsets into `children`; length: number of vertices + 1.
    pub child_offset: Vec<u32>,
    /// Vertices of the finer level, grouped by their nearest vertex of this level.
    pub children: Vec<u32>,
}

impl Levels {
    /// Computes the rest measures of the bind pose on all levels.
    pub fn bind(bound: &Bound) -> Self {
        let bound = &drawn_together(bound);
        let fine = bind(bound);
        let mut coarse: Vec<Level> = Vec::new();
        while let Some(mut mesh) = coarsen(coarse.last().map_or(bound, |l| &l.mesh.bound)) {
            let finer = coarse.last().map_or(&fine, |l| &l.binding);
            let mut binding =
                Binding { thickness: fine.thickness, on_bone: fine.on_bone, ..bind(&mesh.bound) };
            // Where edges have no torsion springs, a coarse level is a poor approximation and overshoots, so it gets
            // less weight.
            for (v, weights) in mesh.weights.iter_mut().enumerate() {
                let loose = finer.vertices[v].loose / finer.degree(v).max(1) as f32;
                weights.iter_mut().for_each(|w| *w *= 1.0 - 0.5 * loose);
            }
            for (v, &seed) in binding.vertices.iter_mut().zip(&mesh.seeds) {
                v.grain = finer.vertices[seed as usize].grain;
            }
            let origin = match coarse.last() {
                None => mesh.seeds.clone(),
                Some(finer) => mesh.seeds.iter().map(|&s| finer.origin[s as usize]).collect(),
            };
            let (child_offset, children) = mesh.children();
            coarse.push(Level { mesh, binding, origin, child_offset, children });
        }
        let corrections = bind_corrections(bound, &fine);
        Self { fine, coarse, corrections }
    }

    /// Returns the number of coarse levels that the parameters' solver uses.
    pub fn used(&self, params: &Params) -> usize {
        if params.coarsens() { self.coarse.len() } else { 0 }
    }
}
