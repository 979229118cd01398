//! The panels of the headset, drawn with egui. The palette is at the off hand, the hand without the tool.
//!
//! The front end first passes the workbench's state to [`PanelState::follow`] and [`Panels::see`]. [`Panels::step`]
//! then returns the commands of pressed items; the front end passes them to
//! [`crate::workbench::Workbench::run_command`] and records them in the take. The result also says whether the tool
//! hand points at a panel, for [`crate::workbench::Hand::on_panel`]. After [`crate::workbench::Workbench::step`],
//! [`Panels::draw`] adds the pointer's ray. [`PanelScreens`] paints the changed panels as images for quads at the
//! [`Placement`]s, in compositor layers or in the scene.
//!
//! The result of [`Panels::step`] depends only on its arguments and on the state from earlier frames. It needs no GPU
//! device.

mod canvas;
mod choices;
mod clear;
#[cfg(test)]
mod clear_tests;
#[cfg(test)]
mod curves_tests;
mod details;
#[cfg(test)]
mod details_tests;
#[cfg(test)]
mod display_tests;
mod files;
#[cfg(test)]
mod firm_tests;
mod follow;
mod keyboard;
mod listing;
mod panel;
mod place;
mod pointer;
mod screens;
mod small;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod time_offers;
#[cfg(test)]
mod values_tests;
mod widgets;

pub(super) use canvas::word;
pub(super) use canvas::{same, take_textures};
pub use panel::{Page, Panel, Spot, Tab};
pub use place::Placement;
pub use screens::PanelScreens;
pub use state::{FileEntry, FileKind, FileList, PanelState, Pin, Strain};
pub use table::{ENTRIES, Entry, Item};

use crate::base::math::Vec3;
use crate::render::{Lines, PanelPaint};
use crate::rig::PosedRig;
use crate::scene::method;
use crate::ui::icons::Icon;
use crate::ui::panels::Section;
use crate::ui::panels::deformer::next_method;
use crate::ui::theme;
use crate::workbench::{Command, CommandKind, Haptic, Input, Similarity, Surroundings, Workbench};
use canvas::Canvas;
use details::Details;
use keyboard::Keyboard;
use place::Places;
use pointer::Pointer;
use state::differs;
use widgets::Touch;

/// Time that a message shows, seconds.
const MESSAGE_TIME: f64 = 12.0;
/// Scroll speed of the stick, pixels per second.
const SCROLL: f64 = 1100.0;

/// Interface state of the panels that is not a user preference.
struct PaletteMemory {
    page: Page,
    tab: Tab,
    /// Scroll offset of the file list, pixels.
    scroll: f32,
    details: Details,
    keyboard: Keyboard,
    /// The methods in the slots A and B of the palette.
    methods: [&'static str; 2],
    /// Time at which a pending confirmation expires, seconds: a second press before then confirms. `None` if no
    /// confirmation is pending.
    armed: Option<f64>,
}

impl Default for PaletteMemory {
    fn default() -> Self {
        Self {
            page: Page::Pose,
            tab: Tab::Folder,
            scroll: 0.0,
            details: Details::default(),
            keyboard: Keyboard::default(),
            methods: ["springs", "dqs"],
            armed: None,
        }
    }
}

impl PaletteMemory {
    /// Returns the method that replaces the current method in the slot of the current method.
    fn other_method(&self, current: &str) -> &'static str {
        let slot = self.slot(method(current));
        next_method(self.methods[slot], self.methods[1 - slot])
    }

    fn slot(&self, current: &str) -> usize {
        usize::from(self.methods[0] != current)
    }

    /// Puts the newly chosen method `now` into the slot of the previous method `before`, unless a slot already holds
    /// `now`.
    fn take_method(&mut self, before: &str, now: &str) {
        let now = method(now);
        let known = crate::deform::Recipe::NAMES.into_iter().find(|n| *n == now);
        if let Some(known) = known.filter(|n| !self.methods.contains(n)) {
            let slot = self.slot(method(before));
            self.methods[slot] = known;
        }
    }
}

/// Result of [`Panels::step`], reused between frames.
#[derive(Default)]
pub struct PanelsOut {
    /// Whether the tool hand points at a panel. The hand's buttons and stick then belong to the panel.
    pub pointing: bool,
    /// Whether the panels keep the undo and redo buttons: one of them has ended a drag on a panel and is still held.
    pub keeps_undo: bool,
    /// Commands of the items that were pressed.
    pub commands: Vec<Command>,
    /// The visible panels.
    pub placements: Vec<Placement>,
    /// Vibration for the tool hand.
    pub haptic: Option<Haptic>,
    /// Why an action was not carried out.
    pub tell: Option<String>,
}

impl PanelsOut {
    /// Marks in the input of the tools what belongs to the panels: the tool hand while it points at a panel, and the buttons
    /// that the panels keep.
    pub fn mark(&self, tool_hand: usize, input: &mut Input) {
        for (index, hand) in input.hands.iter_mut().enumerate() {
            hand.on_panel = index == tool_hand && self.pointing;
            (hand.undo, hand.redo) = (hand.undo && !self.keeps_undo, hand.redo && !self.keeps_undo);
        }
    }
}

fn canvases() -> [Canvas; Panel::ALL.len()] {
    Panel::ALL.map(|panel| {
        let mut canvas = Canvas::new(panel.size());
        match panel {
            Panel::Details => canvas.enlarged(details::TARGET),
            _ => {
                canvas.reads = panel == Panel::Keyboard;
                canvas
            }
        }
    })
}

/// A text on a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelText {
    /// The panel.
    pub panel: Placement,
    /// The text.
    pub text: String,
    /// Centre of the text, pixels of the panel's image.
    pub centre: [f32; 2],
}

/// State of all panels.
pub struct Panels {
    canvases: [Canvas; Panel::ALL.len()],
    spots: [Vec<(Spot, egui::Rect)>; Panel::ALL.len()],
    tracks: [Vec<(CommandKind, egui::Rect)>; Panel::ALL.len()],
    hovered: Option<egui::Id>,
    memory: PaletteMemory,
    places: Places,
    pointer: Pointer,
    /// The state that the panels show.
    state: PanelState,
    /// Time at which the current message appeared, seconds, and whether it is about a file that was written.
    told: (f64, bool),
    left_handed: bool,
    /// Whether an undo or redo button is held.
    undo_down: bool,
    /// Number of applied history steps before the press of the pointer.
    steps: usize,
    /// Whether the hand holds a slider of the palette.
    slides: bool,
    surroundings: Surroundings,
    /// The view for which `surroundings` were updated last.
    seen_from: Option<Similarity>,
    out: PanelsOut,
}

impl Default for Panels {
    fn default() -> Self {
        Self::new()
    }
}

impl Panels {
    /// Makes panels that show nothing yet.
    pub fn new() -> Self {
        Self {
            canvases: canvases(),
            spots: Default::default(),
            tracks: Default::default(),
            hovered: None,
            memory: PaletteMemory::default(),
            places: Places::default(),
            pointer: Pointer::default(),
            state: PanelState::default(),
            told: (f64::NEG_INFINITY, false),
            left_handed: false,
            undo_down: false,
            steps: 0,
            slides: false,
            surroundings: Surroundings::default(),
            seen_from: None,
            out: PanelsOut::default(),
        }
    }

    /// Updates what the panels must not cover: the character in this pose, and the hands that hold something. While a motion
    /// plays, the panels stay where they were, so that a user can press them; they give way again if the world moves.
    pub fn see(&mut self, bench: &Workbench, rig: &PosedRig) {
        let view = bench.output().world_from_room;
        if self.seen_from.replace(view) == Some(view) && bench.timeline().playhead.playing {
            return;
        }
        bench.surroundings(rig, &mut self.surroundings);
    }

    /// Runs one frame, before the tools. [`PanelsOut::mark`] then marks what the tools must ignore.
    /// `tool_hand` is an index into [`Input::hands`]. The details panel shows `bench`.
    pub fn step(
        &mut self,
        input: &Input,
        tool_hand: usize,
        state: &PanelState,
        bench: Option<&Workbench>,
    ) -> &PanelsOut {
        self.out.commands.clear();
        (self.out.haptic, self.out.tell) = (None, None);
        let left_handed = tool_hand == 0;
        if std::mem::replace(&mut self.left_handed, left_handed) != left_handed {
            self.places.forget();
        }
        let step = self.places.update(input, tool_hand);
        let pointed = self.pointer.at.map(|at| at.panel);
        self.places.look(&self.surroundings, tool_hand, pointed);
        // The newer one of both messages shows.
        if state.message.is_some() && state.message != self.state.message {
            self.told = (input.time, false);
        } else if state.written.is_some() && state.written != self.state.written {
            self.told = (input.time, true);
        }
        if state.deformer != self.state.deformer {
            self.memory.take_method(&self.state.deformer, &state.deformer);
        }
        if self.memory.armed.is_some_and(|until| input.time >= until) {
            self.memory.armed = None;
            self.canvases[Panel::Palette as usize].again = true;
        }
        if let Some(bench) = bench.filter(|_| !self.pointer.is_down()) {
            self.steps = bench.session().history().0;
        }
        self.end_drag(input, bench);
        let shown = self.shown(input.time, state, bench);
        self.places.place(&shown, step, &mut self.out.placements);
        let pressable = self.out.placements.iter().filter(|p| p.panel.pressable()).copied();
        self.pointer.step(input, tool_hand, pressable);
        self.out.pointing = self.pointer.at.is_some();
        self.scroll(input, tool_hand, step);
        for panel in Panel::ALL.into_iter().filter(|p| shown[*p as usize]) {
            self.run(panel, input.time, state, bench);
        }
        self.slides &= self.pointer.is_down();
        if self.pointer.at.is_none() {
            self.hovered = None;
        }
        if self.state != *state {
            self.state.clone_from(state);
        }
        &self.out
    }

    fn shown(&self, time: f64, state: &PanelState, bench: Option<&Workbench>) -> [bool; Panel::ALL.len()] {
        // The panels at the hand would cover the place to which it jumps.
        let jumps = bench.is_some_and(Workbench::is_jumping);
        let palette = state.preferences.palette && !jumps;
        Panel::ALL.map(|panel| match panel {
            Panel::Palette => palette,
            Panel::Files => state.preferences.files,
            Panel::Wrist => !jumps,
            Panel::Strain => palette && self.memory.page == Page::View && state.strain.is_some(),
            Panel::Message => state.tour.is_some() || self.message(time, state).is_some(),
            Panel::Details => state.preferences.details,
            Panel::Keyboard => state.preferences.details && self.typing(),
        })
    }

    /// The message that shows, and its icon; `None` if there is none, or it is old.
    fn message<'s>(&self, time: f64, state: &'s PanelState) -> Option<(Icon, &'s str)> {
        let (since, written) = self.told;
        let message = match written {
            true => state.written.as_deref().map(|text| (Icon::Save, text)),
            false => state.message.as_ref().map(|told| (Icon::of_notice(told.kind), &**told)),
        };
        message.filter(|_| time - since < MESSAGE_TIME)
    }

    /// Whether a text field of the details panel has the focus.
    fn typing(&self) -> bool {
        self.canvases[Panel::Details as usize].typing()
    }

    /// Scrolls a list, and the time of the dope sheet, by the stick while the pointer is on its panel.
    fn scroll(&mut self, input: &Input, tool_hand: usize, step: f64) {
        let [aside, stick] = input.hands[tool_hand].stick;
        let Some(panel) = self.pointer.at.map(|at| at.panel) else { return };
        if panel == Panel::Details && self.memory.details.section == Section::Keys && aside.abs() > 0.15 {
            self.memory.details.shared.keys.pan += aside * (SCROLL * step) as f32;
            self.canvases[panel as usize].again = true;
        }
        if stick.abs() <= 0.15 {
            return;
        }
        let down = -stick * (SCROLL * step) as f32;
        let offset = match panel {
            Panel::Details if self.canvases[panel as usize].is_list_open() => {
                return self.canvases[panel as usize].scroll(down);
            }
            Panel::Files => &mut self.memory.scroll,
            Panel::Details => &mut self.memory.details.scroll,
            _ => return,
        };
        *offset = (*offset + down).max(0.0);
        self.canvases[panel as usize].again = true;
    }

    fn run(&mut self, panel: Panel, time: f64, state: &PanelState, bench: Option<&Workbench>) {
        let index = panel as usize;
        let at = self.pointer.at.filter(|at| at.panel == panel);
        let (pixel, down) = at.map_or((None, false), |at| (at.pixel, at.down));
        let canvas = &mut self.canvases[index];
        if panel == Panel::Details && at.is_none() && bench.is_some_and(Workbench::is_busy) {
            // A hand that holds something changes the document in every frame; the panel follows when the hand lets go.
            canvas.again = true;
            return;
        }
        if !canvas.again && !canvas.touched(pixel, down) && !differs(panel, &self.memory, state, &self.state)
        {
            return;
        }
        let mut typed = Vec::new();
        let message = self.message(time, state);
        let canvas = &mut self.canvases[index];
        let (memory, tell) = (&mut self.memory, &mut self.out.tell);
        let touch = canvas.run(time, pixel, down, |ui, touch| match panel {
            Panel::Palette => choices::show(ui, touch, memory, state, time),
            Panel::Files => files::show(ui, touch, memory, state, time),
            Panel::Wrist => small::wrist(ui, state),
            Panel::Strain => small::strain(ui, state),
            Panel::Message => small::message(ui, state, message),
            Panel::Details => {
                let more = (state.rigging, state.headset.as_ref());
                let told = details::show(ui, touch, &mut memory.details, bench, more);
                *tell = told.or(tell.take());
            }
            Panel::Keyboard => typed = keyboard::show(ui, touch, &mut memory.keyboard),
        });
        self.canvases[Panel::Details as usize].write(typed);
        self.felt(&touch, at.is_some());
        if panel == Panel::Palette {
            self.slides = touch.slides;
        }
        self.out.commands.extend(touch.commands);
        self.spots[index] = touch.spots;
        self.tracks[index] = touch.tracks;
    }

    fn felt(&mut self, touch: &Touch, here: bool) {
        let haptic = match touch {
            Touch { clicked: true, .. } => Some(Haptic::Selection),
            Touch { refused: true, .. } => Some(Haptic::Limit),
            _ if here && touch.hovered.is_some() && touch.hovered != self.hovered => Some(Haptic::Hover),
            _ => None,
        };
        self.out.haptic = haptic.or(self.out.haptic);
        if here {
            self.hovered = touch.hovered;
        }
    }

    /// The last known head position, room space, metres; `None` before the first tracked head.
    pub fn head(&self) -> Option<Vec3> {
        self.places.head().map(|h| h.position)
    }

    /// The result of the last step.
    pub fn out(&self) -> &PanelsOut {
        &self.out
    }

    /// Draws the pointer's ray up to the panel, and a dot at its end.
    pub fn draw(&self, world_from_room: &Similarity, lines: &mut Lines) {
        if let Some(ends) = self.pointer.ray {
            let [from, to] = ends.map(|p: Vec3| world_from_room.point(p));
            lines.polyline(&[from.lerp(to, 0.02), to], [150, 190, 255, 190], 2.0, 0.5);
            lines.dot(to, [235, 242, 255, 255], 7.0);
        }
    }

    /// Finds the panel with this target and the target's centre on the panel's image, 0..=1 from the upper left.
    /// Returns `None` while the target does not show.
    pub fn find(&self, spot: &Spot) -> Option<(Panel, [f32; 2])> {
        Panel::ALL.into_iter().find_map(|panel| {
            let shows = self.out.placements.iter().any(|p| p.panel == panel);
            let words = &self.canvases[panel as usize].words;
            let rect = match spot {
                Spot::Text(text) => words.iter().find(|(word, _)| shows && word == text).map(|w| w.1),
                _ => self.spots[panel as usize].iter().find(|(s, _)| shows && s == spot).map(|s| s.1),
            }?;
            let size = panel.size().map(|n| n as f32);
            Some((panel, [rect.center().x / size[0], rect.center().y / size[1]]))
        })
    }

    /// Makes the panels keep their texts from the next step on, for [`Panels::texts`].
    pub fn keep_texts(&mut self) {
        for canvas in &mut self.canvases {
            canvas.again |= !canvas.reads;
            canvas.reads = true;
        }
    }

    /// Returns the texts of the visible panels, if [`Panels::keep_texts`] was called before the last step.
    pub fn texts(&self) -> impl Iterator<Item = PanelText> {
        self.out.placements.iter().flat_map(|panel| {
            let words = &self.canvases[panel.panel as usize].words;
            words.iter().map(|(text, rect)| PanelText {
                panel: *panel,
                text: text.clone(),
                centre: rect.center().into(),
            })
        })
    }

    /// Finds the panel with the slider of this command and a point on the slider's track, 0..=1 from the upper left.
    /// `share` is 0 at the track's left end and 1 at its right end.
    pub fn find_track(&self, kind: CommandKind, share: f32) -> Option<(Panel, [f32; 2])> {
        Panel::ALL.into_iter().find_map(|panel| {
            let shows = self.out.placements.iter().any(|p| p.panel == panel);
            let (_, track) = self.tracks[panel as usize].iter().find(|(k, _)| shows && *k == kind)?;
            let size = panel.size().map(|n| n as f32);
            Some((panel, [(track.min.x + track.width() * share) / size[0], track.center().y / size[1]]))
        })
    }

    /// Whether a panel's image is out of date.
    pub fn is_dirty(&self, panel: Panel) -> bool {
        self.canvases[panel as usize].dirty
    }

    /// The egui output from which a panel's image is painted.
    pub fn paint(&self, panel: Panel) -> &PanelPaint {
        &self.canvases[panel as usize].paint
    }

    /// Marks a panel as painted, so that its texture changes are not applied again.
    pub fn painted(&mut self, panel: Panel) {
        let canvas = &mut self.canvases[panel as usize];
        canvas.dirty = false;
        canvas.paint.textures.clear();
    }

    /// Discards fonts and images and paints every panel again, e.g. after the GPU device was lost.
    pub fn renew(&mut self) {
        let reads = self.canvases.each_ref().map(|c| c.reads);
        self.canvases = canvases();
        self.canvases.iter_mut().zip(reads).for_each(|(canvas, reads)| canvas.reads = reads);
    }
}
