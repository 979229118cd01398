//! Thickness of a body below its surface.

use super::ray_triangle;
use crate::base::math::{DVec3, Vec3};
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::ray::{Ray, RayHit};
use obvhs::{BvhBuildParams, bvh2::builder::build_bvh2};
use std::time::Duration;

/// Measures a body's thickness by rays.
pub struct Thickness {
    corners: Vec<[Vec3; 3]>,
    bvh: Option<Bvh2>,
}

impl Thickness {
    /// Prepares the surface's triangles.
    pub fn new(positions: &[DVec3], triangles: &[[u32; 3]]) -> Self {
        let corners: Vec<[Vec3; 3]> =
            triangles.iter().map(|t| t.map(|v| positions[v as usize].as_vec3())).collect();
        let boxes: Vec<Aabb> = corners.iter().map(|c| Aabb::from_points(&c.map(Into::into))).collect();
        let build = || build_bvh2(&boxes, BvhBuildParams::fast_build(), &mut Duration::default());
        Self { bvh: (!boxes.is_empty()).then(build), corners }
    }

    /// Returns the distance from a surface point `x` to the next intersection with the surface along `-normal`; `None`
    /// if there is no intersection. The ray starts at the distance `skip` below `x`, so that it does not hit the
    /// surface at `x`.
    pub fn below(&self, x: DVec3, normal: DVec3, skip: f64) -> Option<f64> {
        let (from, along) = ((x - normal * skip).as_vec3(), -normal.as_vec3());
        let mut hit = RayHit::none();
        let bvh = self.bvh.as_ref()?;
        let found = bvh.ray_traverse(Ray::new_inf(from.into(), along.into()), &mut hit, |_, primitive| {
            let corners = self.corners[bvh.primitive_indices[primitive] as usize];
            ray_triangle(from, along, corners).map_or(f32::INFINITY, |h| h.0)
        });
        found.then_some(f64::from(hit.t) + skip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thickness_of_a_slab_is_the_distance_of_its_sides() {
        let corner = |k: f64| [DVec3::new(-9.0, -9.0, k), DVec3::new(9.0, -9.0, k), DVec3::new(0.0, 9.0, k)];
        let positions = [corner(0.0), corner(0.7)].concat();
        let flesh = Thickness::new(&positions, &[[0, 2, 1], [3, 4, 5]]);
        let found = flesh.below(DVec3::new(0.1, 0.2, 0.7), DVec3::Z, 0.01).unwrap();
        assert!((found - 0.7).abs() < 1e-6, "{found}");
        assert!(flesh.below(DVec3::ZERO, DVec3::Z, 0.01).is_none());
        assert!(Thickness::new(&[], &[]).below(DVec3::ZERO, DVec3::Z, 0.01).is_none());
    }
}
