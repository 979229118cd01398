//! Sparse skinning weights of all vertices, over given and abstract handles.

use super::extra::Extra;
use crate::asset::Influences;

/// Sparse skinning weights of all vertices; the weights of a vertex need not sum to one.
#[derive(Clone, Debug)]
pub struct Weights {
    offset: Vec<usize>,
    entry: Vec<(u32, f64)>,
}

impl Default for Weights {
    fn default() -> Self {
        Self { offset: vec![0], entry: Vec::new() }
    }
}

impl Weights {
    /// Returns the number of vertices.
    pub fn len(&self) -> usize {
        self.offset.len() - 1
    }

    /// Returns whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of handles: the highest index plus one.
    pub(super) fn named(&self) -> usize {
        self.entry.iter().map(|(j, _)| *j as usize + 1).max().unwrap_or(1)
    }

    /// Appends all vertices of `other`.
    pub(super) fn append(&mut self, other: &Self) {
        let before = self.entry.len();
        self.entry.extend_from_slice(&other.entry);
        self.offset.extend(other.offset[1..].iter().map(|o| o + before));
    }

    /// Keeps only the first `vertices` vertices.
    pub(super) fn first(mut self, vertices: usize) -> Self {
        self.offset.truncate(vertices + 1);
        self.entry.truncate(self.offset[vertices]);
        self
    }

    /// Appends a vertex with its `(handle, weight)` pairs.
    pub fn push(&mut self, weights: impl IntoIterator<Item = (usize, f64)>) {
        self.entry.extend(weights.into_iter().map(|(j, w)| (j as u32, w)));
        self.offset.push(self.entry.len());
    }

    /// Returns the `(handle, weight)` pairs of a vertex.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.entry[self.offset[vertex]..self.offset[vertex + 1]].iter().map(|&(j, w)| (j as usize, w))
    }

    /// Returns influences for skinning, largest weight first. With abstract handles they do not sum to one.
    pub fn influences(&self) -> Influences {
        let mut out = Influences::default();
        for v in 0..self.len() {
            let mut list: Vec<(u16, f32)> = self.of(v).map(|(j, w)| (j as u16, w as f32)).collect();
            list.retain(|(_, w)| *w > 0.0);
            list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            out.push(list);
        }
        out
    }
}

/// Returns the given weights, normalised so that each vertex's sum is exactly one. A vertex without weights follows
/// the first handle.
pub(in crate::deform) fn own_weights(influences: &Influences) -> Weights {
    let mut out = Weights::default();
    for v in 0..influences.len() {
        let sum: f64 = influences.of(v).map(|(_, w)| f64::from(w)).sum();
        if sum > 0.0 {
            out.push(influences.of(v).map(|(j, w)| (usize::from(j), f64::from(w) / sum)));
        } else {
            out.push([(0, 1.0)]);
        }
    }
    out
}

pub(super) fn with_extras(own: Weights, extras: &[Extra], given: usize) -> Weights {
    if extras.is_empty() {
        return own;
    }
    let mut more: Vec<Vec<(usize, f64)>> = vec![Vec::new(); own.len()];
    for (k, extra) in extras.iter().enumerate() {
        extra.weights.iter().for_each(|&(v, w)| more[v as usize].push((given + k, w)));
    }
    let mut out = Weights::default();
    for (v, more) in more.into_iter().enumerate() {
        out.push(own.of(v).chain(more));
    }
    out
}
