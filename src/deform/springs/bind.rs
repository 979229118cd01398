//! Rest measures of the springs, computed once from the bind pose.

use super::Variant;
use super::cpu::{angle, leverage, turn_between};
use crate::base::math::Vec3;
use crate::deform::Bound;

/// Pose-independent data of the iterations, indexed by vertices and half-edges of [`crate::geom::Adjacency`].
#[derive(Clone, Debug, Default)]
pub struct Binding {
    /// CSR offsets into `edges`; length: number of vertices + 1.
    pub offset: Vec<u32>,
    /// Rest measures per half-edge.
    pub edges: Vec<RestEdge>,
    /// Rest measures per control vertex.
    pub vertices: Vec<RestVertex>,
    /// Distance from the bone below which a vertex has no defined direction from it, metres.
    pub on_bone: f32,
    /// Unit of the stop threshold, metres: shortest side of the bind pose's box, at least 1/1000 of its diagonal.
    pub thickness: f32,
}

/// Rest measures of a half-edge `i -> j`.
#[derive(Clone, Copy, Debug)]
pub struct RestEdge {
    /// The neighbour `j`.
    pub neighbor: u32,
    /// Rest length `l0`, metres.
    pub length: f32,
    /// Degree to which both ends follow the skeleton as one surface, 0..=1; see [`coherence`].
    pub coherence: f32,
}

/// Rest measures of a vertex.
#[derive(Clone, Copy, Debug)]
pub struct RestVertex {
    /// Attachment point `a_i0` in bind space, metres.
    pub attachment: Vec3,
    /// Scale vector `s_i0` in bind space, metres.
    pub scale_vector: Vec3,
    /// Length `|s_i0|` of the scale vector, metres.
    pub radius: f32,
    /// Sum of [`turn_between`] times [`leverage`] over the neighbours in the bind pose, radians.
    pub turn: Vec3,
    /// Shape of the edges without torsion, `Σ_j (1 - coherence) (x_j0 - x_i0)`, bind space, metres.
    pub shape: Vec3,
    /// Weighted number of edges without torsion, `Σ_j (1 - coherence)`.
    pub loose: f32,
    /// Angle `φ0` between scale vector and bone, radians.
    pub phi: f32,
    /// Bone direction in bind space, unit; zero for a bone without length.
    pub bone_direction: Vec3,
    /// Whether the vertex is attached to a bone; vertices of props are not.
    pub attached: bool,
    /// Mean length of the vertex's edges, metres; zero for an isolated vertex.
    pub mean_length: f32,
    /// Lower limit of any reach, metres: the mean edge length of this vertex on the original mesh.
    pub grain: f32,
}

impl Binding {
    /// Returns the number of neighbours of a vertex.
    pub fn degree(&self, vertex: usize) -> u32 {
        self.offset[vertex + 1] - self.offset[vertex]
    }

    /// Returns the unit in which the thesis's torques measure lengths, metres: half of `thickness`. The thesis names no
    /// unit; this one is the radius of a model that consists of a single limb, and makes the result independent of
    /// scale.
    pub fn unit(&self) -> f32 {
        0.5 * self.thickness
    }
}

/// Returns the degree to which an edge's two ends follow the skeleton as one surface, 0..=1. The degree is 1 if
/// `gap`, the distance of their attachment points, is at most `length`, as always on one bone. The degree falls to 0
/// for ends on unrelated bones, as in a face with many small bones. The springs must not compare the scale vectors of
/// such ends.
///
/// The degree also falls where the bind scale vectors are 1 to 1.8 radians apart. A torsion spring at an angle `θ0`
/// this large rotates its own end by `θ0 cot θ0` but the other end by `θ0 / sin θ0`, so the bind pose would not be a
/// stable equilibrium. Values are multiples of 1/255, as the GPU stores them.
pub fn coherence(length: f32, gap: f32, angle: f32) -> f32 {
    let ratio = if gap > length { length / gap } else { 1.0 };
    let near = ((1.8 - angle) / 0.8).clamp(0.0, 1.0);
    (ratio * ratio * near * 255.0).round() / 255.0
}

/// Computes the rest measures of the bind pose.
pub fn bind(bound: &Bound, variant: Variant) -> Binding {
    let control = &bound.character.control;
    let (size, diagonal) = (control.aabb.size(), control.aabb.diagonal());
    let mut out = Binding {
        offset: vec![0],
        edges: Vec::with_capacity(control.adjacency.neighbor.len()),
        vertices: Vec::with_capacity(control.positions.len()),
        on_bone: diagonal * 1e-6,
        thickness: size.min_element().max(diagonal * 1e-3),
    };
    for i in 0..control.positions.len() {
        let s = bound.attachments.scale_vector[i];
        let (mut mean_length, mut loose) = (0.0, 0.0);
        // Rigid props follow their node and have no springs.
        let ring: &[u32] = if control.rigid[i] { &[] } else { control.adjacency.of(i) };
        for &j in ring {
            let sj = bound.attachments.scale_vector[j as usize];
            let length = control.positions[i].distance(control.positions[j as usize]);
            mean_length += length / ring.len() as f32;
            let gap = (control.positions[i] - s).distance(control.positions[j as usize] - sj);
            let coherence = match variant {
                Variant::Sinew => coherence(length, gap, angle(s, sj)),
                Variant::Thesis => 1.0,
            };
            loose += 1.0 - coherence;
            out.edges.push(RestEdge { neighbor: j, length, coherence });
        }
        out.offset.push(out.edges.len() as u32);
        out.vertices.push(RestVertex { loose, mean_length, grain: mean_length, ..RestVertex::NONE });
    }
    out.measure(bound);
    out
}

impl RestVertex {
    /// A vertex that is not measured yet.
    const NONE: Self = Self {
        attachment: Vec3::ZERO,
        scale_vector: Vec3::ZERO,
        radius: 0.0,
        turn: Vec3::ZERO,
        shape: Vec3::ZERO,
        loose: 0.0,
        phi: 0.0,
        bone_direction: Vec3::ZERO,
        attached: false,
        mean_length: 0.0,
        grain: 0.0,
    };
}

impl Binding {
    /// Measures a rest shape of the same character: lengths, angles and directions. What decides how edges act on each
    /// other (coherence, mean edge lengths) stays.
    pub fn measure(&mut self, bound: &Bound) {
        let (control, attach) = (&bound.character.control, &bound.attachments);
        let bones = &bound.character.skeleton.bones;
        for (i, vertex) in self.vertices.iter_mut().enumerate() {
            let (x, s) = (control.positions[i], attach.scale_vector[i]);
            let (mut turn, mut shape) = (Vec3::ZERO, Vec3::ZERO);
            for edge in &mut self.edges[self.offset[i] as usize..self.offset[i + 1] as usize] {
                let (xj, sj) =
                    (control.positions[edge.neighbor as usize], attach.scale_vector[edge.neighbor as usize]);
                edge.length = x.distance(xj);
                turn += turn_between(s, s.length(), sj, sj.length())
                    * (edge.coherence * leverage(s.length(), sj.length()));
                shape += (xj - x) * (1.0 - edge.coherence);
            }
            // Vertices of props are attached to no bone.
            let bone = bones.get(attach.bone[i].index()).filter(|_| !control.rigid[i]);
            let along = bone.map_or(Vec3::ZERO, |b| b.tail - b.head);
            *vertex = RestVertex {
                attachment: x - s,
                scale_vector: s,
                radius: s.length(),
                turn,
                shape,
                phi: angle(s, along),
                attached: bone.is_some(),
                bone_direction: if along.length() > self.on_bone {
                    along.normalize_or_zero()
                } else {
                    Vec3::ZERO
                },
                ..*vertex
            };
        }
    }
}
