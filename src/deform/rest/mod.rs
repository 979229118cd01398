//! The rest stream, a stage before the geometric method: it applies the change of the rest shape that a cage makes
//! (Corda et al. 2020, equations 7, 13 and 14; docs/internals.md, *Cages and the rest shape*).
//!
//! [`crate::rig::RestShift`] travels with the pose. This stage adds `φ δ` to the rest position of every vertex, where
//! `δ` are the offsets of the cage's vertices and `φ` are the vertex's coordinates in the cage. An attachment keeps its
//! bone and its parameter along the bone; its scale vector, from the attachment point to the vertex, changes. No
//! binding is computed again. While the rest shape is that of the file, no stage runs and every buffer holds the file's
//! values.

pub(super) mod gpu;
#[cfg(test)]
pub(super) mod tests;

use crate::base::math::Vec3;
use crate::bind::{Attachments, Character};
use crate::deform::Bound;
use crate::rig::{RestShift, Skeleton};
use rayon::prelude::*;
use std::sync::Arc;

/// Coordinates of a skin's control vertices in a cage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinCage {
    /// Number of vertices of the cage.
    pub cage: usize,
    /// The coordinates, one row of `cage` values per control vertex.
    pub rows: Vec<f32>,
}

impl SkinCage {
    /// Number of control vertices.
    pub fn vertices(&self) -> usize {
        self.rows.len().checked_div(self.cage).unwrap_or(0)
    }

    /// Offset of a control vertex, bind space, metres.
    pub fn offset(&self, vertex: usize, cage: &[Vec3]) -> Vec3 {
        let row = &self.rows[vertex * self.cage..(vertex + 1) * self.cage];
        row.iter().zip(cage).map(|(&w, &offset)| w * offset).sum()
    }

    /// The coordinates column by column. In this order, neighbouring invocations on the GPU read neighbouring values.
    fn columns(&self) -> Vec<f32> {
        let vertices = self.vertices();
        (0..self.cage).flat_map(|k| (0..vertices).map(move |v| self.rows[v * self.cage + k])).collect()
    }
}

/// A bound character in a changed rest shape. It equals a character from a file with that rest shape, but keeps the
/// attachments of the original character.
#[derive(Clone, Debug)]
pub struct Rested {
    /// The character and its attachments. It has no display mesh. Its bounding box is that of the file's rest shape, so
    /// thresholds that are relative to the size stay the same.
    pub bound: Bound,
    /// Offsets of the cage's vertices, bind space, metres.
    pub cage: Vec<Vec3>,
}

impl Rested {
    /// Moves a character into a rest shape.
    ///
    /// # Panics
    /// If the coordinates belong to another character.
    pub fn new(bound: &Bound, skin: &SkinCage, rest: &RestShift) -> Self {
        let (character, attachments) = (&*bound.character, &*bound.attachments);
        assert_eq!(skin.vertices(), character.control.positions.len(), "coordinates of another character");
        if rest.is_empty() {
            return Self { bound: bound.clone(), cage: vec![Vec3::ZERO; skin.cage] };
        }
        let offsets: Vec<Vec3> =
            (0..skin.vertices()).into_par_iter().map(|v| skin.offset(v, &rest.cage)).collect();
        let mut control = character.control.clone();
        control.positions.iter_mut().zip(&offsets).for_each(|(x, offset)| *x += *offset);
        let scale_vector = (0..offsets.len())
            .map(|v| {
                let (bone, t) = (attachments.bone[v], attachments.t[v]);
                attachments.scale_vector[v]
                    + (offsets[v] - carried(&character.skeleton, rest, bone.index(), t))
            })
            .collect();
        let character =
            Character { skeleton: rest.skeleton(&character.skeleton), control, display: Default::default() };
        let attachments = Attachments { scale_vector, ..attachments.clone() };
        Self { bound: bound.with(Arc::new(character), Arc::new(attachments)), cage: rest.cage.clone() }
    }
}

/// Returns the offset of the point with parameter `t` on a bone, bind space, metres.
fn carried(skeleton: &Skeleton, rest: &RestShift, bone: usize, t: f32) -> Vec3 {
    let Some(head) = skeleton.bones.get(bone).and_then(|b| rest.joints.get(b.parent.index())) else {
        return Vec3::ZERO;
    };
    *head + t * (rest.tails[bone] - *head)
}
