//! Converts the mouse to a tracked hand. The hand's tip lies where the ray through the mouse's pixel meets a plane or
//! the skin.
//!
//! The room space of this hand has the axes of the camera, and one logical pixel is [`PER_POINT`] metres wide in it. A
//! tool's threshold in room metres is therefore a fixed number of logical pixels, at any camera distance.

use super::camera::Orbit;
use crate::base::math::{Quat, Vec3};
use crate::pose::WorkingPlane;
use crate::render::View;
use crate::scene::SurfaceSample;
pub(super) use crate::workbench::tools::PER_POINT;
use crate::workbench::tools::TIP;
use crate::workbench::{Hand, Rigid, Similarity, Tracked, Tracking};

/// A rectangle of the window that shows a view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Eyepiece {
    /// Upper left corner, pixels of the window.
    pub corner: [f32; 2],
    /// Width and height, pixels.
    pub size: [f32; 2],
    /// The view that the rectangle shows.
    pub view: View,
    /// Pixels per logical pixel.
    pub scale: f32,
}

impl Eyepiece {
    /// Returns the ray through a pixel of the window: origin and unnormalised direction, world space.
    pub fn ray(&self, at: [f32; 2]) -> (Vec3, Vec3) {
        let [u, v] = [0, 1].map(|i| (at[i] - self.corner[i]) / self.size[i].max(1.0));
        (self.view.eye, self.view.ray(u, v))
    }

    /// Projects a world point to a pixel of the window; `None` for points behind the camera.
    pub fn project(&self, point: Vec3) -> Option<[f32; 2]> {
        let uv = self.view.project(point)?;
        Some([0, 1].map(|i| self.corner[i] + uv[i] * self.size[i]))
    }

    /// Distance in the window from a projected world point to a pixel, logical pixels; `None` behind the camera.
    pub fn distance(&self, point: Vec3, at: [f32; 2]) -> Option<f32> {
        let [x, y] = self.project(point)?;
        Some((x - at[0]).hypot(y - at[1]) / self.scale)
    }

    /// Intersects the ray through a pixel with a plane.
    pub fn on_plane(&self, at: [f32; 2], plane: &WorkingPlane) -> Option<Vec3> {
        let (from, direction) = self.ray(at);
        plane.hit(from, direction)
    }
}

/// Transform from the room of the mouse's hand to the world, for this camera and rectangle.
pub(super) fn room(orbit: &Orbit, eyepiece: &Eyepiece) -> Similarity {
    let per_point = orbit.per_pixel(eyepiece.size[1]) * eyepiece.scale;
    Similarity { translation: orbit.eye(), rotation: orbit.rotation(), scale: per_point / PER_POINT }
}

/// Builds the tracked hand of the mouse. `tip` is in world space; without a tip the hand's poses are untracked.
pub(super) fn hand(
    world_from_room: &Similarity,
    tip: Option<Vec3>,
    [draw, grab]: [f32; 2],
    surface: Option<SurfaceSample>,
) -> Hand {
    let Some(tip) = tip else { return Hand { draw, grab, surface, ..Hand::default() } };
    let at = |offset: f32| {
        let position = world_from_room.inverse_point(tip) + Vec3::Z * offset;
        Tracked { pose: Rigid { position, orientation: Quat::IDENTITY }, tracking: Tracking::Tracked }
    };
    Hand { grip: at(0.0), aim: at(TIP), draw, grab, surface, ..Hand::default() }
}
