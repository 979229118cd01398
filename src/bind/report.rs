//! Quality of a binding: lengths of the scale vectors, and gaps between the attachment points of adjacent vertices.

use super::{Attachments, BindOptions, Binding, Character, Smoothing};
use crate::base::math::Vec3;
use crate::geom::ControlMesh;

/// Lower bound on the edge length by which a gap is divided, as a fraction of the mean edge length. The bound keeps
/// slivers from dominating the result.
const SHORT_EDGE: f32 = 0.1;

/// Quality of a binding (docs/internals.md, *Attachment binding*). Lengths are in bind space, metres.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct BindReport {
    /// The binding method.
    pub method: Binding,
    /// Number of smoothing rounds.
    pub smooth: u32,
    /// What a round of smoothing does.
    pub smoothing: Smoothing,
    /// Number of regions attached by hand.
    pub reattached: usize,
    /// Number of control vertices.
    pub vertices: usize,
    /// Number of control vertices of rigid props; lengths and gaps exclude these vertices.
    pub rigid_vertices: usize,
    /// Mean length `|s|` of the scale vectors, metres.
    pub mean_length: f32,
    /// Largest length `|s|` of the scale vectors, metres.
    pub max_length: f32,
    /// Gaps before smoothing.
    pub before: Gap,
    /// Gaps after smoothing.
    pub after: Gap,
    /// Number of vertices attached to each bone, including vertices of rigid props.
    pub vertices_per_bone: Vec<u32>,
}

/// Gaps of all mesh edges. The gap of an edge is the distance `|a_i - a_j|` of its vertices' attachment points, divided
/// by the edge length. An edge parallel to a straight bone has the gap 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Gap {
    /// Largest gap of all edges.
    pub max: f32,
    /// Mean gap of all edges.
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
            smoothing: options.smoothing,
            reattached: options.reattached.len(),
            vertices: control.positions.len(),
            rigid_vertices: control.positions.len() - soft,
            mean_length: (lengths().map(f64::from).fold(0.0, |a, b| a + b) / soft.max(1) as f64) as f32,
            max_length: lengths().fold(0.0, f32::max),
            before: Gap::of(character, before),
            after: Gap::of(character, after),
            vertices_per_bone,
        }
    }
}

impl Gap {
    /// Measures the gaps of a binding. Edges shorter than a tenth of the mean count as a tenth of the mean.
    pub fn of(character: &Character, attachments: &Attachments) -> Self {
        let (skeleton, control) = (&character.skeleton, &character.control);
        let lengths = EdgeLengths::of(control);
        let points: Vec<Vec3> =
            (0..control.positions.len()).map(|v| attachments.point(skeleton, v)).collect();
        let gaps = soft_edges(control).map(|(a, b)| lengths.gap(control, &points, a as usize, b as usize));
        let (sum, edges) = gaps.fold((0.0f64, 0u64), |(s, n), g| (s + f64::from(g), n + 1));
        Self { max: lengths.widest_gap(control, &points), mean: (sum / edges.max(1) as f64) as f32 }
    }
}

fn soft_edges(control: &ControlMesh) -> impl Iterator<Item = (u32, u32)> + '_ {
    control.adjacency.edges().filter(|e| !control.rigid[e.0 as usize])
}

/// Edge lengths of the mesh without rigid props, with a lower bound.
pub(super) struct EdgeLengths {
    /// Mean edge length, metres; 1 if all lengths are zero.
    pub mean: f32,
    shortest: f32,
}

impl EdgeLengths {
    pub fn of(control: &ControlMesh) -> Self {
        let lengths = soft_edges(control)
            .map(|(a, b)| control.positions[a as usize].distance(control.positions[b as usize]));
        let (sum, edges) = lengths.fold((0.0f64, 0u64), |(s, n), l| (s + f64::from(l), n + 1));
        let mean = (sum / edges.max(1) as f64) as f32;
        let mean = if mean > 0.0 && mean.is_finite() { mean } else { 1.0 };
        Self { mean, shortest: SHORT_EDGE * mean }
    }

    /// Returns the length of an edge, at least the lower bound.
    pub fn of_edge(&self, control: &ControlMesh, a: usize, b: usize) -> f32 {
        control.positions[a].distance(control.positions[b]).max(self.shortest)
    }

    /// Returns `|a_i - a_j|` relative to the edge length.
    pub fn gap(&self, control: &ControlMesh, points: &[Vec3], a: usize, b: usize) -> f32 {
        points[a].distance(points[b]) / self.of_edge(control, a, b)
    }

    pub fn widest_gap(&self, control: &ControlMesh, points: &[Vec3]) -> f32 {
        soft_edges(control)
            .map(|(a, b)| self.gap(control, points, a as usize, b as usize))
            .fold(0.0, f32::max)
    }
}
