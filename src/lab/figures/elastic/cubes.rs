//! The flesh of a character in cubes. All deformers can move the corners of the cubes (nodes), so their elastic
//! energies (equation 1 of the paper) are comparable.

use super::stand::Deformer;
use crate::asset::Influences;
use crate::base::math::{DVec3, Vec3};
use crate::base::{BoneId, Error, Result};
use crate::bind::weights::{Flesh, FleshJoint, NodeWeights, biharmonic_weights};
use crate::bind::{Attachments, Character};
use crate::deform::swing_twist::{Motions, Params};
use crate::deform::volume::gold::{Elements, Gold};
use crate::deform::{Bound, Geometric, Streams};
use crate::geom::ControlMesh;
use crate::rig::PosedRig;
use std::sync::Arc;

/// A node on several bones is held if the bones agree about its position within this fraction of a cube's edge.
const AGREE: f32 = 1e-4;
/// Skin weights at nodes up to this value are dropped.
const LEAST: f32 = 1e-4;
/// The solve ends when a step moves no node by more than this fraction of a cube's edge, or after this many steps.
const STILL: f64 = 1e-4;
const MOST: usize = 400;

/// The flesh of a character in cubes, with weights at the nodes.
pub(super) struct Cubed {
    pub flesh: Flesh,
    /// Energy-minimising weights.
    weights: NodeWeights,
    /// The nodes as vertices with biharmonic skin weights.
    smooth: Bound,
    /// The nodes as vertices with energy-minimising skin weights.
    elastic: Bound,
}

impl Cubed {
    /// Encloses a character in approximately `cubes` cubes and computes weights. The energy-minimising skin weights are
    /// those of twists if `twists` is set, otherwise those of swings.
    ///
    /// # Errors
    /// [`Error::Input`] if the character has no flesh, or a linear system cannot be factored.
    pub fn new(character: &Character, cubes: usize, twists: bool) -> Result<Self> {
        let none = || Error::input("the mesh has no bones or no triangles", "give it a skeleton");
        let flesh = Flesh::of(character, cubes).ok_or_else(none)?;
        let weights = NodeWeights::of(&flesh, &|_| true)?.ok_or_else(none)?;
        let handles = flesh.handles(&flesh.claims);
        let smooth = biharmonic_weights(&flesh.enclosure.cubes, &handles, &|_| true)?.ok_or_else(none)?;
        let row = |n: usize| -> Vec<f32> { smooth.iter().map(|w| w[n] as f32).collect() };
        let smooth = at_nodes(character, &flesh, row);
        let below = if twists { &weights.twist } else { &weights.swing };
        // The weight of a joint counts everything below the joint; a skin weight counts only the joint.
        let own = |n: usize| -> Vec<f32> {
            let mut out: Vec<f32> = below.iter().map(|w| w[n]).collect();
            for (j, joint) in flesh.joints.iter().enumerate() {
                if let Some(parent) = joint.parent {
                    out[parent] -= below[j][n];
                }
            }
            out
        };
        let elastic = at_nodes(character, &flesh, own);
        Ok(Self { flesh, weights, smooth, elastic })
    }

    /// Returns the positions of the nodes in a pose.
    ///
    /// # Errors
    /// Any error of binding, and the errors of [`Cubed::solve`].
    pub fn nodes(&self, deformer: Deformer, rig: &PosedRig) -> Result<Vec<DVec3>> {
        let (bound, method) = match deformer {
            Deformer::Linear => (&self.smooth, "lbs"),
            Deformer::Dual => (&self.smooth, "dqs"),
            Deformer::LinearElastic => (&self.elastic, "lbs"),
            Deformer::DualElastic => (&self.elastic, "dqs"),
            Deformer::SwingTwistSmooth => {
                let sums = sums(&self.smooth.character, &self.flesh.joints);
                return Ok(self.swung(rig, |j, n| [sums[n][j]; 2]));
            }
            Deformer::SwingTwist => return Ok(self.own(rig)),
            Deformer::Solved => return self.solve(rig),
        };
        let mut streams = Streams::default();
        Geometric::from_name(method)?.bind(bound)?.reference(rig, &mut streams);
        Ok(streams.position.iter().map(|x| x.as_dvec3()).collect())
    }

    /// Moves the nodes by swing-twist deformers with the energy-minimising weights.
    fn own(&self, rig: &PosedRig) -> Vec<DVec3> {
        self.swung(rig, |j, n| [self.weights.swing[j][n], self.weights.twist[j][n]])
    }

    /// Moves the nodes by swing-twist deformers. `weights` returns the swing and twist weight of a joint and a node.
    fn swung(&self, rig: &PosedRig, weights: impl Fn(usize, usize) -> [f32; 2]) -> Vec<DVec3> {
        let joints = &self.flesh.joints;
        let mut motions = Motions::new(joints, &self.smooth.character.skeleton, &Params::DEFAULT);
        motions.update(rig);
        let moved = |(n, x): (usize, &DVec3)| {
            let chain = motions.motions.iter().enumerate().rev();
            let end = chain.fold(x.as_vec3(), |x, (j, motion)| {
                let [swing, twist] = weights(j, n);
                motion.apply(x, swing, twist)
            });
            end.as_dvec3()
        };
        self.flesh.enclosure.cubes.nodes.iter().enumerate().map(moved).collect()
    }

    /// Finds the positions with the smallest energy. Bones hold the nodes that they fix for the energy-minimising
    /// weights. The solve starts from the swing-twist deformers.
    ///
    /// # Errors
    /// As [`Gold::new`].
    fn solve(&self, rig: &PosedRig) -> Result<Vec<DVec3>> {
        let cubes = &self.flesh.enclosure.cubes;
        let (mut x, mut held) = (self.own(rig), Vec::new());
        for (n, joints) in self.flesh.fixed.iter().enumerate() {
            let rest = cubes.nodes[n].as_vec3();
            let skinning = |&j: &usize| rig.skinning[self.flesh.joints[j].joint.index()];
            let mut places = joints.iter().map(|j| skinning(j).transform_point3(rest));
            if let Some(first) = places.next()
                && places.all(|p| p.distance(first) < AGREE * cubes.size as f32)
            {
                x[n] = first.as_dvec3();
                held.push(n as u32);
            } else if !self.flesh.anchored[n] {
                held.push(n as u32);
            }
        }
        Gold::new(self.elements()?, &held)?.settle(&mut x, STILL * cubes.size, MOST);
        Ok(x)
    }

    fn elements(&self) -> Result<Elements> {
        let cubes = &self.flesh.enclosure.cubes;
        Elements::cubes(&cubes.nodes, &cubes.cells)
    }

    /// Returns the elastic energy of nodes, in squared edge lengths of a cube.
    ///
    /// # Errors
    /// As [`Elements::cubes`].
    pub fn energy(&self, nodes: &[DVec3]) -> Result<f64> {
        Ok(self.elements()?.energy(nodes) / self.flesh.enclosure.cubes.size.powi(2))
    }
}

/// Returns the nodes as vertices of a character. `row` returns the weights of a node for the joints in the flesh; they
/// are scaled to the sum 1.
fn at_nodes(character: &Character, flesh: &Flesh, row: impl Fn(usize) -> Vec<f32>) -> Bound {
    let positions: Vec<Vec3> = flesh.enclosure.cubes.nodes.iter().map(|x| x.as_vec3()).collect();
    let (count, mut influences) = (positions.len(), Influences::default());
    for n in 0..count {
        let joint = |j: usize| flesh.joints[j].joint.index() as u16;
        let row = row(n).into_iter().enumerate().filter(|e| e.1 > LEAST);
        let mut row: Vec<(u16, f32)> = row.map(|(j, w)| (joint(j), w)).collect();
        row.sort_by(|a, b| b.1.total_cmp(&a.1));
        let sum: f32 = row.iter().map(|e| e.1).sum();
        influences.push(row.into_iter().map(|(j, w)| (j, w / sum)));
    }
    let attachments = Attachments {
        bone: vec![BoneId(0); count],
        t: vec![0.0; count],
        scale_vector: vec![Vec3::ZERO; count],
    };
    let control = ControlMesh { rigid: vec![false; count], positions, influences, ..ControlMesh::default() };
    let nodes = Character { skeleton: character.skeleton.clone(), control, ..Character::default() };
    Bound::new(Arc::new(nodes), Arc::new(attachments))
}

/// Returns, per vertex, the sum of its skin weights for each joint in the flesh and everything below the joint.
pub(super) fn sums(character: &Character, joints: &[FleshJoint]) -> Vec<Vec<f32>> {
    let place = |joint: usize| joints.iter().position(|j| j.joint.index() == joint);
    let places: Vec<Option<usize>> = (0..character.skeleton.joints.len()).map(place).collect();
    let row = |v: usize| {
        let mut out = vec![0.0; joints.len()];
        for (joint, weight) in character.control.influences.of(v) {
            if let Some(at) = places[usize::from(joint)] {
                out[at] += weight;
            }
        }
        // Children come after their parents.
        for j in (0..joints.len()).rev() {
            if let Some(parent) = joints[j].parent {
                out[parent] += out[j];
            }
        }
        out
    };
    (0..character.control.positions.len()).map(row).collect()
}

/// Interpolates positions of nodes at the control vertices. Vertices without flesh near them keep their places in
/// `otherwise`.
pub(super) fn on_skin(
    flesh: &Flesh,
    character: &Character,
    nodes: &[DVec3],
    otherwise: &[Vec3],
) -> Vec<Vec3> {
    let at = |(v, x): (usize, &Vec3)| {
        let place = flesh.of_vertex(v, x.as_dvec3());
        place.map_or(otherwise[v], |(cell, shares)| {
            let corners = flesh.enclosure.cubes.cells[cell];
            corners.iter().zip(shares).map(|(&n, s)| s * nodes[n as usize]).sum::<DVec3>().as_vec3()
        })
    };
    character.control.positions.iter().enumerate().map(at).collect()
}
