//! A closed triangle mesh with operations to split, collapse and flip edges.
//!
//! Half-edge `h` is edge `h % 3` of face `h / 3` and starts at `vertex[h]`. The mesh has no boundary, so every
//! half-edge has an opposite half-edge, its twin.

use crate::base::math::Vec3;
use std::collections::HashMap;

const DEAD: u32 = u32::MAX;

/// The mesh; every operation keeps it a closed 2-manifold.
#[derive(Clone, Debug, Default)]
pub(super) struct TriMesh {
    /// Position per vertex, metres.
    pub position: Vec<Vec3>,
    /// Target edge length per vertex, metres.
    pub length: Vec<f32>,
    vertex: Vec<u32>,
    twin: Vec<u32>,
    /// One half-edge that starts at the vertex; `DEAD` for a removed vertex.
    out: Vec<u32>,
    dead_vertices: usize,
}

fn next(h: u32) -> u32 {
    if h % 3 == 2 { h - 2 } else { h + 1 }
}

fn previous(h: u32) -> u32 {
    if h.is_multiple_of(3) { h + 2 } else { h - 1 }
}

impl TriMesh {
    /// Builds a mesh from triangles; returns `None` if they do not form a closed, consistently oriented 2-manifold.
    pub fn new(position: Vec<Vec3>, triangles: &[[u32; 3]]) -> Option<Self> {
        let vertex: Vec<u32> = triangles.iter().flatten().copied().collect();
        let mut twin = vec![DEAD; vertex.len()];
        let mut out = vec![DEAD; position.len()];
        let mut open: HashMap<(u32, u32), u32> = HashMap::with_capacity(vertex.len());
        for h in 0..vertex.len() as u32 {
            let edge = (vertex[h as usize], vertex[next(h) as usize]);
            out[edge.0 as usize] = h;
            if let Some(t) = open.remove(&(edge.1, edge.0)) {
                twin[h as usize] = t;
                twin[t as usize] = h;
            } else if open.insert(edge, h).is_some() {
                return None;
            }
        }
        let length = vec![0.0; position.len()];
        let mesh = Self { position, length, vertex, twin, out, dead_vertices: 0 };
        // Every vertex must have a single fan of triangles; otherwise the surface is pinched at the vertex.
        let fans: usize = (0..mesh.out.len()).map(|v| mesh.ring(v as u32).count()).sum();
        (open.is_empty() && !mesh.out.contains(&DEAD) && fans == mesh.vertex.len()).then_some(mesh)
    }

    /// Returns the number of live vertices.
    pub fn vertices(&self) -> usize {
        self.position.len() - self.dead_vertices
    }

    /// Returns the number of half-edge slots, including dead slots.
    pub fn slots(&self) -> u32 {
        self.vertex.len() as u32
    }

    /// Returns start and end vertex of a half-edge; `None` if the half-edge was removed.
    pub fn edge(&self, h: u32) -> Option<(u32, u32)> {
        let a = self.vertex[h as usize];
        (a != DEAD).then(|| (a, self.vertex[next(h) as usize]))
    }

    /// Returns the opposite half-edge, which lies in the neighbouring face.
    pub fn twin(&self, h: u32) -> u32 {
        self.twin[h as usize]
    }

    /// Returns the vertex opposite to a half-edge in its face.
    pub fn opposite(&self, h: u32) -> u32 {
        self.vertex[previous(h) as usize]
    }

    /// Iterates over the half-edges that start at a vertex, in order around the vertex.
    pub fn ring(&self, v: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.out[v as usize];
        let mut at = first;
        std::iter::from_fn(move || {
            let h = at;
            if h == DEAD {
                return None;
            }
            at = self.twin[previous(h) as usize];
            if at == first {
                at = DEAD;
            }
            Some(h)
        })
    }

    /// Iterates over the neighbours of a vertex, in order around the vertex.
    pub fn neighbors(&self, v: u32) -> impl Iterator<Item = u32> + '_ {
        self.ring(v).map(|h| self.vertex[next(h) as usize])
    }

    /// Returns the number of neighbours of a vertex.
    pub fn valence(&self, v: u32) -> usize {
        self.ring(v).count()
    }

    /// Returns the corners of the face that contains a half-edge.
    pub fn face(&self, h: u32) -> [u32; 3] {
        [h, next(h), previous(h)].map(|i| self.vertex[i as usize])
    }

    /// Returns the live triangles, in face order.
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        self.vertex.chunks_exact(3).filter(|f| f[0] != DEAD).map(|f| [f[0], f[1], f[2]]).collect()
    }

    /// Inserts a vertex at the middle of an edge.
    pub fn split(&mut self, h: u32) {
        let t = self.twin[h as usize];
        let (hn, hp, tn, tp) = (next(h), previous(h), next(t), previous(t));
        let at = |i: u32| self.vertex[i as usize];
        let (u, v, a, b) = (at(h), at(t), at(hp), at(tp));
        let (beyond_hn, beyond_tp) = (self.twin[hn as usize], self.twin[tp as usize]);
        let m = self.position.len() as u32;
        self.position.push((self.position[u as usize] + self.position[v as usize]) * 0.5);
        self.length.push((self.length[u as usize] + self.length[v as usize]) * 0.5);
        let g = self.slots();
        let q = g + 3;
        self.vertex.extend([m, v, a, v, m, b]);
        self.twin.extend([DEAD; 6]);
        self.out.push(g);
        self.vertex[hn as usize] = m;
        self.vertex[t as usize] = m;
        self.out[v as usize] = g + 1;
        self.join(g, q);
        self.join(g + 1, beyond_hn);
        self.join(hn, g + 2);
        self.join(q + 2, beyond_tp);
        self.join(tp, q + 1);
        debug_assert_eq!(self.vertex[tn as usize], u);
    }

    /// Flips the edge between two triangles to the other diagonal; returns false if that diagonal is already an edge.
    pub fn flip(&mut self, h: u32) -> bool {
        let t = self.twin[h as usize];
        let (hn, hp, tn, tp) = (next(h), previous(h), next(t), previous(t));
        let at = |i: u32| self.vertex[i as usize];
        let (u, v, a, b) = (at(h), at(t), at(hp), at(tp));
        if a == b || self.neighbors(a).any(|n| n == b) {
            return false;
        }
        let [n1, n2, n3, n4] = [hn, hp, tn, tp].map(|i| self.twin[i as usize]);
        for (slot, start) in [(h, b), (hn, a), (hp, u), (t, a), (tn, b), (tp, v)] {
            self.vertex[slot as usize] = start;
        }
        self.join(h, t);
        self.join(hn, n2);
        self.join(hp, n3);
        self.join(tn, n4);
        self.join(tp, n1);
        self.out[u as usize] = hp;
        self.out[v as usize] = tp;
        self.out[a as usize] = hn;
        self.out[b as usize] = tn;
        true
    }

    /// Returns true if collapsing the edge preserves the topology.
    pub fn may_collapse(&self, h: u32) -> bool {
        let t = self.twin[h as usize];
        let (u, v) = (self.vertex[h as usize], self.vertex[t as usize]);
        let common = self.neighbors(u).filter(|&n| self.neighbors(v).any(|m| m == n)).count();
        common == 2 && self.valence(self.opposite(h)) > 3 && self.valence(self.opposite(t)) > 3
    }

    /// Merges a half-edge's start into its end and moves that vertex to `to`. Check [`Self::may_collapse`] first.
    pub fn collapse(&mut self, h: u32, to: Vec3) {
        let t = self.twin[h as usize];
        let (hn, hp, tn, tp) = (next(h), previous(h), next(t), previous(t));
        let at = |i: u32| self.vertex[i as usize];
        let (u, v, a, b) = (at(h), at(t), at(hp), at(tp));
        let around: Vec<u32> = self.ring(u).collect();
        for o in around {
            self.vertex[o as usize] = v;
        }
        let [n1, n2, n3, n4] = [hn, hp, tn, tp].map(|i| self.twin[i as usize]);
        self.join(n1, n2);
        self.join(n3, n4);
        self.out[v as usize] = n4;
        self.out[a as usize] = n1;
        self.out[b as usize] = n3;
        self.out[u as usize] = DEAD;
        for i in [h, hn, hp, t, tn, tp] {
            self.vertex[i as usize] = DEAD;
        }
        self.position[v as usize] = to;
        self.dead_vertices += 1;
    }

    /// Removes dead vertices and faces, and renumbers the live vertices and faces in order.
    pub fn compact(&mut self) {
        let mut new_of = vec![DEAD; self.out.len()];
        let (mut position, mut length) = (Vec::new(), Vec::new());
        for (v, new) in new_of.iter_mut().enumerate() {
            if self.out[v] != DEAD {
                *new = position.len() as u32;
                position.push(self.position[v]);
                length.push(self.length[v]);
            }
        }
        let triangles: Vec<[u32; 3]> =
            self.triangles().into_iter().map(|t| t.map(|v| new_of[v as usize])).collect();
        // Live half-edges keep their twins, so new indices suffice and no edge search is necessary.
        let mut slot_of = vec![DEAD; self.vertex.len()];
        let mut slots = 0;
        for (h, &v) in self.vertex.iter().enumerate() {
            if v != DEAD {
                slot_of[h] = slots;
                slots += 1;
            }
        }
        let twin = (0..self.vertex.len())
            .filter(|&h| self.vertex[h] != DEAD)
            .map(|h| slot_of[self.twin[h] as usize])
            .collect();
        let mut out = vec![DEAD; position.len()];
        for (h, &v) in triangles.iter().flatten().enumerate() {
            out[v as usize] = h as u32;
        }
        let vertex = triangles.into_iter().flatten().collect();
        *self = Self { position, length, vertex, twin, out, dead_vertices: 0 };
    }

    fn join(&mut self, a: u32, b: u32) {
        self.twin[a as usize] = b;
        self.twin[b as usize] = a;
    }
}
