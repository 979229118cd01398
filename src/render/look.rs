//! The studio in which characters are shown: three analytic lights, a sky and a floor. How the surface is shaded.

use super::silhouettes::SilhouetteOptions;
use super::view::View;
use crate::base::math::{Aabb, Mat4, Turn, Vec3};
use crate::{shared_constants, shared_with_shaders};
use serde::{Deserialize, Serialize};

/// How the surface is shaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shading {
    /// By the materials of the file.
    #[default]
    Textured,
    /// As clay, which shows the shape without materials, textures and shadows (`glsl/lib/clay.glsl`).
    Clay,
}

impl Shading {
    /// All kinds of shading, in the order of the interface.
    pub const ALL: [Self; 2] = [Self::Textured, Self::Clay];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        ["Textured", "Clay"][self as usize]
    }
}

/// Whether ambient light is occluded, see [`Look::occlusion`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occlusion {
    /// On a GPU only: software drivers are too slow.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl Occlusion {
    /// All choices, in the order of the interface.
    pub const ALL: [Self; 3] = [Self::Auto, Self::On, Self::Off];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        ["Auto", "On", "Off"][self as usize]
    }

    /// Returns the next choice. After the last choice, the first one follows.
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    /// Whether it is on with a device that is a software driver or not.
    pub fn is_on(self, software: bool) -> bool {
        self == Self::On || (self == Self::Auto && !software)
    }
}

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
    /// How the surface is shaded.
    pub shading: Shading,
    /// Whether parts of the surface take ambient light from other parts that are near (ambient occlusion). The distance
    /// is 5 % of the diagonal of the character's rest box. Only visible parts count.
    pub occlusion: bool,
    /// The silhouettes to colour over the surface; `None` colours none.
    pub silhouettes: Option<SilhouetteOptions>,
    /// Whether to outline the part of the surface that [`super::Scene::outline`] has set.
    pub outline: bool,
    /// Whether the backdrop is transparent, for a headset that shows the room behind it. The floor then only darkens what is
    /// behind it. The picture's colours are multiplied by its alpha.
    pub clear: bool,
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
            shading: Shading::Textured,
            occlusion: false,
            silhouettes: None,
            outline: false,
            clear: false,
            backdrop,
            exposure: 1.0,
            scale: 1.0,
            anaglyph: false,
        }
    }
}

shared_constants! {
    "types/lighting.glsl" {
        /// Look flag: the key light casts shadows.
        const LOOK_SHADOW: u32 = 1;
        /// Look flag: a floor is drawn.
        const LOOK_FLOOR: u32 = 2;
        /// Look flag: the triangle edges are drawn.
        const LOOK_WIRE: u32 = 4;
        /// Look flag: the surface is shaded as clay, without its materials.
        const LOOK_CLAY: u32 = 8;
        /// Look flag: the surface receives less ambient light where other parts of it are near.
        const LOOK_OCCLUSION: u32 = 16;
        /// Look flag: the backdrop is transparent.
        const LOOK_CLEAR: u32 = 32;
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
        pub exposure: f32,
        pub head: Vec3,
        pub head_up: Vec3,
        pub occlusion_radius: f32,
        pub occlusion_texels: [f32; 2],
    }
}

/// The picture for which [`Look::lighting`] computes the lights.
pub(super) struct Canvas<'a> {
    /// One view, or the views of both eyes.
    pub views: &'a [View],
    /// Size of the picture, pixels.
    pub size: [u32; 2],
    /// Size of the image of the ambient occlusion, texels.
    pub occlusion_size: [u32; 2],
    /// Distance from which a surface takes ambient light, metres.
    pub occlusion_radius: f32,
}

impl Look {
    /// Returns the lights for a model in a picture. The lights rotate with the first eye around the model, so that the
    /// visible side is always lit.
    pub(super) fn lighting(&self, bounds: &Aabb, canvas: &Canvas<'_>) -> Lighting {
        let view = &canvas.views[0];
        let (head, head_up) = head_of(canvas.views);
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
            flags: [
                (self.shadows, LOOK_SHADOW),
                (self.floor, LOOK_FLOOR),
                (self.wire, LOOK_WIRE),
                (self.shading == Shading::Clay, LOOK_CLAY),
                (self.occlusion, LOOK_OCCLUSION),
                (self.clear, LOOK_CLEAR),
            ]
            .iter()
            .fold(0, |flags, (on, flag)| if *on { flags | flag } else { flags }),
            scale: self.scale,
            height: canvas.size[1] as f32,
            exposure: e,
            head,
            head_up,
            occlusion_radius: canvas.occlusion_radius,
            occlusion_texels: [0, 1].map(|i| canvas.occlusion_size[i] as f32 / canvas.size[i] as f32),
        }
    }
}

/// Returns the middle between the eyes and the upward direction of the head without its roll, see `glsl/lib/clay.glsl`. A
/// head that looks straight up or down has no roll about the vertical axis; then the direction is that of the image.
fn head_of(views: &[View]) -> (Vec3, Vec3) {
    let sum = |of: fn(&View) -> Vec3| views.iter().map(of).sum::<Vec3>();
    let eye = sum(|v| v.eye) / views.len().max(1) as f32;
    let forward = sum(|v| v.ray_right.cross(v.ray_down)).normalize_or(Vec3::NEG_Z);
    let image_up = sum(|v| -v.ray_down).normalize_or(Vec3::Y);
    let steep = ((forward.y.abs() - 0.9) / 0.09).clamp(0.0, 1.0);
    let steep = steep * steep * (3.0 - 2.0 * steep);
    (eye, Vec3::Y.lerp(image_up, steep).normalize_or(Vec3::Y))
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
    use crate::base::math::Quat;
    use crate::render::Tangents;

    #[test]
    fn the_roll_of_the_head_does_not_change_its_upward_direction() {
        let tangents = Tangents { left: -0.9, right: 0.7, up: 0.8, down: -0.8 };
        let head = |yaw: f32, pitch: f32, roll: f32| {
            let turn =
                Quat::from_rotation_y(yaw) * Quat::from_rotation_x(pitch) * Quat::from_rotation_z(roll);
            let eye = |x: f32| View::new(Vec3::Y * 1.6 + turn * (Vec3::X * x), turn, tangents, 0.01);
            head_of(&[eye(-0.03), eye(0.03)])
        };
        for pitch in [-0.9, 0.0, 0.5] {
            let (middle, up) = head(0.7, pitch, 0.0);
            assert!((middle - Vec3::Y * 1.6).length() < 1e-6 && up.distance(Vec3::Y) < 1e-6);
            assert_eq!(head(0.7, pitch, 0.6), (head(0.7, pitch, 0.6).0, up));
        }
        // Straight down, the upper edge of the image is ahead.
        let (_, up) = head(0.0, -std::f32::consts::FRAC_PI_2, 0.0);
        assert!(up.distance(Vec3::NEG_Z) < 1e-5, "{up}");
    }

    #[test]
    fn ambient_occlusion_is_off_with_software_drivers_unless_it_is_wanted() {
        let on = |software: bool| Occlusion::ALL.map(|o| o.is_on(software));
        assert_eq!((on(true), on(false)), ([false, true, false], [true, true, false]));
        assert_eq!(Occlusion::Off.next(), Occlusion::Auto);
    }

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
