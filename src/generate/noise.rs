//! Smooth noise from integer arithmetic and polynomials, with its gradient.

use crate::base::math::Vec3;

/// Returns a fixed pseudo-random number in -1..1 for a lattice point.
fn lattice(x: i32, y: i32, z: i32) -> f32 {
    let mut h = (x as u32).wrapping_mul(0x8da6_b343)
        ^ (y as u32).wrapping_mul(0xd816_3841)
        ^ (z as u32).wrapping_mul(0xcb1a_b31f);
    h = (h ^ (h >> 15)).wrapping_mul(0x2c1b_3c6d);
    h = (h ^ (h >> 12)).wrapping_mul(0x297a_2d39);
    h ^= h >> 15;
    (h >> 8) as f32 / 8_388_608.0 - 1.0
}

/// Returns value noise in -1..1, twice continuously differentiable, and its gradient; one lattice point per unit.
pub(super) fn noise(p: Vec3) -> (f32, Vec3) {
    let cell = p.floor();
    let f = p - cell;
    let [x, y, z] = cell.as_ivec3().to_array();
    let fade = |t: f32| (t * t * t * (t * (t * 6.0 - 15.0) + 10.0), 30.0 * t * t * (t - 1.0) * (t - 1.0));
    let axes = [fade(f.x), fade(f.y), fade(f.z)];
    let (mut value, mut gradient) = (0.0, [0.0; 3]);
    for corner in 0..8 {
        let bit = |axis: usize| corner >> axis & 1;
        let at = lattice(x + bit(0), y + bit(1), z + bit(2));
        let weight = |axis: usize| if bit(axis) == 1 { axes[axis].0 } else { 1.0 - axes[axis].0 };
        let slope = |axis: usize| if bit(axis) == 1 { axes[axis].1 } else { -axes[axis].1 };
        value += at * weight(0) * weight(1) * weight(2);
        gradient[0] += at * slope(0) * weight(1) * weight(2);
        gradient[1] += at * weight(0) * slope(1) * weight(2);
        gradient[2] += at * weight(0) * weight(1) * slope(2);
    }
    (value, Vec3::from_array(gradient))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_the_derivative() {
        for p in [Vec3::new(0.3, -1.7, 2.2), Vec3::new(-4.1, 0.9, 0.5)] {
            let (_, gradient) = noise(p);
            for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                let slope = (noise(p + axis * 0.01).0 - noise(p - axis * 0.01).0) / 0.02;
                assert!((slope - gradient.dot(axis)).abs() < 0.01);
            }
        }
        assert!((0..200).all(|i| noise(Vec3::new(i as f32 * 0.37, i as f32 * 0.11, 0.4)).0.abs() <= 1.0));
    }
}
