//! The edges of the energy `½ Σ_k Σ_(ij)∈E_k c_ijk |(x'_i - x'_j) - R_k (x_i - x_j)|²` (Jacobson et al. 2012, eq. 4).
//!
//! Every energy here is a sum over elements (triangles or cubes) with their own weighted edges. An element distributes
//! its energy equally over one or three rotations. A triangle's energy is never negative, whatever its angles.
//!
//! (differs) A solid consists of cubes, not of tetrahedra. With the Laplacian of trilinear elements,
//! `½ Σ x'_i L_ij x'_j - ...` equals `½ ∫ |∇x' - R|²` over the cube exactly, as cotangents do for a tetrahedron.

use super::cluster::{Sites, clusters};
use super::weights::Weights;
use crate::base::math::DVec3;
use crate::geom::Cell;
use serde::{Deserialize, Serialize};

/// The as-rigid-as-possible energy that the solver minimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Energy {
    /// One rotation per vertex over all edges of its triangles (Chao et al. 2010), for thin shells.
    #[default]
    Rims,
    /// One rotation per triangle (Liu et al. 2008), for flat shapes.
    Triangles,
    /// One rotation per cube inside the shape (Chao et al. 2010 use tetrahedra), and a thin shell; behaves like
    /// rubber. Open parts of a mesh have only the shell.
    Volume,
}

impl Energy {
    /// Returns `Triangles` for a flat shape and `Volume` for any other.
    pub fn fitting(positions: &[DVec3]) -> Self {
        let n = positions.len().max(1) as f64;
        let center = positions.iter().sum::<DVec3>() / n;
        // A shape is flat if its second-moment matrix has a very small eigenvalue. The smallest eigenvalue is at
        // least `det` divided by the sum of the principal minors.
        let mut m = [[0.0; 3]; 3];
        for p in positions {
            let d = (*p - center).to_array();
            (0..9).for_each(|k| m[k / 3][k % 3] += d[k / 3] * d[k % 3]);
        }
        let minor = |i: usize, j: usize| m[i][i] * m[j][j] - m[i][j] * m[j][i];
        let minors = minor(0, 1) + minor(1, 2) + minor(0, 2);
        let det = m[0][0] * minor(1, 2) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
        let trace = m[0][0] + m[1][1] + m[2][2];
        if det <= 1e-10 * minors * trace { Self::Triangles } else { Self::Volume }
    }
}

/// An element of the mesh, a triangle or a cube: its Laplacian, and the clusters among which its energy is divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    kind: Kind,
    /// The three clusters that each get a third of the element's energy.
    clusters: [u32; 3],
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// `weights[k]` is half the cotangent at corner `k`, times the stiffness: the standard Laplacian.
    Triangle { corners: [u32; 3], weights: [f64; 3] },
    /// A cube; bit `k` of a corner's index says on which side of axis `k` the corner lies.
    Cube { corners: [u32; 8], stiffness: f64 },
}

/// Creates a triangle element. Returns `None` if two corners have the same index or all corners coincide. A triangle
/// without area is treated as one with a little area, so that cotangents stay finite.
pub(super) fn triangle(positions: &[DVec3], t: &[u32; 3], stiffness: f64) -> Option<Element> {
    if t[0] == t[1] || t[1] == t[2] || t[2] == t[0] {
        return None;
    }
    let x = t.map(|v| positions[v as usize]);
    let edge = [x[2] - x[1], x[0] - x[2], x[1] - x[0]];
    let longest = edge.iter().map(|e| e.length_squared()).fold(0.0, f64::max);
    let double_area = edge[0].cross(edge[1]).length().max(1e-6 * longest);
    let weights =
        [0, 1, 2].map(|k| -0.5 * stiffness * edge[(k + 1) % 3].dot(edge[(k + 2) % 3]) / double_area);
    let finite = longest > 0.0 && weights.iter().all(|w| w.is_finite());
    finite.then_some(Element { kind: Kind::Triangle { corners: *t, weights }, clusters: [0; 3] })
}

/// Creates a cube element with edge length `size`; its corners are numbered from `first`.
pub(super) fn cube(cell: &Cell, size: f64, first: u32) -> Element {
    let corners = cell.corners.map(|n| n + first);
    Element { kind: Kind::Cube { corners, stiffness: cell.fill * size }, clusters: [0; 3] }
}

impl Element {
    /// Returns the element's corners, as indices of mesh vertices or of cube nodes.
    pub fn corners(&self) -> &[u32] {
        match &self.kind {
            Kind::Triangle { corners, .. } => corners,
            Kind::Cube { corners, .. } => corners,
        }
    }

    /// Returns row `i` of the element's Laplacian: `L_ij` for each corner `j`.
    pub fn laplacian(&self, i: usize) -> [f64; 8] {
        let mut out = [0.0; 8];
        match &self.kind {
            Kind::Triangle { weights, .. } => {
                let (a, b) = ((i + 1) % 3, (i + 2) % 3);
                out[i] = weights[a] + weights[b];
                // The edge from corner i to corner a lies opposite corner b.
                out[a] = -weights[b];
                out[b] = -weights[a];
            }
            // Integrals of products of trilinear gradients, by the number of axes in which two corners differ.
            Kind::Cube { stiffness, .. } => {
                let by = [1.0 / 3.0, 0.0, -1.0 / 12.0, -1.0 / 12.0].map(|v| v * stiffness);
                out.iter_mut().enumerate().for_each(|(j, v)| *v = by[(i ^ j).count_ones() as usize]);
            }
        }
        out
    }

    /// Returns `Σ x_i L_ij x_j`.
    pub fn measure(&self, positions: &[DVec3]) -> f64 {
        let x = |i: usize| positions[self.corners()[i] as usize];
        let count = self.corners().len();
        let pairs = (0..count).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.map(|(i, j)| -self.laplacian(i)[j] * x(i).distance_squared(x(j))).sum()
    }

    /// Returns the clusters that get a fraction of the element's energy, each with its fraction; zeros end the list.
    pub fn shares(&self) -> [(usize, f64); 3] {
        let k = self.clusters.map(|k| k as usize);
        if k[0] == k[1] && k[1] == k[2] {
            [(k[0], 1.0), (0, 0.0), (0, 0.0)]
        } else {
            k.map(|k| (k, 1.0 / 3.0))
        }
    }

    /// Returns whether the element has a single rotation instead of one per corner.
    fn turns_alone(&self, energy: Energy) -> bool {
        energy == Energy::Triangles || matches!(self.kind, Kind::Cube { .. })
    }
}

/// Assigns clusters to all elements and returns the number of clusters.
pub(super) fn set_clusters(
    elements: &mut [Element],
    energy: Energy,
    weights: &Weights,
    positions: &[DVec3],
    wanted: usize,
    seed: u64,
) -> usize {
    let handles = weights.named();
    let mut sites = Sites::new(handles);
    // Maps each vertex to its site. The sites of vertices precede the sites of elements with a single rotation.
    let mut site = vec![u32::MAX; positions.len()];
    elements
        .iter()
        .filter(|e| !e.turns_alone(energy))
        .flat_map(|e| e.corners())
        .for_each(|&v| site[v as usize] = 0);
    let mut count = 0;
    for (v, site) in site.iter_mut().enumerate().filter(|s| *s.1 == 0) {
        sites.push(weights.of(v), positions[v]);
        *site = count;
        count += 1;
    }
    let mut sum = vec![0.0; handles];
    for element in elements.iter().filter(|e| e.turns_alone(energy)) {
        let share = 1.0 / element.corners().len() as f64;
        let mut named = Vec::new();
        for (j, w) in element.corners().iter().flat_map(|&v| weights.of(v as usize)) {
            if sum[j] == 0.0 {
                named.push(j);
            }
            sum[j] += w * share;
        }
        let middle = element.corners().iter().map(|&v| positions[v as usize] * share).sum();
        sites.push(named.iter().map(|&j| (j, sum[j])), middle);
        named.iter().for_each(|&j| sum[j] = 0.0);
    }
    let (of, clusters) = clusters(&sites, wanted.max(1), seed);
    let mut alone = of[count as usize..].iter();
    for element in elements {
        let own = if element.turns_alone(energy) { alone.next().copied() } else { None };
        let mut k = [own.unwrap_or(0); 3];
        if own.is_none() {
            k.iter_mut().zip(element.corners()).for_each(|(k, &v)| *k = of[site[v as usize] as usize]);
        }
        element.clusters = k;
    }
    clusters.max(1)
}
