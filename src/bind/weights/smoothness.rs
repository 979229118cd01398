//! Code that all smooth weights on a grid of cubes share: the Laplacian energy, and the nodes with known weights.

use crate::base::{Error, Result};
use crate::geom::Cubes;

/// Marks a node without a handle, or without a row in a matrix.
pub(crate) const NONE: u32 = u32::MAX;
/// What a user can do about a matrix that cannot be factored.
pub(crate) const REMEDY: &str = "use larger cubes";

/// The Laplacian energy `1/2 wᵀ L M⁻¹ L w` on cubes of edge length `h`. It approximates half of the integral of
/// `(∆w)²`, in 1 / unit of length.
///
/// `L` is the Laplacian of the graph of all edges; the weight of an edge is `h / 4` times its number of cubes. `M` is
/// diagonal; the mass of a node is `h³ / 8` times its number of cubes.
pub(crate) struct Energy {
    /// Edges with their weights.
    pub edges: Vec<([u32; 2], f64)>,
    /// Inverse mass per node; 0 for a node without cubes.
    inverse_mass: Vec<f64>,
}

impl Energy {
    /// Prepares the energy on the cubes.
    pub fn new(cubes: &Cubes) -> Self {
        let mut mass = vec![0.0; cubes.nodes.len()];
        for &corner in cubes.cells.iter().flatten() {
            mass[corner as usize] += cubes.size.powi(3) / 8.0;
        }
        let weight = |count: u32| 0.25 * cubes.size * f64::from(count);
        Self {
            edges: cubes.edges().into_iter().map(|(edge, count)| (edge, weight(count))).collect(),
            inverse_mass: mass.into_iter().map(|m| if m > 0.0 { 1.0 / m } else { 0.0 }).collect(),
        }
    }

    /// Returns `L w`.
    fn laplacian(&self, w: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; w.len()];
        for &([a, b], weight) in &self.edges {
            let flow = weight * (w[a as usize] - w[b as usize]);
            out[a as usize] += flow;
            out[b as usize] -= flow;
        }
        out
    }

    /// Returns the gradient `L M⁻¹ L w`.
    pub fn gradient(&self, w: &[f64]) -> Vec<f64> {
        let curvature: Vec<f64> =
            self.laplacian(w).iter().zip(&self.inverse_mass).map(|(l, m)| l * m).collect();
        self.laplacian(&curvature)
    }

    /// Returns the energy of one weight per node.
    pub fn value(&self, w: &[f64]) -> f64 {
        0.5 * self.laplacian(w).iter().zip(&self.inverse_mass).map(|(l, m)| l * l * m).sum::<f64>()
    }

    /// Returns the rows of the matrix `L M⁻¹ L`: per node, the columns in ascending order with their values.
    pub fn matrix(&self) -> Vec<Vec<(u32, f64)>> {
        let mut laplacian: Vec<Vec<(u32, f64)>> =
            (0..self.inverse_mass.len() as u32).map(|node| vec![(node, 0.0)]).collect();
        for &([a, b], weight) in &self.edges {
            for [a, b] in [[a, b], [b, a]] {
                laplacian[a as usize][0].1 += weight;
                laplacian[a as usize].push((b, -weight));
            }
        }
        let row = |of: &Vec<(u32, f64)>| -> Vec<(u32, f64)> {
            let mut all = Vec::with_capacity(64);
            for &(middle, value) in of {
                let value = value * self.inverse_mass[middle as usize];
                all.extend(laplacian[middle as usize].iter().map(|&(column, next)| (column, value * next)));
            }
            all.sort_by_key(|entry| entry.0);
            all.chunk_by(|a, b| a.0 == b.0).map(|same| (same[0].0, same.iter().map(|e| e.1).sum())).collect()
        };
        laplacian.iter().map(row).collect()
    }
}

/// The nodes of the handles, and the nodes whose weights are unknown.
pub(crate) struct Handles {
    /// Per node: the handle that owns it, or [`NONE`]. At the node, the weight of its owner is 1 and all other weights
    /// are 0. The first handle that lists a node owns it. A handle owns a whole connected component if no other handle
    /// touches the component.
    pub owner: Vec<u32>,
    /// Per node: whether its weights are unknown. A node in a component without handles has neither an owner nor
    /// unknown weights; its weights are 0.
    pub free: Vec<bool>,
}

impl Handles {
    /// Finds the connected components and their handles.
    ///
    /// # Errors
    /// [`Error::Input`] if a node does not exist.
    pub fn new(edges: &[([u32; 2], f64)], nodes: usize, handles: &[Vec<u32>]) -> Result<Self> {
        let mut owner = vec![NONE; nodes];
        for (k, &node) in
            handles.iter().enumerate().flat_map(|(k, handle)| handle.iter().map(move |n| (k, n)))
        {
            let owner = owner.get_mut(node as usize).ok_or_else(|| {
                Error::input(
                    format!("handle {k} names node {node}, but the grid has {nodes} nodes"),
                    "build the handles from the same grid",
                )
            })?;
            *owner = (*owner).min(k as u32);
        }
        let component = components(edges, nodes);
        let (mut first, mut several) = (vec![NONE; nodes], vec![false; nodes]);
        for (&of, &owner) in component.iter().zip(&owner).filter(|(_, owner)| **owner != NONE) {
            several[of] |= first[of] != NONE && first[of] != owner;
            first[of] = owner;
        }
        let free = (0..nodes).map(|node| several[component[node]] && owner[node] == NONE).collect();
        for (owner, of) in owner.iter_mut().zip(component) {
            *owner = if several[of] { *owner } else { first[of] };
        }
        Ok(Self { owner, free })
    }

    /// Returns the weights of handle `k` with 0 at all unknown nodes.
    pub fn fixed(&self, k: usize) -> Vec<f64> {
        self.owner.iter().map(|&owner| f64::from(owner as usize == k)).collect()
    }
}

/// Returns, per node, the smallest node of its connected component.
fn components(edges: &[([u32; 2], f64)], nodes: usize) -> Vec<usize> {
    let mut above: Vec<usize> = (0..nodes).collect();
    let root = |above: &mut Vec<usize>, mut node: usize| {
        while above[node] != node {
            above[node] = above[above[node]];
            node = above[node];
        }
        node
    };
    for &([a, b], _) in edges {
        let [a, b] = [a, b].map(|node| root(&mut above, node as usize));
        above[a.max(b)] = a.min(b);
    }
    (0..nodes).map(|node| root(&mut above, node)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bar, block, grid, node};
    use super::*;

    #[test]
    fn the_energy_of_a_cube_is_known_and_its_matrix_gives_the_gradient() {
        let cube = grid(0.5, block([1, 1, 1]));
        let energy = Energy::new(&cube);
        let corner: Vec<f64> = (0..8).map(|node| f64::from(node == 0)).collect();
        assert!((energy.value(&corner) - 3.0 / 0.5).abs() < 1e-12, "{}", energy.value(&corner));
        let (cubes, _) = bar();
        let energy = Energy::new(&cubes);
        let w: Vec<f64> = cubes.nodes.iter().map(|p| (p.x * 0.7 + p.y * p.z).sin()).collect();
        let gradient = energy.gradient(&w);
        for (row, g) in energy.matrix().iter().zip(&gradient) {
            assert!((row.iter().map(|&(column, v)| v * w[column as usize]).sum::<f64>() - g).abs() < 1e-12);
        }
        let half: f64 = 0.5 * w.iter().zip(&gradient).map(|(w, g)| w * g).sum::<f64>();
        assert!((energy.value(&w) - half).abs() < 1e-10 * half);
        assert!(energy.value(&vec![1.0; w.len()]) < 1e-24);
    }

    #[test]
    fn a_component_with_one_handle_belongs_to_it() {
        // Three separate rods along x with two cubes each: two handles, one handle, none.
        let rods = [0, 3, 6].into_iter().flat_map(|y| [[0, y, 0], [1, y, 0]]);
        let cubes = grid(1.0, rods);
        let at = |x: f64, y: f64| node(&cubes, x, y, 0.0);
        let energy = Energy::new(&cubes);
        let handles = [vec![at(0.0, 0.0), at(0.0, 3.0)], vec![at(2.0, 0.0), at(0.0, 0.0)]];
        let found = Handles::new(&energy.edges, cubes.nodes.len(), &handles).unwrap();
        for (i, p) in cubes.nodes.iter().enumerate() {
            let wanted = match (p.x, p.y, p.z) {
                (x, 0.0, 0.0) if x != 1.0 => (x as u32 / 2, false),
                (_, y, _) if y < 2.0 => (NONE, true),
                (_, y, _) if y < 5.0 => (0, false),
                _ => (NONE, false),
            };
            assert_eq!((found.owner[i], found.free[i]), wanted, "{p}");
        }
        let error = Handles::new(&energy.edges, 36, &[vec![], vec![99]]).err().unwrap().to_string();
        assert!(error.contains("handle 1 names node 99") && error.contains("36 nodes"), "{error}");
    }
}
