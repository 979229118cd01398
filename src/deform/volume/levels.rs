//! The levels of the multigrid cycle: cubes, and coarser cubes above them.
//!
//! A coarser level has cubes of twice the edge length. If the cubes inside one coarser cube are not connected there,
//! each connected group gets a coarser cube for itself. Separate limbs therefore stay separate on every level. The
//! stiffness of cubes and nodes is in [`super::tissue`].

use crate::geom::{apart, root, unite};
use crate::shared_with_shaders;

/// Per axis: the four corners on the lower side of a cube. Bit `k` of a corner's index gives its side along axis `k`.
pub const NEAR: [[usize; 4]; 3] = [[0, 2, 4, 6], [0, 1, 4, 5], [0, 1, 2, 3]];
/// Maximum number of levels.
pub const LEVELS: usize = 3;
/// Per level, finest first: with fewer cubes the level has no coarser level.
pub const FEWEST: [usize; LEVELS - 1] = [40, 200];

/// Lists of numbers in CSR form: list `i` is `entry[offset[i]..offset[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lists<T> {
    /// One more than there are lists.
    pub offset: Vec<u32>,
    /// The entries of all lists.
    pub entry: Vec<T>,
}

impl<T: Copy> Lists<T> {
    /// Collects `(list, entry)` pairs; entries keep their order within a list.
    pub fn new(count: usize, pairs: &[(u32, T)]) -> Self {
        let mut offset = vec![0u32; count + 1];
        pairs.iter().for_each(|p| offset[p.0 as usize + 1] += 1);
        (0..count).for_each(|i| offset[i + 1] += offset[i]);
        let mut next = offset.clone();
        let mut entry: Vec<T> = pairs.iter().map(|p| p.1).collect();
        for (list, value) in pairs {
            entry[next[*list as usize] as usize] = *value;
            next[*list as usize] += 1;
        }
        Self { offset, entry }
    }

    /// Number of lists.
    pub fn count(&self) -> usize {
        self.offset.len().saturating_sub(1)
    }

    /// Returns the lists as groups of four for the GPU, and the number of groups in each list. All lists have as many
    /// groups as the longest; `pad` fills them up.
    pub fn quads(&self, value: impl Fn(&T) -> u32, pad: u32) -> (Vec<[u32; 4]>, u32) {
        let longest = (0..self.count()).map(|i| self.of(i).len()).max().unwrap_or(0);
        let quads = longest.div_ceil(4);
        let mut out = vec![[pad; 4]; quads * self.count()];
        for (i, own) in (0..self.count()).zip(out.chunks_exact_mut(quads.max(1))) {
            own.as_flattened_mut().iter_mut().zip(self.of(i)).for_each(|(to, entry)| *to = value(entry));
        }
        (out, quads as u32)
    }

    /// A list.
    pub fn of(&self, i: usize) -> &[T] {
        &self.entry[self.offset[i] as usize..self.offset[i + 1] as usize]
    }
}

shared_with_shaders! {
    /// A node of another level, or another element, with its weight.
    #[derive(Debug, Default, PartialEq)]
    pub struct Share as "VolumeShare" {
        /// The node or element.
        pub node: u32,
        /// Its weight.
        pub weight: f32,
    }
}

impl Share {
    /// The share for the GPU: the node, and in the upper two bits how often the weight is halved from 1.
    pub(super) fn packed(&self) -> u32 {
        let halvings = (-self.weight.log2()).round().clamp(0.0, 3.0) as u32;
        self.node | (halvings << 30)
    }
}

/// Cubes of one size.
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// Edge length of a cube, metres.
    pub size: f32,
    /// Nodes of each cube.
    pub cells: Vec<[u32; 8]>,
    /// Per node: `8 cell + corner` of each cube that has this node as a corner.
    pub at_node: Lists<u32>,
    /// Per cube: the next finer cubes in it. Empty on the finest level.
    pub children: Lists<u32>,
    /// Per node: the finer nodes that it moves. Empty on the finest level.
    pub restrict: Lists<Share>,
    /// Per node: the coarser nodes that move it. Empty on the coarsest level.
    pub prolong: Lists<Share>,
    /// Per node: a share of a finer cube for each of the cube's held corners that the node would move. Empty on the
    /// finest level.
    pub braced: Lists<Share>,
    /// Whether each node is held; no node of a coarser level is.
    pub held: Vec<bool>,
    /// Whether each node is around a bone but not held. Empty on coarser levels.
    pub core: Vec<bool>,
    /// Grid position of each node, in edge lengths of a cube.
    grid: Vec<[i32; 3]>,
}

impl Level {
    /// Creates the finest level. `grid` is the position of each node in edge lengths of a cube. `core` marks the nodes
    /// around bones that are not held.
    pub fn finest(
        size: f32,
        cells: Vec<[u32; 8]>,
        grid: Vec<[i32; 3]>,
        held: Vec<bool>,
        core: Vec<bool>,
    ) -> Self {
        Self { size, cells, grid, held, core, ..Self::default() }.connected()
    }

    /// Returns this level and all coarser levels; `fewest` is as [`FEWEST`].
    pub fn hierarchy(self, fewest: [usize; LEVELS - 1]) -> Vec<Self> {
        let mut levels = vec![self];
        while levels.len() < LEVELS && levels[levels.len() - 1].cells.len() >= fewest[levels.len() - 1] {
            let last = levels.len() - 1;
            let coarser = levels[last].coarser();
            levels.push(coarser);
        }
        levels
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.held.len()
    }

    /// Returns eight coarser nodes per node, which move the node alike. A node in the middle of an edge has both ends
    /// four times. A node that no coarser node moves has `none` eight times.
    pub(super) fn eighths(&self, none: u32) -> Vec<[u32; 8]> {
        let of = |n: usize| {
            let shares = self.prolong.of(n);
            std::array::from_fn(|k| shares.get(k % shares.len().max(1)).map_or(none, |s| s.node))
        };
        (0..self.nodes()).map(of).collect()
    }

    /// Lists the cubes at each node.
    fn connected(mut self) -> Self {
        let corners = |(cell, c): (&[u32; 8], u32)| {
            let mut corner = 0;
            cell.map(|node| {
                corner += 1;
                (node, 8 * c + corner - 1)
            })
        };
        let pairs: Vec<(u32, u32)> = self.cells.iter().zip(0u32..).flat_map(corners).collect();
        self.at_node = Lists::new(self.nodes(), &pairs);
        self
    }

    /// Returns the grid position of the coarser cube that contains a cube.
    fn block(&self, cell: usize) -> [i32; 3] {
        self.grid[self.cells[cell][0] as usize].map(|v| v.div_euclid(2))
    }

    /// Returns the pairs of cubes that share a face, with the face's axis. The second cube of a pair is on the upper
    /// side of the first one along this axis.
    pub(super) fn faces(&self) -> Vec<(u32, u32, usize)> {
        let mut faces: Vec<([u32; 4], usize, usize, u32)> = Vec::with_capacity(6 * self.cells.len());
        for (cell, c) in self.cells.iter().zip(0u32..) {
            for (axis, near) in NEAR.iter().enumerate() {
                for side in 0..2 {
                    let mut nodes = near.map(|corner| cell[corner + (side << axis)]);
                    nodes.sort_unstable();
                    faces.push((nodes, axis, side, c));
                }
            }
        }
        faces.sort_unstable();
        let mut out = Vec::new();
        for same in faces.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let on = |side: usize| same.iter().filter(move |f| f.2 == side).map(|f| f.3);
            out.extend(on(1).flat_map(|a| on(0).map(move |b| (a, b, same[0].1))));
        }
        out
    }

    /// Returns the interpolation weights of a coarser cube's corners at a finer node in the cube.
    fn interpolation(&self, node: u32, block: [i32; 3]) -> [f32; 8] {
        let grid = self.grid[node as usize];
        let t: [f32; 3] = std::array::from_fn(|k| 0.5 * (grid[k] - 2 * block[k]) as f32);
        std::array::from_fn(|corner| {
            (0..3).map(|k| if corner >> k & 1 == 1 { t[k] } else { 1.0 - t[k] }).product()
        })
    }

    /// Creates the next coarser level. Sets the interpolation from that level to this level (`prolong`).
    fn coarser(&mut self) -> Self {
        let count = self.cells.len();
        let faces = self.faces();
        let mut group = apart(count);
        let (inner, outer): (Vec<_>, Vec<_>) =
            faces.iter().partition(|(a, b, _)| self.block(*a as usize) == self.block(*b as usize));
        inner.iter().for_each(|(a, b, _)| unite(&mut group, *a, *b));
        let mut first: Vec<usize> = Vec::new();
        let mut parent = vec![0u32; count];
        for c in 0..count {
            let r = root(&mut group, c as u32) as usize;
            if r == c {
                parent[c] = first.len() as u32;
                first.push(c);
            } else {
                parent[c] = parent[r];
            }
        }
        let mut merged = apart(8 * first.len());
        for &(a, b, axis) in &outer {
            let (a, b) = (parent[a as usize] as usize, parent[b as usize] as usize);
            for corner in NEAR[axis] {
                unite(&mut merged, (8 * a + corner + (1 << axis)) as u32, (8 * b + corner) as u32);
            }
        }
        let mut number = vec![u32::MAX; 8 * first.len()];
        let mut grid = Vec::new();
        let mut cells = vec![[0u32; 8]; first.len()];
        for (c, cell) in cells.iter_mut().enumerate() {
            let block = self.block(first[c]);
            for (corner, node) in cell.iter_mut().enumerate() {
                let r = root(&mut merged, (8 * c + corner) as u32) as usize;
                if number[r] == u32::MAX {
                    number[r] = grid.len() as u32;
                    grid.push(std::array::from_fn(|k| block[k] + (corner >> k & 1) as i32));
                }
                *node = number[r];
            }
        }
        let mut prolong: Vec<(u32, Share)> = Vec::new();
        let mut braced: Vec<(u32, Share)> = Vec::new();
        let mut seen = vec![false; self.nodes()];
        for (c, cell) in self.cells.iter().enumerate() {
            let (above, block) = (cells[parent[c] as usize], self.block(c));
            for &n in cell {
                let weights = self.interpolation(n, block);
                let moves = above.iter().zip(weights).filter(|m| m.1 > 0.0);
                if self.held[n as usize] {
                    braced.extend(moves.map(|(&up, weight)| (up, Share { node: c as u32, weight })));
                } else if !std::mem::replace(&mut seen[n as usize], true) {
                    prolong.extend(moves.map(|(&up, weight)| (n, Share { node: up, weight })));
                }
            }
        }
        let back: Vec<(u32, Share)> =
            prolong.iter().map(|&(node, Share { node: up, weight })| (up, Share { node, weight })).collect();
        let children: Vec<(u32, u32)> = parent.iter().zip(0u32..).map(|(&p, c)| (p, c)).collect();
        self.prolong = Lists::new(self.nodes(), &prolong);
        Self {
            size: 2.0 * self.size,
            children: Lists::new(first.len(), &children),
            restrict: Lists::new(grid.len(), &back),
            braced: Lists::new(grid.len(), &braced),
            cells,
            held: vec![false; grid.len()],
            grid,
            ..Self::default()
        }
        .connected()
    }
}
