//! The gizmo of the selected joint: three rings rotate the joint about the world's axes, three arrows move it along
//! these axes. The module `bykey` does the same by keys. The drawing plane for strokes uses the same gizmo (module
//! `plane`).

use super::pointer::Eyepiece;
use super::{Hold, WindowEditor};
use crate::base::NodeId;
use crate::base::math::{DQuat, DVec3, Vec3};
use crate::render::Lines;
use crate::ui::theme;
use crate::workbench::{Tool, Workbench};
use std::f32::consts::TAU;

/// Radius of the rings, logical pixels.
const RING: f32 = 62.0;
/// Start and end of the arrows, logical pixels from the joint.
const ARROW: [f32; 2] = [14.0, 92.0];
/// Largest distance at which the mouse grabs a handle, logical pixels.
const NEAR: f32 = 7.0;
/// Number of line segments of a ring.
const STEPS: usize = 48;
/// Colours of the X, Y and Z axes in the whole window.
pub(super) const COLORS: [[u8; 4]; 3] =
    [theme::AXES[0].to_array(), theme::AXES[1].to_array(), theme::AXES[2].to_array()];
const LIT: [u8; 4] = [255, 226, 110, 255];

/// The kind of a gizmo handle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Way {
    /// Rotates about a world axis, 0..3.
    Turn(usize),
    /// Moves along a world axis, 0..3.
    Move(usize),
}

/// A drag of a joint or plane by a handle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drag {
    pub way: Way,
    /// Position of the joint or plane at the start, world space, metres.
    pub origin: Vec3,
    /// Pixel of the mouse at the start.
    pub start: [f32; 2],
    /// Movement of the grabbed point in the window per radian or per metre of the drag, pixels to the right and down.
    pub pixels: [f32; 2],
}

pub(super) const AXES: [Vec3; 3] = [Vec3::X, Vec3::Y, Vec3::Z];

impl Drag {
    /// Rotation and translation of the drag when the mouse is at this pixel, world space.
    pub fn turn_and_shift(&self, at: [f32; 2]) -> (DQuat, DVec3) {
        let [px, py] = self.pixels;
        let length = px * px + py * py;
        let amount = ((at[0] - self.start[0]) * px + (at[1] - self.start[1]) * py) / length;
        match self.way {
            Way::Move(axis) => (DQuat::IDENTITY, (AXES[axis] * amount).as_dvec3()),
            Way::Turn(axis) => {
                (DQuat::from_axis_angle(AXES[axis].as_dvec3(), f64::from(amount)), DVec3::ZERO)
            }
        }
    }
}

/// Returns the point at an angle in radians on the unit circle around a world axis.
fn ring(axis: usize, angle: f32) -> Vec3 {
    let (sin, cos) = angle.sin_cos();
    AXES[(axis + 1) % 3] * cos + AXES[(axis + 2) % 3] * sin
}

impl WindowEditor {
    /// Returns the selected joint, its position and the size of a logical pixel there, metres, while the gizmo shows.
    fn gizmo(&self, bench: &Workbench) -> Option<(NodeId, Vec3, f32)> {
        let node = bench.selected().filter(|_| bench.preferences().tool == Tool::Joint)?;
        let at = Vec3::from(bench.rig().world.get(node.index())?.translation);
        Some((node, at, self.per_point(at)?))
    }

    /// Size of a logical pixel of the window at a world point, metres; `None` behind the camera.
    pub(super) fn per_point(&self, at: Vec3) -> Option<f32> {
        let depth = (self.camera.rotation() * Vec3::Z).dot(self.camera.eye() - at);
        let rows = self.output.viewport[3] as f32;
        let per_point = self.camera.per_pixel(rows) * self.scale * depth / self.camera.distance();
        (depth > 0.0 && per_point.is_finite()).then_some(per_point)
    }

    /// Whether a ring is usable. A ring seen edge-on is not: it is a line that covers the arrows.
    fn is_open(&self, axis: usize, origin: Vec3) -> bool {
        AXES[axis].dot((self.camera.eye() - origin).normalize_or(Vec3::Z)).abs() > 0.12
    }

    /// Returns the handle of the selected joint's gizmo under a pixel.
    fn handle(&self, bench: &Workbench, at: [f32; 2]) -> Option<(NodeId, Drag)> {
        let (node, origin, _) = self.gizmo(bench)?;
        Some((node, self.handle_about(origin, at)?))
    }

    /// Returns the handle under a pixel for a gizmo at this origin, world space.
    pub(super) fn handle_about(&self, origin: Vec3, at: [f32; 2]) -> Option<Drag> {
        let size = self.per_point(origin)?;
        let (eyepiece, _) = self.eyepiece(at);
        let mut best: Option<(f32, Way, Vec3, Vec3)> = None;
        let mut offer = |way, point: Vec3, direction: Vec3, bonus: f32| {
            if let Some(d) = eyepiece.distance(point, at)
                && d <= NEAR
                && best.is_none_or(|b| d - bonus < b.0)
            {
                best = Some((d - bonus, way, point, direction));
            }
        };
        // Tests the arrows first, because an arrow has priority over a ring that crosses it.
        for (axis, direction) in AXES.into_iter().enumerate() {
            for i in 0..24 {
                let along = ARROW[0] + (ARROW[1] - ARROW[0]) * i as f32 / 23.0;
                offer(Way::Move(axis), origin + direction * along * size, direction, 3.0);
            }
        }
        for axis in (0..3).filter(|a| self.is_open(*a, origin)) {
            for i in 0..STEPS * 2 {
                let angle = TAU * i as f32 / (STEPS * 2) as f32;
                let tangent = AXES[axis].cross(ring(axis, angle)) * RING * size;
                offer(Way::Turn(axis), origin + ring(axis, angle) * RING * size, tangent, 0.0);
            }
        }
        let (_, way, point, direction) = best?;
        let pixels = slope(&eyepiece, point, direction, size)?;
        Some(Drag { way, origin, start: at, pixels })
    }

    /// Whether the mouse is over a handle.
    pub(super) fn on_gizmo(&self, bench: &Workbench) -> bool {
        self.at.is_some_and(|at| self.handle(bench, at).is_some())
    }

    /// Grabs the handle under the mouse. Returns false if there is no handle or the joint cannot be posed.
    pub(super) fn press_gizmo(&mut self, bench: &mut Workbench) -> bool {
        let Some((node, drag)) = self.at.and_then(|at| self.handle(bench, at)) else { return false };
        let held = bench.hold_joint(node);
        if held {
            self.hold = Hold::Joint(drag);
        }
        held
    }

    /// Moves or rotates the grabbed joint by the current drag.
    pub(super) fn drag_joint(&mut self, bench: &mut Workbench) {
        let (Hold::Joint(drag), Some(at)) = (self.hold, self.at) else { return };
        let (turn, shift) = drag.turn_and_shift(at);
        if turn.is_finite() && shift.is_finite() {
            bench.move_joint(turn, shift);
        }
    }

    /// Draws the gizmo of the selected joint.
    pub(super) fn draw_gizmo(&self, bench: &Workbench, lines: &mut Lines) {
        let held = if let Hold::Joint(drag) = self.hold { Some(drag.way) } else { None };
        if let Some((_, origin, _)) = self.gizmo(bench) {
            self.draw_handles(origin, held, lines);
        }
    }

    /// Draws rings and arrows at a point. Highlights the `held` handle or, without one, the handle under the mouse.
    pub(super) fn draw_handles(&self, origin: Vec3, held: Option<Way>, lines: &mut Lines) {
        let Some(size) = self.per_point(origin) else { return };
        let free = self.hold == Hold::Free && self.over;
        let under = self.at.filter(|_| free).and_then(|at| self.handle_about(origin, at)).map(|h| h.way);
        let lit = held.or(under);
        for axis in 0..3 {
            let color = |way| if lit == Some(way) { LIT } else { COLORS[axis] };
            let points: Vec<Vec3> = (0..=STEPS)
                .map(|i| origin + ring(axis, TAU * i as f32 / STEPS as f32) * RING * size)
                .collect();
            let first = lines.segments.len();
            if self.is_open(axis, origin) {
                lines.polyline(&points, color(Way::Turn(axis)), 2.5, 0.6);
            }
            let [from, to] = ARROW.map(|d| origin + AXES[axis] * d * size);
            lines.polyline(&[from, to], color(Way::Move(axis)), 2.5, 0.6);
            lines.dot(to, color(Way::Move(axis)), 9.0);
            // Handles stay visible through the body, because they can be used there.
            lines.segments[first..].iter_mut().for_each(|s| s.hidden = 0.85);
        }
    }
}

/// Returns how many pixels to the right and down a point moves per unit of `direction`; `None` if `direction` is along
/// the line of sight. `size` is the size of a logical pixel at the point, metres.
fn slope(eyepiece: &Eyepiece, point: Vec3, direction: Vec3, size: f32) -> Option<[f32; 2]> {
    let step = size / direction.length().max(f32::MIN_POSITIVE);
    let (a, b) = (eyepiece.project(point - direction * step)?, eyepiece.project(point + direction * step)?);
    let slope = [0, 1].map(|i| (b[i] - a[i]) / (2.0 * step));
    // Along the line of sight, one pixel of mouse movement would be a huge movement in the world.
    (slope[0].hypot(slope[1]) * step > 0.05).then_some(slope)
}
