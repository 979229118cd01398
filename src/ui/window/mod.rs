//! The window: everything a mouse, a pen and a keyboard do to the document of a [`Workbench`], and the panels beside the
//! picture. It knows no window and no device, and looks at nothing but its input.
//!
//! A window's frame: events are gathered into a [`WindowInput`] (with the answer of the last [`Pick`]);
//! [`WindowEditor::step`] runs panels, keys, camera and tools; the window draws [`WindowOutput::views`] with
//! [`WindowOutput::lines`] into the viewport, paints [`WindowOutput::paint`] over it, looks up [`WindowOutput::pick`],
//! and does what is asked. What the panels show that the workbench does not know is in [`WindowEditor::facts`].
//!
//! A mouse is a hand (`pointer`), so the tools are those of the headset, and so is the document: taking a headset on
//! is giving the same workbench another input.
//!
//! The hand's tip lies where the ray through its pixel meets a plane or the skin, in a room whose axes are the camera's
//! and where a point of the window is 2.5 mm: so brushes, reaches and trembles of the headset's tools suit a mouse at any
//! distance, and a take can hold either. The gizmo is Sinew's own, since the usual library for egui wants another egui
//! than this one.

mod acts;
mod aim;
mod arc;
mod bykey;
mod camera;
mod choices;
mod events;
mod facts;
mod gizmo;
mod input;
mod keys;
mod output;
mod panels;
mod paths;
mod plane;
mod pointer;
mod question;
pub mod reach;
#[cfg(test)]
mod tests;

pub use camera::{Lens, Orbit, Side, Stand};
pub use choices::{Choices, Plane, Stereo, Theme, ZOOM_RANGE};
pub use facts::Facts;
pub use input::{Pick, Picked, WindowInput};
pub use keys::{ACTS, Act, Chord, Group, KeyMap, Line};
pub use output::{Ask, Picture, WindowOutput, Writes};
pub use question::Question;

use crate::base::Version;
use crate::base::math::{Aabb, Vec3};
use crate::document::DeformerSettings;
use crate::pose::WorkingPlane;
use crate::workbench::{Command, Input, Similarity, TURNTABLE, Tool, Tracked, Tracking, Workbench};
use egui::{Event, Modifiers, PointerButton};
use pointer::Eyepiece;
use std::time::Duration;

/// Logical pixels within which a press is a click.
const CLICK: f32 = 4.0;
/// More moves of the mouse than this in a frame are thinned out.
const MOVES: usize = 24;
/// A press waits no longer than this for the skin under it, seconds.
const PATIENCE: f64 = 0.5;
/// A tool that is still at work after the button went up is stepped again so soon: a mark waits for its last sample.
const AFTER: Duration = Duration::from_millis(50);

/// What the mouse is doing in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hold {
    /// Nothing.
    Free,
    /// Moves the camera.
    Camera(Drag, PointerButton),
    /// Went down on the motion: a drag takes its pose and uses the tool from here on, a click selects.
    Reach { start: [f32; 2] },
    /// Uses the tool: where it was pressed, the plane its tip stays on, and since when it waits for the skin there.
    Tool { start: [f32; 2], plane: WorkingPlane, waits: Option<f64>, moved: bool },
    /// Holds the body by a key until the next click: the tip's plane and its distance from the ray.
    Grab { by: bykey::ByKey, plane: WorkingPlane, from_ray: Vec3 },
    /// Turns a joint by a key until the next click: the mouse's angle so far, whole turns included, and its last direction
    /// from the joint, radians, anticlockwise.
    Turn { by: bykey::ByKey, angle: f32, last: f32 },
    /// Moves a joint by the gizmo.
    Joint(gizmo::Drag),
    /// Moves the plane that strokes are drawn on by the gizmo.
    Plane(gizmo::Drag, WorkingPlane),
    /// Moves the divider between two deformers.
    Wipe,
    /// Sizes the brush until the next click: pixel and radius at the start.
    Brush { start: [f32; 2], radius: f32 },
}

/// What a drag does to the camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drag {
    Orbit,
    Pan,
    Zoom,
}

/// Everything of a window but the window.
pub struct WindowEditor {
    /// What the panels show that the workbench does not know.
    pub facts: Facts,
    choices: Choices,
    camera: Orbit,
    context: egui::Context,
    panels: panels::Memory,
    /// Box of the character that was framed when it came.
    framed: Option<Aabb>,
    time: f64,
    size: [u32; 2],
    scale: f32,
    modifiers: Modifiers,
    /// Where the mouse is, pixels of the window.
    at: Option<[f32; 2]>,
    /// It is over the picture, not over a panel.
    over: bool,
    hold: Hold,
    /// What was to be turned or moved by a key was not there: the keys that go on with it do nothing.
    missed: bool,
    /// The motion's time, seconds, and the steps before its pose was taken for what is done by a key.
    before: Option<(usize, f64)>,
    /// The keyboard was for a text, a number or a question when the frame began.
    typing: bool,
    /// A press that was not for the panels: nor is its end.
    kept_press: bool,
    /// Trigger and squeeze of the hand that it is.
    force: [f32; 2],
    pressure: Option<f32>,
    focused: bool,
    /// The newest answer, and the mouse's pixel when it was asked.
    seen: Option<(Picked, [f32; 2])>,
    asked: Option<(Pick, [f32; 2])>,
    other: Option<DeformerSettings>,
    /// The plane that strokes are drawn on shows its gizmo.
    moves_plane: bool,
    /// The divider between the document's deformer and the other, share of the picture's width.
    divider: f32,
    arc: arc::Found,
    output: WindowOutput,
    /// A list of files shows, as of the last frame.
    lists: bool,
    /// Something changed that no event tells.
    changed: bool,
    /// What the output of the last step was made from.
    shown: Shown,
    /// What the panels say, and where: pixels.
    #[cfg(test)]
    words: Vec<(String, egui::Rect)>,
}

/// Versions of what the window shows of a workbench.
#[derive(Clone, Copy, Default, PartialEq)]
struct Shown {
    pose: Version,
    document: Version,
}

impl WindowEditor {
    /// A desk with these choices and nothing on it.
    pub fn new(choices: Choices) -> Self {
        Self {
            facts: Facts::default(),
            choices: choices.sane(),
            camera: Orbit::default(),
            context: panels::context(),
            panels: panels::Memory::default(),
            framed: None,
            time: 0.0,
            size: [1, 1],
            scale: 1.0,
            modifiers: Modifiers::NONE,
            at: None,
            over: false,
            hold: Hold::Free,
            missed: false,
            before: None,
            typing: false,
            kept_press: false,
            force: [0.0; 2],
            pressure: None,
            focused: true,
            seen: None,
            asked: None,
            other: None,
            moves_plane: false,
            divider: 0.5,
            arc: arc::Found::default(),
            output: WindowOutput::default(),
            lists: false,
            changed: true,
            shown: Shown::default(),
            #[cfg(test)]
            words: Vec::new(),
        }
    }

    /// The user's choices, to be kept.
    pub fn choices(&self) -> &Choices {
        &self.choices
    }

    /// egui's context, for a window's adapter; another one after [`WindowEditor::renew`].
    pub fn context(&self) -> &egui::Context {
        &self.context
    }

    /// The camera.
    pub fn camera(&self) -> &Orbit {
        &self.camera
    }

    /// The deformer right of a [`Picture::Wipe`]'s divider.
    pub fn other_deformer(&self) -> Option<&DeformerSettings> {
        self.other.as_ref()
    }

    /// What the last step gave.
    pub fn output(&self) -> &WindowOutput {
        &self.output
    }

    /// For the window to take texture changes out of [`WindowOutput::paint`].
    pub fn output_mut(&mut self) -> &mut WindowOutput {
        &mut self.output
    }

    /// Everything is painted again, fonts too: the pictures are gone with their device.
    pub fn renew(&mut self) {
        self.context = panels::context();
        self.output.paint.textures.clear();
        self.changed = true;
    }

    /// One frame; without a workbench while nothing is open.
    pub fn step(&mut self, input: &WindowInput, mut bench: Option<&mut Workbench>) -> &WindowOutput {
        let before = if input.time.is_finite() { self.time } else { input.time };
        let step = (input.time - before).clamp(0.0, 0.1);
        self.output.asks.clear();
        self.output.pick = None;
        self.pressure = input.pressure.filter(|p| p.is_finite()).map(|p| p.clamp(0.0, 1.0));
        self.focused = input.focused;
        if input.picked.is_some() {
            self.seen = input.picked.zip(self.asked.map(|(_, at)| at));
        }
        let shown = self.run_panels(input, bench.as_deref_mut());
        for path in &input.dropped {
            self.command(Command::Open(path.clone()), bench.as_deref_mut());
        }
        self.keep_lists(input, bench.as_deref());
        if let Some(bench) = bench.as_deref_mut() {
            self.meet(bench);
            if !bench.preferences().turntable {
                self.camera.stop_turning();
            } else if self.hold == Hold::Free {
                self.camera.turn(bench.axis(), TURNTABLE * step as f32);
            }
        }
        let moves = input.events.iter().filter(|e| matches!(e, Event::PointerMoved(_))).count();
        let stride = moves.div_ceil(MOVES).max(1);
        let mut seen_moves = 0;
        for (i, event) in input.events.iter().enumerate() {
            let share = (i + 1) as f64 / (input.events.len() + 1) as f64;
            let time = before + (input.time - before).max(0.0) * share;
            let thinned = matches!(event, Event::PointerMoved(_)) && {
                seen_moves += 1;
                seen_moves % stride != 0
            };
            self.event(event, time, thinned, bench.as_deref_mut());
        }
        self.time = self.time.max(input.time);
        if let Some(bench) = bench.as_deref_mut() {
            self.await_skin(bench);
            self.hand(bench, self.time, input.picked);
            self.follow(bench);
        }
        self.look();
        self.write(shown, !input.events.is_empty(), bench.as_deref());
        &self.output
    }

    /// Another character is framed.
    fn meet(&mut self, bench: &Workbench) {
        if self.framed != Some(*bench.bounds()) {
            self.framed = Some(*bench.bounds());
            self.seen = None;
            self.camera.meet(bench.bounds(), self.aspect());
        }
    }

    /// Width over height of the picture.
    fn aspect(&self) -> f32 {
        let [_, _, width, height] = self.output.viewport;
        width.max(1) as f32 / height.max(1) as f32
    }

    /// Whether a pixel of the window means the divider between two deformers.
    fn on_divider(&self, at: [f32; 2]) -> bool {
        let [x, _, width, _] = self.output.viewport.map(|v| v as f32);
        let shows = matches!(self.output.picture, Picture::Wipe(_));
        shows && (at[0] - x - self.divider * width).abs() <= 6.0 * self.scale
    }

    /// The picture that a pixel of the window lies in.
    fn eyepiece(&self, at: [f32; 2]) -> (Eyepiece, u32) {
        let [x, y, width, height] = self.output.viewport.map(|v| v as f32);
        let (corner, size, scale) = ([x, y], [width.max(1.0), height.max(1.0)], self.scale);
        if self.choices.stereo == Stereo::SideBySide {
            let half = [size[0] * 0.5, size[1]];
            let view = usize::from(at[0] >= x + half[0]);
            let corner = [x + half[0] * view as f32, y];
            let views = self.camera.stereo(half[0] / half[1]);
            return (Eyepiece { corner, size: half, view: views[view], scale }, view as u32);
        }
        (Eyepiece { corner, size, view: self.camera.view(size[0] / size[1]), scale }, 0)
    }

    /// Whether a pixel of the window is the picture's, not a panel's.
    fn is_picture(&self, at: [f32; 2]) -> bool {
        let [x, y, width, height] = self.output.viewport.map(|v| v as f32);
        let inside = (x..x + width).contains(&at[0]) && (y..y + height).contains(&at[1]);
        let points = egui::pos2(at[0] / self.scale, at[1] / self.scale);
        let layer = self.context.layer_id_at(points);
        inside && layer.is_none_or(|l| l.order == egui::Order::Background) && !self.context.any_popup_open()
    }

    /// The hand that the mouse is, for one step of the workbench.
    fn hand(&mut self, bench: &mut Workbench, time: f64, picked: Option<Picked>) {
        let at = self.at.unwrap_or_default();
        let (eyepiece, _) = self.eyepiece(at);
        let room = pointer::room(&self.camera, &eyepiece);
        let tip = self.tip(bench, &eyepiece, at);
        let surface = picked.and_then(|p| p.surface);
        // A sample of the skin is where the tip was.
        let follows = matches!(bench.preferences().tool, Tool::Skin | Tool::Measure);
        let on_skin = surface.filter(|_| follows).map(|s| s.position);
        let force =
            if matches!(self.hold, Hold::Tool { waits: Some(_), .. }) { [0.0; 2] } else { self.force };
        let hand = pointer::hand(&room, on_skin.or(tip), force, surface);
        let mut input = Input { time, focused: true, window: Some(room), ..Input::default() };
        input.floor = Some(*self.camera.floor());
        let eye = room.inverse_rigid(&crate::workbench::Rigid {
            position: self.camera.eye(),
            orientation: self.camera.rotation(),
        });
        input.head = Tracked { pose: eye, tracking: Tracking::Tracked };
        input.hands[bench.preferences().tool_hand()] = hand;
        let output = bench.step(&input);
        self.output.asks.extend(output.requests.iter().cloned().map(Ask::Editor));
    }

    /// Takes over what the workbench wants shown.
    fn follow(&mut self, bench: &Workbench) {
        let mut lines = std::mem::take(&mut self.output.lines);
        let shown = bench.output();
        lines.clear();
        lines.segments.extend_from_slice(&shown.lines.segments);
        lines.anchors.extend_from_slice(&shown.lines.anchors);
        if let Some(at) = bench.selected().and_then(|n| bench.rig().world.get(n.index())) {
            lines.dot(at.translation.into(), panels::SELECTED, 12.0);
        }
        self.draw_arc(bench, &mut lines);
        self.draw_plane(bench, &mut lines);
        self.draw_gizmo(bench, &mut lines);
        self.draw_axis(bench, &mut lines);
        self.output.lines = lines;
    }

    fn look(&mut self) {
        let aspect = self.aspect();
        self.output.world_from_floor = *self.camera.floor();
        let before = self.output.views.first().copied();
        self.output.views.clear();
        let one = self.camera.view(aspect);
        match self.choices.stereo {
            Stereo::Off => self.output.views.push(one),
            Stereo::SideBySide => self.output.views.extend(self.camera.stereo(aspect * 0.5)),
            Stereo::Anaglyph => self.output.views.extend(self.camera.stereo(aspect)),
        }
        // Another view has other skin under the mouse.
        if before.as_ref() != self.output.views.first() {
            self.seen = None;
        }
        self.output.picture = match self.choices.stereo {
            Stereo::Off if self.other.is_some() => Picture::Wipe(self.divider),
            Stereo::Off => Picture::Whole,
            Stereo::SideBySide => Picture::SideBySide,
            Stereo::Anaglyph => Picture::Anaglyph,
        };
    }

    fn write(&mut self, shown: panels::Shown, events: bool, bench: Option<&Workbench>) {
        let busy = bench.is_some_and(Workbench::is_busy) || self.hold != Hold::Free;
        let runs = bench.is_some_and(|b| b.preferences().turntable || b.timeline().playhead.playing);
        self.ask_pick(bench);
        let waiting = self.output.pick.is_some() && busy;
        let shown_now = bench.map_or_else(Shown::default, |b| Shown {
            pose: b.shown_pose().version,
            document: b.session().revision(),
        });
        let out = &mut self.output;
        out.scale = self.scale;
        out.smooth = bench.is_none_or(|b| b.preferences().smooth);
        // Panels come before keys and tools: what these have changed shows on them in the next turn.
        let stale = std::mem::take(&mut self.changed) || shown_now != self.shown;
        self.shown = shown_now;
        out.dirty = shown.painted || events || runs || busy || stale;
        let soon =
            (runs || waiting || stale || shown.again == Some(Duration::ZERO)).then_some(Duration::ZERO);
        let left = (busy && self.hold == Hold::Free).then_some(AFTER);
        out.again = [soon, left, shown.again].into_iter().flatten().min();
    }
}

/// Where the picture puts the room of the hands, for tests and takes.
impl WindowEditor {
    /// World from the window's room, as the tools see it.
    pub fn world_from_room(&self) -> Similarity {
        let [x, y, width, height] = self.output.viewport.map(|v| v as f32);
        pointer::room(&self.camera, &self.eyepiece([x + width * 0.5, y + height * 0.5]).0)
    }
}
