//! The window editor applies mouse, pen and keyboard input to the document of a [`Workbench`] and lays out the
//! panels. It uses no OS window and no GPU device; its result depends only on its input.
//!
//! In each frame the front end gathers events and the result of the last [`Pick`] into a [`WindowInput`] and calls
//! [`WindowEditor::step`]. It then draws [`WindowOutput::views`] and [`WindowOutput::lines`] into the viewport, paints
//! [`WindowOutput::paint`] over it, looks up [`WindowOutput::pick`] and carries out [`WindowOutput::asks`]. The front
//! end also sets [`WindowEditor::facts`], which the panels show and the workbench does not know.
//!
//! The module `pointer` converts the mouse to a tracked hand, so window and headset share the tools and the document.
//!
//! The tip of the mouse's hand lies where the ray through the mouse's pixel meets a plane or the skin. The room space
//! of this hand has the axes of the camera, and one logical pixel of the window is 2.5 mm wide in it. The brush sizes
//! and thresholds of the headset's tools, in room metres, therefore suit the mouse at any camera distance.
//!
//! Sinew has its own gizmo because the usual gizmo crate needs another version of egui.

mod acts;
mod aim;
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
pub use keys::{ACTS, Act, Chord, Group, KeyLine, KeyMap};
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

/// Largest movement between press and release of a click, logical pixels.
const CLICK: f32 = 4.0;
/// Maximum number of mouse moves processed per frame; further moves are thinned out.
const MOVES: usize = 24;
/// Maximum time that a press waits for the pick result of the skin under it, seconds.
const PATIENCE: f64 = 0.5;
/// Delay before the next step while a tool still works after the release of the button. For example, a mark waits for
/// its last sample.
const AFTER: Duration = Duration::from_millis(50);

/// The drag or key operation that the mouse currently controls in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hold {
    /// No operation.
    Free,
    /// Moves the camera while the given button is down.
    Camera(Drag, PointerButton),
    /// The button went down while the motion shows, and the gesture is still undecided: a drag edits the shown pose, a
    /// click selects a joint.
    Reach { start: [f32; 2] },
    /// Uses the tool. `start` is the pressed pixel. `plane` is the plane on which the tip moves. `waits` is the time at
    /// which the press began to wait for the pick result of the skin.
    Tool { start: [f32; 2], plane: WorkingPlane, waits: Option<f64>, moved: bool },
    /// Grabs the body by key G until the next click. `from_ray` is the offset of the tip from the point where the
    /// mouse's ray meets `plane`.
    Grab { by: bykey::ByKey, plane: WorkingPlane, from_ray: Vec3 },
    /// Rotates a joint by key R until the next click. `angle` is how far the mouse has rotated about the joint, full
    /// rotations included; `last` is the mouse's last direction from the joint. Both are in radians, anticlockwise.
    Turn { by: bykey::ByKey, angle: f32, last: f32 },
    /// Moves or rotates a joint by the gizmo.
    Joint(gizmo::Drag),
    /// Moves or rotates the drawing plane by the gizmo. The second field is the plane before the drag.
    Plane(gizmo::Drag, WorkingPlane),
    /// Drags a key of the motion path on a plane. `from_ray` is the offset of the joint from the point where the mouse's ray
    /// meets `plane`.
    Key { plane: WorkingPlane, from_ray: Vec3 },
    /// Moves the divider between the pictures of two deformers.
    Wipe,
    /// Resizes the brush by key F until the next click. The fields are the mouse's pixel and the brush radius at the
    /// start.
    Brush { start: [f32; 2], radius: f32 },
}

/// The camera movement of a drag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drag {
    Orbit,
    Pan,
    Zoom,
}

/// State and logic of the window's editor, independent of the OS window.
pub struct WindowEditor {
    /// Facts for the panels that the workbench does not know.
    pub facts: Facts,
    choices: Choices,
    camera: Orbit,
    context: egui::Context,
    panels: panels::WindowPanelMemory,
    /// Bounding box of the character that the camera framed last.
    framed: Option<Aabb>,
    time: f64,
    size: [u32; 2],
    scale: f32,
    modifiers: Modifiers,
    /// Mouse position, pixels of the window.
    at: Option<[f32; 2]>,
    /// Whether the mouse is over the picture, not over a panel.
    over: bool,
    hold: Hold,
    /// Whether a rotation or grab by key could not begin. The keys for its axis and number then do nothing.
    missed: bool,
    /// Whether a text field, number field or question had the keyboard when the frame began.
    typing: bool,
    /// Whether the current press did not go to the panels; its release then does not go to them either.
    kept_press: bool,
    /// Trigger and squeeze of the mouse's hand, 0..=1.
    force: [f32; 2],
    pressure: Option<f32>,
    focused: bool,
    /// The newest pick result, and the mouse's pixel when the pick was requested.
    seen: Option<(Picked, [f32; 2])>,
    asked: Option<(Pick, [f32; 2])>,
    /// The hidden parts for which `seen` is valid.
    hidden: Vec<u32>,
    other: Option<DeformerSettings>,
    /// Whether the gizmo of the drawing plane shows.
    moves_plane: bool,
    /// Position of the divider between the two deformers, fraction of the picture's width.
    divider: f32,
    output: WindowOutput,
    /// Whether a list of files showed in the last frame.
    lists: bool,
    /// Whether something changed without an event, so that the window must be redrawn.
    changed: bool,
    /// The versions that the last step's output shows.
    shown: ShownVersions,
    /// Whether [`WindowEditor::texts`] is kept.
    reads: bool,
    /// Texts of the panels with their rectangles, pixels.
    words: Vec<(String, egui::Rect)>,
}

/// Versions of the workbench's pose and document.
#[derive(Clone, Copy, Default, PartialEq)]
struct ShownVersions {
    pose: Version,
    document: Version,
}

impl ShownVersions {
    fn of(bench: &Workbench) -> Self {
        Self { pose: bench.shown_pose().version, document: bench.session().revision() }
    }
}

impl WindowEditor {
    /// Makes an editor with these choices and no character.
    pub fn new(choices: Choices) -> Self {
        Self {
            facts: Facts::default(),
            choices: choices.sane(),
            camera: Orbit::default(),
            context: panels::context(),
            panels: panels::WindowPanelMemory::default(),
            framed: None,
            time: 0.0,
            size: [1, 1],
            scale: 1.0,
            modifiers: Modifiers::NONE,
            at: None,
            over: false,
            hold: Hold::Free,
            missed: false,
            typing: false,
            kept_press: false,
            force: [0.0; 2],
            pressure: None,
            focused: true,
            seen: None,
            asked: None,
            hidden: Vec::new(),
            other: None,
            moves_plane: false,
            divider: 0.5,
            output: WindowOutput::default(),
            lists: false,
            changed: true,
            shown: ShownVersions::default(),
            reads: cfg!(test),
            words: Vec::new(),
        }
    }

    /// The user's choices, which the front end saves.
    pub fn choices(&self) -> &Choices {
        &self.choices
    }

    /// The egui context, for the adapter of the OS window. [`WindowEditor::renew`] replaces it.
    pub fn context(&self) -> &egui::Context {
        &self.context
    }

    /// The window's orbiting camera.
    pub fn camera(&self) -> &Orbit {
        &self.camera
    }

    /// The deformer shown right of the divider of a [`Picture::Wipe`].
    pub fn other_deformer(&self) -> Option<&DeformerSettings> {
        self.other.as_ref()
    }

    /// Makes the editor keep the texts of its panels from the next step on, for [`WindowEditor::texts`].
    pub fn keep_texts(&mut self) {
        self.reads = true;
    }

    /// The texts of the panels in the last step with their rectangles, pixels of the window, if
    /// [`WindowEditor::keep_texts`] was called before that step.
    pub fn texts(&self) -> &[(String, egui::Rect)] {
        &self.words
    }

    /// The output of the last step.
    pub fn output(&self) -> &WindowOutput {
        &self.output
    }

    /// Mutable output, so that the front end can take texture changes out of [`WindowOutput::paint`].
    pub fn output_mut(&mut self) -> &mut WindowOutput {
        &mut self.output
    }

    /// Discards fonts and textures and paints everything again, e.g. after the GPU device was lost.
    pub fn renew(&mut self) {
        self.context = panels::context();
        self.output.paint.textures.clear();
        self.changed = true;
    }

    /// Runs one frame. `bench` is `None` while no character is open.
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
            self.light_key(bench);
            self.await_skin(bench);
            self.hand(bench, self.time, input.picked);
            self.follow(bench);
        }
        self.look();
        self.write(shown, !input.events.is_empty() || input.picked.is_some(), bench.as_deref());
        &self.output
    }

    /// Frames the character if the camera has not framed it yet. Forgets the pick result if other parts are hidden.
    fn meet(&mut self, bench: &Workbench) {
        let hidden = bench.session().document().hidden();
        if self.hidden != hidden {
            self.hidden = hidden.to_vec();
            self.seen = None;
        }
        if self.framed != Some(*bench.bounds()) {
            self.framed = Some(*bench.bounds());
            self.hidden.clear();
            self.seen = None;
            self.camera.meet(bench.bounds(), self.aspect());
        }
    }

    /// Aspect ratio of the picture, width over height.
    fn aspect(&self) -> f32 {
        let [_, _, width, height] = self.output.viewport;
        width.max(1) as f32 / height.max(1) as f32
    }

    /// Whether a pixel of the window lies on the divider between two deformers.
    fn on_divider(&self, at: [f32; 2]) -> bool {
        let [x, _, width, _] = self.output.viewport.map(|v| v as f32);
        let shows = matches!(self.output.picture, Picture::Wipe(_));
        shows && (at[0] - x - self.divider * width).abs() <= 6.0 * self.scale
    }

    /// Returns the rectangle and view that contain a pixel of the window. The index is 1 for the right eye's half.
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

    /// Whether a pixel of the window belongs to the picture and not to a panel.
    fn is_picture(&self, at: [f32; 2]) -> bool {
        let [x, y, width, height] = self.output.viewport.map(|v| v as f32);
        let inside = (x..x + width).contains(&at[0]) && (y..y + height).contains(&at[1]);
        let points = egui::pos2(at[0] / self.scale, at[1] / self.scale);
        let layer = self.context.layer_id_at(points);
        inside && layer.is_none_or(|l| l.order == egui::Order::Background) && !self.context.any_popup_open()
    }

    /// Steps the workbench once with the mouse as its tool hand.
    fn hand(&mut self, bench: &mut Workbench, time: f64, picked: Option<Picked>) {
        let at = self.at.unwrap_or_default();
        let (eyepiece, _) = self.eyepiece(at);
        let room = pointer::room(&self.camera, &eyepiece);
        let tip = self.tip(bench, &eyepiece, at);
        // The skin tool keeps the skin point at which the mouse rests: a press takes the mark that is there.
        let rests = bench.preferences().tool == Tool::Skin && self.skin_at(at).is_some();
        let seen = picked.or(self.seen.filter(|_| rests).map(|(picked, _)| picked));
        let surface = seen.and_then(|p| p.surface);
        // The skin and measure tools use the picked point as tip, because the mouse may have moved since the pick.
        let follows =
            matches!(bench.preferences().tool, Tool::Skin | Tool::Measure) && !bench.skin_tool_in_air();
        let on_skin = surface.filter(|_| follows).map(|s| s.position);
        let force =
            if matches!(self.hold, Hold::Tool { waits: Some(_), .. }) { [0.0; 2] } else { self.force };
        let mut hand = pointer::hand(&room, on_skin.or(tip), force, surface);
        let left = self.hold == Hold::Free && !self.over;
        let off = left || picked.map_or_else(|| self.skin_at(at) == Some(None), |p| p.surface.is_none());
        hand.off_skin = off && bench.preferences().tool == Tool::Skin;
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

    /// Copies the workbench's lines into the output and adds selection, drawing plane, gizmo and axis.
    fn follow(&mut self, bench: &Workbench) {
        let mut lines = std::mem::take(&mut self.output.lines);
        let shown = bench.output();
        lines.clear();
        lines.segments.extend_from_slice(&shown.lines.segments);
        lines.anchors.extend_from_slice(&shown.lines.anchors);
        if let Some(at) = bench.selected().and_then(|n| bench.rig().world.get(n.index())) {
            lines.dot(at.translation.into(), panels::SELECTED, 12.0);
        }
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
        // After a change of the camera, the pick result no longer belongs to the mouse's pixel.
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

    fn write(&mut self, shown: panels::Shown, arrived: bool, bench: Option<&Workbench>) {
        let busy = bench.is_some_and(Workbench::is_busy) || self.hold != Hold::Free;
        let runs = bench.is_some_and(|b| b.preferences().turntable || b.timeline().playhead.playing);
        self.ask_pick(bench);
        let waiting = self.output.pick.is_some() && busy;
        let shown_now = bench.map_or_else(ShownVersions::default, ShownVersions::of);
        let out = &mut self.output;
        out.scale = self.scale;
        out.smooth = bench.is_none_or(|b| b.preferences().smooth);
        out.phong = bench.is_some_and(|b| b.preferences().phong);
        (out.shading, out.occlusion) =
            bench.map_or_else(Default::default, |b| (b.preferences().shading, b.preferences().occlusion));
        out.silhouettes = bench.and_then(Workbench::shown_silhouettes);
        out.outline = bench.is_some_and(|b| b.preferences().outline);
        // Panels run before keys and tools, so changes by keys and tools reach the panels one frame later.
        let stale = std::mem::take(&mut self.changed) || shown_now != self.shown;
        self.shown = shown_now;
        out.dirty = shown.painted || arrived || runs || busy || stale;
        let soon =
            (runs || waiting || stale || shown.again == Some(Duration::ZERO)).then_some(Duration::ZERO);
        let left = (busy && self.hold == Hold::Free).then_some(AFTER);
        out.again = [soon, left, shown.again].into_iter().flatten().min();
    }
}

/// Coordinate conversions for tests and takes.
impl WindowEditor {
    /// Transform from the room of the mouse's hand to the world.
    pub fn world_from_room(&self) -> Similarity {
        let [x, y, width, height] = self.output.viewport.map(|v| v as f32);
        pointer::room(&self.camera, &self.eyepiece([x + width * 0.5, y + height * 0.5]).0)
    }
}
