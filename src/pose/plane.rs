//! The working plane in world space on which a mouse draws (thesis 7.2).

use crate::base::math::{Mat4, Vec3};

/// The plane on which 2D devices draw, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkingPlane {
    /// Point on the plane, metres; by default the skeleton's root.
    pub origin: Vec3,
    /// Unit normal; by default towards the camera.
    pub normal: Vec3,
}

impl WorkingPlane {
    /// Returns the plane through `origin` that faces a camera.
    pub fn facing(origin: Vec3, camera: Vec3) -> Self {
        Self { origin, normal: (camera - origin).normalize_or(Vec3::Z) }
    }

    /// Intersects a ray with the plane; `None` if the ray is parallel or the plane lies behind its origin.
    pub fn hit(&self, from: Vec3, direction: Vec3) -> Option<Vec3> {
        let slope = self.normal.dot(direction);
        if slope.abs() < 1e-6 * direction.length() {
            return None;
        }
        let distance = self.normal.dot(self.origin - from) / slope;
        let hit = from + direction * distance;
        (distance > 0.0 && hit.is_finite()).then_some(hit)
    }
}

/// Returns the ray through a pixel: origin and unit direction in world space. Pixel (0, 0) is the top left corner.
/// `world_from_clip` is the inverse of projection times view. Any depth range works (standard, or reversed with an
/// infinite far plane), because every depth lies on the ray.
pub fn ray_through(pixel: [f32; 2], size: [u32; 2], camera: Vec3, world_from_clip: &Mat4) -> (Vec3, Vec3) {
    let x = 2.0 * pixel[0] / size[0].max(1) as f32 - 1.0;
    let y = 1.0 - 2.0 * pixel[1] / size[1].max(1) as f32;
    let on_ray = world_from_clip.project_point3(Vec3::new(x, y, 0.5));
    (camera, (on_ray - camera).normalize_or(Vec3::NEG_Z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::{Quat, Vec4};

    #[test]
    fn a_pixel_and_its_plane_point_project_back() {
        let eye = Vec3::new(1.0, 2.0, 5.0);
        let turn = Quat::from_rotation_y(0.2) * Quat::from_rotation_x(-0.2);
        let world_from_camera = Mat4::from_rotation_translation(turn, eye);
        // Reversed depth with an infinite far plane, a field of view of 46 degrees and an aspect ratio of 1.6.
        let focal = 1.0 / 0.4_f32.tan();
        let clip_from_camera = Mat4::from_cols(
            Vec4::X * (focal / 1.6),
            Vec4::Y * focal,
            Vec4::new(0.0, 0.0, 0.0, -1.0),
            Vec4::new(0.0, 0.0, 0.1, 0.0),
        );
        let clip_from_world = clip_from_camera * world_from_camera.inverse();
        let plane = WorkingPlane::facing(Vec3::Y, eye);
        for pixel in [[800.0, 500.0], [10.0, 20.0], [1500.0, 990.0]] {
            let (from, direction) = ray_through(pixel, [1600, 1000], eye, &clip_from_world.inverse());
            let hit = plane.hit(from, direction).unwrap();
            assert!(plane.normal.dot(hit - plane.origin).abs() < 1e-5);
            let ndc = clip_from_world.project_point3(hit);
            let back = [(ndc.x + 1.0) * 800.0, (1.0 - ndc.y) * 500.0];
            assert!((back[0] - pixel[0]).abs() < 0.05 && (back[1] - pixel[1]).abs() < 0.05, "{back:?}");
        }
        assert!(plane.hit(eye, plane.normal).is_none());
        assert!(plane.hit(eye, plane.normal.any_orthonormal_vector()).is_none());
    }
}
