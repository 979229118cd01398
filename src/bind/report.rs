//! What a binding is worth: lengths of the scale vectors, gaps between neighbours.

use super::{Attachments, BindOptions, Binding, Character};

/// Edges shorter than this share of the mean edge count as this long, so that no sliver makes the gap.
const SHORT_EDGE: f32 = 0.1;

/// Quality of a binding (methods, section 2). Lengths in bind space, metres.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct BindReport {
    /// The method asked for.
    pub method: Binding,
    /// Rounds of smoothing.
    pub smooth: u32,
    /// Control vertices.
    pub vertices: usize,
    /// Of these, vertices of rigid props; they do not count below.
    pub rigid_vertices: usize,
    /// Mean `|s|`.
    pub mean_length: f32,
    /// Largest `|s|`.
    pub max_length: f32,
    /// Before smoothing.
    pub before: Gap,
    /// After smoothing.
    pub after: Gap,
    /// Number of vertices attached to each bone, props included.
    pub vertices_per_bone: Vec<u32>,
}

/// `|a_i - a_j|` over mesh edges, relative to the edge length. A tube around a straight bone has 1 along it.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Gap {
    /// Largest of all edges.
    pub max: f32,
    /// Mean over the edges.
    pub mean: f32,
}

impl BindReport {
    pub(super) fn new(
        character: &Character,
        options: &BindOptions,
        before: &Attachments,
        after: &Attachments,
    ) -> Self {
        let control = &character.control;
        let mut vertices_per_bone = vec![0u32; character.skeleton.bones.len()];
        for bone in &after.bone {
            vertices_per_bone[bone.index()] += 1;
        }
        let lengths = || after.scale_vector.iter().zip(&control.rigid).filter(|e| !e.1).map(|e| e.0.length());
        let soft = lengths().count();
        Self {
            method: options.method,
            smooth: options.smooth,
            vertices: control.positions.len(),
            rigid_vertices: control.positions.len() - soft,
            mean_length: (lengths().map(f64::from).sum::<f64>() / soft.max(1) as f64) as f32,
            max_length: lengths().fold(0.0, f32::max),
            before: Gap::of(character, before),
            after: Gap::of(character, after),
            vertices_per_bone,
        }
    }
}

impl Gap {
    /// The gap of a binding. Edges under a tenth of the mean edge length are measured against that tenth.
    pub fn of(character: &Character, attachments: &Attachments) -> Self {
        let (skeleton, control) = (&character.skeleton, &character.control);
        let soft = || control.adjacency.edges().filter(|e| !control.rigid[e.0 as usize]);
        let length =
            |(a, b): (u32, u32)| control.positions[a as usize].distance(control.positions[b as usize]);
        let (sum, edges) = soft().fold((0.0f64, 0u64), |(s, n), e| (s + f64::from(length(e)), n + 1));
        if edges == 0 || sum <= 0.0 {
            return Self::default();
        }
        let shortest = SHORT_EDGE * (sum / edges as f64) as f32;
        let (mut max, mut total) = (0.0f32, 0.0f64);
        for e in soft() {
            let apart =
                attachments.point(skeleton, e.0 as usize).distance(attachments.point(skeleton, e.1 as usize));
            let relative = apart / length(e).max(shortest);
            max = max.max(relative);
            total += f64::from(relative);
        }
        Self { max, mean: (total / edges as f64) as f32 }
    }
}
