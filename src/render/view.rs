//! Views: a camera gives one view or a stereo pair of views.

use crate::base::math::{Aabb, Mat3, Mat4, Quat, Vec3, Vec4};
use crate::shared_with_shaders;

shared_with_shaders! {
    /// The view of one eye, as in `glsl/types/view.glsl`. Reversed depth: 1 at the near plane, 0 at infinity.
    #[derive(Debug, PartialEq)]
    pub struct View as "View" {
        /// Projection from world to clip space, with +X right, +Y up and reversed depth.
        pub clip_from_world: Mat4,
        /// Eye position in world space, metres.
        pub eye: Vec3,
        /// World-space ray direction through the image's upper left corner, at unit distance along the view axis.
        pub ray_corner: Vec3,
        /// World-space vector from the left to the right edge of the image, at unit distance along the view axis.
        pub ray_right: Vec3,
        /// World-space vector from the upper to the lower edge of the image, at unit distance along the view axis.
        pub ray_down: Vec3,
    }
}

impl View {
    /// Creates a view from an eye pose and the tangents of the half angles, as OpenXR runtimes provide them.
    ///
    /// `near` is the distance of the near plane, metres.
    pub fn new(eye: Vec3, rotation: Quat, tangents: Tangents, near: f32) -> Self {
        let Tangents { left, right, up, down } = tangents;
        let (w, h) = (right - left, up - down);
        let clip_from_eye = Mat4::from_cols(
            Vec4::X * (2.0 / w),
            Vec4::Y * (2.0 / h),
            Vec4::new((right + left) / w, (up + down) / h, 0.0, -1.0),
            Vec4::new(0.0, 0.0, near, 0.0),
        );
        let eye_from_world = Mat4::from_rotation_translation(rotation, eye).inverse();
        let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| rotation * axis);
        Self {
            clip_from_world: clip_from_eye * eye_from_world,
            eye,
            ray_corner: x * left + y * up - z,
            ray_right: x * w,
            ray_down: -y * h,
        }
    }

    /// Returns the view of a single pixel: its whole image shows the content of `pixel` in an image of `size` pixels of
    /// this view.
    pub fn of_pixel(&self, pixel: [u32; 2], size: [u32; 2]) -> Self {
        let [w, h] = size.map(|n| n as f32);
        let [u, v] = [(pixel[0] as f32 + 0.5) / w, (pixel[1] as f32 + 0.5) / h];
        // This matrix moves the pixel's centre to the origin and scales the pixel to the full image.
        let cut = Mat4::from_cols(
            Vec4::X * w,
            Vec4::Y * h,
            Vec4::Z,
            Vec4::new((1.0 - 2.0 * u) * w, (2.0 * v - 1.0) * h, 0.0, 1.0),
        );
        let (ray_right, ray_down) = (self.ray_right / w, self.ray_down / h);
        Self {
            clip_from_world: cut * self.clip_from_world,
            eye: self.eye,
            ray_corner: self.ray(u, v) - (ray_right + ray_down) * 0.5,
            ray_right,
            ray_down,
        }
    }

    /// Returns the pixels per point for lines in an eye's image of `size` pixels. Lines have the same angular width at
    /// any resolution. In very coarse images they are wider, because they would vanish otherwise.
    pub fn eye_scale(&self, size: [u32; 2]) -> f32 {
        let pixels = size[1] as f32 / self.ray_down.length().max(f32::MIN_POSITIVE);
        (pixels * Self::POINT).max(Self::LEAST_SCALE)
    }

    /// The angle of one point in a headset, radians: 3 minutes of arc, or one pixel at 20 pixels per degree.
    pub const POINT: f32 = std::f32::consts::PI / 180.0 / 20.0;
    const LEAST_SCALE: f32 = 0.5;

    /// Returns the direction of the ray through image coordinates (0..1, v down); its length is not 1.
    pub fn ray(&self, u: f32, v: f32) -> Vec3 {
        self.ray_corner + self.ray_right * u + self.ray_down * v
    }

    /// Returns the image coordinates (0..1, v down) of a world-space point; `None` for a point behind the eye.
    pub fn project(&self, point: Vec3) -> Option<[f32; 2]> {
        let clip = self.clip_from_world * point.extend(1.0);
        (clip.w > 0.0).then(|| [clip.x / clip.w * 0.5 + 0.5, 0.5 - clip.y / clip.w * 0.5])
    }
}

/// Tangents of a view's four half angles; `left` and `down` are negative in a symmetric view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tangents {
    /// Tangent of the angle to the left edge; negative in a symmetric view.
    pub left: f32,
    /// Tangent of the angle to the right edge; positive in a symmetric view.
    pub right: f32,
    /// Tangent of the angle to the upper edge; positive in a symmetric view.
    pub up: f32,
    /// Tangent of the angle to the lower edge; negative in a symmetric view.
    pub down: f32,
}

/// A camera that looks at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Eye position, world space, metres.
    pub eye: Vec3,
    /// Point that the camera looks at, world space, metres.
    pub target: Vec3,
    /// Approximate up direction.
    pub up: Vec3,
    /// Vertical field of view, radians.
    pub fov_y: f32,
}

impl Camera {
    /// The vertical field of view of [`Camera::framing`], radians; it corresponds to a portrait lens.
    pub const PORTRAIT: f32 = 0.5;

    /// Creates a camera that sees the whole box in an image of this aspect ratio (width over height).
    ///
    /// `yaw` rotates the camera about +Y, `pitch` raises it; both in radians. At `yaw` 0 the camera sees the front of
    /// a character that faces +Z, at π/2 the character's left side.
    pub fn framing(bounds: &Aabb, aspect: f32, yaw: f32, pitch: f32) -> Self {
        let fov_y = Self::PORTRAIT;
        let center = bounds.center();
        let back = Quat::from_rotation_y(yaw) * Quat::from_rotation_x(-pitch) * Vec3::Z;
        let side = Vec3::Y.cross(back).normalize_or(Vec3::X);
        let up = back.cross(side);
        let tan_y = (fov_y * 0.5).tan();
        let tan_x = tan_y * aspect;
        let half = bounds.size() * 0.5;
        // Move back until every corner of the box lies inside the view frustum.
        let distance = (0..8)
            .map(|i| {
                let sign = |bit: i32| if i & bit == 0 { 1.0 } else { -1.0 };
                let corner = half * Vec3::new(sign(1), sign(2), sign(4));
                let needed = (corner.dot(side).abs() / tan_x).max(corner.dot(up).abs() / tan_y);
                needed + corner.dot(back)
            })
            .fold(0.0f32, f32::max);
        let distance = if distance > 0.0 { distance * 1.06 } else { 1.0 };
        Self { eye: center + back * distance, target: center, up: Vec3::Y, fov_y }
    }

    /// Returns `size` or its transpose, whichever lets [`Self::framing`] show the box larger.
    pub fn fitting(bounds: &Aabb, size: [u32; 2], yaw: f32, pitch: f32) -> [u32; 2] {
        let shown = |[width, height]: [u32; 2]| {
            let camera = Self::framing(bounds, width as f32 / height as f32, yaw, pitch);
            height as f32 / camera.eye.distance(camera.target)
        };
        let across = [size[1], size[0]];
        if shown(across) > shown(size) { across } else { size }
    }

    /// Returns the single view of this camera for an aspect ratio (width over height).
    pub fn view(&self, aspect: f32) -> View {
        self.offset_view(aspect, 0.0)
    }

    /// Returns the views of both eyes, `separation` metres apart, with parallel axes and sheared frusta that converge
    /// at the target's distance. For a model of another size than 1.8 m, multiply the usual 0.063 m by size / 1.8 m.
    pub fn stereo(&self, aspect: f32, separation: f32) -> [View; 2] {
        [self.offset_view(aspect, -0.5 * separation), self.offset_view(aspect, 0.5 * separation)]
    }

    fn offset_view(&self, aspect: f32, offset: f32) -> View {
        let back = (self.eye - self.target).normalize_or(Vec3::Z);
        let side = self.up.cross(back).try_normalize().unwrap_or_else(|| back.any_orthonormal_vector());
        let rotation = Quat::from_mat3(&Mat3::from_cols(side, back.cross(side), back));
        let tan_y = (self.fov_y * 0.5).tan();
        let tan_x = tan_y * aspect;
        let distance = self.eye.distance(self.target).max(f32::MIN_POSITIVE);
        let shift = -offset / distance;
        let tangents = Tangents { left: -tan_x + shift, right: tan_x + shift, up: tan_y, down: -tan_y };
        View::new(self.eye + side * offset, rotation, tangents, distance * 1e-3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_sees_every_corner_and_the_box_nearly_fills_the_picture() {
        for (yaw, pitch, aspect) in [(0.0, 0.0, 1.0), (0.7, 0.3, 1.8), (-2.0, -0.4, 0.5)] {
            let bounds = Aabb { min: Vec3::new(-0.9, 0.0, -0.2), max: Vec3::new(0.9, 1.8, 0.3) };
            let view = Camera::framing(&bounds, aspect, yaw, pitch).view(aspect);
            let mut widest = 0.0f32;
            for i in 0..8 {
                let pick =
                    |bit: usize, axis: usize| if i & bit == 0 { bounds.min[axis] } else { bounds.max[axis] };
                let [u, v] = view.project(Vec3::new(pick(1, 0), pick(2, 1), pick(4, 2))).unwrap();
                assert!((0.0..=1.0).contains(&u) && (0.0..=1.0).contains(&v), "{u} {v}");
                widest = widest.max((u - 0.5).abs()).max((v - 0.5).abs());
            }
            assert!(widest > 0.4, "{widest}");
        }
    }

    #[test]
    fn what_is_long_gets_a_picture_across() {
        let of = |x, y, z, yaw| {
            let bounds = Aabb { min: Vec3::ZERO, max: Vec3::new(x, y, z) };
            Camera::fitting(&bounds, [480, 640], yaw, 0.1)
        };
        assert_eq!(of(0.5, 1.8, 0.3, 0.0), [480, 640]);
        assert_eq!(of(0.3, 0.8, 1.9, 0.0), [480, 640]);
        assert_eq!(of(0.3, 0.8, 1.9, std::f32::consts::FRAC_PI_2), [640, 480]);
    }

    #[test]
    fn a_pixels_view_shows_what_the_whole_shows_there() {
        let camera = Camera { eye: Vec3::new(1.0, 2.0, 3.0), target: Vec3::ZERO, up: Vec3::Y, fov_y: 0.8 };
        let (size, pixel) = ([1920, 1080], [1700, 33]);
        for view in camera.stereo(1920.0 / 1080.0, 0.063) {
            let of = |u: f32, v: f32| [(pixel[0] as f32 + u) / 1920.0, (pixel[1] as f32 + v) / 1080.0];
            let small = view.of_pixel(pixel, size);
            for (u, v) in [(0.5, 0.5), (0.0, 1.0), (0.9, 0.2)] {
                let [x, y] = of(u, v);
                assert!(view.ray(x, y).distance(small.ray(u, v)) < 1e-5);
                let point = view.eye + view.ray(x, y) * 2.5;
                let [a, b] = small.project(point).unwrap();
                assert!((a - u).abs() < 2e-3 && (b - v).abs() < 2e-3, "{a} {b}, not {u} {v}");
                let depth = |view: &View| {
                    let clip = view.clip_from_world * point.extend(1.0);
                    clip.z / clip.w
                };
                assert!((depth(&view) - depth(&small)).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn a_point_in_a_headset_has_one_angle_at_any_resolution() {
        let view = Camera { eye: Vec3::Z, target: Vec3::ZERO, up: Vec3::Y, fov_y: 1.6 }.view(1.0);
        let [low, high] = [1200, 2400].map(|n| view.eye_scale([n, n]));
        assert!((high / low - 2.0).abs() < 1e-5);
        assert!((0.9..1.1).contains(&high), "{high} pixels a point at 20 pixels a degree in the middle");
        assert_eq!(view.eye_scale([320, 240]), 0.5);
    }

    #[test]
    fn rays_and_projection_agree_and_depth_is_reversed() {
        let camera = Camera { eye: Vec3::new(1.0, 2.0, 3.0), target: Vec3::ZERO, up: Vec3::Y, fov_y: 0.8 };
        for view in camera.stereo(1.5, 0.063) {
            let point = view.eye + view.ray(0.2, 0.7) * 2.5;
            let [u, v] = view.project(point).unwrap();
            assert!((u - 0.2).abs() < 1e-5 && (v - 0.7).abs() < 1e-5);
            let depth = |t: f32| {
                let clip = view.clip_from_world * (view.eye + view.ray(0.5, 0.5) * t).extend(1.0);
                clip.z / clip.w
            };
            assert!(depth(1.0) > depth(2.0) && depth(2.0) > 0.0);
        }
        let [left, right] = camera.stereo(1.5, 0.063);
        let (l, r) = (left.project(Vec3::ZERO).unwrap(), right.project(Vec3::ZERO).unwrap());
        assert!((l[0] - r[0]).abs() < 1e-5, "the target has no parallax");
    }
}
