//! Grids of cubes for the tests of weights.

use crate::base::math::DVec3;
use crate::geom::Cubes;
use std::collections::BTreeMap;

/// Builds a grid of cubes with an edge length from the cubes' integer positions.
pub fn grid(size: f64, cells: impl IntoIterator<Item = [u32; 3]>) -> Cubes {
    let (mut index, mut out) = (BTreeMap::new(), Cubes { size, ..Cubes::default() });
    for cell in cells {
        out.cells.push(std::array::from_fn(|corner| {
            let p: [u32; 3] = std::array::from_fn(|axis| cell[axis] + (corner as u32 >> axis & 1));
            *index.entry(p).or_insert_with(|| {
                out.nodes.push(DVec3::from_array(p.map(f64::from)) * size);
                out.nodes.len() as u32 - 1
            })
        }));
    }
    out
}

/// Positions of the cubes of a box.
pub fn block([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..x).flat_map(move |i| (0..y).flat_map(move |j| (0..z).map(move |k| [i, j, k])))
}

/// Finds the node at a position.
pub fn node(cubes: &Cubes, x: f64, y: f64, z: f64) -> u32 {
    cubes.nodes.iter().position(|p| p.distance(DVec3::new(x, y, z)) < 1e-9).unwrap() as u32
}

/// Returns a bar of 16 x 4 x 4 unit cubes and three handles, each a node on its axis.
pub fn bar() -> (Cubes, Vec<Vec<u32>>) {
    let cubes = grid(1.0, block([16, 4, 4]));
    let handles = [2.0, 8.0, 14.0].map(|x| vec![node(&cubes, x, 2.0, 2.0)]).to_vec();
    (cubes, handles)
}

/// Checks that the bar's weights are 1 and 0 at the handles, lie in [0, 1] and have the bar's symmetries.
pub fn check_bar(cubes: &Cubes, handles: &[Vec<u32>], weights: &[Vec<f64>]) {
    for (k, w) in weights.iter().enumerate() {
        assert!(w.iter().all(|w| (0.0..=1.0).contains(w)));
        for (j, handle) in handles.iter().enumerate() {
            assert_eq!(w[handle[0] as usize], f64::from(j == k));
        }
        for (i, p) in cubes.nodes.iter().enumerate() {
            let turned = node(cubes, p.x, p.z, p.y) as usize;
            let mirrored = node(cubes, 16.0 - p.x, 4.0 - p.y, p.z) as usize;
            assert!((w[i] - w[turned]).abs() < 1e-7, "{p}: {} {}", w[i], w[turned]);
            assert!((w[i] - weights[2 - k][mirrored]).abs() < 1e-7, "{p}");
        }
    }
}
