//! The edge sets of an energy `½ Σ_k Σ_(ij)∈E_k c_ijk |(x'_i - x'_j) - R_k (x_i - x_j)|²` (paper 2, equation 4).
//!
//! Every energy here sums over simplices, each with its own weighted edges, and says which rotations a simplex takes part
//! in, in equal shares. A simplex's part is never negative for a triangle's cotangents, whatever their signs.

use crate::base::math::DVec3;
use serde::{Deserialize, Serialize};

/// What is kept rigid. An energy per tetrahedron would be one more variant: its edges belong to the tetrahedron alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Energy {
    /// A rotation per vertex over all edges of the triangles around it (Chao et al. 2010): a thin shell.
    #[default]
    Rims,
    /// A rotation per triangle (Liu et al. 2008): for flat shapes.
    Triangles,
}

impl Energy {
    /// Triangles for a flat shape, rims for any other.
    pub fn fitting(positions: &[DVec3]) -> Self {
        let n = positions.len().max(1) as f64;
        let center = positions.iter().sum::<DVec3>() / n;
        // The flattest direction by the second moments: their smallest eigenvalue is det / (sum of principal minors) at least.
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
        if det <= 1e-10 * minors * trace { Self::Triangles } else { Self::Rims }
    }
}

/// A triangle with the cotangent weight of the edge opposite each corner, halved: the standard Laplacian.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub corners: [usize; 3],
    /// `½ cot` of the angle at each corner.
    pub weights: [f64; 3],
}

/// The proper triangles of a mesh. Those without area count as if they had a little, so that cotangents stay finite.
pub(super) fn elements(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<Element> {
    let proper = triangles.iter().filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]);
    proper
        .filter_map(|t| {
            let corners = t.map(|v| v as usize);
            let x = corners.map(|v| positions[v]);
            let edge = [x[2] - x[1], x[0] - x[2], x[1] - x[0]];
            let longest = edge.iter().map(|e| e.length_squared()).fold(0.0, f64::max);
            let double_area = edge[0].cross(edge[1]).length().max(1e-6 * longest);
            let weights = [0, 1, 2].map(|k| -0.5 * edge[(k + 1) % 3].dot(edge[(k + 2) % 3]) / double_area);
            (longest > 0.0 && weights.iter().all(|w| w.is_finite())).then_some(Element { corners, weights })
        })
        .collect()
}

impl Element {
    /// Row `i` of the element's Laplacian: `L_ij` over its corners.
    pub fn laplacian(&self, i: usize) -> [f64; 3] {
        let (a, b) = ((i + 1) % 3, (i + 2) % 3);
        let mut out = [0.0; 3];
        out[i] = self.weights[a] + self.weights[b];
        // The edge from i to a lies opposite b.
        out[a] = -self.weights[b];
        out[b] = -self.weights[a];
        out
    }

    /// `Σ c |x_i - x_j|²`.
    pub fn measure(&self, positions: &[DVec3]) -> f64 {
        let x = self.corners.map(|v| positions[v]);
        (0..3).map(|k| self.weights[k] * x[(k + 1) % 3].distance_squared(x[(k + 2) % 3])).sum()
    }
}
