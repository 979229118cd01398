//! Materials as regions of the surface. Mesh edges move onto the regions' borders, for clean colour edges.

use super::body::Body;
use super::remesh::{flip, relaxed};
use super::trimesh::TriMesh;
use crate::base::math::Vec3;
use rayon::prelude::*;

/// The region that a material covers.
pub(super) enum Field {
    /// The region in which this layer of the body is outermost.
    Layer(usize),
    /// The region in which the function is negative.
    Decal(Box<dyn Fn(Vec3) -> f32 + Send + Sync>),
}

/// Returns the region at a point: the last decal that covers the point, otherwise the outermost layer.
fn region(body: &Body, p: Vec3) -> u8 {
    let decal = |r: &usize| matches!(&body.regions[*r].1, Field::Decal(f) if f(p) < 0.0);
    let region = (0..body.regions.len()).rev().find(decal).unwrap_or_else(|| {
        let layer = body.shape.outermost(p);
        body.regions.iter().position(|r| matches!(r.1, Field::Layer(l) if l == layer)).unwrap_or(0)
    });
    region as u8
}

fn value(body: &Body, region: u8, p: Vec3) -> f32 {
    match &body.regions[region as usize].1 {
        Field::Layer(layer) => body.shape.lead(*layer, p),
        Field::Decal(field) => field(p),
    }
}

/// Moves vertices onto the regions' borders and returns the material of each triangle.
pub(super) fn paint(body: &Body, mesh: &mut TriMesh) -> Vec<u8> {
    let region_of = |mesh: &TriMesh, h: u32| {
        let middle = mesh.face(h).map(|v| mesh.position[v as usize]).iter().sum::<Vec3>() / 3.0;
        region(body, body.shape.project(middle, 0.01))
    };
    let faces = mesh.slots() / 3;
    let mut of_face: Vec<u8> = (0..faces).into_par_iter().map(|f| region_of(mesh, f * 3)).collect();
    for _ in 0..8 {
        // Only triangles within two rings of a border can change.
        let on_border = |v: u32| {
            let mut around = mesh.ring(v).map(|h| of_face[h as usize / 3]);
            let first = around.next();
            around.any(|r| Some(r) != first)
        };
        let border: Vec<bool> = (0..mesh.position.len() as u32).into_par_iter().map(on_border).collect();
        let near: Vec<bool> = (0..mesh.position.len() as u32)
            .into_par_iter()
            .map(|v| border[v as usize] || mesh.neighbors(v).any(|n| border[n as usize]))
            .collect();
        let moved: Vec<Vec3> = (0..mesh.position.len() as u32)
            .into_par_iter()
            .map(|v| match (border[v as usize], near[v as usize]) {
                (true, _) => onto_border(body, mesh, &of_face, v),
                (false, true) => relaxed(mesh, &body.shape, v),
                _ => mesh.position[v as usize],
            })
            .collect();
        settle(mesh, &moved, &near);
        flip(mesh, |h, t| of_face[h as usize / 3] == of_face[t as usize / 3]);
        of_face = (0..faces)
            .into_par_iter()
            .map(|f| {
                let touched = mesh.face(f * 3).iter().any(|&v| near[v as usize]);
                if touched { region_of(mesh, f * 3) } else { of_face[f as usize] }
            })
            .collect();
    }
    of_face.into_iter().map(|r| body.regions[r as usize].0 as u8).collect()
}

/// Returns the quality of a triangle: `4 √3 area / (sum of the squared side lengths)`; 1 if equilateral.
fn quality([a, b, c]: [Vec3; 3]) -> f32 {
    let squares = (b - a).length_squared() + (c - b).length_squared() + (a - c).length_squared();
    3.464_101_6 * (b - a).cross(c - a).length() / squares.max(1e-20)
}

/// Moves each vertex to its new position or half-way there, unless the move degrades a triangle too much. A clean
/// border does not justify a sliver.
fn settle(mesh: &mut TriMesh, moved: &[Vec3], near: &[bool]) {
    for v in 0..moved.len() {
        if !near[v] {
            continue;
        }
        let worst = |p: Vec3| {
            mesh.ring(v as u32)
                .map(|h| {
                    let [_, b, c] = mesh.face(h);
                    quality([p, mesh.position[b as usize], mesh.position[c as usize]])
                })
                .fold(1.0, f32::min)
        };
        let old = mesh.position[v];
        let half = (old + moved[v]) * 0.5;
        let before = worst(old).min(0.45);
        for p in [moved[v], half] {
            if worst(p) >= before {
                mesh.position[v] = p;
                break;
            }
        }
    }
}

/// Returns the new position of a border vertex. It is closer to the middle of the two neighbours on the border, and
/// closer to the zero of the region's field.
fn onto_border(body: &Body, mesh: &TriMesh, of_face: &[u8], v: u32) -> Vec3 {
    let p = mesh.position[v as usize];
    let (mut sum, mut n, mut upper) = (Vec3::ZERO, 0.0, 0);
    for h in mesh.ring(v) {
        upper = upper.max(of_face[h as usize / 3]);
        // An edge between two regions belongs to the border.
        if of_face[h as usize / 3] != of_face[mesh.twin(h) as usize / 3]
            && let Some((_, w)) = mesh.edge(h)
        {
            sum += mesh.position[w as usize];
            n += 1.0;
        }
    }
    let mut to = if n == 2.0 { p + (sum / n - p) * 0.4 } else { p };
    let normal = body.shape.normal(p);
    let u = normal.any_orthonormal_vector();
    let w = normal.cross(u);
    let length = mesh.length[v as usize];
    for _ in 0..2 {
        let (e, at) = (0.05 * length, value(body, upper, to));
        let slope =
            u * ((value(body, upper, to + u * e) - at) / e) + w * ((value(body, upper, to + w * e) - at) / e);
        let step = slope * (at / slope.length_squared().max(1e-6));
        to -= step.clamp_length_max(0.35 * length);
    }
    body.shape.project(to, length)
}
