//! The fixed drawing plane for strokes: shown as a grid, moved by the rings and arrows of the gizmo.

use super::choices::{Choices, Plane};
use super::{Hold, WindowEditor, gizmo};
use crate::base::math::Vec3;
use crate::pose::WorkingPlane;
use crate::render::Lines;
use crate::workbench::{Tool, Workbench};

/// Number of squares from the grid's centre to its edge.
const SQUARES: i32 = 6;
/// Half width of the grid, as a fraction of the diagonal of the character's bounding box.
const HALF: f32 = 0.36;
const GRID: [u8; 4] = [120, 190, 255, 60];
const RIM: [u8; 4] = [120, 190, 255, 150];
/// Sine of the smallest angle between line of sight and plane at which strokes can be drawn. At smaller angles, one
/// pixel would span a huge distance on the plane.
const EDGE: f32 = 0.06;

impl WindowEditor {
    /// Returns the fixed drawing plane; `None` if strokes are drawn on a plane that faces the camera.
    pub(super) fn fixed_plane(&self) -> Option<WorkingPlane> {
        let Plane::Fixed { origin, normal } = self.choices.plane else { return None };
        Some(WorkingPlane { origin: origin.into(), normal: Vec3::from(normal).normalize_or(Vec3::Z) })
    }

    pub(super) fn set_plane(&mut self, plane: WorkingPlane) {
        let plane = Plane::Fixed { origin: plane.origin.into(), normal: plane.normal.into() };
        self.choices = Choices { plane, ..self.choices.clone() }.sane();
    }

    /// Whether the drawing plane is fixed and seen almost edge-on.
    pub(super) fn is_edge_on(&self, plane: &WorkingPlane) -> bool {
        let away = (self.camera.eye() - plane.origin).normalize_or(Vec3::Z);
        self.fixed_plane().is_some() && away.dot(plane.normal).abs() < EDGE
    }

    /// Grabs the handle of the drawing plane under the mouse. Returns false if there is no handle.
    pub(super) fn press_plane(&mut self) -> bool {
        let Some(plane) = self.fixed_plane().filter(|_| self.moves_plane) else { return false };
        let Some(drag) = self.at.and_then(|at| self.handle_about(plane.origin, at)) else { return false };
        self.hold = Hold::Plane(drag, plane);
        true
    }

    /// Moves or rotates the drawing plane by the current drag.
    pub(super) fn drag_plane(&mut self) {
        let (Hold::Plane(drag, before), Some(at)) = (self.hold, self.at) else { return };
        let (turn, shift) = drag.turn_and_shift(at);
        if turn.is_finite() && shift.is_finite() {
            let normal = (turn * before.normal.as_dvec3()).as_vec3();
            self.set_plane(WorkingPlane { origin: before.origin + shift.as_vec3(), normal });
        }
    }

    /// Draws the grid while a tool draws on the fixed plane.
    pub(super) fn draw_plane(&self, bench: &Workbench, lines: &mut Lines) {
        let draws = matches!(bench.preferences().tool, Tool::Line | Tool::Silhouette)
            || bench.awaits_mark_offset().is_some();
        let Some(plane) = self.fixed_plane().filter(|_| draws) else { return };
        let right = Vec3::Y.cross(plane.normal).try_normalize().unwrap_or(Vec3::X);
        let (right, up) = (right * HALF, plane.normal.cross(right) * HALF);
        let size = bench.bounds().diagonal();
        let at = |x: i32, y: i32| plane.origin + (right * x as f32 + up * y as f32) * (size / SQUARES as f32);
        let first = lines.segments.len();
        for i in -SQUARES..=SQUARES {
            let color = if i.abs() == SQUARES { RIM } else { GRID };
            lines.polyline(&[at(i, -SQUARES), at(i, SQUARES)], color, 1.2, 0.0);
            lines.polyline(&[at(-SQUARES, i), at(SQUARES, i)], color, 1.2, 0.0);
        }
        lines.segments[first..].iter_mut().for_each(|s| s.hidden = 0.35);
        if self.moves_plane {
            let held = if let Hold::Plane(gizmo::Drag { way, .. }, _) = self.hold { Some(way) } else { None };
            self.draw_handles(plane.origin, held, lines);
        }
    }
}
