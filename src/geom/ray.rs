//! Intersection of a ray with a triangle.

use crate::base::math::Vec3;

/// Intersects a ray with both sides of a triangle (T. Möller and B. Trumbore, *Fast, Minimum Storage Ray/Triangle
/// Intersection*, 1997). Returns the distance, in multiples of the length of `ray`, and the hit's barycentric weights.
pub fn ray_triangle(from: Vec3, ray: Vec3, [a, b, c]: [Vec3; 3]) -> Option<(f32, [f32; 3])> {
    let (u, v) = (b - a, c - a);
    let p = ray.cross(v);
    let determinant = u.dot(p);
    if determinant.abs() <= f32::MIN_POSITIVE {
        return None;
    }
    let to = from - a;
    let wb = to.dot(p) / determinant;
    let q = to.cross(u);
    let wc = ray.dot(q) / determinant;
    let distance = v.dot(q) / determinant;
    let inside = wb >= 0.0 && wc >= 0.0 && wb + wc <= 1.0 && distance > 0.0;
    inside.then_some((distance, [1.0 - wb - wc, wb, wc]))
}
