//! The surface of a field by marching tetrahedra (Doi, Koide, "An efficient method of triangulating equi-valued surfaces
//! by using tetrahedral cells", 1991), on the grid's division into six tetrahedra per cube (Kuhn 1960). The
//! tetrahedra share whole faces, so the surface is a closed manifold that does not cross itself.

use super::field::Field;
use crate::base::math::DVec3;
use std::collections::HashMap;

/// The orders of the axes, and whether each order is an even permutation. An order gives a path along cube edges from
/// corner 0 to corner 7; the path's four corners form a tetrahedron.
const ORDERS: [([usize; 3], bool); 6] = [
    ([0, 1, 2], true),
    ([0, 2, 1], false),
    ([1, 0, 2], false),
    ([1, 2, 0], true),
    ([2, 0, 1], true),
    ([2, 1, 0], false),
];

/// Returns the positions and triangles of the surface. The triangles are counter-clockwise seen from outside, where
/// values are positive. The surface covers the cells from `first` on.
pub(super) fn contour(field: &Field, first: [usize; 3]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut out = Contour { field, positions: Vec::new(), triangles: Vec::new(), on_edge: HashMap::new() };
    let [a, b, c] = field.count;
    for k in first[2]..c - 1 {
        for j in first[1]..b - 1 {
            for i in first[0]..a - 1 {
                let corner = |n: usize| field.node(i + (n & 1), j + (n >> 1 & 1), k + (n >> 2));
                let nodes: [usize; 8] = std::array::from_fn(corner);
                let inside = nodes.iter().filter(|n| field.value[**n] < 0.0).count();
                if inside > 0 && inside < 8 {
                    ORDERS.iter().for_each(|(order, even)| out.tetrahedron(&nodes, *order, *even));
                }
            }
        }
    }
    (out.positions, out.triangles)
}

/// Returns the surface of the half of a field with positive coordinates on `axis` and its mirror image, joined in the
/// plane, and the partner of each vertex. A vertex in the plane is its own partner.
pub(super) fn symmetric_contour(field: &Field, axis: usize) -> (Vec<DVec3>, Vec<[u32; 3]>, Vec<u32>) {
    let mut first = [0; 3];
    first[axis] = (-field.low[axis] / field.step).round() as usize;
    let (mut positions, mut triangles) = contour(field, first);
    let half = positions.len();
    let mut partner: Vec<u32> = (0..half as u32).collect();
    for v in 0..half {
        if positions[v][axis] < 1e-6 * field.step {
            positions[v][axis] = 0.0;
            continue;
        }
        let mut there = positions[v];
        there[axis] = -there[axis];
        partner[v] = positions.len() as u32;
        partner.push(v as u32);
        positions.push(there);
    }
    let mirrored = triangles.clone().into_iter().map(|[a, b, c]| [a, c, b].map(|v| partner[v as usize]));
    triangles.extend(mirrored);
    (positions, triangles, partner)
}

struct Contour<'a> {
    field: &'a Field,
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// Vertex on the edge between two nodes; a key names the smaller node first.
    on_edge: HashMap<[usize; 2], u32>,
}

impl Contour<'_> {
    fn vertex(&mut self, a: usize, b: usize) -> u32 {
        let key = [a.min(b), a.max(b)];
        *self.on_edge.entry(key).or_insert_with(|| {
            let [p, q] = key.map(|n| self.field.position(self.field.place(n)));
            let [u, v] = key.map(|n| self.field.value[n]);
            self.positions.push(p.lerp(q, u / (u - v)));
            self.positions.len() as u32 - 1
        })
    }

    fn tetrahedron(&mut self, nodes: &[usize; 8], order: [usize; 3], even: bool) {
        let (first, second) = (1 << order[0], 1 << order[0] | 1 << order[1]);
        let corners = [nodes[0], nodes[first], nodes[second], nodes[7]];
        // Sort the negative corners to the front. An odd permutation reverses the triangles.
        let negative = |n: usize| self.field.value[n] < 0.0;
        let mut sorted = corners;
        let mut even = even;
        for pass in 0..3 {
            for n in 0..3 - pass {
                if !negative(sorted[n]) && negative(sorted[n + 1]) {
                    sorted.swap(n, n + 1);
                    even = !even;
                }
            }
        }
        let [a, b, c, d] = sorted;
        let polygon: Vec<u32> = match sorted.iter().filter(|n| negative(**n)).count() {
            1 => [[a, b], [a, c], [a, d]].map(|[p, q]| self.vertex(p, q)).to_vec(),
            2 => [[a, c], [a, d], [b, d], [b, c]].map(|[p, q]| self.vertex(p, q)).to_vec(),
            3 => [[d, a], [d, b], [d, c]].map(|[p, q]| self.vertex(p, q)).to_vec(),
            _ => return,
        };
        for n in 2..polygon.len() {
            let [p, q, r] = [polygon[0], polygon[n - 1], polygon[n]];
            self.triangles.push(if even { [p, q, r] } else { [p, r, q] });
        }
    }
}
