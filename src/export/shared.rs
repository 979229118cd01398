//! Morph targets in the rest pose that all keys of an export share, such as the shapes of a cage's keys.
//!
//! Under linear blend skinning, one morph target gives a change of the rest positions in every pose. The exporter
//! therefore computes each shape once, in the rest pose, and stores a weight per shape in every key. [`super::morph`]
//! then computes the difference that remains at a key.

use super::morph::Delta;
use super::posed::{Job, Shape};
use super::targets::{NodeTargets, Thinning};
use crate::base::math::Vec3;
use crate::rig::Pose;

/// Shapes in the rest pose, and their weights at the keys of an export.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// The shapes.
    pub shapes: Vec<SharedShape>,
    /// Weights as `[key][shape]`.
    pub weights: Vec<Vec<f32>>,
}

/// A surface in the rest pose, which becomes a morph target.
#[derive(Clone, Debug)]
pub struct SharedShape {
    /// Name of the morph target.
    pub name: String,
    /// The pose of the surface: node transforms, and weights of the file's own morph targets.
    pub pose: Pose,
    /// World position per display vertex.
    pub positions: Vec<Vec3>,
    /// World normal per display vertex.
    pub normals: Vec<Vec3>,
}

impl SharedShape {
    pub(super) fn shape(&self) -> Shape<'_> {
        Shape { positions: &self.positions, normals: &self.normals }
    }
}

/// The displacements of the shared shapes, `[shape][part]`, and their weights at one key.
pub(super) type Weighted<'a> = (&'a [Vec<Delta>], &'a [f32]);

/// Returns the displacements of positions and normals of one part at one key.
pub(super) fn at_key(part: usize, vertices: usize, (deltas, weights): Weighted) -> [Vec<Vec3>; 2] {
    let mut out = [vec![Vec3::ZERO; vertices], vec![Vec3::ZERO; vertices]];
    for (delta, &weight) in deltas.iter().map(|d| &d[part]).zip(weights).filter(|(_, w)| **w != 0.0) {
        delta.positions.iter().for_each(|&(v, d)| out[0][v as usize] += d * weight);
        delta.normals.iter().for_each(|&(v, d)| out[1][v as usize] += d * weight);
    }
    out
}

/// Joins the shared shapes and the other targets of the keys, the shared shapes first. Keys of the weights may be
/// dropped if the error stays below `within`, metres in bind space.
pub(super) fn join(
    job: &Job,
    shared: &Shared,
    deltas: Vec<Vec<Delta>>,
    sets: Vec<NodeTargets>,
    within: f64,
) -> Vec<NodeTargets> {
    let mut others: Vec<Option<NodeTargets>> = sets.into_iter().map(Some).collect();
    let mut out = Vec::new();
    for (node, parts) in job.drawn() {
        let other = others.iter_mut().find(|s| s.as_ref().is_some_and(|s| s.node == node));
        let other = other.and_then(Option::take);
        let shows = |s: &usize| {
            deltas[*s][parts.clone()].iter().any(|d| !(d.positions.is_empty() && d.normals.is_empty()))
        };
        let shown: Vec<usize> = (0..deltas.len()).filter(shows).collect();
        if shown.is_empty() {
            out.extend(other);
            continue;
        }
        let longest = |s: &usize| {
            let all = deltas[*s][parts.clone()].iter().flat_map(|d| &d.positions);
            all.map(|(_, d)| f64::from(d.length())).fold(0.0, f64::max)
        };
        let mut set = NodeTargets {
            node,
            names: shown.iter().map(|&s| shared.shapes[s].name.clone()).collect(),
            weights: shared.weights.iter().map(|row| shown.iter().map(|&s| row[s]).collect()).collect(),
            deltas: shown.iter().map(|&s| deltas[s][parts.clone()].to_vec()).collect(),
            thinning: Some(Thinning { reach: shown.iter().map(longest).collect(), within }),
            parts,
        };
        if let Some(other) = other {
            set.names.extend(other.names);
            set.weights.iter_mut().zip(other.weights).for_each(|(row, more)| row.extend(more));
            set.deltas.extend(other.deltas);
            set.thinning = set.thinning.zip(other.thinning).map(|(mut own, more)| {
                own.reach.extend(more.reach);
                own
            });
        }
        out.push(set);
    }
    out
}
