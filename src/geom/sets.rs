//! Disjoint sets of numbers (union-find): `above[i]` is a smaller member of `i`'s set, or `i` if it is the smallest.

/// Creates `count` sets with one number each.
pub(crate) fn apart(count: usize) -> Vec<u32> {
    (0..count as u32).collect()
}

/// Returns the smallest member of a set, with path halving.
pub(crate) fn root(above: &mut [u32], mut at: u32) -> u32 {
    while above[at as usize] != at {
        above[at as usize] = above[above[at as usize] as usize];
        at = above[at as usize];
    }
    at
}

/// Merges two sets.
pub(crate) fn unite(above: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(above, a), root(above, b));
    above[a.max(b) as usize] = a.min(b);
}

/// Returns, per vertex, the smallest vertex of its part: the vertices that triangles connect.
pub(crate) fn connected(vertices: usize, triangles: impl IntoIterator<Item = [u32; 3]>) -> Vec<u32> {
    let mut above = apart(vertices);
    for [a, b, c] in triangles {
        unite(&mut above, a, b);
        unite(&mut above, a, c);
    }
    (0..vertices as u32).map(|v| root(&mut above, v)).collect()
}
