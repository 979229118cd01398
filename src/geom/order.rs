//! Orders vertices so that neighbours in space are close in memory.

use super::Adjacency;
use std::collections::VecDeque;

/// Returns the reverse Cuthill-McKee order: `order[new] = old` (Cuthill, McKee, "Reducing the bandwidth of sparse
/// symmetric matrices", 1969; reversed after George 1971; start vertices after Gibbs, Poole, Stockmeyer 1976).
///
/// Each connected component is numbered contiguously, starting from a vertex at one of its ends.
pub fn locality_order(adjacency: &Adjacency) -> Vec<u32> {
    let count = adjacency.len();
    let degree = |v: u32| adjacency.of(v as usize).len();
    let mut numbered = vec![false; count];
    // Stamps distinguish the breadth-first searches of different components.
    let mut stamp = vec![u32::MAX; count];
    let mut order = Vec::with_capacity(count);
    let mut ring = Vec::new();
    for seed in 0..count as u32 {
        if numbered[seed as usize] {
            continue;
        }
        let mut start = seed;
        for round in 0..2 {
            start = far_end(adjacency, start, &mut stamp, seed.wrapping_mul(2).wrapping_add(round));
        }
        let mut queue = VecDeque::from([start]);
        numbered[start as usize] = true;
        while let Some(v) = queue.pop_front() {
            order.push(v);
            ring.clear();
            ring.extend(adjacency.of(v as usize).iter().copied().filter(|&n| !numbered[n as usize]));
            ring.sort_by_key(|&n| (degree(n), n));
            for &n in &ring {
                numbered[n as usize] = true;
                queue.push_back(n);
            }
        }
    }
    order.reverse();
    order
}

/// Returns the last vertex that a breadth-first search from `start` reaches.
fn far_end(adjacency: &Adjacency, start: u32, stamp: &mut [u32], mark: u32) -> u32 {
    let mut queue = VecDeque::from([start]);
    stamp[start as usize] = mark;
    let mut last = start;
    while let Some(v) = queue.pop_front() {
        last = v;
        for &n in adjacency.of(v as usize) {
            if std::mem::replace(&mut stamp[n as usize], mark) != mark {
                queue.push_back(n);
            }
        }
    }
    last
}

/// Returns the mean of `|i - j|` over the edges `(i, j)`, which [`locality_order`] reduces; zero without edges.
pub fn mean_edge_span(adjacency: &Adjacency) -> f64 {
    let (sum, edges) = adjacency.edges().fold((0u64, 0u64), |(s, n), (a, b)| (s + u64::from(b - a), n + 1));
    if edges == 0 { 0.0 } else { sum as f64 / edges as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a strip of quads, `w` vertices wide, with vertices shuffled by a fixed stride.
    fn shuffled_grid(w: u32, h: u32) -> Vec<[u32; 3]> {
        let n = w * h;
        let id = |x: u32, y: u32| ((y * w + x) * 389) % n;
        let quads = (0..h - 1).flat_map(|y| (0..w - 1).map(move |x| (x, y)));
        quads
            .flat_map(|(x, y)| {
                let (a, b, c, d) = (id(x, y), id(x + 1, y), id(x + 1, y + 1), id(x, y + 1));
                [[a, b, c], [a, c, d]]
            })
            .collect()
    }

    #[test]
    fn a_shuffled_strip_is_put_in_order() {
        let triangles = shuffled_grid(10, 100);
        let before = Adjacency::of_triangles(1000, &triangles);
        let order = locality_order(&before);
        let mut new_of = vec![0u32; 1000];
        for (new, &old) in order.iter().enumerate() {
            new_of[old as usize] = new as u32;
        }
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..1000), "a permutation");
        let renumbered: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|v| new_of[v as usize])).collect();
        let after = mean_edge_span(&Adjacency::of_triangles(1000, &renumbered));
        assert!(mean_edge_span(&before) > 200.0);
        // A row has 10 vertices, so no order can have a mean much below 7.
        assert!(after < 12.0, "mean span {after}");
    }

    #[test]
    fn isolated_vertices_and_components_are_all_numbered() {
        let a = Adjacency::of_triangles(7, &[[0, 5, 6], [1, 2, 3]]);
        let mut order = locality_order(&a);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
        assert!(locality_order(&Adjacency::default()).is_empty());
    }
}
