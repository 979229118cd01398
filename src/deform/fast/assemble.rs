//! Assembles the Laplacian of each cluster over the handles, in one pass over the mesh.

use super::energy::Element;
use super::forms::Form;
use super::weights::Weights;
use crate::base::math::DVec3;

/// The inputs of the assembly.
pub(super) struct Assembly<'a> {
    pub positions: &'a [DVec3],
    pub elements: &'a [Element],
    pub weights: &'a Weights,
}

impl Assembly<'_> {
    /// Computes `L̃_k = Σ_i M_iᵀ (L_k M)_i`, one row of `L_k M` at a time.
    pub fn forms(&self, handles: usize, count: usize) -> Vec<Form> {
        let mut around: Vec<Vec<(u32, u8)>> = vec![Vec::new(); self.positions.len()];
        let mut moved = vec![false; count * handles];
        for (e, element) in self.elements.iter().enumerate() {
            element
                .corners()
                .iter()
                .enumerate()
                .for_each(|(k, &v)| around[v as usize].push((e as u32, k as u8)));
            for (k, _) in element.shares().into_iter().filter(|s| s.1 > 0.0) {
                element.corners().iter().flat_map(|&v| self.weights.of(v as usize)).for_each(|(j, _)| {
                    moved[k * handles + j] = true;
                });
            }
        }
        let mut forms: Vec<Form> = moved.chunks_exact(handles).map(Form::new).collect();
        let mut row = vec![0.0; 4 * handles];
        let mut touched = vec![false; handles];
        let mut list: Vec<usize> = Vec::new();
        // Laplacian entries `(cluster, neighbour, weight)` of the current vertex.
        let mut ring: Vec<(usize, usize, f64)> = Vec::new();
        for (v, around) in around.iter().enumerate() {
            ring.clear();
            for &(e, corner) in around {
                let element = &self.elements[e as usize];
                let weights = element.laplacian(usize::from(corner));
                for (k, share) in element.shares().into_iter().filter(|s| s.1 > 0.0) {
                    for (&j, w) in element.corners().iter().zip(weights).filter(|e| e.1 != 0.0) {
                        let j = j as usize;
                        match ring.iter_mut().find(|(c, u, _)| *c == k && *u == j) {
                            Some((_, _, sum)) => *sum += share * w,
                            None => ring.push((k, j, share * w)),
                        }
                    }
                }
            }
            ring.sort_by_key(|r| r.0);
            for part in ring.chunk_by(|a, b| a.0 == b.0) {
                for &(_, u, l) in part {
                    let x = self.positions[u];
                    for (j, w) in self.weights.of(u) {
                        if !touched[j] {
                            touched[j] = true;
                            list.push(j);
                        }
                        let lw = l * w;
                        let block = &mut row[4 * j..4 * j + 4];
                        block[0] += lw * x.x;
                        block[1] += lw * x.y;
                        block[2] += lw * x.z;
                        block[3] += lw;
                    }
                }
                let x = self.positions[v];
                let form = &mut forms[part[0].0];
                for (j, w) in self.weights.of(v) {
                    form.add_rows(j, [w * x.x, w * x.y, w * x.z, w], &list, &row);
                }
                for j in list.drain(..) {
                    touched[j] = false;
                    row[4 * j..4 * j + 4].fill(0.0);
                }
            }
        }
        forms
    }

    /// Returns, per given handle, the cluster that it moves most; `None` for a handle that moves nothing.
    pub fn follows(&self, given: usize, count: usize) -> Vec<Option<usize>> {
        let mut sum = vec![0.0; given * count];
        for element in self.elements {
            let size = element.measure(self.positions).abs();
            let moved = element.corners().iter().flat_map(|&v| self.weights.of(v as usize));
            for (j, w) in moved.filter(|(j, _)| *j < given) {
                element.shares().iter().for_each(|(k, share)| sum[j * count + k] += size * share * w);
            }
        }
        let heaviest = |j: usize| {
            let row = &sum[j * count..(j + 1) * count];
            (0..count).filter(|&k| row[k] > 0.0).max_by(|&a, &b| row[a].total_cmp(&row[b]))
        };
        (0..given).map(heaviest).collect()
    }
}
