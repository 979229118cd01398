//! The two meshes of a character: the display mesh, which is drawn, and the welded control mesh, which is deformed.

use crate::asset::Influences;
use crate::base::math::{Aabb, Vec2, Vec3, Vec4};
use crate::base::{MaterialId, MeshId, NodeId};

/// The drawn mesh: all primitives of all mesh nodes of the scene, concatenated, in bind space (metres). As in the
/// file, vertices are duplicated at texture and normal seams.
#[derive(Clone, Debug, Default)]
pub struct DisplayMesh {
    /// Bind position of each vertex, metres.
    pub positions: Vec<Vec3>,
    /// Bind normal of each vertex, unit length.
    pub normals: Vec<Vec3>,
    /// First set of texture coordinates.
    pub uvs: Vec<Vec2>,
    /// Second set of texture coordinates; equal to the first set if the file has no second set.
    pub uvs1: Vec<Vec2>,
    /// Linear RGBA colour of each vertex; white if the file has none.
    pub colors: Vec<Vec4>,
    /// Vertex indices. Triangles are counter-clockwise seen from outside, even if their node has a mirroring transform.
    pub triangles: Vec<[u32; 3]>,
    /// Consecutive ranges, one per primitive of each mesh node, ordered by node and then primitive.
    pub parts: Vec<Part>,
    /// Name of the material of each part; empty if it has none.
    pub part_names: Vec<String>,
    /// Index of the control vertex of each display vertex.
    pub control_of: Vec<u32>,
}

/// A range of the display mesh that shows one primitive of one node.
#[derive(Clone, Debug)]
pub struct Part {
    /// The node that draws the primitive.
    pub node: NodeId,
    /// The glTF mesh that contains the primitive.
    pub mesh: MeshId,
    /// Index into [`crate::asset::Mesh::primitives`].
    pub primitive: usize,
    /// The material; `None` for glTF's default material.
    pub material: Option<MaterialId>,
    /// Range of vertices.
    pub vertices: std::ops::Range<u32>,
    /// Range of triangles.
    pub triangles: std::ops::Range<u32>,
    /// Whether the normals were computed because the file has none.
    pub computed_normals: bool,
}

/// The deformed mesh: display vertices welded by position.
#[derive(Clone, Debug, Default)]
pub struct ControlMesh {
    /// Bind position of each vertex, bind space, metres.
    pub positions: Vec<Vec3>,
    /// Triangles of control vertices, one per display triangle, in the same order. Degenerate triangles are kept.
    pub triangles: Vec<[u32; 3]>,
    /// One-ring neighbours over all edges of non-degenerate triangles; symmetric, sorted, without duplicates.
    pub adjacency: Adjacency,
    /// Skinning weights for the skeleton's joints ([`crate::rig::Skeleton::joints`]); every vertex has at least one.
    pub influences: Influences,
    /// Whether each vertex belongs to a rigid prop (a mesh node without skin); such vertices have no springs.
    pub rigid: Vec<bool>,
    /// Bounding box of `positions`.
    pub aabb: Aabb,
}

/// Neighbour lists in CSR form: vertex `v` has the neighbours `neighbor[offset[v]..offset[v + 1]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adjacency {
    /// Start of each vertex's list in `neighbor`; `vertices + 1` entries.
    pub offset: Vec<u32>,
    /// The neighbour lists of all vertices, concatenated.
    pub neighbor: Vec<u32>,
}

impl Adjacency {
    /// Returns the neighbours of one vertex.
    pub fn of(&self, vertex: usize) -> &[u32] {
        &self.neighbor[self.offset[vertex] as usize..self.offset[vertex + 1] as usize]
    }

    /// Returns the connected component of each vertex, identified by the component's first vertex.
    pub fn shells(&self) -> Vec<u32> {
        let mut above = super::sets::apart(self.len());
        for v in 0..self.len() {
            self.of(v).iter().for_each(|&n| super::sets::unite(&mut above, v as u32, n));
        }
        (0..self.len() as u32).map(|v| super::sets::root(&mut above, v)).collect()
    }

    /// Returns the number of vertices.
    pub fn len(&self) -> usize {
        self.offset.len().saturating_sub(1)
    }

    /// Returns whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
