//! Finds the tip of the tracked hand that stands for the mouse: on a plane, on a knot of a stroke, or on the skin.

use super::input::{Pick, Picked};
use super::pointer::Eyepiece;
use super::{Hold, PATIENCE, ShownVersions, WindowEditor};
use crate::base::NodeId;
use crate::base::math::{Vec3, distance_to_segment};
use crate::pose::WorkingPlane;
use crate::workbench::{MarkBy, MeasureBy, Notice, Tool, Workbench};

/// Largest distance between mouse and knot or joint for a hit, logical pixels.
const NEAR: f32 = 11.0;
/// Largest distance in the picture between the start of a stroke and the joint at whose depth the stroke lies, logical
/// pixels.
const DEPTH: f32 = 60.0;
/// Largest movement of the mouse after which a pick result is still valid, logical pixels.
const SAME: f32 = 2.5;

impl WindowEditor {
    /// Returns the tip of the hand that stands for the mouse, world space; `None` if the hand should touch nothing.
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
            | Hold::Key { .. }
            | Hold::Reach { .. } => None,
            Hold::Free | Hold::Tool { .. } if !self.over => None,
            _ => match bench.preferences().tool {
                Tool::Line | Tool::Silhouette | Tool::Bone | Tool::Cage => {
                    eyepiece.on_plane(at, &self.plane(bench, eyepiece, at))
                }
                Tool::Skin if bench.skin_tool_in_air() => {
                    eyepiece.on_plane(at, &self.plane(bench, eyepiece, at))
                }
                Tool::Grab | Tool::Skin | Tool::Measure => self.skin_at(at).flatten(),
                // A grip may lie behind the skin or beside it.
                Tool::Grip => self.skin_at(at).flatten().or_else(|| {
                    let grip = self.knot_at(bench, eyepiece, at)?.1;
                    let normal = self.camera.rotation() * Vec3::Z;
                    eyepiece.on_plane(at, &WorkingPlane { origin: grip, normal })
                }),
                Tool::Joint if bench.is_bare() => eyepiece.on_plane(at, &self.plane(bench, eyepiece, at)),
                Tool::Joint => None,
            },
        }
    }

    /// Returns the picked skin point at a pixel: `None` if there is no valid pick result, `Some(None)` if the pick
    /// found no skin.
    pub(super) fn skin_at(&self, at: [f32; 2]) -> Option<Option<Vec3>> {
        let (picked, there) = self.seen?;
        let near = (at[0] - there[0]).hypot(at[1] - there[1]) <= SAME * self.scale;
        near.then(|| picked.surface.map(|s| s.position))
    }

    /// Returns the plane for a stroke that begins at this pixel.
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
            // An offset stroke lies at the depth of its baseline.
            let knots = layer.baseline.knots().iter().map(|k| Vec3::from(k.position));
            let near = self.nearest(knots, eyepiece, at, f32::INFINITY);
            return through(near.map_or(self.camera.stand().target, |n| n.1));
        }
        if let Some(mark) = bench.awaits_mark_offset() {
            // The offset stroke of a mark lies at the depth of the mark.
            let near = self.nearest(mark.into_iter(), eyepiece, at, f32::INFINITY);
            return through(near.map_or(self.camera.stand().target, |n| n.1));
        }
        let joints = || bench.reachable().filter_map(|n| bench.rig().world.get(n.index()));
        let joints = || joints().map(|w| Vec3::from(w.translation));
        let near = self.nearest(joints(), eyepiece, at, DEPTH).map(|n| n.1);
        through(near.or_else(|| joints().next()).unwrap_or(self.camera.stand().target))
    }

    /// Returns the knot of a stroke, the joint of a drawn bone, or the vertex of the cage, near a pixel: its distance
    /// in logical pixels and its position.
    fn knot_at(&self, bench: &Workbench, eyepiece: &Eyepiece, at: [f32; 2]) -> Option<(f32, Vec3)> {
        if bench.preferences().tool == Tool::Cage {
            return self.nearest(bench.cage_positions(), eyepiece, at, DEPTH);
        }
        if bench.preferences().tool == Tool::Grip {
            return self.nearest(bench.grip_places(), eyepiece, at, NEAR);
        }
        if bench.is_bare() && matches!(bench.preferences().tool, Tool::Bone | Tool::Joint) {
            let joints = bench.session().document().bones().iter().flat_map(|c| &c.joints);
            return self.nearest(joints.map(|j| Vec3::from(*j)), eyepiece, at, NEAR);
        }
        let layers = bench.session().document().strokes().iter();
        let strokes = layers.flat_map(|l| l.offset.iter().chain([&l.baseline]));
        let knots = strokes.flat_map(|s| s.knots()).map(|k| Vec3::from(k.position));
        self.nearest(knots, eyepiece, at, NEAR)
    }

    /// Returns the reachable joint near a pixel.
    pub(super) fn joint_at(&self, bench: &Workbench, at: [f32; 2]) -> Option<NodeId> {
        let (eyepiece, _) = self.eyepiece(at);
        let place = |n: &NodeId| bench.rig().world.get(n.index()).map(|w| Vec3::from(w.translation));
        let distance = |n: &NodeId| eyepiece.distance(place(n)?, at);
        let near = bench.reachable().filter_map(|n| Some((distance(&n)?, n)));
        near.filter(|(d, _)| *d <= NEAR * 1.5).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, n)| n)
    }

    /// Returns the joint that rotates the bone at a pixel.
    pub(super) fn bone_at(&self, bench: &Workbench, at: [f32; 2]) -> Option<NodeId> {
        let (eyepiece, _) = self.eyepiece(at);
        let flat = |x: Vec3| eyepiece.project(x).map(|[x, y]| Vec3::new(x, y, 0.0) / self.scale);
        let pixel = Vec3::new(at[0], at[1], 0.0) / self.scale;
        let skeleton = &bench.character().skeleton;
        let near = bench.rig().bones.iter().zip(&skeleton.bones).filter_map(|(bone, own)| {
            let distance = distance_to_segment(pixel, flat(bone.head)?, flat(bone.tail)?);
            let node = skeleton.joints[own.parent.index()].node;
            (distance <= NEAR * 1.5 && bench.reachable().any(|n| n == node)).then_some((distance, node))
        });
        near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, node)| node)
    }

    /// Returns time and place of the key of the motion path near a pixel, while a tool that poses is chosen. Strokes
    /// and grips begin at joints, so a key at a joint is only for the tools that move joints.
    fn key_at(&self, bench: &Workbench, at: [f32; 2]) -> Option<(f64, Vec3)> {
        let tool = bench.preferences().tool;
        let moves = matches!(tool, Tool::Grab | Tool::Joint);
        if !tool.poses() || !moves && self.joint_at(bench, at).is_some() {
            return None;
        }
        let (eyepiece, _) = self.eyepiece(at);
        let near = bench.path_keys().filter_map(|(t, p)| Some((eyepiece.distance(p, at)?, (t, p))));
        let near = near.filter(|(d, _)| *d <= NEAR).min_by(|a, b| a.0.total_cmp(&b.0));
        near.map(|(_, key)| key)
    }

    /// Highlights the key of the motion path under the mouse.
    pub(super) fn light_key(&self, bench: &mut Workbench) {
        let at = self.at.filter(|_| self.over && self.hold == Hold::Free && !bench.is_busy());
        let key = at.and_then(|at| self.key_at(bench, at));
        bench.light_key(key.map(|k| k.0));
    }

    /// Takes the key of the motion path under the mouse. Returns false if there is none.
    pub(super) fn press_key(&mut self, bench: &mut Workbench) -> bool {
        let Some(at) = self.at else { return false };
        let Some((time, origin)) = self.key_at(bench, at).filter(|k| bench.hold_key(k.0)) else {
            return false;
        };
        let (eyepiece, _) = self.eyepiece(at);
        let plane = WorkingPlane { origin, normal: self.camera.rotation() * Vec3::Z };
        let from_ray = eyepiece.on_plane(at, &plane).map_or(Vec3::ZERO, |x| origin - x);
        self.facts.message =
            Some(Notice::fact(format!("key at {time:.2} s: drag it, or let go to stay at this time")));
        self.hold = Hold::Key { plane, from_ray };
        true
    }

    /// Moves the held key of the motion path to the mouse.
    pub(super) fn drag_key(&self, bench: &mut Workbench) {
        let (Hold::Key { plane, from_ray }, Some(at)) = (self.hold, self.at) else { return };
        let (eyepiece, _) = self.eyepiece(at);
        if let Some(x) = eyepiece.on_plane(at, &plane) {
            bench.drag_key(x + from_ray);
        }
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

    /// Handles a press of the primary button in the picture.
    pub(super) fn press_tool(&mut self, time: f64, bench: &mut Workbench) {
        let Some(at) = self.at else { return };
        let (eyepiece, _) = self.eyepiece(at);
        // The message of the last operation is outdated.
        self.facts.message = None;
        let tool = bench.preferences().tool;
        let skin = self.skin_at(at);
        // A stroke on the skin takes the skin's position from later pick results; all else needs it at the press.
        let at_mark = tool == Tool::Skin
            && !bench.skin_tool_in_air()
            && matches!(bench.preferences().marks, MarkBy::Pull | MarkBy::Knots);
        let needs = at_mark || matches!(tool, Tool::Grab | Tool::Measure | Tool::Grip);
        let waits = (needs && skin.is_none()).then_some(time);
        let normal = self.camera.rotation() * Vec3::Z;
        let plane = match (tool, skin.flatten()) {
            (Tool::Line | Tool::Silhouette | Tool::Bone | Tool::Joint | Tool::Cage, _) | (_, None) => {
                self.plane(bench, &eyepiece, at)
            }
            _ if bench.skin_tool_in_air() => self.plane(bench, &eyepiece, at),
            (_, Some(origin)) => WorkingPlane { origin, normal },
        };
        self.force = [self.pressure.unwrap_or(1.0).max(0.6), 0.0];
        // If the tip is known, the hand first moves to the tip without pressing.
        if waits.is_none() {
            let force = std::mem::take(&mut self.force);
            self.hand(bench, time, None);
            self.force = force;
        }
        // Grab does nothing where there is no skin.
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

    /// Begins a waiting press once the skin under it is known or the waiting time is over.
    pub(super) fn await_skin(&mut self, bench: &mut Workbench) {
        let Hold::Tool { start, waits: Some(since), moved, .. } = self.hold else { return };
        let known = self.skin_at(start);
        if known.is_none() && self.time < since + PATIENCE {
            return;
        }
        let plane = match known.flatten() {
            Some(origin) => WorkingPlane { origin, normal: self.camera.rotation() * Vec3::Z },
            None => self.plane(bench, &self.eyepiece(start).0, start),
        };
        // A stroke on the skin may begin beside the body.
        if known.flatten().is_none() && bench.preferences().tool != Tool::Skin {
            self.force = [0.0; 2];
            self.hold = Hold::Tool { start, plane, waits: None, moved };
            return;
        }
        // The hand moves to the pressed pixel and presses there; then it follows the mouse.
        let (now, force) = (self.at.replace(start), std::mem::take(&mut self.force));
        self.hold = Hold::Tool { start, plane, waits: None, moved };
        self.hand(bench, self.time, None);
        self.force = force;
        let measured = self.pressed_at(bench);
        self.hand(bench, self.time, measured);
        self.at = now;
    }

    /// Returns the last pick result with the trigger value of the press, for tools that need the skin at the press: a
    /// click can end before the next result arrives.
    fn pressed_at(&self, bench: &Workbench) -> Option<Picked> {
        let (mut picked, _) =
            self.seen.filter(|_| matches!(bench.preferences().tool, Tool::Measure | Tool::Grip))?;
        if let Some(sample) = &mut picked.surface {
            sample.draw = self.force[0];
        }
        Some(picked)
    }

    /// Requests a pick of the skin under the mouse if the tool needs it.
    pub(super) fn ask_pick(&mut self, bench: Option<&Workbench>) {
        let wants = bench.is_some_and(|b| {
            let tool = b.preferences().tool;
            matches!(tool, Tool::Grab | Tool::Skin | Tool::Measure | Tool::Grip) && !b.skin_tool_in_air()
        });
        let waiting =
            if let Hold::Tool { start, waits: Some(_), .. } = self.hold { Some(start) } else { None };
        let draws = bench.is_some_and(|b| matches!(b.preferences().tool, Tool::Skin | Tool::Grip))
            && self.hold != Hold::Free;
        let Some(at) = waiting.or(self.at).filter(|_| wants && (self.over || waiting.is_some() || draws))
        else {
            return;
        };
        let known =
            self.skin_at(at).is_some() && bench.is_some_and(|b| ShownVersions::of(b) == self.shown) && !draws;
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
