//! Where the tip of the mouse's hand is: on a plane, on a knot, on the skin.

use super::input::{Pick, Picked};
use super::pointer::Eyepiece;
use super::{Hold, PATIENCE, WindowEditor};
use crate::base::NodeId;
use crate::base::math::Vec3;
use crate::pose::WorkingPlane;
use crate::workbench::{MeasureBy, Tool, Workbench};

/// Knots and joints within so many points of the mouse are meant.
const NEAR: f32 = 11.0;
/// Joints within so many points of the start of a stroke tell its depth.
const DEPTH: f32 = 60.0;
/// An answer is still good where the mouse has moved by no more than this, pixels.
const SAME: f32 = 2.5;

impl WindowEditor {
    /// Where the tip is; `None` if nothing should be touched.
    pub(super) fn tip(&self, bench: &Workbench, eyepiece: &Eyepiece, at: [f32; 2]) -> Option<Vec3> {
        match self.hold {
            Hold::Tool { plane, waits: None, .. } => {
                eyepiece.on_plane(at, &plane).filter(|_| !self.is_edge_on(&plane))
            }
            Hold::Grab { by, plane, from_ray } => {
                by.place(eyepiece.on_plane(at, &plane).map(|x| x + from_ray), plane.normal)
            }
            Hold::Brush { start, .. } => eyepiece.on_plane(start, &self.plane(bench, eyepiece, start)),
            Hold::Camera(..)
            | Hold::Wipe
            | Hold::Joint(_)
            | Hold::Turn { .. }
            | Hold::Plane(..)
            | Hold::Reach { .. } => None,
            Hold::Free | Hold::Tool { .. } if !self.over => None,
            _ => match bench.preferences().tool {
                Tool::Line | Tool::Silhouette => eyepiece.on_plane(at, &self.plane(bench, eyepiece, at)),
                Tool::Grab | Tool::Skin | Tool::Measure => self.skin_at(at).flatten(),
                Tool::Joint => None,
            },
        }
    }

    /// What is known of the skin under a pixel: `None` if it has to be asked for, none within where there is none.
    pub(super) fn skin_at(&self, at: [f32; 2]) -> Option<Option<Vec3>> {
        let (picked, there) = self.seen?;
        let near = (at[0] - there[0]).hypot(at[1] - there[1]) <= SAME * self.scale;
        near.then(|| picked.surface.map(|s| s.position))
    }

    /// The plane that a stroke from this pixel is drawn on.
    pub(super) fn plane(&self, bench: &Workbench, eyepiece: &Eyepiece, at: [f32; 2]) -> WorkingPlane {
        let fixed = self.fixed_plane();
        let normal = fixed.map_or(self.camera.rotation() * Vec3::Z, |p| p.normal);
        let through = |origin: Vec3| WorkingPlane { origin, normal };
        if let Some((_, knot)) = self.knot_at(bench, eyepiece, at).filter(|_| bench.awaits_offset().is_none())
        {
            return through(knot);
        }
        if let Some(fixed) = fixed {
            return fixed;
        }
        if let Some(layer) = bench.awaits_offset() {
            // What is drawn belongs to its baseline.
            let knots = layer.baseline.knots().iter().map(|k| Vec3::from(k.position));
            let near = self.nearest(knots, eyepiece, at, f32::INFINITY);
            return through(near.map_or(self.camera.stand().target, |n| n.1));
        }
        let joints = || bench.posable().iter().filter_map(|n| bench.rig().world.get(n.index()));
        let joints = || joints().map(|w| Vec3::from(w.translation));
        let near = self.nearest(joints(), eyepiece, at, DEPTH).map(|n| n.1);
        through(near.or_else(|| joints().next()).unwrap_or(self.camera.stand().target))
    }

    /// The knot that a pixel means: its distance in points, and where it is.
    fn knot_at(&self, bench: &Workbench, eyepiece: &Eyepiece, at: [f32; 2]) -> Option<(f32, Vec3)> {
        let layers = bench.session().document().strokes().iter();
        let strokes = layers.flat_map(|l| l.offset.iter().chain([&l.baseline]));
        let knots = strokes.flat_map(|s| s.knots()).map(|k| Vec3::from(k.position));
        self.nearest(knots, eyepiece, at, NEAR)
    }

    /// The joint that a pixel means.
    pub(super) fn joint_at(&self, bench: &Workbench, at: [f32; 2]) -> Option<NodeId> {
        let (eyepiece, _) = self.eyepiece(at);
        let place = |n: &NodeId| bench.rig().world.get(n.index()).map(|w| Vec3::from(w.translation));
        let distance = |n: &NodeId| eyepiece.distance(place(n)?, at);
        let near = bench.posable().iter().filter_map(|n| Some((distance(n)?, *n)));
        near.filter(|(d, _)| *d <= NEAR * 1.5).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, n)| n)
    }

    fn nearest(
        &self,
        points: impl Iterator<Item = Vec3>,
        eyepiece: &Eyepiece,
        at: [f32; 2],
        within: f32,
    ) -> Option<(f32, Vec3)> {
        let near = points.filter_map(|p| Some((eyepiece.distance(p, at)?, p)));
        near.filter(|(d, _)| *d <= within).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The first button goes down in the picture.
    pub(super) fn press_tool(&mut self, time: f64, bench: &mut Workbench) {
        let Some(at) = self.at else { return };
        let (eyepiece, _) = self.eyepiece(at);
        // What was told of the last thing is no more of interest.
        self.facts.message = None;
        let tool = bench.preferences().tool;
        let skin = self.skin_at(at);
        // What is grabbed has to be known; a stroke over the skin is begun by the skin's own answers.
        let waits = (matches!(tool, Tool::Grab | Tool::Measure) && skin.is_none()).then_some(time);
        let normal = self.camera.rotation() * Vec3::Z;
        let plane = match (tool, skin.flatten()) {
            (Tool::Line | Tool::Silhouette, _) | (_, None) => self.plane(bench, &eyepiece, at),
            (_, Some(origin)) => WorkingPlane { origin, normal },
        };
        self.force = [self.pressure.unwrap_or(1.0).max(0.6), 0.0];
        // Where the tip is known the hand is there before it presses.
        if waits.is_none() {
            let force = std::mem::take(&mut self.force);
            self.hand(bench, time, None);
            self.force = force;
        }
        // With no skin under it the tool grabs nothing.
        let skinless = skin == Some(None);
        if tool == Tool::Grab && skinless {
            self.force = [0.0; 2];
        }
        if tool == Tool::Measure && skinless && bench.preferences().measure != MeasureBy::Angle {
            self.force = [0.0; 2];
            self.facts.message = Some("nothing to measure there: point at the skin".into());
        }
        self.hold = Hold::Tool { start: at, plane, waits, moved: false };
        if waits.is_none() {
            let measured = self.pressed_at(bench);
            self.hand(bench, time, measured);
        }
    }

    /// A press that waits for the skin under it goes on when that is known.
    pub(super) fn await_skin(&mut self, bench: &mut Workbench) {
        let Hold::Tool { start, waits: Some(since), moved, .. } = self.hold else { return };
        let known = self.skin_at(start);
        if known.is_none() && self.time < since + PATIENCE {
            return;
        }
        let Some(origin) = known.flatten() else {
            self.force = [0.0; 2];
            let (eyepiece, _) = self.eyepiece(start);
            let plane = self.plane(bench, &eyepiece, start);
            self.hold = Hold::Tool { start, plane, waits: None, moved };
            return;
        };
        let plane = WorkingPlane { origin, normal: self.camera.rotation() * Vec3::Z };
        // The hand comes to where the button went down, presses there, and follows the mouse from then on.
        let (now, force) = (self.at.replace(start), std::mem::take(&mut self.force));
        self.hold = Hold::Tool { start, plane, waits: None, moved };
        self.hand(bench, self.time, None);
        self.force = force;
        let measured = self.pressed_at(bench);
        self.hand(bench, self.time, measured);
        self.at = now;
    }

    /// The skin that is known under a press, which is what is measured: a click may be over before another answer comes.
    fn pressed_at(&self, bench: &Workbench) -> Option<Picked> {
        let (mut picked, _) = self.seen.filter(|_| bench.preferences().tool == Tool::Measure)?;
        if let Some(sample) = &mut picked.surface {
            sample.draw = self.force[0];
        }
        Some(picked)
    }

    /// Asks for the skin under the mouse where a tool wants it.
    pub(super) fn ask_pick(&mut self, bench: Option<&Workbench>) {
        let wants =
            bench.is_some_and(|b| matches!(b.preferences().tool, Tool::Grab | Tool::Skin | Tool::Measure));
        let waiting =
            if let Hold::Tool { start, waits: Some(_), .. } = self.hold { Some(start) } else { None };
        let draws = bench.is_some_and(|b| b.preferences().tool == Tool::Skin) && self.hold != Hold::Free;
        let Some(at) = waiting.or(self.at).filter(|_| wants && (self.over || waiting.is_some() || draws))
        else {
            return;
        };
        let known = self.skin_at(at).is_some()
            && bench.is_some_and(|b| b.shown_pose().version == self.shown.pose)
            && !draws;
        if known && waiting.is_none() {
            return;
        }
        let (eyepiece, view) = self.eyepiece(at);
        let inside = [0, 1].map(|i| at[i] - eyepiece.corner[i]);
        if (0..2).any(|i| !(0.0..eyepiece.size[i]).contains(&inside[i])) {
            return;
        }
        let draw = if matches!(self.hold, Hold::Tool { .. }) { self.force[0] } else { 0.0 };
        let pick = Pick { pixel: inside.map(|v| v as u32), view, time: self.time, draw };
        self.asked = Some((pick, at));
        self.output.pick = Some(pick);
    }
}
