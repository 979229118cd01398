//! Attachment points of the springs, which may leave the bones where limbs branch.
//!
//! Where limbs leave a trunk, the bones of neighbouring vertices may be far apart. Alternating smoothing and projection
//! (thesis 3.2) cannot close that gap, because it keeps the points on bones. Scale vectors across the gap are not
//! comparable, so the surface tears there. The springs do not need points on bones: any point that moves with the
//! vertex works. Attachment points leave the bones only where necessary: until the points of two neighbouring vertices
//! are no further apart than the vertices. Points on a single bone always satisfy this condition.

use crate::base::math::Vec3;
use crate::bind::Attachments;
use crate::deform::Bound;
use crate::geom::{Adjacency, ControlMesh};
use rayon::prelude::*;
use std::sync::Arc;

/// Maximum rounds; a gap spreads by one edge per round. [`super::bind::coherence`] handles remaining gaps.
const ROUNDS: usize = 300;

/// Relative tolerance: a gap that exceeds its edge's length by less than this fraction counts as closed.
const SLACK: f32 = 1e-3;

/// Moves attachment points together at branches. The bone and the parameter `t` of each vertex remain; its scale vector
/// changes.
pub fn drawn_together(bound: &Bound) -> Bound {
    let control = &bound.character.control;
    let scale_vectors = &bound.attachments.scale_vector;
    let mut points: Vec<Vec3> = control.positions.iter().zip(scale_vectors).map(|(x, s)| *x - *s).collect();
    let lengths = Lengths::of(control);
    let mut active: Vec<u32> = (0..points.len() as u32).filter(|&v| !control.rigid[v as usize]).collect();
    let mut near = vec![false; points.len()];
    for _ in 0..ROUNDS {
        let moved: Vec<(u32, Vec3)> = (active.par_iter())
            .filter_map(|&v| lengths.drawn(&points, v as usize).map(|point| (v, point)))
            .collect();
        if moved.is_empty() {
            break;
        }
        active.clear();
        for &(v, point) in &moved {
            points[v as usize] = point;
            for &n in control.adjacency.of(v as usize).iter().chain([&v]) {
                if !std::mem::replace(&mut near[n as usize], true) && !control.rigid[n as usize] {
                    active.push(n);
                }
            }
        }
        for v in moved.iter().flat_map(|(v, _)| control.adjacency.of(*v as usize).iter().chain([v])) {
            near[*v as usize] = false;
        }
    }
    // Points that did not move keep their scale vector bit for bit.
    let scale_vector = (0..points.len())
        .map(|v| {
            let (x, s) = (control.positions[v], scale_vectors[v]);
            if points[v] == x - s { s } else { x - points[v] }
        })
        .collect();
    let attachments = &bound.attachments;
    let attachments = Attachments { bone: attachments.bone.clone(), t: attachments.t.clone(), scale_vector };
    Bound::new(bound.character.clone(), Arc::new(attachments))
}

/// The edges' rest lengths.
struct Lengths<'a> {
    adjacency: &'a Adjacency,
    /// Per entry of the adjacency's neighbours, metres.
    length: Vec<f32>,
}

impl<'a> Lengths<'a> {
    fn of(control: &'a ControlMesh) -> Self {
        let (adjacency, x) = (&control.adjacency, &control.positions);
        let of = |v: usize| adjacency.of(v).iter().map(move |&n| x[n as usize].distance(x[v]));
        Self { adjacency, length: (0..adjacency.len()).flat_map(of).collect() }
    }

    /// Returns the moved attachment point of a vertex; `None` if no gap to a neighbour is too wide. The move is the
    /// mean over the too wide gaps of half the excess.
    fn drawn(&self, points: &[Vec3], v: usize) -> Option<Vec3> {
        let (mut sum, mut wide) = (Vec3::ZERO, 0.0f32);
        let lengths = &self.length[self.adjacency.offset[v] as usize..];
        for (&n, &length) in self.adjacency.of(v).iter().zip(lengths) {
            let across = points[n as usize] - points[v];
            let most = length * (1.0 + SLACK);
            let squared = across.length_squared();
            if squared > most * most {
                sum += across * (0.5 * (1.0 - length / squared.sqrt()));
                wide += 1.0;
            }
        }
        (wide > 0.0).then(|| points[v] + sum / wide)
    }
}
