//! The stiffness of the cubes and nodes of all levels, under the document's firm and soft regions.
//!
//! The factor of a cube on the finest level is the mean of the factors of the skin nearest to the cube
//! ([`super::cover`]). These factors determine all other stiffnesses: a coarser cube is as stiff as the finer cubes in
//! it together, and a node is as stiff as its cubes together. A change of a factor therefore needs no new binding. The
//! bound of the stiffness at a node ([`super::schedule::Stiffness`]) is a sum over the node's cubes, so it holds for
//! any factors.

use super::cells::Cells;
use super::converge::to_unit_volume;
use super::firm::Firm;
use super::levels::{Level, NEAR};
use crate::base::math::{DMat3, DQuat, DVec3, Vec3};
use crate::geom::fit_rotation;
use crate::shared_with_shaders;
use std::sync::Arc;

shared_with_shaders! {
    /// What stiffens a node, in units of the stiffness of one cube without regions.
    #[derive(Debug, Default, PartialEq)]
    pub struct Node as "VolumeNode" {
        /// Summed stiffness of the node's cubes; 0 for a held node.
        pub cubes: f32,
        /// On a coarser level: summed stiffness of the held fine nodes around this node; zero on the finest level.
        pub brace: f32,
        /// The mean stiffness of the node's cubes if [`super::Params::firmness`] pulls the node to its start, otherwise
        /// 0. On a coarser level: the weighted sum over the finer nodes.
        pub core: f32,
        /// Number of the node's cubes, for the dynamics: regions change the stiffness of the flesh, not its mass. 0 for a
        /// held node. On a coarser level: the sum over the finer cubes, as for the stiffness.
        pub mass: f32,
    }
}

/// The stiffness of a level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelStiffness {
    /// Stiffness of each cube relative to a finest cube without regions.
    pub weight: Vec<f32>,
    /// What stiffens each node.
    pub nodes: Vec<Node>,
}

impl LevelStiffness {
    /// Returns the stiffness of all levels, finest first, without regions.
    pub fn of(levels: &[Level]) -> Vec<Self> {
        let new =
            |l: &Level| Self { weight: vec![1.0; l.cells.len()], nodes: vec![Node::default(); l.nodes()] };
        let mut out: Vec<Self> = levels.iter().map(new).collect();
        Self::derive(levels, &mut out);
        out.iter_mut().flat_map(|l| &mut l.nodes).for_each(|n| n.mass = n.cubes);
        out
    }

    /// Computes everything from the weights of the finest cubes. Does not allocate.
    pub fn derive(levels: &[Level], all: &mut [Self]) {
        for (k, level) in levels.iter().enumerate() {
            let (finer, own) = all.split_at_mut(k);
            let Self { weight, nodes } = &mut own[0];
            let finer = finer.last();
            if let Some(finer) = finer {
                for (c, weight) in weight.iter_mut().enumerate() {
                    let children = level.children.of(c);
                    *weight = children.iter().map(|&f| 2.0 / 8.0 * finer.weight[f as usize]).sum();
                }
            }
            for (n, node) in nodes.iter_mut().enumerate() {
                let at = level.at_node.of(n);
                let cubes: f32 = at.iter().map(|&corner| weight[corner as usize / 8]).sum();
                node.cubes = if level.held[n] { 0.0 } else { cubes };
                match finer {
                    None => node.core = if level.core[n] { cubes / at.len() as f32 } else { 0.0 },
                    Some(finer) => {
                        let moved = level.restrict.of(n);
                        let braced = level.braced.of(n).iter();
                        let held: f32 = braced.map(|s| s.weight * finer.weight[s.node as usize]).sum();
                        let at = |s: u32| &finer.nodes[s as usize];
                        node.brace = held + moved.iter().map(|s| s.weight * at(s.node).brace).sum::<f32>();
                        node.core = moved.iter().map(|s| s.weight * at(s.node).core).sum();
                    }
                }
            }
        }
    }
}

/// A character's cubes with their stiffness.
#[derive(Clone, Debug)]
pub struct Tissue {
    /// The cubes.
    pub cells: Arc<Cells>,
    /// The stiffness of each level, finest first.
    pub levels: Vec<LevelStiffness>,
    firm: Firm,
    /// Logarithm of the factor of each control vertex, and of each patch of skin.
    field: Vec<f32>,
    patches: Vec<f32>,
}

impl Tissue {
    /// The cubes without regions.
    pub fn new(cells: &Arc<Cells>) -> Self {
        Self {
            levels: LevelStiffness::of(&cells.levels),
            firm: Firm::default(),
            field: Vec::with_capacity(cells.embedding.len()),
            patches: Vec::with_capacity(cells.cover.patches()),
            cells: cells.clone(),
        }
    }

    /// Sets the regions. Returns whether the stiffness changed. Does not allocate.
    pub fn set(&mut self, firm: &Firm) -> bool {
        if self.firm == *firm {
            return false;
        }
        self.firm.clone_from(firm);
        let Some(finest) = self.levels.first_mut() else { return false };
        self.firm.field(self.cells.embedding.len(), &mut self.field);
        self.cells.cover.factors(&self.field, &mut self.patches, &mut finest.weight);
        LevelStiffness::derive(&self.cells.levels, &mut self.levels);
        true
    }

    /// Returns the energy of the finest cubes, divided by `μ h³`: the sum of the formula in [`super`] over all cubes, each
    /// times its factor. Each cube has the rotation nearest to its deformation. The springs on nodes around bones are not
    /// included.
    pub fn energy(&self, x: &[Vec3], lambda: f32) -> f64 {
        let (Some(level), Some(stiffness)) = (self.cells.levels.first(), self.levels.first()) else {
            return 0.0;
        };
        let h = f64::from(level.size);
        let of = |(cell, weight): (&[u32; 8], &f32)| {
            let x: [DVec3; 8] = cell.map(|n| x[n as usize].as_dvec3());
            let edge = |k: usize, near: usize| x[near + (1 << k)] - x[near];
            let mean: [DVec3; 3] =
                std::array::from_fn(|k| NEAR[k].iter().map(|&n| edge(k, n)).sum::<DVec3>() * 0.25);
            let r = fit_rotation(DMat3::from_cols(mean[0], mean[1], mean[2]).transpose(), DQuat::IDENTITY);
            let r = DMat3::from_quat(r);
            let r = [r.x_axis, r.y_axis, r.z_axis];
            let change = to_unit_volume(DMat3::from_cols(mean[0], mean[1], mean[2]) * (1.0 / h)) * h;
            let volume = change.to_cols_array().iter().map(|d| d * d).sum::<f64>();
            let edges: f64 =
                (0..3).flat_map(|k| NEAR[k].map(|n| (edge(k, n) - r[k] * h).length_squared())).sum();
            f64::from(*weight) * (0.25 * edges + 1.5 * f64::from(lambda) * volume) / (h * h)
        };
        level.cells.iter().zip(&stiffness.weight).map(of).sum()
    }
}
