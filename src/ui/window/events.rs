//! Handles events of mouse and keyboard in the picture.

use super::keys::Chord;
use super::{CLICK, Drag, Hold, WindowEditor, paths, pointer};
use crate::ui::panels::keys::KeyAct;
use crate::workbench::{Command, RADIUS_RANGE, Tool, Workbench};
use egui::{Event, PointerButton};

/// Whether the mouse has moved so far from the press that the press is a drag, not a click.
fn is_drag(start: [f32; 2], at: [f32; 2], scale: f32) -> bool {
    (at[0] - start[0]).hypot(at[1] - start[1]) > CLICK * scale
}

impl WindowEditor {
    pub(super) fn event(&mut self, event: &Event, time: f64, thinned: bool, bench: Option<&mut Workbench>) {
        match event {
            Event::ModifiersChanged(modifiers) => self.modifiers = *modifiers,
            Event::PointerMoved(to) => {
                let to = [to.x, to.y];
                let from = self.at.replace(to).unwrap_or(to);
                self.over = self.is_picture(to);
                self.moved([to[0] - from[0], to[1] - from[1]], bench, (!thinned).then_some(time));
            }
            Event::PointerGone => {
                self.over = false;
                if self.hold == Hold::Free {
                    self.at = None;
                }
            }
            Event::PointerButton { pos, button, pressed, modifiers } => {
                (self.at, self.modifiers) = (Some([pos.x, pos.y]), *modifiers);
                self.missed &= !*pressed;
                self.over = self.is_picture([pos.x, pos.y]);
                if let Some(bench) = bench {
                    if *pressed {
                        self.pressed(*button, time, bench)
                    } else {
                        self.release(*button, time, bench)
                    }
                }
            }
            Event::MouseWheel { unit, delta, modifiers, .. } if self.over => {
                let steps = match unit {
                    egui::MouseWheelUnit::Point => delta.y / 50.0,
                    egui::MouseWheelUnit::Line => delta.y,
                    egui::MouseWheelUnit::Page => delta.y * 4.0,
                };
                self.modifiers = *modifiers;
                self.zoom(steps.clamp(-20.0, 20.0));
            }
            Event::Zoom(factor) if self.over && factor.is_finite() && *factor > 0.0 => {
                self.zoom((factor.ln() * 8.0).clamp(-20.0, 20.0));
            }
            Event::Key { key, pressed: true, repeat, modifiers, .. } => {
                self.modifiers = *modifiers;
                self.key(Chord::new(*key, *modifiers), *repeat, time, bench);
            }
            Event::Text(text) if self.takes_paths(bench.as_deref()) => self.type_path(text),
            // Over the dope sheet, both are about keys.
            Event::Copy if !self.typing && !self.takes_keys() && self.panels.shared.keys.over => {
                self.act_on_keys(KeyAct::Copy, bench);
            }
            Event::Paste(_) if !self.typing && !self.takes_keys() && self.panels.shared.keys.over => {
                self.act_on_keys(KeyAct::Paste, bench);
            }
            // The window system reports these keys as actions on the clipboard. Outside of a text field, the key map
            // defines them, except that pasting a path opens the file.
            Event::Copy => {
                let chord = Chord::new(egui::Key::C, self.modifiers | egui::Modifiers::CTRL);
                self.key(chord, false, time, bench);
            }
            Event::Paste(text) if !self.typing && !self.takes_keys() => match paths::pasted(text) {
                Some(path) => self.command(Command::Open(path), bench),
                None => {
                    let chord = Chord::new(egui::Key::V, self.modifiers | egui::Modifiers::CTRL);
                    self.key(chord, false, time, bench);
                }
            },
            Event::WindowFocused(false) => {
                if let Some(bench) = bench {
                    self.drop_act(bench);
                }
            }
            _ => {}
        }
    }

    fn zoom(&mut self, steps: f32) {
        let [x, y, width, height] = self.output.viewport.map(|v| v as f32);
        let at = self.at.unwrap_or([x + width * 0.5, y + height * 0.5]);
        let (eyepiece, _) = self.eyepiece(at);
        let middle = [0, 1].map(|i| eyepiece.corner[i] + eyepiece.size[i] * 0.5);
        let rows = eyepiece.size[1];
        self.camera.zoom(steps, [(at[0] - middle[0]) / rows, (middle[1] - at[1]) / rows]);
    }

    fn moved(&mut self, by: [f32; 2], bench: Option<&mut Workbench>, time: Option<f64>) {
        let points = by.map(|b| b / self.scale);
        match &mut self.hold {
            Hold::Camera(Drag::Orbit, _) => self.camera.orbit(points),
            Hold::Camera(Drag::Pan, _) => self.camera.pan(by, self.output.viewport[3] as f32),
            Hold::Camera(Drag::Zoom, _) => self.camera.zoom(points[1] / -20.0, [0.0; 2]),
            Hold::Joint(_) => {
                if let Some(bench) = bench {
                    self.drag_joint(bench);
                }
            }
            Hold::Turn { .. } => {
                if let Some(bench) = bench {
                    self.turn_by_key(bench);
                }
            }
            Hold::Plane(..) => self.drag_plane(),
            Hold::Key { .. } => {
                if let Some(bench) = bench {
                    self.drag_key(bench);
                }
            }
            Hold::Wipe => {
                let [x, _, width, _] = self.output.viewport.map(|v| v as f32);
                let at = self.at.map_or(0.5, |at| (at[0] - x) / width.max(1.0));
                self.divider = if at.is_finite() { at.clamp(0.02, 0.98) } else { 0.5 };
            }
            Hold::Brush { start, radius } => {
                let right = (self.at.unwrap_or(*start)[0] - start[0]) / self.scale;
                let radius = *radius + right * pointer::PER_POINT;
                if let Some(bench) = bench {
                    bench.run_command(Command::Radius(radius.max(RADIUS_RANGE[0])));
                }
            }
            Hold::Reach { start } => {
                let (start, now) = (*start, self.at);
                let far = now.is_some_and(|at| is_drag(start, at, self.scale));
                if let (Some(bench), Some(time), true) = (bench, time, far) {
                    self.at = Some(start);
                    self.press(time, bench);
                    self.at = now;
                    self.moved([0.0; 2], Some(bench), Some(time));
                }
            }
            Hold::Tool { start, moved, waits, .. } => {
                let at = self.at.unwrap_or(*start);
                *moved |= is_drag(*start, at, self.scale);
                if let (Some(bench), Some(time), None) = (bench, time, waits) {
                    self.hand(bench, time, None);
                }
            }
            Hold::Grab { .. } => {
                if let (Some(bench), Some(time)) = (bench, time) {
                    self.hand(bench, time, None);
                }
            }
            Hold::Free => {}
        }
    }

    fn pressed(&mut self, button: PointerButton, time: f64, bench: &mut Workbench) {
        match (self.hold, button) {
            (_, PointerButton::Primary) if self.is_by_key() => self.keep_by_key(time, bench),
            (
                Hold::Grab { .. }
                | Hold::Turn { .. }
                | Hold::Brush { .. }
                | Hold::Tool { .. }
                | Hold::Reach { .. }
                | Hold::Plane(..)
                | Hold::Key { .. }
                | Hold::Joint(_),
                PointerButton::Secondary,
            ) => {
                self.drop_act(bench);
            }
            (Hold::Free, _) if self.over => self.take(button, time, bench),
            _ => {}
        }
    }

    /// Begins an operation with a press in the picture.
    fn take(&mut self, button: PointerButton, time: f64, bench: &mut Workbench) {
        let m = self.modifiers;
        let drag = match (m.shift, m.ctrl || m.command) {
            (true, _) => Drag::Pan,
            (_, true) => Drag::Zoom,
            _ => Drag::Orbit,
        };
        match button {
            PointerButton::Middle => {
                self.camera.begin();
                self.hold = Hold::Camera(drag, button);
            }
            PointerButton::Primary if m.alt => {
                self.camera.begin();
                self.hold = Hold::Camera(drag, button);
            }
            PointerButton::Primary if self.at.is_some_and(|at| self.on_divider(at)) => self.hold = Hold::Wipe,
            PointerButton::Primary if !self.on_gizmo(bench) && self.press_key(bench) => {}
            PointerButton::Primary => {
                let poses = bench.preferences().tool.poses();
                match self.at.filter(|_| poses && bench.shown_time().is_some()) {
                    Some(start) if !self.on_gizmo(bench) => self.hold = Hold::Reach { start },
                    _ => self.press(time, bench),
                }
            }
            _ => {}
        }
    }

    /// Handles a press with the drawing plane's gizmo, the joint's gizmo or the tool.
    fn press(&mut self, time: f64, bench: &mut Workbench) {
        if self.press_plane() {
            return;
        }
        if !self.press_gizmo(bench) {
            self.press_tool(time, bench);
        }
    }

    fn release(&mut self, button: PointerButton, time: f64, bench: &mut Workbench) {
        match self.hold {
            Hold::Camera(_, held) if held == button => {
                self.camera.end();
                self.hold = Hold::Free;
            }
            Hold::Joint(_) if button == PointerButton::Primary => {
                bench.let_joint_go();
                self.hold = Hold::Free;
            }
            Hold::Key { .. } if button == PointerButton::Primary => {
                self.drag_key(bench);
                bench.let_key_go();
                (self.hold, self.changed) = (Hold::Free, true);
            }
            Hold::Wipe | Hold::Plane(..) if button == PointerButton::Primary => self.hold = Hold::Free,
            // A click on the skin makes a grip, also on a displayed motion.
            Hold::Reach { start }
                if button == PointerButton::Primary && bench.preferences().tool == Tool::Grip =>
            {
                self.at = Some(start);
                self.press(time, bench);
                self.release(button, time, bench);
            }
            Hold::Reach { start } if button == PointerButton::Primary => {
                bench.select(self.joint_at(bench, start));
                (self.hold, self.changed) = (Hold::Free, true);
            }
            Hold::Tool { start, moved, .. } if button == PointerButton::Primary => {
                self.force = [0.0; 2];
                if moved {
                    self.hand(bench, time, None);
                } else {
                    // A click draws no stroke; it selects a joint or measures.
                    if !matches!(bench.preferences().tool, Tool::Measure | Tool::Grip) {
                        bench.drop_act();
                    }
                    self.hand(bench, time, None);
                    let node = self.joint_at(bench, start);
                    bench.select(node);
                    bench.measure_joint(node);
                    self.changed = true;
                }
                self.hold = Hold::Free;
            }
            _ => {}
        }
    }

    /// Cancels the current operation and undoes its effects.
    pub(super) fn drop_act(&mut self, bench: &mut Workbench) {
        if let Hold::Camera(..) = self.hold {
            self.camera.end();
        }
        if let Hold::Brush { radius, .. } = self.hold {
            bench.run_command(Command::Radius(radius));
        }
        // Restores the plane from before the drag.
        if let Hold::Plane(_, before) = self.hold {
            self.set_plane(before);
        }
        self.force = [0.0; 2];
        bench.drop_act();
        self.hold = Hold::Free;
    }
}
