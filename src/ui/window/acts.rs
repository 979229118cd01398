//! Carries out the actions of keys and panel buttons.

use super::camera::{Lens, Side, Stand};
use super::choices::{Choices, Plane, ZOOM_RANGE};
use super::keys::{Act, Chord};
use super::output::Ask;
use super::{Hold, WindowEditor};
use crate::base::math::{Aabb, Vec3};
use crate::document::DeformerSettings;
use crate::pose::Lengths;
use crate::scene::method;
use crate::ui::panels::Pressed;
use crate::ui::panels::deformer::{method_label, next_method};
use crate::ui::panels::keys::{self, KeyAct};
use crate::workbench::{CageSet, Command, Notice, Request, Tool, Viewpoint, Workbench};
use std::f32::consts::PI;

/// Rotation of the view per key press, radians: 15 degrees, as in Blender.
const TURN: f32 = PI / 12.0;
/// Factor on the brush radius per press of a bracket key.
const GROWTH: f32 = 1.15;
/// Change of the panels' zoom factor per key press.
const LARGER: f32 = 0.1;

impl WindowEditor {
    pub(super) fn key(&mut self, chord: Chord, repeat: bool, time: f64, bench: Option<&mut Workbench>) {
        // Text fields and questions have priority over shortcuts. The key that ends the input of a text field is not a
        // shortcut either.
        if self.typing || self.takes_keys() {
            return;
        }
        if let Some(act) = self.panels.binding.take() {
            if chord.key() != egui::Key::Escape {
                self.choices.keys.bind(act, chord);
            }
            self.changed = true;
            return;
        }
        let mut bench = bench;
        if bench.as_deref_mut().is_some_and(|bench| self.key_by_key(chord, time, bench)) {
            return;
        }
        if chord.is_plain() && self.choose_file(chord.key(), bench.as_deref_mut()) {
            return;
        }
        if chord.is_text() && self.takes_paths(bench.as_deref()) {
            return;
        }
        let Some(act) = self.choices.keys.act(chord) else { return };
        if act == Act::Remove && self.panels.shared.keys.over {
            return self.act_on_keys(KeyAct::Delete, bench);
        }
        let repeats = matches!(
            act,
            Act::Undo
                | Act::NextFrame
                | Act::LastFrame
                | Act::Redo
                | Act::BrushLarger
                | Act::BrushSmaller
                | Act::TurnLeft
                | Act::TurnRight
                | Act::TurnUp
                | Act::TurnDown
        );
        if !repeat || repeats {
            self.forget_messages(bench.as_deref_mut());
            self.act(act, time, bench);
        }
    }

    /// Runs a command from outside the panels, e.g. of the window's menu or a script. The command's requests are in
    /// [`WindowEditor::output`] immediately.
    pub fn run_command(&mut self, command: Command, bench: Option<&mut Workbench>) {
        self.command(command, bench);
    }

    /// Runs a command. Commands about the view move the camera; most other commands go to the workbench.
    pub(super) fn command(&mut self, command: Command, bench: Option<&mut Workbench>) {
        self.changed = true;
        match (command, bench) {
            (Command::Quit, _) => self.output.asks.push(Ask::Editor(Request::Quit)),
            (Command::OtherFace, _) => self.output.asks.push(Ask::Editor(Request::OtherFace)),
            (Command::Open(path), None) => self.output.asks.push(Ask::Editor(Request::Open(path))),
            (_, None) => {}
            (Command::SnapTurn(steps), Some(_)) => self.turn(-2.0 * steps as f32, 0.0),
            (Command::LifeSize, Some(bench)) => self.frame_all(bench),
            (Command::KeepView(slot), Some(bench)) => {
                let s = *self.camera.stand();
                let eye = s.target + self.camera.rotation() * Vec3::Z * s.portrait_distance();
                bench.keep_viewpoint(slot, Viewpoint::new(bench.bounds(), eye, s.target));
            }
            (Command::GoToView(slot), Some(bench)) => {
                if let Some(v) = bench.kept_viewpoint(slot) {
                    bench.run_command(Command::Turntable(false));
                    let (target, distance) = (v.target_in(bench.bounds()), v.distance_in(bench.bounds()));
                    let stand = Stand { target, yaw: v.yaw, pitch: v.pitch, ..*self.camera.stand() };
                    self.camera.go(stand.at_portrait_distance(distance));
                }
            }
            (Command::UndoNavigation, Some(bench)) => {
                // A running turntable would immediately change the restored view.
                if self.camera.back() && bench.preferences().turntable {
                    bench.run_command(Command::Turntable(false));
                }
            }
            (Command::Palette, _) => self.choices.panels = !self.choices.panels,
            (command, Some(bench)) => {
                let down = self.context.input(|i| i.pointer.any_down());
                let Some(command) = self.panels.shared.instead(command, bench, down) else { return };
                if !matches!(self.hold, Hold::Free) {
                    let unfinished = bench.is_busy();
                    self.drop_act(bench);
                    // As in the headset, undo during an act drops the act alone.
                    if command == Command::Cancel
                        || (unfinished && matches!(command, Command::Undo | Command::Redo))
                    {
                        return;
                    }
                }
                if command == Command::Cancel && !bench.can_cancel() {
                    self.moves_plane = false;
                }
                // The window system reports the key for pasting only while the clipboard has text.
                if let (Command::CopyPose, Some(node)) = (&command, bench.selected()) {
                    let name = &bench.character().skeleton.nodes[node.index()].name;
                    self.context.copy_text(format!("Sinew pose of {name}"));
                }
                // The panel that shows the choice may be hidden or scrolled away.
                let method = matches!(command, Command::Deformer(_));
                let colors = matches!(command, Command::Colors(_));
                bench.run_command(command);
                if method && bench.notice().is_none() {
                    let name = &bench.session().document().deformer().method;
                    self.facts.message = Some(Notice::fact(format!("Deformer: {}", method_label(name))));
                }
                if colors && bench.notice().is_none() {
                    let view = bench.preferences().colors;
                    let text = format!("Colours on the skin: {}, {}", view.label(), view.legend());
                    self.facts.message = Some(Notice::fact(text));
                }
            }
        }
    }

    /// Carries out an action on the selected keys of the dope sheet.
    pub(super) fn act_on_keys(&mut self, act: KeyAct, bench: Option<&mut Workbench>) {
        let Some(bench) = bench else { return };
        self.forget_messages(Some(bench));
        let mut pressed = Pressed::default();
        keys::act(act, bench, &mut self.panels.shared.keys, &mut pressed);
        for command in pressed.commands {
            self.command(command, Some(bench));
        }
        if act == KeyAct::Copy {
            // Without a text in the clipboard, the window system reports no paste.
            self.context.copy_text("keys of Sinew".to_owned());
        }
        self.facts.message = pressed.tell.map(Notice::from).or(self.facts.message.take());
        self.changed = true;
    }

    /// Carries out the action of a key or button.
    pub(super) fn act(&mut self, act: Act, time: f64, mut bench: Option<&mut Workbench>) {
        self.changed = true;
        if let Some(bench) = bench.as_deref_mut() {
            match act {
                Act::Rotate => return self.begin_turn(bench),
                Act::Grab => return self.begin_grab(time, bench),
                Act::BrushSize => return self.begin_brush(bench),
                Act::Cancel => self.panels.help = false,
                Act::TakePose if bench.shown_time().is_none() => {
                    return self.tell("this is the pose being edited: no motion shows");
                }
                Act::TakePose => {
                    self.drop_act(bench);
                    return bench.take_pose();
                }
                Act::FixPlane => return self.fix_plane(bench),
                Act::MovePlane => return self.move_plane(bench),
                Act::Compare => return self.compare(bench),
                Act::Deselect => return bench.select(None),
                Act::FrameSelected => return self.frame_selected(bench),
                _ => {}
            }
            if let Some(command) = command_of(act, bench) {
                return self.command(command, Some(bench));
            }
        }
        match act {
            Act::Quit => self.command(Command::Quit, bench),
            Act::OtherFace => self.command(Command::OtherFace, bench),
            Act::Open => self.output.asks.push(Ask::OpenDialog),
            Act::SaveAs => self.output.asks.push(Ask::SaveAsDialog),
            Act::Front => self.camera.look_from(Side::Front),
            Act::Back => self.camera.look_from(Side::Back),
            Act::Left => self.camera.look_from(Side::Left),
            Act::Right => self.camera.look_from(Side::Right),
            Act::Top => self.camera.look_from(Side::Top),
            Act::Bottom => self.camera.look_from(Side::Bottom),
            Act::Opposite => self.turn(PI / TURN, 0.0),
            Act::TurnUp => self.turn(0.0, 1.0),
            Act::TurnDown => self.turn(0.0, -1.0),
            Act::Lens => {
                let lens = match self.camera.stand().lens {
                    Lens::Perspective => Lens::Parallel,
                    Lens::Parallel => Lens::Perspective,
                };
                self.camera.go(Stand { lens, ..*self.camera.stand() });
            }
            Act::Stereo => self.choices.stereo = self.choices.stereo.next(),
            Act::EditKeys => self.panels.shared.keys.open = !self.panels.shared.keys.open,
            Act::Panels => self.choices.panels = !self.choices.panels,
            Act::Help => self.panels.help = !self.panels.help,
            Act::Cancel => self.panels.help = false,
            Act::Larger => self.resize(LARGER),
            Act::Smaller => self.resize(-LARGER),
            _ if bench.is_none() => self.tell("nothing is open: choose a character, or drop one here"),
            _ => {}
        }
    }

    /// Shows a message in the line below the picture.
    pub(super) fn tell(&mut self, text: &str) {
        self.facts.message = Some(text.into());
    }

    fn resize(&mut self, by: f32) {
        let zoom = (self.choices.zoom + by).clamp(ZOOM_RANGE[0], ZOOM_RANGE[1]);
        self.choices = Choices { zoom, ..self.choices.clone() };
    }

    /// Rotates the view by steps of a key press, to the left and up.
    fn turn(&mut self, left: f32, up: f32) {
        let s = *self.camera.stand();
        self.camera.go(Stand { yaw: s.yaw - left * TURN, pitch: s.pitch + up * TURN, ..s });
    }

    fn frame_all(&mut self, bench: &Workbench) {
        let b = bench.bounds();
        let bones = Aabb::of(bench.rig().bones.iter().flat_map(|b| [b.head, b.tail]));
        let posed = Aabb { min: b.min.min(bones.min), max: b.max.max(bones.max) };
        self.camera.frame(if bones.is_empty() { b } else { &posed }, self.aspect());
    }

    /// Frames the selected joint and its bones or, without a selection, the whole character.
    fn frame_selected(&mut self, bench: &Workbench) {
        let Some(node) = bench.selected() else {
            self.tell("no joint is selected: everything is shown");
            return self.frame_all(bench);
        };
        let Some(at) = bench.rig().world.get(node.index()).map(|w| Vec3::from(w.translation)) else { return };
        let skeleton = &bench.character().skeleton;
        let bones = skeleton.bones.iter().zip(&bench.rig().bones);
        let own = bones.filter(|(b, _)| skeleton.joints[b.parent.index()].node == node);
        let reach = own.map(|(_, b)| b.head.distance(b.tail)).fold(0.0_f32, f32::max);
        let reach = reach.max(0.06 * bench.bounds().diagonal());
        self.camera.frame(&Aabb { min: at - reach, max: at + reach }, self.aspect());
    }

    /// Fixes the drawing plane through the selected joint or the root, facing the camera. If the plane is already
    /// fixed, releases it.
    fn fix_plane(&mut self, bench: &Workbench) {
        let node = bench.selected().or(bench.posable().first().copied());
        let at = node.and_then(|n| bench.rig().world.get(n.index())).map(|w| Vec3::from(w.translation));
        self.choices.plane = match (self.choices.plane, at) {
            (Plane::Camera, Some(origin)) => {
                let normal = self.camera.rotation() * Vec3::Z;
                Plane::Fixed { origin: origin.into(), normal: normal.into() }
            }
            _ => Plane::Camera,
        };
        self.moves_plane &= self.choices.plane != Plane::Camera;
    }

    /// Shows or hides the gizmo of the drawing plane. A plane that faces the camera is fixed first.
    fn move_plane(&mut self, bench: &Workbench) {
        if self.choices.plane == Plane::Camera {
            self.fix_plane(bench);
            self.moves_plane = false;
        }
        self.moves_plane = !self.moves_plane && self.choices.plane != Plane::Camera;
    }

    /// Starts or ends the comparison of the document's deformer with LBS, or with DQS if the document uses LBS.
    fn compare(&mut self, bench: &Workbench) {
        let own = &bench.session().document().deformer().method;
        let method = if own == "lbs" { "dqs" } else { "lbs" }.to_owned();
        let other = DeformerSettings { method, ..DeformerSettings::default() };
        self.other = self.other.is_none().then_some(other);
        self.changed = true;
    }

    fn begin_brush(&mut self, bench: &Workbench) {
        if let Some(start) = self.at.filter(|_| self.over && self.hold == Hold::Free) {
            self.hold = Hold::Brush { start, radius: bench.preferences().radius };
        }
    }
}

/// Returns the command that an action gives in the current state; `None` for actions that only the window has.
pub(super) fn command_of(act: Act, bench: &Workbench) -> Option<Command> {
    let (p, timeline) = (bench.preferences(), bench.timeline());
    let playhead = timeline.playhead;
    Some(match act {
        Act::LineTool => Command::Tool(Tool::Line),
        Act::GrabTool => Command::Tool(Tool::Grab),
        Act::SkinTool => Command::Tool(Tool::Skin),
        Act::JointTool => Command::Tool(Tool::Joint),
        Act::SilhouetteTool => Command::Tool(Tool::Silhouette),
        Act::MeasureTool => Command::Tool(Tool::Measure),
        Act::BoneTool => Command::Tool(Tool::Bone),
        Act::CageTool => Command::Tool(Tool::Cage),
        Act::GripTool => Command::Tool(Tool::Grip),
        Act::CageSet => {
            let at = CageSet::ALL.iter().position(|s| *s == p.cage_set).unwrap_or(0);
            Command::CageSet(CageSet::ALL[(at + 1) % CageSet::ALL.len()])
        }
        Act::MarkBy => Command::MarkBy(if p.tool == Tool::Skin { p.marks.next() } else { p.marks }),
        Act::NextMeasure => Command::Measure(p.measure.next()),
        Act::NextTool => {
            let at = Tool::ALL.iter().position(|t| *t == p.tool).unwrap_or(0);
            Command::Tool(Tool::ALL[(at + 1) % Tool::ALL.len()])
        }
        Act::BrushLarger => Command::Radius(p.radius * GROWTH),
        Act::BrushSmaller => Command::Radius(p.radius / GROWTH),
        Act::Lengths => Command::Lengths(match p.lengths {
            Lengths::Keep => Lengths::Stretch,
            Lengths::Stretch => Lengths::Keep,
        }),
        Act::Pen => Command::Pen(p.pen.next()),
        Act::GrabBy => Command::GrabBy(p.grab.next()),
        Act::Rig => Command::Rig(true),
        Act::PastePose => Command::PastePose(false),
        Act::PasteMirrored => Command::PastePose(true),
        Act::NextMethod => {
            let now = method(&bench.session().document().deformer().method);
            Command::Deformer(next_method(now, now).to_owned())
        }
        Act::Play => Command::Play(!playhead.playing),
        Act::NextFrame => Command::Scrub(playhead.time + timeline.frame()),
        Act::LastFrame => Command::Scrub(playhead.time - timeline.frame()),
        Act::Colors => Command::Colors(bench.next_colors()),
        Act::TurnLeft => Command::SnapTurn(-1),
        Act::TurnRight => Command::SnapTurn(1),
        // The window opens its dialogs first.
        Act::OtherFace | Act::Quit | Act::Panels => return None,
        _ => {
            let kind = act.line().command?;
            return kind.switch(p).map(|(_, command)| command).or_else(|| kind.plain());
        }
    })
}
