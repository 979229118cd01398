//! An elephant without a skeleton, as a test mesh for points of the skin. The elephant faces +Z.

use super::hound::surface;
use super::implicit::Cone;
use crate::base::math::Vec3;

const fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Middle line of the trunk from head to tip, each point with its radius, metres.
const TRUNK: [(Vec3, f32); 5] = [
    (v(0.0, 0.86, 0.72), 0.115),
    (v(0.0, 0.70, 0.89), 0.088),
    (v(0.0, 0.50, 0.96), 0.070),
    (v(0.0, 0.31, 0.98), 0.056),
    (v(0.0, 0.17, 1.03), 0.046),
];

/// Generates the surface of an elephant, 1.6 m long, with `vertices` vertices. Units are metres; the ground is at
/// y = 0. The trunk's tip is at (0, 0.13, 1.05).
pub fn elephant(vertices: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    surface(parts(), vertices)
}

fn parts() -> Vec<Cone> {
    let mut out = vec![
        Cone::new(v(0.0, 0.72, 0.24), 0.30, v(0.0, 0.74, -0.20), 0.31),
        Cone::new(v(0.0, 0.84, 0.36), 0.20, v(0.0, 0.92, 0.60), 0.20).blend(0.10),
        // Tail.
        Cone::new(v(0.0, 0.84, -0.49), 0.032, v(0.0, 0.50, -0.60), 0.020).blend(0.05),
    ];
    for pair in TRUNK.windows(2) {
        let [(a, ra), (b, rb)] = [pair[0], pair[1]];
        out.push(Cone::new(a, ra, b, rb).blend(0.05));
    }
    for s in [1.0, -1.0] {
        out.push(Cone::ellipsoid(v(0.26 * s, 0.88, 0.48), v(0.16, 0.21, 0.045)).blend(0.05));
        for z in [0.27, -0.28] {
            let foot = v(0.19 * s, 0.06, z);
            out.push(Cone::new(v(0.17 * s, 0.55, z), 0.145, foot, 0.105).cut(Vec3::NEG_Y, 0.0).blend(0.07));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_elephant_is_one_closed_piece_with_a_trunk() {
        let (positions, triangles) = elephant(2500);
        assert_eq!(positions.len(), 2500);
        // A closed surface of genus 0: V - E + F = 2 with E = 3/2 F.
        assert_eq!(triangles.len(), 2 * (positions.len() - 2));
        let tip = positions.iter().map(|p| p.distance(v(0.0, 0.13, 1.05))).fold(f32::MAX, f32::min);
        assert!(tip < 0.06, "{tip}");
    }
}
