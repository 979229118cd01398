//! Computes missing normals and repairs normals without unit length.

use super::item::Item;
use crate::base::math::Vec3;

/// Computes smooth normals: per vertex the mean of its triangles' normals, weighted by area and by the angle at the
/// vertex (after Max, "Weights for computing vertex normals from facet normals", 1999). A vertex without a
/// non-degenerate triangle gets +Y.
pub(super) fn smooth(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut sums = vec![glam::DVec3::ZERO; positions.len()];
    for triangle in triangles {
        let corner = triangle.map(|v| positions[v as usize].as_dvec3());
        for i in 0..3 {
            let (a, b) = (corner[(i + 1) % 3] - corner[i], corner[(i + 2) % 3] - corner[i]);
            let cross = a.cross(b);
            let angle = cross.length().atan2(a.dot(b));
            sums[triangle[i] as usize] += cross * angle;
        }
    }
    sums.iter().map(|sum| sum.normalize_or(glam::DVec3::Y).as_vec3()).collect()
}

/// Normalises the file's normals. Zero and non-finite normals are replaced by smooth normals of the triangles.
pub(super) fn mend(item: &Item, normals: &mut [Vec3], positions: &[Vec3], triangles: &[[u32; 3]]) {
    let mut wrong = Vec::new();
    for (vertex, normal) in normals.iter_mut().enumerate() {
        match normal.as_dvec3().try_normalize() {
            Some(unit) if normal.is_finite() && normal.length_squared() > 1e-8 => *normal = unit.as_vec3(),
            _ => wrong.push(vertex),
        }
    }
    if !wrong.is_empty() {
        item.mend(format!("{} normals have no length; they were computed from the triangles", wrong.len()));
        let computed = smooth(positions, triangles);
        for vertex in wrong {
            normals[vertex] = computed[vertex];
        }
    }
}
