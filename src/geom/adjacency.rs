//! One-ring neighbours of a triangle mesh.

use super::Adjacency;

impl Adjacency {
    /// Builds the neighbour lists over all triangle edges; symmetric, sorted, without duplicates.
    ///
    /// Triangles that contain a vertex twice are skipped. Triangles without area count, because they still connect
    /// their vertices. Non-manifold edges, boundaries and isolated vertices are allowed.
    pub fn of_triangles(vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let proper = || triangles.iter().filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]);
        let mut start = vec![0usize; vertices + 1];
        for &v in proper().flatten() {
            start[v as usize + 1] += 2;
        }
        for v in 0..vertices {
            start[v + 1] += start[v];
        }
        let mut fill = start.clone();
        let mut raw = vec![0u32; start[vertices]];
        for t in proper() {
            for k in 0..3 {
                let at = &mut fill[t[k] as usize];
                raw[*at] = t[(k + 1) % 3];
                raw[*at + 1] = t[(k + 2) % 3];
                *at += 2;
            }
        }
        let mut out = Self { offset: Vec::with_capacity(vertices + 1), neighbor: Vec::new() };
        out.offset.push(0);
        for v in 0..vertices {
            let ring = &mut raw[start[v]..start[v + 1]];
            ring.sort_unstable();
            let mut last = None;
            for &n in ring.iter() {
                if last.replace(n) != Some(n) {
                    out.neighbor.push(n);
                }
            }
            out.offset.push(out.neighbor.len() as u32);
        }
        out
    }

    /// Iterates over the undirected edges, each once, as `(a, b)` with `a < b`.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.len() as u32)
            .flat_map(move |a| self.of(a as usize).iter().map(move |&b| (a, b)))
            .filter(|(a, b)| a < b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quad_with_a_duplicate_and_a_degenerate_triangle() {
        let a = Adjacency::of_triangles(5, &[[0, 1, 2], [0, 2, 3], [0, 2, 3], [1, 1, 4]]);
        assert_eq!(a.of(0), [1, 2, 3]);
        assert_eq!(a.of(1), [0, 2]);
        assert_eq!(a.of(2), [0, 1, 3]);
        assert_eq!(a.of(3), [0, 2]);
        assert!(a.of(4).is_empty());
        assert_eq!(a.edges().collect::<Vec<_>>(), [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)]);
        assert!(Adjacency::of_triangles(0, &[]).is_empty());
    }

    #[test]
    fn three_triangles_on_one_edge() {
        let a = Adjacency::of_triangles(5, &[[0, 1, 2], [1, 0, 3], [0, 1, 4]]);
        assert_eq!(a.of(0), [1, 2, 3, 4]);
        assert_eq!(a.of(4), [0, 1]);
    }
}
