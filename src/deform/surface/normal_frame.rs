//! A source normal, stored in a frame that moves with the surface.

use crate::base::math::Vec3;
use crate::shared_with_shaders;

shared_with_shaders! {
    /// Deviation of a source normal from the computed normal, in the layout of `glsl/types/surface.glsl`.
    #[derive(Debug, PartialEq)]
    pub struct SourceNormal as "SourceNormal" {
        /// Components along tangent, bitangent and computed normal.
        pub components: [f32; 3],
        /// The display vertex that the tangent points to; [`SourceNormal::NONE`] if the computed normal is used.
        pub toward: u32,
    }
}

impl SourceNormal {
    /// Value of `toward` that stands for "no vertex".
    pub const NONE: u32 = u32::MAX;

    /// The computed normal, without deviation.
    pub const COMPUTED: Self = Self { components: [0.0, 0.0, 1.0], toward: Self::NONE };

    /// Encodes `source` relative to the computed `normal`. The tangent follows `edge`, an edge to the vertex
    /// `toward`.
    pub fn encode(source: Vec3, normal: Vec3, edge: Vec3, toward: u32) -> Self {
        let Some((t, b)) = tangents(normal, edge) else { return Self::COMPUTED };
        Self { components: [source.dot(t), source.dot(b), source.dot(normal)], toward }
    }

    /// Returns the source normal on a posed surface with this computed normal and edge.
    pub fn decode(&self, normal: Vec3, edge: Vec3) -> Vec3 {
        let Some((t, b)) = tangents(normal, edge) else { return normal };
        let [x, y, z] = self.components;
        (x * t + y * b + z * normal).normalize_or(normal)
    }
}

/// Returns the tangent along `edge` and the bitangent, or `None` if the edge is parallel to the normal.
fn tangents(normal: Vec3, edge: Vec3) -> Option<(Vec3, Vec3)> {
    let t = edge - normal * normal.dot(edge);
    let long_enough = t.length_squared() > 1e-8 * edge.length_squared();
    long_enough.then(|| t.normalize()).map(|t| (t, normal.cross(t)))
}
