//! One joint in the flesh of a character, with the paper's energy: cubes that prefer to move rigidly (equation 1).

use super::stand::found;
use crate::base::math::{DQuat, DVec3};
use crate::base::{Error, Result};
use crate::bind::weights::{Flesh, Hinge, Minimum, quasi_harmonic_weights};
use crate::deform::volume::gold::{Elements, Gold};
use crate::scene::Model;
use std::sync::Arc;

/// A solve stops after a step that moves no node farther than the first value, in edge lengths of a cube, or after the
/// second value's number of steps.
const STILL: (f64, usize) = (1e-5, 400);

/// A joint in the flesh. Energies are in squared edge lengths of a cube.
pub(super) struct FleshyJoint {
    pub model: Arc<Model>,
    pub flesh: Flesh,
    /// Position of the joint.
    pub pivot: DVec3,
    /// Unit vector along the joint's bone.
    pub bone: DVec3,
    side: Vec<Option<bool>>,
    start: Vec<f64>,
}

/// Solved shapes of the flesh.
pub(super) struct Solved {
    /// Per sample rotation: positions of the nodes with the smallest energy.
    pub shapes: Vec<Vec<DVec3>>,
    /// Sum over the samples of the energy before each step.
    pub energies: Vec<f64>,
    /// Sum over the samples of the smallest energy.
    pub least: f64,
}

impl FleshyJoint {
    /// Encloses a character in approximately `cubes` cubes. Computes harmonic weights of a joint, from which both
    /// solvers start.
    ///
    /// # Errors
    /// [`Error::Input`] if the joint does not exist or has no flesh.
    pub fn new(model: &Arc<Model>, joint: &str, cubes: usize) -> Result<Self> {
        let (_, at) = found(model, joint)?;
        let none = || Error::input(format!("joint {joint:?} has no flesh"), "name another joint");
        let flesh = Flesh::of(&model.bound.character, cubes).ok_or_else(none)?;
        let handles = flesh.handles(&flesh.fixed);
        let own = quasi_harmonic_weights(&flesh.enclosure.cubes, &handles, 0, &|_| true)?.ok_or_else(none)?;
        let mut start = vec![0.0; flesh.fixed.len()];
        for (weights, _) in own.iter().zip(flesh.below(at)).filter(|w| w.1) {
            start.iter_mut().zip(weights).for_each(|(sum, w)| *sum += w);
        }
        let (pivot, bone) = (flesh.joints[at].pivot, flesh.joints[at].bone);
        Ok(Self { model: model.clone(), side: flesh.side(at), flesh, pivot, bone, start })
    }

    /// Minimises the energy of the samples over the weights of the joint.
    ///
    /// # Errors
    /// As [`Hinge::minimise`].
    pub fn weights(&self, samples: &[DQuat], steps: usize) -> Result<Minimum> {
        let cubes = &self.flesh.enclosure.cubes;
        Hinge { cubes, side: &self.side, start: &self.start, pivot: self.pivot }.minimise(samples, steps)
    }

    /// Minimises the energy of each sample over the positions of all nodes that no bone fixes. The energies are those
    /// of `steps` plain steps; further steps find the shapes.
    ///
    /// # Errors
    /// As [`Gold::new`].
    pub fn solve(&self, samples: &[DQuat], steps: usize) -> Result<Solved> {
        let size = self.flesh.enclosure.cubes.size;
        let held: Vec<u32> =
            (0..self.side.len() as u32).filter(|&n| self.side[n as usize].is_some()).collect();
        let mut gold = Gold::new(self.elements()?, &held)?;
        let mut out = Solved { shapes: Vec::new(), energies: vec![0.0; steps + 1], least: 0.0 };
        for &sample in samples {
            let mut x = self.posed(&self.start, sample);
            for energy in &mut out.energies {
                *energy += gold.step(&mut x) / (size * size);
            }
            gold.settle(&mut x, STILL.0 * size, STILL.1);
            out.least += gold.elements().energy(&x) / (size * size);
            out.shapes.push(x);
        }
        Ok(out)
    }

    fn elements(&self) -> Result<Elements> {
        let cubes = &self.flesh.enclosure.cubes;
        Elements::cubes(&cubes.nodes, &cubes.cells)
    }

    /// Moves the nodes by linear skinning.
    pub fn posed(&self, weights: &[f64], sample: DQuat) -> Vec<DVec3> {
        let nodes = self.flesh.enclosure.cubes.nodes.iter();
        nodes.zip(weights).map(|(x, w)| *x + *w * self.moved(*x, sample)).collect()
    }

    /// Displacement of a point that follows the joint in full.
    pub fn moved(&self, x: DVec3, sample: DQuat) -> DVec3 {
        self.pivot + sample * (x - self.pivot) - x
    }

    /// Returns the energy of linear skinning with these weights, summed over the samples.
    ///
    /// # Errors
    /// As [`Elements::cubes`].
    pub fn energy(&self, weights: &[f64], samples: &[DQuat]) -> Result<f64> {
        let (elements, size) = (self.elements()?, self.flesh.enclosure.cubes.size);
        Ok(samples.iter().map(|s| elements.energy(&self.posed(weights, *s))).sum::<f64>() / (size * size))
    }

    /// Fits weights from 0 to 1 to solved shapes: the sum over the samples of the squared distances of a node is
    /// smallest. Nodes on bones keep 0 or 1.
    pub fn fitted(&self, samples: &[DQuat], shapes: &[Vec<DVec3>]) -> Vec<f64> {
        let weight = |(n, x): (usize, &DVec3)| {
            if let Some(rotates) = self.side[n] {
                return f64::from(u8::from(rotates));
            }
            let (mut along, mut square) = (0.0, 0.0);
            for (sample, shape) in samples.iter().zip(shapes) {
                let moved = self.moved(*x, *sample);
                along += moved.dot(shape[n] - *x);
                square += moved.length_squared();
            }
            if square > 0.0 { (along / square).clamp(0.0, 1.0) } else { self.start[n] }
        };
        self.flesh.enclosure.cubes.nodes.iter().enumerate().map(weight).collect()
    }

    /// Interpolates weights of nodes at the control vertices.
    pub fn on_skin(&self, weights: &[f64]) -> Vec<f32> {
        let positions = &self.model.bound.character.control.positions;
        let at = |v: usize| {
            let place = self.flesh.of_vertex(v, positions[v].as_dvec3());
            place.map_or(0.0, |(cell, shares)| {
                let corners = self.flesh.enclosure.cubes.cells[cell];
                corners.iter().zip(shares).map(|(&n, s)| s * weights[n as usize]).sum::<f64>() as f32
            })
        };
        (0..positions.len()).map(at).collect()
    }
}
