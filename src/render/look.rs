//! The studio in which characters are shown: three analytic lights, a sky and a floor.

use super::silhouettes::SilhouetteOptions;
use super::view::View;
use crate::base::math::{Aabb, Mat4, Turn, Vec3};
use crate::gpu::constants::{LOOK_FLOOR, LOOK_SHADOW, LOOK_WIRE};
use crate::shared_with_shaders;

/// Lighting and surroundings of a rendered image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Whether the key light casts shadows.
    pub shadows: bool,
    /// Whether to draw a floor with a fine grid under the model.
    pub floor: bool,
    /// Transform from floor space to world space; the grid lies in the floor's plane.
    pub world_from_floor: Turn,
    /// Whether to draw the triangle edges of the surface. The lines are one point wide, but at least one pixel.
    pub wire: bool,
    /// Whether to draw the surface curved between its vertices (Phong tessellation; thesis, section 6.5). Devices
    /// without tessellation shaders draw flat triangles, and so does [`Self::wire`], which shows the triangles.
    pub phong: bool,
    /// The silhouettes to colour over the surface; `None` colours none.
    pub silhouettes: Option<SilhouetteOptions>,
    /// Linear colours at the top and the bottom of the backdrop.
    pub backdrop: [Vec3; 2],
    /// Factor on the brightness of all lights.
    pub exposure: f32,
    /// Pixels per point, the unit of line widths.
    pub scale: f32,
    /// Whether to combine both views as a red-cyan anaglyph in the first view's image.
    pub anaglyph: bool,
}

impl Default for Look {
    fn default() -> Self {
        let backdrop = [Vec3::new(0.50, 0.52, 0.55), Vec3::new(0.36, 0.37, 0.39)];
        Self {
            shadows: true,
            floor: true,
            world_from_floor: Turn::NONE,
            wire: false,
            phong: false,
            silhouettes: None,
            backdrop,
            exposure: 1.0,
            scale: 1.0,
            anaglyph: false,
        }
    }
}

shared_with_shaders! {
    /// Lights and look in the layout of `glsl/types/lighting.glsl`.
    #[derive(Debug)]
    pub(super) struct Lighting as "Lighting" {
        /// Column-major matrix from world space to the clip space of the shadow map.
        pub shadow_from_world: [[f32; 4]; 4],
        pub key_direction: Vec3,
        pub key_color: Vec3,
        pub fill_direction: Vec3,
        pub fill_color: Vec3,
        pub rim_direction: Vec3,
        pub rim_color: Vec3,
        pub sky_color: Vec3,
        pub floor_color: Vec3,
        pub background_top: Vec3,
        pub background_bottom: Vec3,
        pub center: Vec3,
        pub radius: f32,
        pub floor_height: f32,
        /// Cosine and sine of the rotation angle from floor space to world space.
        pub floor_turn: [f32; 2],
        /// Translation from floor space to world space along x and z, metres.
        pub floor_shift: [f32; 2],
        pub grid_spacing: f32,
        pub flags: u32,
        pub scale: f32,
        /// Height of the picture, pixels.
        pub height: f32,
    }
}

impl Look {
    /// Returns the lights for a model and an eye, in a picture of a height in pixels. The lights rotate with the eye around the model, so that the visible
    /// side is always lit.
    pub(super) fn lighting(&self, bounds: &Aabb, view: &View, height: u32) -> Lighting {
        let center = bounds.center();
        let radius = (bounds.diagonal() * 0.5).max(f32::MIN_POSITIVE);
        let away = view.eye - center;
        let forth = Vec3::new(away.x, 0.0, away.z).normalize_or(Vec3::Z);
        let right = Vec3::Y.cross(forth);
        let toward = |x: f32, y: f32, z: f32| (right * x + Vec3::Y * y + forth * z).normalize();
        let key_direction = toward(-0.55, 0.95, 0.75);
        let e = self.exposure;
        Lighting {
            shadow_from_world: shadow(key_direction, center, radius).to_cols_array_2d(),
            key_direction,
            key_color: Vec3::new(1.0, 0.96, 0.90) * 0.74 * e,
            fill_direction: toward(0.9, 0.25, 0.6),
            fill_color: Vec3::new(0.75, 0.85, 1.0) * 0.13 * e,
            rim_direction: toward(0.45, 0.55, -0.9),
            rim_color: Vec3::new(0.9, 0.95, 1.0) * 0.38 * e,
            sky_color: Vec3::new(0.60, 0.64, 0.70) * 0.54 * e,
            floor_color: Vec3::new(0.42, 0.39, 0.37) * 0.45 * e,
            background_top: self.backdrop[0],
            background_bottom: self.backdrop[1],
            center,
            radius,
            floor_height: bounds.min.y,
            floor_turn: [self.world_from_floor.angle.cos(), self.world_from_floor.angle.sin()],
            floor_shift: self.world_from_floor.shift,
            grid_spacing: grid_spacing(radius),
            flags: [(self.shadows, LOOK_SHADOW), (self.floor, LOOK_FLOOR), (self.wire, LOOK_WIRE)]
                .iter()
                .fold(0, |flags, (on, flag)| if *on { flags | flag } else { flags }),
            scale: self.scale,
            height: height as f32,
        }
    }
}

/// Returns the spacing of the floor grid: a power of ten near a quarter of the model's radius.
fn grid_spacing(radius: f32) -> f32 {
    10f32.powf((radius * 0.25).log10().round())
}

/// Returns the orthographic shadow projection around the model's bounding sphere, with reversed depth.
fn shadow(direction: Vec3, center: Vec3, radius: f32) -> Mat4 {
    let side = Vec3::Y.cross(direction).normalize_or(Vec3::X);
    let up = direction.cross(side);
    let scale = 1.0 / (radius * 1.1);
    let rows = [side * scale, up * scale, direction * (0.5 * scale)];
    let offset = [0.0, 0.0, 0.5];
    let column = |axis: usize| Vec3::from_array(rows.map(|r| r[axis])).extend(0.0);
    let moved: [f32; 3] = std::array::from_fn(|i| offset[i] - rows[i].dot(center));
    Mat4::from_cols(column(0), column(1), column(2), Vec3::from_array(moved).extend(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shadow_picture_holds_the_sphere_with_the_light_at_depth_one() {
        let (direction, center) = (Vec3::new(0.3, 0.8, 0.5).normalize(), Vec3::new(5.0, 1.0, -2.0));
        let m = shadow(direction, center, 2.0);
        assert!((m.transform_point3(center) - Vec3::new(0.0, 0.0, 0.5)).length() < 1e-5);
        let lit = m.transform_point3(center + direction * 2.0);
        assert!(lit.z > 0.9 && lit.z < 1.0);
        assert!((0.1..=1.0).contains(&(grid_spacing(1.0) / 0.4)));
    }
}
