//! Cages and meshes for tests.

use super::CageMesh;
use crate::base::math::{DVec3, Vec3};
pub use crate::base::testing::shared;
use std::path::Path;

/// Creates a cube of quads, from `low` to `high` along each axis.
pub fn cube(low: f64, high: f64) -> CageMesh {
    let side = |n: usize, k: usize| if n >> k & 1 == 1 { high } else { low };
    let positions = (0..8).map(|n| DVec3::new(side(n, 0), side(n, 1), side(n, 2))).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    CageMesh { positions, faces: quads.iter().map(|q| q.to_vec()).collect() }
}

/// Creates a ball of triangles with `rings * around + 2` vertices.
pub fn ball(rings: usize, around: usize) -> CageMesh {
    let mut out = CageMesh { positions: vec![DVec3::Y], faces: Vec::new() };
    for r in 1..=rings {
        let (sine, cosine) = (std::f64::consts::PI * r as f64 / (rings + 1) as f64).sin_cos();
        for a in 0..around {
            let (s, c) = (std::f64::consts::TAU * a as f64 / around as f64).sin_cos();
            out.positions.push(DVec3::new(sine * c, cosine, sine * s));
        }
    }
    out.positions.push(-DVec3::Y);
    let at = |r: usize, a: usize| (1 + r * around + a % around) as u32;
    let last = out.positions.len() as u32 - 1;
    for a in 0..around {
        out.faces.push(vec![0, at(0, a + 1), at(0, a)]);
        out.faces.extend((1..rings).map(|r| vec![at(r - 1, a), at(r - 1, a + 1), at(r, a + 1), at(r, a)]));
        out.faces.push(vec![last, at(rings - 1, a), at(rings - 1, a + 1)]);
    }
    out
}

/// Reads the vertices of an .obj file.
pub fn vertices(path: &Path) -> Vec<Vec3> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("v "));
    let number = |line: &str| {
        let x: Vec<f32> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        Vec3::new(x[0], x[1], x[2])
    };
    lines.map(number).collect()
}
