//! A character's springs on all multigrid levels: the original mesh and successively coarser meshes.

use super::anchors::drawn_together;
use super::bind::{Binding, bind};
use super::coarse::{Coarse, coarsen};
use super::corrections::bind::{Corrections, bind as bind_corrections};
use super::{Params, Variant};
use crate::base::math::Vec3;
use crate::bind::Attachments;
use crate::deform::Bound;
use std::sync::Arc;

/// Rest measures of all levels, computed once. Spring parameters may change later.
#[derive(Clone, Debug)]
pub struct Levels {
    /// The springs of the original mesh.
    pub fine: Binding,
    /// Coarser levels, each built from the previous level.
    pub coarse: Vec<Level>,
    /// Data of the corrections that follow the iterations.
    pub corrections: Corrections,
    /// Scale vectors of the file's rest shape: as bound, and with attachment points drawn together.
    scale_vectors: [Vec<Vec3>; 2],
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
    /// Computes the rest measures of the bind pose on all levels. [`Variant::Thesis`] has no coarse levels, and its
    /// attachment points stay on the bones.
    pub fn bind(bound: &Bound, variant: Variant) -> Self {
        let given = bound.attachments.scale_vector.clone();
        let bound = &match variant {
            Variant::Sinew => drawn_together(bound),
            Variant::Thesis => bound.clone(),
        };
        let fine = bind(bound, variant);
        let coarser = |finer: &Bound| if variant == Variant::Sinew { coarsen(finer) } else { None };
        let mut coarse: Vec<Level> = Vec::new();
        while let Some(mut mesh) = coarser(coarse.last().map_or(bound, |l| &l.mesh.bound)) {
            let finer = coarse.last().map_or(&fine, |l| &l.binding);
            let mut binding =
                Binding { thickness: fine.thickness, on_bone: fine.on_bone, ..bind(&mesh.bound, variant) };
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
        let scale_vectors = [given, bound.attachments.scale_vector.clone()];
        Self { fine, coarse, corrections, scale_vectors }
    }

    /// Measures a rest shape of the same character. What links vertices and levels stays.
    pub fn measure(&mut self, rested: &Bound) {
        let [given, drawn] = &self.scale_vectors;
        let now = &rested.attachments.scale_vector;
        let scale_vector = drawn.iter().zip(given).zip(now).map(|((d, g), n)| *d + (*n - *g)).collect();
        let attachments = Attachments { scale_vector, ..(*rested.attachments).clone() };
        let bound = rested.with(rested.character.clone(), Arc::new(attachments));
        self.fine.measure(&bound);
        for level in &mut self.coarse {
            let pick = |values: &[Vec3]| level.origin.iter().map(|&v| values[v as usize]).collect();
            let coarse = &level.mesh.bound;
            let mut character = (*coarse.character).clone();
            character.control.positions = pick(&bound.character.control.positions);
            character.skeleton = bound.character.skeleton.clone();
            let scale_vector = pick(&bound.attachments.scale_vector);
            let attachments = Attachments { scale_vector, ..(*coarse.attachments).clone() };
            level.binding.measure(&coarse.with(Arc::new(character), Arc::new(attachments)));
        }
        self.corrections.measure(&bound, &self.fine);
    }

    /// Returns the number of coarse levels that the parameters' solver uses.
    pub fn used(&self, params: &Params) -> usize {
        if params.coarsens() { self.coarse.len() } else { 0 }
    }
}
