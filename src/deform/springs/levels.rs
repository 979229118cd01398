//! A character's springs on all levels: the mesh itself and ever coarser ones.

use super::Params;
use super::anchors::drawn_together;
use super::bind::{Binding, bind};
use super::coarse::{Coarse, coarsen};
use super::flesh::bind::{Flesh, bind as bind_flesh};
use crate::deform::Bound;

/// Rest measures per level. Bound once; parameters may change later.
#[derive(Clone, Debug)]
pub struct Levels {
    /// The mesh itself.
    pub fine: Binding,
    /// Coarser ones, each over the one before.
    pub coarse: Vec<Level>,
    /// What is corrected after the iterations.
    pub flesh: Flesh,
}

/// A coarse level.
#[derive(Clone, Debug)]
pub struct Level {
    /// Its mesh, and how the finer one follows it: by half where all edges couple by shape.
    pub mesh: Coarse,
    /// Its rest measures; the stop threshold's unit is the fine mesh's.
    pub binding: Binding,
    /// Its vertices in the mesh itself.
    pub origin: Vec<u32>,
    /// CSR offsets into `children`, one more than vertices.
    pub child_offset: Vec<u32>,
    /// The finer level's vertices that are nearest to each vertex.
    pub children: Vec<u32>,
}

impl Levels {
    /// Measures the bind pose on all levels.
    pub fn bind(bound: &Bound) -> Self {
        let bound = &drawn_together(bound);
        let fine = bind(bound);
        let mut coarse: Vec<Level> = Vec::new();
        while let Some(mut mesh) = coarsen(coarse.last().map_or(bound, |l| &l.mesh.bound)) {
            let finer = coarse.last().map_or(&fine, |l| &l.binding);
            let mut binding =
                Binding { thickness: fine.thickness, on_bone: fine.on_bone, ..bind(&mesh.bound) };
            // Where edges couple by shape, a coarse level is a poor likeness and goes too far.
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
        let flesh = bind_flesh(bound, &fine);
        Self { fine, coarse, flesh }
    }

    /// How many coarse levels a solver uses.
    pub fn used(&self, params: &Params) -> usize {
        if params.coarsens() { self.coarse.len() } else { 0 }
    }
}
