//! The cage's mesh.

use crate::base::math::DVec3;
use serde::{Deserialize, Serialize};

/// A closed mesh of triangles and quads around a character.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CageMesh {
    /// Positions of the vertices in bind space, metres.
    pub positions: Vec<DVec3>,
    /// Faces with three or four vertices each, counter-clockwise seen from outside.
    pub faces: Vec<Vec<u32>>,
}

impl CageMesh {
    /// Iterates over the triangles: a quad is divided along the diagonal from its first to its third vertex.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.faces.iter().flat_map(|face| (2..face.len()).map(|k| [face[0], face[k - 1], face[k]]))
    }

    /// Returns the edges of the faces as pairs of vertices, sorted, each once.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let around = |face: &Vec<u32>| -> Vec<[u32; 2]> {
            let next = face.iter().cycle().skip(1);
            face.iter().zip(next).map(|(&a, &b)| [a.min(b), a.max(b)]).collect()
        };
        let mut edges: Vec<[u32; 2]> = self.faces.iter().flat_map(around).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}
