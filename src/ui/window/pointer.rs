//! The mouse as a hand: its tip lies where the ray through its pixel meets a plane or the skin, and the room in which
//! it moves is the window's.
//!
//! In that room a point of the window is [`PER_POINT`] metres, so that a brush, a reach or a tremble that suits a hand
//! in a headset is as many points here, at any distance of the camera. The room's axes are the camera's.

use super::camera::Orbit;
use crate::base::math::{Quat, Vec3};
use crate::pose::WorkingPlane;
use crate::render::View;
use crate::scene::SurfaceSample;
use crate::workbench::tools::TIP;
use crate::workbench::{Hand, Rigid, Similarity, Tracked, Tracking};

/// Metres of the room that a point of the window is.
pub(super) const PER_POINT: f32 = 0.0025;

/// A picture in a window, and what looks into it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Eyepiece {
    /// Where its left upper corner is, pixels of the window.
    pub corner: [f32; 2],
    /// Its size, pixels.
    pub size: [f32; 2],
    /// What it shows.
    pub view: View,
    /// Pixels per point.
    pub scale: f32,
}

impl Eyepiece {
    /// The ray through a pixel of the window: origin and direction, not unit.
    pub fn ray(&self, at: [f32; 2]) -> (Vec3, Vec3) {
        let [u, v] = [0, 1].map(|i| (at[i] - self.corner[i]) / self.size[i].max(1.0));
        (self.view.eye, self.view.ray(u, v))
    }

    /// Where a world point shows, pixels of the window; none behind the eye.
    pub fn project(&self, point: Vec3) -> Option<[f32; 2]> {
        let uv = self.view.project(point)?;
        Some([0, 1].map(|i| self.corner[i] + uv[i] * self.size[i]))
    }

    /// Distance of a world point's picture from a pixel, points; none behind the eye.
    pub fn distance(&self, point: Vec3, at: [f32; 2]) -> Option<f32> {
        let [x, y] = self.project(point)?;
        Some((x - at[0]).hypot(y - at[1]) / self.scale)
    }

    /// Where the ray through a pixel meets a plane.
    pub fn on_plane(&self, at: [f32; 2], plane: &WorkingPlane) -> Option<Vec3> {
        let (from, direction) = self.ray(at);
        plane.hit(from, direction)
    }
}

/// Where the camera puts the room of the hands.
pub(super) fn room(orbit: &Orbit, eyepiece: &Eyepiece) -> Similarity {
    let per_point = orbit.per_pixel(eyepiece.size[1]) * eyepiece.scale;
    Similarity { translation: orbit.eye(), rotation: orbit.rotation(), scale: per_point / PER_POINT }
}

/// The hand that a mouse is.
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
