//! Skin weights: each vertex is assigned to the nearest bone of its part; the assignments diffuse over the surface.
//!
//! A vertex's part comes from the implicit shape at the vertex, so a finger, or an arm near the body, never takes a
//! neighbour's bone. Diffusion consists of two implicit steps of the heat equation on the surface. Each bone sets the
//! diffusion width of its vertices. Weights diffuse over the skin, so the falloff follows the skin.

use super::model::{Weights, quantize};
use super::trimesh::TriMesh;
use crate::base::math::Vec3;
use rayon::prelude::*;

/// A bone to which vertices can be assigned.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// Index of the joint that rotates the bone.
    pub joint: usize,
    /// Start in world space, metres.
    pub a: Vec3,
    /// End in world space, metres.
    pub b: Vec3,
    /// Part of the body that the bone may move, see [`super::implicit::Cone::group`].
    pub group: u16,
    /// Width of the weights' falloff at the bone's ends, metres.
    pub width: f32,
}

fn distance(segment: &Segment, p: Vec3) -> f32 {
    let axis = segment.b - segment.a;
    let square = axis.length_squared();
    let t = if square > 0.0 { ((p - segment.a).dot(axis) / square).clamp(0.0, 1.0) } else { 0.0 };
    (p - segment.a - axis * t).length()
}

const SWEEPS: usize = 30;

/// Computes the joint influences of each vertex; `group` holds the part of each vertex.
pub(super) fn weights(mesh: &TriMesh, group: &[u16], segments: &[Segment], joints: usize) -> Vec<Weights> {
    let label: Vec<usize> = mesh
        .position
        .par_iter()
        .zip(group)
        .map(|(&p, &g)| {
            let mut best = (f32::INFINITY, 0);
            for (i, s) in segments.iter().enumerate().filter(|(_, s)| s.group == g) {
                let d = distance(s, p);
                if d < best.0 {
                    best = (d, i);
                }
            }
            best.1
        })
        .collect();
    let rings: Vec<Vec<u32>> =
        (0..mesh.position.len() as u32).into_par_iter().map(|v| mesh.neighbors(v).collect()).collect();
    // How strongly a vertex follows its neighbours: the squared ratio of falloff width to mean edge length.
    let follow: Vec<f32> = (0..rings.len())
        .map(|v| {
            let edge: f32 = rings[v]
                .iter()
                .map(|&n| (mesh.position[n as usize] - mesh.position[v]).length())
                .sum::<f32>()
                / rings[v].len() as f32;
            let wanted = segments[label[v]].width / edge.max(1e-6);
            (wanted * wanted).min(60.0)
        })
        .collect();
    let mut now = vec![0.0_f32; rings.len() * joints];
    for (v, &l) in label.iter().enumerate() {
        now[v * joints + segments[l].joint] = 1.0;
    }
    for _ in 0..2 {
        let source = now.clone();
        for _ in 0..SWEEPS {
            let last = &now;
            let mut next = vec![0.0_f32; now.len()];
            next.par_chunks_mut(joints).enumerate().for_each(|(v, row)| {
                let share = follow[v] / (1.0 + follow[v]);
                row.copy_from_slice(&source[v * joints..(v + 1) * joints]);
                row.iter_mut().for_each(|w| *w *= 1.0 - share);
                let each = share / rings[v].len() as f32;
                for &n in &rings[v] {
                    let from = &last[n as usize * joints..(n as usize + 1) * joints];
                    row.iter_mut().zip(from).for_each(|(w, f)| *w += each * f);
                }
            });
            now = next;
        }
    }
    now.par_chunks(joints).map(quantize).collect()
}
