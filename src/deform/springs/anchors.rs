//! Bases of the springs' scale vectors: the attachment points, drawn together across branches.
//!
//! Where limbs leave a trunk, the bones of neighbouring vertices may be far apart. Alternating smoothing and projection
//! (thesis 3.2) cannot close that gap while the points must stay on bones. Scale vectors on its two sides are not
//! comparable, and the surface tears there. The springs do not need points on bones: any point that moves with a vertex
//! serves. Attachment points therefore leave the bones where necessary, and only there, until the points of neighbours
//! are no further apart than the neighbours are, as is the case along any single bone.

use crate::base::math::Vec3;
use crate::bind::Attachments;
use crate::deform::Bound;
use crate::geom::ControlMesh;
use rayon::prelude::*;
use std::sync::Arc;

/// Rounds at most. A gap spreads by an edge a round; what is left of the widest then follows from
/// [`super::bind::coherence`].
const ROUNDS: usize = 300;

/// A gap that exceeds its edge by less than this fraction of the edge counts as closed.
const SLACK: f32 = 1e-3;

/// Returns the character with its attachment points drawn together: bones and parameters stay, scale vectors change.
pub fn drawn_together(bound: &Bound) -> Bound {
    let control = &bound.character.control;
    let scale_vectors = &bound.attachments.scale_vector;
    let mut points: Vec<Vec3> = control.positions.iter().zip(scale_vectors).map(|(x, s)| *x - *s).collect();
    let mut active: Vec<u32> = (0..points.len() as u32).filter(|&v| !control.rigid[v as usize]).collect();
    let mut near = vec![false; points.len()];
    for _ in 0..ROUNDS {
        let moved: Vec<(u32, Vec3)> = (active.par_iter())
            .filter_map(|&v| drawn(control, &points, v as usize).map(|point| (v, point)))
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
    // Points that no gap has moved stay equal bit for bit.
    let scale_vector = (0..points.len())
        .map(|v| {
            let (x, s) = (control.positions[v], scale_vectors[v]);
            if points[v] == x - s { s } else { x - points[v] }
        })
        .collect();
    let attachments = &bound.attachments;
    let attachments = Attachments { bone: attachments.bone.clone(), t: attachments.t.clone(), scale_vector };
    Bound { character: bound.character.clone(), attachments: Arc::new(attachments) }
}

/// A vertex's point after half of each excess gap is closed, in the mean; `None` if there is no excess.
fn drawn(control: &ControlMesh, points: &[Vec3], v: usize) -> Option<Vec3> {
    let (mut sum, mut wide) = (Vec3::ZERO, 0.0f32);
    for &n in control.adjacency.of(v) {
        let across = points[n as usize] - points[v];
        let gap = across.length();
        let length = control.positions[n as usize].distance(control.positions[v]);
        if gap > length * (1.0 + SLACK) {
            sum += across * (0.5 * (1.0 - length / gap));
            wide += 1.0;
        }
    }
    (wide > 0.0).then(|| points[v] + sum / wide)
}
