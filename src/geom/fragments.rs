//! A grid of cubic cells, and the fragments of triangles in the grid's cells.
//!
//! All positions are in the grid's frame: a cell is a unit cube, and the grid begins at the origin.

use crate::base::math::{DVec3, UVec3};

/// A cell is larger by this distance on all sides when it is tested for overlap. What lies on the border of two cells
/// therefore overlaps both cells.
const TOUCH: f64 = 1e-9;

/// Minimum gap between the content and the outermost layers of cells, in cells, summed over both sides of an axis.
const SLACK: f64 = 1e-3;

/// A grid of unit cells. The outermost layer of cells on each side is empty, so every cell with content has six
/// neighbours.
pub(super) struct Grid {
    pub low: DVec3,
    pub size: f64,
    /// Difference between the indices of neighbouring cells, per axis.
    pub stride: [u32; 3],
    pub count: [u32; 3],
}

impl Grid {
    /// Creates a grid around a box. The number of cells along each axis is odd, so a plane of symmetry runs through
    /// the middles of cells, not along their borders.
    pub fn new(low: DVec3, high: DVec3, size: f64) -> Self {
        let count =
            ((high - low) / size).to_array().map(|cells| ((cells + SLACK) as u32).div_ceil(2) * 2 + 3);
        let half = DVec3::from(count.map(f64::from)) * (0.5 * size);
        let stride = [1, count[0], count[0] * count[1]];
        Self { low: low + 0.5 * (high - low) - half, size, stride, count }
    }

    pub fn local(&self, x: DVec3) -> DVec3 {
        (x - self.low) / self.size
    }

    /// Returns the index of a cell.
    pub fn index(&self, place: [u32; 3]) -> u32 {
        place[0] * self.stride[0] + place[1] * self.stride[1] + place[2] * self.stride[2]
    }

    /// Returns the cell with this index.
    pub fn place(&self, index: u32) -> [u32; 3] {
        [index % self.stride[1], index / self.stride[1] % self.count[1], index / self.stride[2]]
    }

    /// Returns the index of the cell at a position, or `None` outside the grid.
    pub fn at(&self, x: DVec3) -> Option<u32> {
        let inside = (0..3).all(|k| x[k] >= 0.0 && x[k] < f64::from(self.count[k]));
        inside.then(|| self.index(x.as_uvec3().to_array()))
    }

    /// Lower corner of a cell.
    pub fn corner(&self, index: u32) -> DVec3 {
        UVec3::from(self.place(index)).as_dvec3()
    }

    /// Calls `each` with the cells that a triangle overlaps. The triangle may be a line or a point.
    fn overlapped(&self, x: [DVec3; 3], each: &mut impl FnMut(u32)) {
        let [low, high] = span(x);
        if low == high {
            each(self.index(low));
        } else {
            self.divide(x, low, high, each);
        }
    }

    /// Like [`Grid::overlapped`] within a block of cells. Halving the block keeps a long, slanted triangle cheap.
    fn divide(&self, x: [DVec3; 3], low: [u32; 3], high: [u32; 3], each: &mut impl FnMut(u32)) {
        if !overlaps(x, UVec3::from(low).as_dvec3(), UVec3::from(high).as_dvec3() + 1.0) {
            return;
        }
        let longest = (0..3).fold(0, |a, k| if high[k] - low[k] > high[a] - low[a] { k } else { a });
        if high[longest] == low[longest] {
            return each(self.index(low));
        }
        let (mut middle, mut next) = (high, low);
        middle[longest] = low[longest] + (high[longest] - low[longest]) / 2;
        next[longest] = middle[longest] + 1;
        self.divide(x, low, middle, each);
        self.divide(x, next, high, each);
    }
}

/// Returns the first and the last cell, along each axis, of a triangle's bounding box.
fn span(x: [DVec3; 3]) -> [[u32; 3]; 2] {
    let low = x[0].min(x[1]).min(x[2]) - TOUCH;
    let high = x[0].max(x[1]).max(x[2]) + TOUCH;
    [low.as_uvec3().to_array(), high.as_uvec3().to_array()]
}

/// Whether a triangle and a box overlap: no axis separates them. The triangle may be a line or a point.
fn overlaps(x: [DVec3; 3], low: DVec3, high: DVec3) -> bool {
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low) + TOUCH);
    let x = [x[0] - middle, x[1] - middle, x[2] - middle];
    let separates = |axis: DVec3| {
        let (of, reach) = ([x[0].dot(axis), x[1].dot(axis), x[2].dot(axis)], half.dot(axis.abs()));
        of.iter().all(|v| *v > reach) || of.iter().all(|v| *v < -reach)
    };
    let edges = [x[1] - x[0], x[2] - x[1], x[0] - x[2]];
    let across = |edge: DVec3| DVec3::AXES.iter().any(|axis| separates(edge.cross(*axis)));
    let apart = DVec3::AXES.iter().any(|axis| separates(*axis)) || separates(edges[0].cross(edges[1]));
    !(apart || edges.iter().any(|edge| across(*edge)))
}

/// The fragments: all pairs of a triangle and a cell that overlap, sorted by triangle and then by cell.
pub(super) struct Fragments {
    /// First fragment of each triangle, and the number of fragments.
    begin: Vec<u32>,
    /// Cell of each fragment.
    pub cell: Vec<u32>,
    /// Triangle of each fragment.
    pub triangle: Vec<u32>,
}

impl Fragments {
    /// Finds the fragments. Returns `None` if there are more than `most`.
    pub fn new(grid: &Grid, x: &[DVec3], triangles: &[[u32; 3]], most: usize) -> Option<Self> {
        let mut out = Self { begin: vec![0], cell: Vec::new(), triangle: Vec::new() };
        for (number, t) in triangles.iter().enumerate() {
            let first = out.cell.len();
            grid.overlapped(t.map(|v| x[v as usize]), &mut |cell| out.cell.push(cell));
            out.cell[first..].sort_unstable();
            out.triangle.resize(out.cell.len(), number as u32);
            out.begin.push(out.cell.len() as u32);
            if out.cell.len() > most {
                return None;
            }
        }
        Some(out)
    }

    /// The fragments of a triangle.
    pub fn of(&self, triangle: u32) -> std::ops::Range<usize> {
        self.begin[triangle as usize] as usize..self.begin[triangle as usize + 1] as usize
    }

    /// The fragment of a triangle in a cell.
    pub fn find(&self, triangle: u32, cell: u32) -> Option<u32> {
        let own = self.of(triangle);
        self.cell[own.clone()].binary_search(&cell).ok().map(|i| (own.start + i) as u32)
    }

    /// Calls `join` with the fragments in one cell of triangles that share an edge or a vertex, if this cell contains
    /// a point of the edge or the vertex. The two layers of a fold are joined at the fold, but not elsewhere.
    pub fn meet(&self, grid: &Grid, x: &[DVec3], triangles: &[[u32; 3]], mut join: impl FnMut(u32, u32)) {
        // An edge is its two vertices, in ascending order; a vertex is an edge from the vertex to itself.
        let shared = |(number, t): (usize, &[u32; 3])| {
            let pairs =
                [[0, 1], [1, 2], [2, 0], [0, 0], [1, 1], [2, 2]].map(|pair| pair.map(|k: usize| t[k]));
            pairs.map(|[a, b]| (a.min(b), a.max(b), number as u32))
        };
        let mut all: Vec<(u32, u32, u32)> = triangles.iter().enumerate().flat_map(shared).collect();
        all.sort_unstable();
        let (mut cells, mut here) = (Vec::new(), Vec::new());
        for group in all.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(|group| group.len() > 1) {
            cells.clear();
            let ends = [group[0].0, group[0].1].map(|v| x[v as usize]);
            grid.overlapped([ends[0], ends[1], ends[1]], &mut |cell| cells.push(cell));
            for &cell in &cells {
                here.clear();
                here.extend(group.iter().filter_map(|of| self.find(of.2, cell)));
                here.windows(2).for_each(|pair| join(pair[0], pair[1]));
            }
        }
    }

    /// Calls `link` with the fragments of one triangle in neighbouring cells, the lower cell first, and their axis.
    pub fn neighbors(&self, grid: &Grid, mut link: impl FnMut(u32, u32, usize)) {
        for (f, (&cell, &triangle)) in self.cell.iter().zip(&self.triangle).enumerate() {
            if self.of(triangle).len() > 1 {
                for axis in 0..3 {
                    if let Some(next) = self.find(triangle, cell + grid.stride[axis]) {
                        link(f as u32, next, axis);
                    }
                }
            }
        }
    }
}

/// The items of each cell, for items with one cell each.
#[derive(Default)]
pub(super) struct Index {
    /// The cells that have items, ascending.
    pub cells: Vec<u32>,
    begin: Vec<u32>,
    items: Vec<u32>,
}

impl Index {
    pub fn new(cell: &[u32]) -> Self {
        let mut items: Vec<u32> = (0..cell.len() as u32).collect();
        items.sort_unstable_by_key(|&i| (cell[i as usize], i));
        let (mut cells, mut begin) = (Vec::new(), Vec::new());
        for (k, &i) in items.iter().enumerate() {
            if cells.last() != Some(&cell[i as usize]) {
                cells.push(cell[i as usize]);
                begin.push(k as u32);
            }
        }
        begin.push(items.len() as u32);
        Self { cells, begin, items }
    }

    /// The items of a cell, ascending.
    pub fn of(&self, cell: u32) -> &[u32] {
        let range =
            self.cells.binary_search(&cell).map(|k| self.begin[k] as usize..self.begin[k + 1] as usize);
        range.map_or(&[], |range| &self.items[range])
    }
}

/// Returns the middle of the part of a triangle in a cell, or `None` if the triangle only touches the cell.
pub(super) fn middle(x: [DVec3; 3], low: DVec3) -> Option<DVec3> {
    let mut part = x.to_vec();
    for (axis, side) in (0..6).map(|k| (k / 2, k % 2)) {
        let depth = |p: DVec3| if side == 0 { p[axis] - low[axis] } else { low[axis] + 1.0 - p[axis] };
        let mut rest = Vec::with_capacity(part.len() + 1);
        for (i, &a) in part.iter().enumerate() {
            let b = part[(i + 1) % part.len()];
            let (from, to) = (depth(a), depth(b));
            if from >= 0.0 {
                rest.push(a);
            }
            if (from < 0.0) != (to < 0.0) {
                rest.push(a + (b - a) * (from / (from - to)));
            }
        }
        part = rest;
    }
    (!part.is_empty()).then(|| part.iter().sum::<DVec3>() / part.len() as f64)
}

/// Returns where a segment crosses a triangle, as a fraction of the segment's length, and on which side the segment
/// ends: 1.0 in front of the triangle, -1.0 behind the triangle.
pub(super) fn crossing(x: [DVec3; 3], from: DVec3, to: DVec3) -> Option<(f64, f64)> {
    // Almost all triangles are far away.
    let (low, high) = (x[0].min(x[1]).min(x[2]), x[0].max(x[1]).max(x[2]));
    if (from.min(to).cmpgt(high) | from.max(to).cmplt(low)).any() {
        return None;
    }
    let (u, v, way, off) = (x[1] - x[0], x[2] - x[0], to - from, from - x[0]);
    let normal = u.cross(v);
    let rise = way.dot(normal);
    let turn = off.cross(way);
    let (b, c, t) = (turn.dot(v) / -rise, turn.dot(u) / rise, off.dot(normal) / -rise);
    let crosses = b >= 0.0 && c >= 0.0 && b + c <= 1.0 && (0.0..=1.0).contains(&t);
    crosses.then(|| (t, rise.signum()))
}

/// Squared distance of a point from a triangle.
pub(super) fn distance_squared(x: [DVec3; 3], p: DVec3) -> f64 {
    let normal = (x[1] - x[0]).cross(x[2] - x[0]);
    let edges = [0, 1, 2].map(|k| (x[k], x[(k + 1) % 3]));
    let above = normal != DVec3::ZERO && edges.iter().all(|(a, b)| (b - a).cross(p - a).dot(normal) >= 0.0);
    if above {
        return (p - x[0]).dot(normal).powi(2) / normal.length_squared();
    }
    edges.iter().map(|(a, b)| nearest(*a, *b, p).distance_squared(p)).fold(f64::INFINITY, f64::min)
}

/// Returns the point of a segment that is nearest to `p`.
pub(super) fn nearest(a: DVec3, b: DVec3, p: DVec3) -> DVec3 {
    let way = b - a;
    let t = (p - a).dot(way) / way.length_squared();
    if t > 0.0 { a + way * t.min(1.0) } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_overlaps_the_cells_it_passes_and_no_others() {
        let grid = Grid::new(DVec3::ZERO, DVec3::splat(9.0), 1.0);
        let x = [(1.2, 1.1, 1.5), (8.7, 4.2, 2.4), (3.3, 8.1, 6.6)].map(DVec3::from);
        let mut cells = Vec::new();
        grid.overlapped(x, &mut |cell| cells.push(cell));
        // Points of the triangle lie in cells that it overlaps; a cell without a point is only grazed.
        let mut with_points = Vec::new();
        for (i, j) in (0..400).flat_map(|i| (0..400 - i).map(move |j| (f64::from(i), f64::from(j)))) {
            let p = x[0] + (x[1] - x[0]) * (i / 399.0) + (x[2] - x[0]) * (j / 399.0);
            with_points.extend(grid.at(p));
        }
        [&mut cells, &mut with_points].iter_mut().for_each(|list| list.sort_unstable());
        with_points.dedup();
        assert!(with_points.iter().all(|cell| cells.binary_search(cell).is_ok()));
        assert!(cells.len() < with_points.len() + 8, "{} {}", cells.len(), with_points.len());
        for &cell in &cells {
            let low = grid.corner(cell);
            let p = middle(x, low).unwrap();
            assert!((p - p.clamp(low, low + 1.0)).length() < 1e-9 && distance_squared(x, p) < 1e-18);
        }
    }

    #[test]
    fn crossings_tell_place_and_side() {
        let x = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let [above, below] = [1.0, -3.0].map(|z| DVec3::new(0.2, 0.3, z));
        assert_eq!(crossing(x, above, below), Some((0.25, -1.0)));
        assert_eq!(crossing(x, below, above), Some((0.75, 1.0)));
        assert_eq!(crossing(x, above, above + DVec3::Z), None);
        assert_eq!(crossing([DVec3::X; 3], above, below), None);
        assert!((distance_squared(x, above) - 1.0).abs() < 1e-12);
        assert!((distance_squared(x, DVec3::new(2.0, -1.0, 0.0)) - 2.0).abs() < 1e-12);
    }
}
