//! Panels: an off-hand palette, the files, and labels, drawn by egui.
//!
//! A front end's frame: [`PanelState::follow`] and [`Panels::see`] take the workbench's state in; [`Panels::step`] says
//! what was pressed ([`crate::workbench::Workbench::run_command`], and into the take) and whether the tool hand points at
//! a panel ([`crate::workbench::Hand::on_panel`]), before [`crate::workbench::Workbench::step`]. Then [`Panels::draw`]
//! adds the ray, and [`PanelScreens`] paints what changed, for quad layers at the [`Placement`]s or for quads in the
//! scene.
//!
//! [`Panels::step`] looks at nothing but its input and what it is asked to show, and needs no device.

mod canvas;
mod choices;
mod clear;
#[cfg(test)]
mod clear_tests;
mod files;
mod follow;
mod icons;
mod listing;
mod place;
mod pointer;
mod screens;
mod shape_offers;
mod small;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod theme;
mod time_offers;
mod widgets;

pub(super) use canvas::same;
pub use icons::Icon;
pub use place::Placement;
pub use screens::PanelScreens;
pub use state::{FileEntry, FileKind, FileList, PanelState, Pin, Strain};
pub(super) use table::method_label;
pub use table::{ENTRIES, Entry, Item};

use crate::base::math::Vec3;
use crate::render::{Lines, PanelPaint};
use crate::rig::PosedRig;
use crate::scene::method;
use crate::workbench::{Command, CommandKind, Haptic, Input, Similarity, Surroundings, Workbench};
use canvas::Canvas;
use place::Places;
use pointer::Pointer;
use widgets::Touch;

/// A message goes after so many seconds.
const MESSAGE_TIME: f64 = 12.0;
/// Pixels that the stick scrolls in a second.
const SCROLL: f64 = 1100.0;

/// The panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Panel {
    /// Tools and switches, at the off hand.
    Palette,
    /// Characters and projects, before the user.
    Files,
    /// World scale, tool, buttons: at the off hand.
    Wrist,
    /// Numbers of the deformation, beside the palette.
    Strain,
    /// What went wrong, before the user.
    Message,
}

impl Panel {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Palette, Self::Files, Self::Wrist, Self::Strain, Self::Message];

    /// Size of its picture, pixels.
    pub fn size(self) -> [u32; 2] {
        match self {
            Self::Palette => choices::SIZE,
            Self::Files => files::SIZE,
            Self::Wrist => small::WRIST,
            Self::Strain => small::STRAIN,
            Self::Message => small::MESSAGE,
        }
    }

    /// For messages and files.
    pub fn name(self) -> &'static str {
        ["palette", "files", "wrist", "strain", "message"][self as usize]
    }

    /// Whether it can be pointed at.
    fn pressable(self) -> bool {
        matches!(self, Self::Palette | Self::Files)
    }
}

/// A page of the palette.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Page {
    /// Strokes and bones.
    #[default]
    Pose,
    /// The selected sculpt layer.
    Shape,
    /// Keys and playing.
    Time,
    /// How the character is looked at.
    View,
    /// Files and habits.
    Session,
}

impl Page {
    /// All of them, in the palette's order.
    pub const ALL: [Self; 5] = [Self::Pose, Self::Shape, Self::Time, Self::View, Self::Session];

    /// For people.
    pub fn label(self) -> &'static str {
        ["Pose", "Shape", "Time", "View", "Session"][self as usize]
    }
}

/// A list of the file panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tab {
    /// The folder's.
    #[default]
    Folder,
    /// Opened lately.
    Recent,
    /// To recover.
    Unfinished,
}

/// Something that can be pressed.
#[derive(Clone, Debug, PartialEq)]
pub enum Spot {
    /// What gives this command at the moment.
    Command(Command),
    /// A page of the palette.
    Page(Page),
    /// A list of the file panel.
    Tab(Tab),
}

/// What the panels remember that is no choice of the user's.
struct Memory {
    page: Page,
    tab: Tab,
    /// Pixels.
    scroll: f32,
    /// Methods A and B.
    methods: [&'static str; 2],
    /// Until when a second press of what asks for confirmation counts.
    armed: Option<f64>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { page: Page::Pose, tab: Tab::Folder, scroll: 0.0, methods: ["springs", "dqs"], armed: None }
    }
}

impl Memory {
    /// What takes the current method's place in its slot.
    fn other_method(&self, current: &str) -> &'static str {
        let slot = self.slot(method(current));
        table::next_method(self.methods[slot], self.methods[1 - slot])
    }

    fn slot(&self, current: &str) -> usize {
        usize::from(self.methods[0] != current)
    }

    /// Puts a newly chosen method into the slot of the previous one, unless a slot holds it already.
    fn take_method(&mut self, before: &str, now: &str) {
        let now = method(now);
        let known = crate::deform::Recipe::NAMES.into_iter().find(|n| *n == now);
        if let Some(known) = known.filter(|n| !self.methods.contains(n)) {
            let slot = self.slot(method(before));
            self.methods[slot] = known;
        }
    }
}

/// Result of [`Panels::step`], kept between frames.
#[derive(Default)]
pub struct PanelsOut {
    /// The tool hand points at a panel: its buttons and stick are the panel's.
    pub pointing: bool,
    /// What was pressed.
    pub commands: Vec<Command>,
    /// The panels that show.
    pub placements: Vec<Placement>,
    /// For the tool hand.
    pub haptic: Option<Haptic>,
}

/// All panels.
pub struct Panels {
    canvases: [Canvas; Panel::ALL.len()],
    spots: [Vec<(Spot, egui::Rect)>; Panel::ALL.len()],
    tracks: [Vec<(CommandKind, egui::Rect)>; Panel::ALL.len()],
    hovered: Option<egui::Id>,
    memory: Memory,
    places: Places,
    pointer: Pointer,
    /// What shows at the moment.
    state: PanelState,
    /// Since when the message shows.
    told: f64,
    left_handed: bool,
    surroundings: Surroundings,
    out: PanelsOut,
}

impl Default for Panels {
    fn default() -> Self {
        Self::new()
    }
}

impl Panels {
    /// Panels that have shown nothing yet.
    pub fn new() -> Self {
        Self {
            canvases: Panel::ALL.map(|p| Canvas::new(p.size())),
            spots: Default::default(),
            tracks: Default::default(),
            hovered: None,
            memory: Memory::default(),
            places: Places::default(),
            pointer: Pointer::default(),
            state: PanelState::default(),
            told: f64::NEG_INFINITY,
            left_handed: false,
            surroundings: Surroundings::default(),
            out: PanelsOut::default(),
        }
    }

    /// Takes in where the character is, in this pose, and what the hands hold: what panels keep clear of.
    pub fn see(&mut self, bench: &Workbench, rig: &PosedRig) {
        bench.surroundings(rig, &mut self.surroundings);
    }

    /// One frame: before the tools, which leave the tool hand alone where it is `pointing`. `tool_hand` is an index
    /// into [`Input::hands`].
    pub fn step(&mut self, input: &Input, tool_hand: usize, state: &PanelState) -> &PanelsOut {
        self.out.commands.clear();
        self.out.haptic = None;
        let step = self.places.update(input, tool_hand);
        let left_handed = tool_hand == 0;
        if std::mem::replace(&mut self.left_handed, left_handed) != left_handed {
            self.places.forget();
        }
        self.places.look(&self.surroundings, tool_hand);
        if state.message != self.state.message {
            self.told = input.time;
        }
        if state.deformer != self.state.deformer {
            self.memory.take_method(&self.state.deformer, &state.deformer);
        }
        if self.memory.armed.is_some_and(|until| input.time >= until) {
            self.memory.armed = None;
            self.canvases[Panel::Palette as usize].again = true;
        }
        let shown = self.shown(input.time, state);
        self.places.place(&shown, step, &mut self.out.placements);
        let pressable = self.out.placements.iter().filter(|p| p.panel.pressable()).copied();
        self.pointer.step(input, tool_hand, pressable);
        self.out.pointing = self.pointer.at.is_some();
        self.scroll(input, tool_hand, step);
        for panel in Panel::ALL.into_iter().filter(|p| shown[*p as usize]) {
            self.run(panel, input.time, state);
        }
        if self.pointer.at.is_none() {
            self.hovered = None;
        }
        if self.state != *state {
            self.state.clone_from(state);
        }
        &self.out
    }

    fn shown(&self, time: f64, state: &PanelState) -> [bool; Panel::ALL.len()] {
        let palette = state.preferences.palette;
        Panel::ALL.map(|panel| match panel {
            Panel::Palette => palette,
            Panel::Files => state.preferences.files,
            Panel::Wrist => true,
            Panel::Strain => palette && self.memory.page == Page::View && state.strain.is_some(),
            Panel::Message => state.message.is_some() && time - self.told < MESSAGE_TIME,
        })
    }

    /// The stick moves the list that is pointed at.
    fn scroll(&mut self, input: &Input, tool_hand: usize, step: f64) {
        let stick = input.hands[tool_hand].stick[1];
        if self.pointer.at.is_some_and(|at| at.panel == Panel::Files) && stick.abs() > 0.15 {
            self.memory.scroll = (self.memory.scroll - stick * (SCROLL * step) as f32).max(0.0);
            self.canvases[Panel::Files as usize].again = true;
        }
    }

    fn run(&mut self, panel: Panel, time: f64, state: &PanelState) {
        let index = panel as usize;
        let at = self.pointer.at.filter(|at| at.panel == panel);
        let (pixel, down) = at.map_or((None, false), |at| (at.pixel, at.down));
        let canvas = &mut self.canvases[index];
        if !canvas.again
            && !canvas.touched(pixel, down)
            && !differs(panel, self.memory.page, state, &self.state)
        {
            return;
        }
        let memory = &mut self.memory;
        let touch = canvas.run(time, pixel, down, |ui, touch| match panel {
            Panel::Palette => choices::show(ui, touch, memory, state, time),
            Panel::Files => files::show(ui, touch, memory, state, time),
            Panel::Wrist => small::wrist(ui, state),
            Panel::Strain => small::strain(ui, state),
            Panel::Message => small::message(ui, state),
        });
        self.felt(&touch, at.is_some());
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

    /// Where the head was last seen, room; none before it was.
    pub fn head(&self) -> Option<Vec3> {
        self.places.head().map(|h| h.position)
    }

    /// What the last step gave.
    pub fn out(&self) -> &PanelsOut {
        &self.out
    }

    /// The pointer's ray up to the panel, and a dot where it meets it.
    pub fn draw(&self, world_from_room: &Similarity, lines: &mut Lines) {
        if let Some(ends) = self.pointer.ray {
            let [from, to] = ends.map(|p: Vec3| world_from_room.point(p));
            lines.polyline(&[from.lerp(to, 0.02), to], [150, 190, 255, 190], 2.0, 0.5);
            lines.dot(to, [235, 242, 255, 255], 7.0);
        }
    }

    /// The panel on which something can be pressed, and where on its picture, 0..=1 from the upper left. None while
    /// its page does not show.
    pub fn find(&self, spot: &Spot) -> Option<(Panel, [f32; 2])> {
        Panel::ALL.into_iter().find_map(|panel| {
            let shows = self.out.placements.iter().any(|p| p.panel == panel);
            let (_, rect) = self.spots[panel as usize].iter().find(|(s, _)| shows && s == spot)?;
            let size = panel.size().map(|n| n as f32);
            Some((panel, [rect.center().x / size[0], rect.center().y / size[1]]))
        })
    }

    /// The panel with the slider of a command, and a place of its track on its picture, as [`Panels::find`]; `share` is 0 at
    /// the left end and 1 at the right.
    pub fn find_track(&self, kind: CommandKind, share: f32) -> Option<(Panel, [f32; 2])> {
        Panel::ALL.into_iter().find_map(|panel| {
            let shows = self.out.placements.iter().any(|p| p.panel == panel);
            let (_, track) = self.tracks[panel as usize].iter().find(|(k, _)| shows && *k == kind)?;
            let size = panel.size().map(|n| n as f32);
            Some((panel, [(track.min.x + track.width() * share) / size[0], track.center().y / size[1]]))
        })
    }

    /// Whether a panel's picture is out of date.
    pub fn is_dirty(&self, panel: Panel) -> bool {
        self.canvases[panel as usize].dirty
    }

    /// What a panel's picture is painted from.
    pub fn paint(&self, panel: Panel) -> &PanelPaint {
        &self.canvases[panel as usize].paint
    }

    /// A panel was painted: its texture changes must not be applied again.
    pub fn painted(&mut self, panel: Panel) {
        let canvas = &mut self.canvases[panel as usize];
        canvas.dirty = false;
        canvas.paint.textures.clear();
    }

    /// Everything is painted again, fonts too: the pictures are gone with their device.
    pub fn renew(&mut self) {
        self.canvases = Panel::ALL.map(|p| Canvas::new(p.size()));
    }
}

/// Whether a panel, the palette at this page, shows two states differently.
fn differs(panel: Panel, page: Page, a: &PanelState, b: &PanelState) -> bool {
    match panel {
        Panel::Palette => {
            let shown = match page {
                Page::Shape => a.shape != b.shape,
                Page::Time => a.timeline != b.timeline,
                Page::View => a.swing != b.swing,
                _ => false,
            };
            shown
                || a.preferences != b.preferences
                || (a.undo, a.redo, a.strokes, a.redraw) != (b.undo, b.redo, b.strokes, b.redraw)
                || (&a.pin, &a.deformer, a.moved, a.unsaved) != (&b.pin, &b.deformer, b.moved, b.unsaved)
        }
        Panel::Files => a.files != b.files || a.unsaved != b.unsaved,
        Panel::Wrist => {
            a.preferences != b.preferences
                || (a.magnification, &a.labels, &a.mark) != (b.magnification, &b.labels, &b.mark)
        }
        Panel::Strain => a.strain != b.strain,
        Panel::Message => a.message != b.message,
    }
}
