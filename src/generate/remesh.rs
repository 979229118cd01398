//! Isotropic remeshing on an implicit body to an exact number of vertices.
//!
//! Botsch and Kobbelt, "A remeshing approach to multiresolution modeling" (2004), with the sizing field of Dunyach et
//! al. (2013): split long edges, collapse short ones, flip, relax along the surface, project. The target length comes
//! from the body ([`super::implicit::Sample::size`]) times one scale that is adjusted to the vertex count.

use super::implicit::Implicit;
use super::trimesh::TriMesh;
use crate::base::math::Vec3;
use rayon::prelude::*;

/// Remeshes the surface; the result has exactly `vertices` vertices if the topology allows it.
pub(super) fn remesh(mesh: &mut TriMesh, body: &Implicit, vertices: usize, rounds: usize) {
    let mut correction = 1.0;
    for round in 0..rounds {
        size(mesh, body, vertices as f32 * correction);
        split_long(mesh);
        collapse_short(mesh);
        flip(mesh, |_, _| true);
        relax(mesh, body);
        if round >= 2 {
            correction *= (vertices as f32 / mesh.vertices() as f32).clamp(0.8, 1.25);
        }
    }
    size(mesh, body, vertices as f32);
    for _ in 0..8 {
        reach(mesh, vertices);
        flip(mesh, |_, _| true);
        relax(mesh, body);
        if mesh.vertices() == vertices {
            break;
        }
    }
    for _ in 0..3 {
        flip(mesh, |_, _| true);
        relax(mesh, body);
    }
}

/// Computes smoothed target edge lengths, scaled for an equilateral mesh of about `vertices` vertices.
fn size(mesh: &mut TriMesh, body: &Implicit, vertices: f32) {
    mesh.length = mesh.position.par_iter().map(|&p| body.sample(p).size).collect();
    for _ in 0..4 {
        mesh.length = (0..mesh.position.len() as u32)
            .into_par_iter()
            .map(|v| {
                let (sum, n) =
                    mesh.neighbors(v).fold((0.0, 0.0), |(s, n), w| (s + mesh.length[w as usize], n + 1.0));
                0.5 * mesh.length[v as usize] + 0.5 * sum / n
            })
            .collect();
    }
    let mut wanted = 0.0_f64;
    for t in mesh.triangles() {
        let [a, b, c] = t.map(|v| mesh.position[v as usize]);
        let [la, lb, lc] = t.map(|v| mesh.length[v as usize]);
        let length = (la + lb + lc) / 3.0;
        wanted += f64::from((b - a).cross(c - a).length() * 0.5 / (0.433 * length * length));
    }
    let scale = (wanted / f64::from(2.0 * vertices)).sqrt() as f32;
    mesh.length.iter_mut().for_each(|l| *l *= scale);
}

/// Returns an edge's length divided by the target length at its vertices.
fn relative(mesh: &TriMesh, a: u32, b: u32) -> f32 {
    let (a, b) = (a as usize, b as usize);
    (mesh.position[a] - mesh.position[b]).length() * 2.0 / (mesh.length[a] + mesh.length[b])
}

fn split_long(mesh: &mut TriMesh) {
    let mut h = 0;
    // The loop also visits the new slots. New edges are half as long, so the loop terminates.
    while h < mesh.slots() {
        if let Some((a, b)) = mesh.edge(h)
            && a < b
            && relative(mesh, a, b) > 4.0 / 3.0
        {
            mesh.split(h);
        }
        h += 1;
    }
}

/// Returns true if moving the start of `h` to `to` inverts no triangle and makes no edge longer than `limit` times its
/// target length.
fn may_move(mesh: &TriMesh, h: u32, to: Vec3, limit: f32) -> bool {
    let Some((u, v)) = mesh.edge(h) else { return false };
    mesh.ring(u).all(|o| {
        let [_, b, c] = mesh.face(o);
        let far = (mesh.position[b as usize] - to).length() * 2.0
            / (mesh.length[b as usize] + mesh.length[v as usize]);
        if b != v && far > limit {
            return false;
        }
        if b == v || c == v {
            return true;
        }
        let (pu, pb, pc) = (mesh.position[u as usize], mesh.position[b as usize], mesh.position[c as usize]);
        let before = (pb - pu).cross(pc - pu);
        let after = (pb - to).cross(pc - to);
        before.dot(after) > 0.3 * before.length() * after.length()
    })
}

fn try_collapse(mesh: &mut TriMesh, h: u32, limit: f32) -> bool {
    let Some((u, v)) = mesh.edge(h) else { return false };
    let to = (mesh.position[u as usize] + mesh.position[v as usize]) * 0.5;
    let fits =
        mesh.may_collapse(h) && may_move(mesh, h, to, limit) && may_move(mesh, mesh.twin(h), to, limit);
    if fits {
        mesh.collapse(h, to);
    }
    fits
}

fn collapse_short(mesh: &mut TriMesh) {
    // One sweep over a much too fine mesh removes at most half of the vertices. Several sweeps distribute the collapses
    // over the surface.
    for _ in 0..3 {
        let before = mesh.vertices();
        for h in 0..mesh.slots() {
            if let Some((a, b)) = mesh.edge(h)
                && a < b
                && relative(mesh, a, b) < 0.8
            {
                try_collapse(mesh, h, 4.0 / 3.0);
            }
        }
        if mesh.vertices() * 50 > before * 49 {
            break;
        }
    }
    mesh.compact();
}

/// Collapses the shortest or splits the longest edges until the mesh has `vertices` vertices.
fn reach(mesh: &mut TriMesh, vertices: usize) {
    let mut edges: Vec<(f32, u32)> = (0..mesh.slots())
        .filter_map(|h| mesh.edge(h).filter(|e| e.0 < e.1).map(|e| (relative(mesh, e.0, e.1), h)))
        .collect();
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    if mesh.vertices() > vertices {
        for (_, h) in edges {
            if mesh.vertices() == vertices {
                break;
            }
            try_collapse(mesh, h, 1.8);
        }
        mesh.compact();
    } else {
        for (_, h) in edges.into_iter().rev().take(vertices - mesh.vertices()) {
            mesh.split(h);
        }
    }
}

/// Flips edges whose opposite angles sum to more than 180 degrees (Delaunay), if the flip preserves the surface.
/// `may` receives both half-edges of an edge and permits or forbids its flip.
pub(super) fn flip(mesh: &mut TriMesh, may: impl Fn(u32, u32) -> bool) {
    for _ in 0..3 {
        let mut flips = 0;
        for h in 0..mesh.slots() {
            let Some((u, v)) = mesh.edge(h) else { continue };
            if u > v || !may(h, mesh.twin(h)) {
                continue;
            }
            let (a, b) = (mesh.opposite(h), mesh.opposite(mesh.twin(h)));
            let [pu, pv, pa, pb] = [u, v, a, b].map(|i| mesh.position[i as usize]);
            let cotangent = |at: Vec3| {
                let (x, y) = (pu - at, pv - at);
                x.dot(y) / x.cross(y).length().max(1e-12)
            };
            if cotangent(pa) + cotangent(pb) > -1e-3 || mesh.valence(u) < 4 || mesh.valence(v) < 4 {
                continue;
            }
            // Both new triangles must have the orientation of the old triangles.
            let n =
                (pv - pu).cross(pa - pu).normalize_or_zero() + (pu - pv).cross(pb - pv).normalize_or_zero();
            let (n1, n2) = ((pa - pb).cross(pu - pb), (pv - pb).cross(pa - pb));
            let faces_out = |m: Vec3| m.dot(n) > 0.5 * m.length() * n.length();
            if faces_out(n1) && faces_out(n2) && mesh.flip(h) {
                flips += 1;
            }
        }
        if flips == 0 {
            break;
        }
    }
}

/// Moves every vertex along the surface towards the centroid of its triangles, then projects it onto the body.
fn relax(mesh: &mut TriMesh, body: &Implicit) {
    mesh.position = (0..mesh.position.len() as u32).into_par_iter().map(|v| relaxed(mesh, body, v)).collect();
}

/// Returns the position to which [`relax`] moves a vertex.
pub(super) fn relaxed(mesh: &TriMesh, body: &Implicit, v: u32) -> Vec3 {
    let p = mesh.position[v as usize];
    let (mut sum, mut weight) = (Vec3::ZERO, 0.0);
    for h in mesh.ring(v) {
        let [a, b, c] = mesh.face(h).map(|i| mesh.position[i as usize]);
        let area = (b - a).cross(c - a).length();
        sum += (a + b + c) * (area / 3.0);
        weight += area;
    }
    let normal = body.normal(p);
    let middle = if weight > 0.0 { sum / weight } else { p };
    let step = middle - p;
    let along = step - normal * step.dot(normal);
    body.project(p + along * 0.8, mesh.length[v as usize].max(1e-4))
}
