//! A long dog without a skeleton, as a test mesh for rigging. The dog faces +Z.

use super::contour::{contour, largest_piece};
use super::implicit::{Cone, Implicit, Layer};
use super::remesh::remesh;
use super::trimesh::TriMesh;
use crate::base::math::Vec3;

const fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Cell size of the first contour, metres.
const CELL: f32 = 0.016;

/// Generates the surface of a dog, 1.6 m long, with `vertices` vertices. Units are metres; the ground is at y = 0.
pub fn hound(vertices: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    surface(parts(), vertices)
}

/// Generates the surface of one body of cones with `vertices` vertices, in metres.
pub(super) fn surface(cones: Vec<Cone>, vertices: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut layer = Layer::new(0.0);
    cones.into_iter().for_each(|cone| layer.add(cone));
    let shape = Implicit { layers: vec![layer], ..Implicit::default() };
    let (positions, triangles) = contour(&shape, CELL);
    let (positions, triangles) = largest_piece(&positions, &triangles);
    match TriMesh::new(positions.clone(), &triangles) {
        Some(mut mesh) => {
            remesh(&mut mesh, &shape, vertices, 7);
            (mesh.position.clone(), mesh.triangles())
        }
        None => (positions, triangles),
    }
}

fn parts() -> Vec<Cone> {
    let mut out = vec![
        Cone::new(v(0.0, 0.36, 0.42), 0.15, v(0.0, 0.345, -0.42), 0.13),
        // Neck, head, snout, nose.
        Cone::new(v(0.0, 0.42, 0.47), 0.115, v(0.0, 0.62, 0.64), 0.085).blend(0.06),
        Cone::ellipsoid(v(0.0, 0.66, 0.69), v(0.095, 0.095, 0.12)).blend(0.04),
        Cone::new(v(0.0, 0.64, 0.77), 0.062, v(0.0, 0.61, 0.92), 0.042).blend(0.03),
        Cone::ball(v(0.0, 0.635, 0.955), 0.022).blend(0.01),
        // Tail.
        Cone::new(v(0.0, 0.40, -0.50), 0.045, v(0.0, 0.58, -0.74), 0.018).blend(0.05),
    ];
    for s in [1.0, -1.0] {
        let ear = Cone::new(v(0.10 * s, 0.70, 0.66), 0.034, v(0.135 * s, 0.54, 0.66), 0.042);
        out.push(ear.scaled(Vec3::X, 0.6).blend(0.015));
        for (z, thigh) in [(0.40, 0.075), (-0.40, 0.09)] {
            let (top, foot) = (v(0.085 * s, 0.29, z), v(0.10 * s, 0.06, z + 0.01));
            out.push(Cone::new(top, thigh, foot, 0.046).blend(0.05));
            out.push(Cone::ellipsoid(foot + v(0.0, -0.012, 0.035), v(0.05, 0.046, 0.07)).blend(0.03));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn the_hound_is_closed_and_has_the_size_of_one() {
        let (positions, triangles) = hound(3000);
        assert_eq!(positions.len(), 3000);
        let mut edges: HashMap<[u32; 2], i32> = HashMap::new();
        for t in &triangles {
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                *edges.entry([a.min(b), a.max(b)]).or_default() += if a < b { 1 } else { -1 };
            }
        }
        assert!(edges.values().all(|n| *n == 0), "an edge has one side only");
        let high = positions.iter().map(|p| p.y).fold(f32::MIN, f32::max);
        let (back, front) = positions.iter().fold((0.0f32, 0.0f32), |(a, b), p| (a.min(p.z), b.max(p.z)));
        assert!((0.6..0.9).contains(&high) && (1.4..1.9).contains(&(front - back)));
    }
}
