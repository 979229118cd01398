//! Vertex normals from triangles.

use crate::base::math::Vec3;

/// Returns unit vertex normals: area-weighted means of adjacent triangle normals; +Y for a vertex without area.
pub fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut sums = vec![Vec3::ZERO; positions.len()];
    for t in triangles {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        let doubled_area = (b - a).cross(c - a);
        for &v in t {
            sums[v as usize] += doubled_area;
        }
    }
    let largest = sums.iter().fold(0.0f32, |m, n| m.max(n.abs().max_element()));
    let scale = if largest > 0.0 && largest.is_finite() { 1.0 / largest } else { 1.0 };
    sums.into_iter().map(|n| (n * scale).try_normalize().unwrap_or(Vec3::Y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_triangle_weighs_more() {
        let p = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(0.0, 0.0, 3.0), Vec3::NEG_ONE];
        let n = vertex_normals(&p, &[[0, 1, 2], [0, 2, 3]]);
        assert!(n[0].distance(Vec3::new(3.0, 0.0, 1.0).normalize()) < 1e-6);
        assert_eq!(n[1], Vec3::Z);
        assert_eq!(n[4], Vec3::Y);
    }

    #[test]
    fn tiny_triangles_have_normals_too() {
        let p = [Vec3::ZERO, Vec3::X * 1e-15, Vec3::Y * 1e-15];
        assert_eq!(vertex_normals(&p, &[[0, 1, 2]])[2], Vec3::Z);
    }
}
