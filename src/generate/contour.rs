//! Converts an implicit body to a closed triangle mesh: marching cubes (Lorensen and Cline 1987). The code traces the
//! loops of each type of cell, instead of using a published table.
//!
//! On a face with four crossings, both adjacent cells separate the inside corners. Every loop longer than a triangle
//! gets a centre vertex. The result is therefore always a closed 2-manifold. Only blocks of cells near the surface
//! are sampled.

use super::implicit::Implicit;
use crate::base::math::{IVec3, Vec3};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// Cells per block side.
const BLOCK: i32 = 4;

/// Corners of each face, counter-clockwise from outside; corner `c` is at `(c & 1, c >> 1 & 1, c >> 2)`.
const FACES: [[usize; 4]; 6] =
    [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

fn corner(c: usize) -> IVec3 {
    IVec3::new(c as i32 & 1, c as i32 >> 1 & 1, c as i32 >> 2)
}

/// Returns the loops of crossed edges in a cell. Bit `c` of `inside` is set if corner `c` is inside. An edge is a pair
/// of corners.
fn loops(inside: u8) -> Vec<Vec<(usize, usize)>> {
    let is_in = |c: usize| inside >> c & 1 == 1;
    // Follow the edges around a face. A loop enters the face at an edge from an outside to an inside corner, and leaves
    // the face at the next edge from an inside to an outside corner.
    let mut follower: Vec<((usize, usize), (usize, usize))> = Vec::new();
    for face in FACES {
        for i in 0..4 {
            let (from, to) = (face[i], face[(i + 1) % 4]);
            if is_in(from) || !is_in(to) {
                continue;
            }
            let Some(last) = (i + 1..i + 5).find(|&j| is_in(face[j % 4]) && !is_in(face[(j + 1) % 4])) else {
                continue;
            };
            let (a, b) = (face[last % 4], face[(last + 1) % 4]);
            follower.push(((from.min(to), from.max(to)), (a.min(b), a.max(b))));
        }
    }
    let mut result = Vec::new();
    while let Some((start, mut at)) = follower.pop() {
        let mut found = vec![start];
        while at != start {
            found.push(at);
            let Some(next) = follower.iter().position(|f| f.0 == at) else { break };
            at = follower.remove(next).1;
        }
        result.push(found);
    }
    result
}

/// Contours the body's surface with cubic cells of side `cell`, metres.
pub(super) fn contour(body: &Implicit, cell: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (low, high) = body.bounds();
    let side = cell * BLOCK as f32;
    let blocks = ((high - low) / side).ceil().as_ivec3().max(IVec3::ONE);
    let position = |cell_index: IVec3| low + cell_index.as_vec3() * cell;
    // The reach slightly exceeds half a block's diagonal, because distances are first-order estimates.
    let reach = side;
    let mut todo: Vec<IVec3> = (0..blocks.z)
        .into_par_iter()
        .flat_map_iter(|z| {
            (0..blocks.y).flat_map(move |y| (0..blocks.x).map(move |x| IVec3::new(x, y, z))).filter(|b| {
                let middle = position(*b * BLOCK) + side * 0.5;
                body.sample(middle).distance.abs() < reach
            })
        })
        .collect();
    let mut known: HashSet<IVec3> = todo.iter().copied().collect();
    let corners = BLOCK + 1;
    let index = |at: IVec3| (at.x + corners * (at.y + corners * at.z)) as usize;
    let mut sampled: Vec<(IVec3, Vec<f32>)> = Vec::new();
    while !todo.is_empty() {
        let values: Vec<Vec<f32>> = todo
            .par_iter()
            .map(|b| {
                let body = body.near(position(*b * BLOCK) + side * 0.5, reach);
                (0..corners * corners * corners)
                    .map(|i| {
                        let at = IVec3::new(i % corners, i / corners % corners, i / corners / corners);
                        body.sample(position(*b * BLOCK + at)).distance
                    })
                    .collect()
            })
            .collect();
        let blocks: Vec<_> = std::mem::take(&mut todo).into_iter().zip(values).collect();
        // If a distance estimate was too large, the surface continues into an unsampled block; sample that block too.
        for (block, values) in &blocks {
            for out in [IVec3::X, IVec3::Y, IVec3::Z].into_iter().flat_map(|a| [a, -a]) {
                let (u, v) = (IVec3::new(out.y, out.z, out.x).abs(), IVec3::new(out.z, out.x, out.y).abs());
                let origin = out.max(IVec3::ZERO) * BLOCK;
                let mut inside = (0..corners * corners)
                    .map(|i| values[index(origin + u * (i % corners) + v * (i / corners))] < 0.0);
                let first = inside.next();
                if inside.any(|i| Some(i) != first) && known.insert(*block + out) {
                    todo.push(*block + out);
                }
            }
        }
        sampled.extend(blocks);
    }
    let table: Vec<_> = (0..=255).map(loops).collect();
    let mut out = Surface::default();
    for (block, values) in &sampled {
        let value = |at: IVec3| values[index(at)];
        for i in 0..BLOCK * BLOCK * BLOCK {
            let at = IVec3::new(i % BLOCK, i / BLOCK % BLOCK, i / BLOCK / BLOCK);
            let d: [f32; 8] = std::array::from_fn(|c| value(at + corner(c)));
            let inside = d.iter().enumerate().fold(0, |bits, (c, &d)| bits | usize::from(d < 0.0) << c);
            let base = *block * BLOCK + at;
            for edges in &table[inside] {
                out.add_loop(edges.iter().map(|&(a, b)| {
                    let t = (d[a] / (d[a] - d[b])).clamp(0.05, 0.95);
                    let (pa, pb) = (position(base + corner(a)), position(base + corner(b)));
                    let axis = (corner(b) - corner(a)).dot(IVec3::new(0, 1, 2));
                    ((base + corner(a)).extend(axis).to_array(), pa + (pb - pa) * t)
                }));
            }
        }
    }
    (out.positions, out.triangles)
}

#[derive(Default)]
struct Surface {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    vertex_of_edge: HashMap<[i32; 4], u32>,
}

impl Surface {
    fn add_loop(&mut self, edges: impl Iterator<Item = ([i32; 4], Vec3)>) {
        let mut around = [0_u32; 12];
        let mut n = 0;
        for (key, p) in edges {
            around[n] = *self.vertex_of_edge.entry(key).or_insert_with(|| {
                self.positions.push(p);
                self.positions.len() as u32 - 1
            });
            n += 1;
        }
        let around = &around[..n];
        if let [a, b, c] = *around {
            self.triangles.push([a, b, c]);
            return;
        }
        let sum = around.iter().map(|&v| self.positions[v as usize]).fold(Vec3::ZERO, |a, b| a + b);
        let middle = self.positions.len() as u32;
        self.positions.push(sum / n as f32);
        for i in 0..n {
            self.triangles.push([around[i], around[(i + 1) % n], middle]);
        }
    }
}

/// Keeps the connected component with the most vertices. Inexact distances can create small fragments inside a body.
pub(super) fn largest_piece(positions: &[Vec3], triangles: &[[u32; 3]]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut piece: Vec<u32> = (0..positions.len() as u32).collect();
    fn root(piece: &mut [u32], mut v: u32) -> u32 {
        while piece[v as usize] != v {
            piece[v as usize] = piece[piece[v as usize] as usize];
            v = piece[v as usize];
        }
        v
    }
    for t in triangles {
        let a = root(&mut piece, t[0]);
        for &v in &t[1..] {
            let b = root(&mut piece, v);
            piece[b as usize] = a;
        }
    }
    let mut count = vec![0_u32; positions.len()];
    let roots: Vec<u32> = (0..positions.len() as u32).map(|v| root(&mut piece, v)).collect();
    for &r in &roots {
        count[r as usize] += 1;
    }
    let best = (0..count.len()).max_by_key(|&r| (count[r], std::cmp::Reverse(r))).unwrap_or(0) as u32;
    let mut new_of = vec![0; positions.len()];
    let mut kept = Vec::new();
    for (v, &r) in roots.iter().enumerate() {
        if r == best {
            new_of[v] = kept.len() as u32;
            kept.push(positions[v]);
        }
    }
    let triangles = triangles
        .iter()
        .filter(|t| roots[t[0] as usize] == best)
        .map(|t| t.map(|v| new_of[v as usize]))
        .collect();
    (kept, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::implicit::{Cone, Layer};
    use crate::generate::trimesh::TriMesh;

    #[test]
    fn every_cell_traces_closed_loops_over_all_crossed_edges() {
        for inside in 0..=255_u8 {
            let crossed = (0..8)
                .flat_map(|a| (a + 1..8).map(move |b| (a, b)))
                .filter(|&(a, b)| (corner(a) - corner(b)).abs().element_sum() == 1)
                .filter(|&(a, b)| (inside >> a ^ inside >> b) & 1 == 1)
                .count();
            let found = loops(inside);
            assert_eq!(found.iter().map(Vec::len).sum::<usize>(), crossed, "{inside:08b}");
            assert!(found.iter().all(|l| l.len() >= 3));
        }
    }

    #[test]
    fn a_ball_is_closed_and_turned_outwards() {
        let mut layer = Layer::new(0.0);
        layer.add(Cone::ball(Vec3::Y * 0.2, 0.1));
        let body = Implicit { layers: vec![layer], relief: None };
        let (positions, triangles) = contour(&body, 0.011);
        assert!(TriMesh::new(positions.clone(), &triangles).is_some());
        assert_eq!(positions.len(), triangles.len() / 2 + 2);
        let volume: f32 = triangles
            .iter()
            .map(|t| t.map(|v| positions[v as usize]))
            .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
            .sum();
        let ball = 4.0 / 3.0 * std::f32::consts::PI * 1e-3;
        assert!((volume / ball - 1.0).abs() < 0.03, "{volume} {ball}");
    }
}
