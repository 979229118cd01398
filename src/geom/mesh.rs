//! The two meshes of a character: the display mesh that the GPU draws and the welded control mesh that it deforms.

use crate::asset::Influences;
use crate::base::math::{Aabb, Vec2, Vec3, Vec4};
use crate::base::{MaterialId, MeshId, NodeId};

/// The drawn mesh: all primitives of all mesh nodes of the scene, concatenated, in bind space (metres),
/// split at texture and normal seams as in the file.
#[derive(Clone, Debug, Default)]
pub struct DisplayMesh {
    /// Bind position per vertex, metres.
    pub positions: Vec<Vec3>,
    /// Bind normal per vertex, unit length.
    pub normals: Vec<Vec3>,
    /// First texture coordinates.
    pub uvs: Vec<Vec2>,
    /// Second texture coordinates; the first ones if the file has no second.
    pub uvs1: Vec<Vec2>,
    /// Linear RGBA per vertex; white if the file has none.
    pub colors: Vec<Vec4>,
    /// Vertex indices. Winding is counter-clockwise seen from outside; mirrored nodes are corrected.
    pub triangles: Vec<[u32; 3]>,
    /// Consecutive ranges, one per primitive of each mesh node, in node order then primitive order.
    pub parts: Vec<Part>,
    /// Control vertex of each display vertex.
    pub control_of: Vec<u32>,
}

/// A range of the display mesh: one primitive under one node.
#[derive(Clone, Debug)]
pub struct Part {
    /// The node that draws it.
    pub node: NodeId,
    /// The file's mesh.
    pub mesh: MeshId,
    /// Index into [`crate::asset::Mesh::primitives`].
    pub primitive: usize,
    /// The material; `None` for glTF's default.
    pub material: Option<MaterialId>,
    /// First vertex and number of vertices.
    pub vertices: std::ops::Range<u32>,
    /// First triangle and number of triangles.
    pub triangles: std::ops::Range<u32>,
    /// Whether the file has no normals for the part, so that they were computed.
    pub computed_normals: bool,
}

/// The deformed mesh: display vertices welded by position.
#[derive(Clone, Debug, Default)]
pub struct ControlMesh {
    /// Bind position per vertex, bind space, metres.
    pub positions: Vec<Vec3>,
    /// Triangles over control vertices, one per display triangle, in the same order; degenerate ones kept.
    pub triangles: Vec<[u32; 3]>,
    /// One-ring neighbours over all edges of non-degenerate triangles, symmetric, sorted, without repetition.
    pub adjacency: Adjacency,
    /// Skinning weights over the skeleton's joints ([`crate::rig::Skeleton::joints`]); every vertex has some.
    pub influences: Influences,
    /// Per vertex, whether it belongs to a rigid prop (mesh node without a skin): such vertices follow
    /// their node and have no springs.
    pub rigid: Vec<bool>,
    /// Bounding box of `positions`.
    pub aabb: Aabb,
}

/// Neighbour lists in CSR form: vertex `v` has `neighbor[offset[v] .. offset[v + 1]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adjacency {
    /// `vertices + 1` entries.
    pub offset: Vec<u32>,
    /// Neighbouring vertex per half-edge.
    pub neighbor: Vec<u32>,
}

impl Adjacency {
    /// Neighbours of one vertex.
    pub fn of(&self, vertex: usize) -> &[u32] {
        &self.neighbor[self.offset[vertex] as usize..self.offset[vertex + 1] as usize]
    }

    /// The connected component of each vertex, named by its first vertex.
    pub fn shells(&self) -> Vec<u32> {
        let mut above = super::sets::apart(self.len());
        for v in 0..self.len() {
            self.of(v).iter().for_each(|&n| super::sets::unite(&mut above, v as u32, n));
        }
        (0..self.len() as u32).map(|v| super::sets::root(&mut above, v)).collect()
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.offset.len().saturating_sub(1)
    }

    /// Whether there is no vertex.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
