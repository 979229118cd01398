//! The table of all items on the panels. It gives the layout of the palette. Tests press every item, and check that
//! each [`CommandKind`] with a route through a panel has an item.

use super::state::PanelState;
use super::time_offers::offer_of_time;
use super::{Page, PaletteMemory, Panel};
use crate::pose::Lengths;
use crate::render::Shading;
use crate::scene::{DAMPINGS, SWINGS, method};
use crate::ui::icons::Icon;
use crate::ui::panels::deformer::method_label;
use crate::workbench::{Command, CommandKind, MarkBy, RADIUS_RANGE, Tool};

/// An item that can be pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// The item that gives commands of this kind.
    Of(CommandKind),
    /// The item that switches to another deformation method.
    OtherMethod,
    /// The item that rotates the view to the left; `Of(CommandKind::SnapTurn)` rotates it to the right.
    TurnLeft,
}

/// Position and look of an item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The described item.
    pub item: Item,
    /// The item's panel.
    pub panel: Panel,
    /// The page of the palette; `None` if the item always shows.
    pub page: Option<Page>,
    /// Row of the page, from 0. Items of a row are in the table's order.
    pub row: u8,
    /// Relative width in the row.
    pub weight: f32,
    /// Label of the item's tile.
    pub label: &'static str,
    /// Icon of the item's tile.
    pub icon: Option<Icon>,
}

const fn always(item: Item, label: &'static str, icon: Icon) -> Entry {
    Entry { item, panel: Panel::Palette, page: None, row: 0, weight: 1.0, label, icon: Some(icon) }
}

const fn on(page: Page, row: u8, weight: f32, item: Item, label: &'static str, icon: Option<Icon>) -> Entry {
    Entry { item, panel: Panel::Palette, page: Some(page), row, weight, label, icon }
}

use CommandKind as C;
use Page::{Pose, Session, Time, View};

/// All items.
pub const ENTRIES: [Entry; 55] = [
    always(Item::Of(C::Tool), "Tool", Icon::Line),
    always(Item::Of(C::Undo), "Undo", Icon::Undo),
    always(Item::Of(C::Redo), "Redo", Icon::Redo),
    always(Item::Of(C::Details), "Details", Icon::Details),
    always(Item::Of(C::Palette), "Hide palette", Icon::Close),
    on(Pose, 0, 1.0, Item::Of(C::Radius), "Brush", None),
    on(Pose, 1, 1.0, Item::Of(C::Lengths), "Bone lengths", None),
    on(Pose, 1, 0.5, Item::Of(C::Pen), "Freehand", Some(Icon::Line)),
    on(Pose, 2, 1.0, Item::Of(C::Mirror), "Mirror", Some(Icon::Mirror)),
    on(Pose, 2, 1.0, Item::Of(C::Roll), "Roll twists", Some(Icon::Roll)),
    on(Pose, 2, 1.0, Item::Of(C::GrabBy), "Grab body", Some(Icon::Grab)),
    on(Pose, 2, 1.0, Item::Of(C::Fingers), "Fingers", Some(Icon::Hand)),
    on(Pose, 3, 1.0, Item::Of(C::RedrawOffset), "Redraw", Some(Icon::Redraw)),
    on(Pose, 3, 1.0, Item::Of(C::RemoveStroke), "Remove", Some(Icon::Remove)),
    on(Pose, 3, 1.0, Item::Of(C::Cancel), "Cancel", Some(Icon::Close)),
    on(Pose, 3, 1.2, Item::Of(C::TogglePin), "Pin", Some(Icon::Pin)),
    on(Time, 0, 3.6, Item::Of(C::Scrub), "Time", None),
    on(Time, 0, 0.8, Item::Of(C::MotionPath), "Path", None),
    on(Time, 0, 0.8, Item::Of(C::Onion), "Onion", None),
    on(Time, 1, 1.0, Item::Of(C::Play), "Play", Some(Icon::Play)),
    on(Time, 1, 1.0, Item::Of(C::Key), "Key", Some(Icon::Key)),
    on(Time, 1, 1.0, Item::Of(C::DeleteKey), "Delete", Some(Icon::Remove)),
    on(Time, 1, 1.0, Item::Of(C::Record), "Record", Some(Icon::Record)),
    on(Time, 2, 1.0, Item::Of(C::MoveKey), "Move key", None),
    on(Time, 2, 0.7, Item::Of(C::KeyStroke), "As drawn", Some(Icon::Line)),
    on(Time, 2, 0.7, Item::Of(C::AutoKey), "Auto key", Some(Icon::AutoKey)),
    on(Time, 3, 1.0, Item::Of(C::Rate), "Frames", None),
    on(Time, 3, 1.2, Item::Of(C::Interpolation), "Between", None),
    on(View, 0, 6.0, Item::Of(C::Deformer), "Method", None),
    on(View, 0, 0.8, Item::OtherMethod, "Other method", Some(Icon::Other)),
    on(View, 1, 1.0, Item::Of(C::Swing), "Swing", None),
    on(View, 1, 1.0, Item::Of(C::Damping), "Damping", None),
    on(View, 1, 0.6, Item::Of(C::Contact), "Contact", None),
    on(View, 2, 1.0, Item::Of(C::Wire), "Wire", Some(Icon::Wire)),
    on(View, 2, 1.0, Item::Of(C::Binding), "Binding", Some(Icon::Binding)),
    on(View, 2, 1.1, Item::Of(C::Crossings), "Crossings", Some(Icon::Crossings)),
    on(View, 2, 1.0, Item::Of(C::Measure), "Measure", Some(Icon::Measure)),
    // These arrow tiles are too narrow for a label.
    on(View, 3, 0.35, Item::TurnLeft, "Turn", Some(Icon::Left)),
    on(View, 3, 1.0, Item::Of(C::LifeSize), "Life size", Some(Icon::Person)),
    on(View, 3, 0.35, Item::Of(C::SnapTurn), "Turn", Some(Icon::Right)),
    on(View, 3, 1.0, Item::Of(C::UndoNavigation), "Last view", Some(Icon::Back)),
    on(View, 3, 0.6, Item::Of(C::Shading), "Clay", None),
    on(Session, 0, 1.0, Item::Of(C::Save), "Save", Some(Icon::Save)),
    on(Session, 0, 1.0, Item::Of(C::Export), "Export", Some(Icon::Export)),
    on(Session, 0, 1.0, Item::Of(C::Files), "Files", Some(Icon::Folder)),
    on(Session, 1, 1.0, Item::Of(C::LeftHanded), "Tool hand", None),
    on(Session, 1, 0.4, Item::Of(C::Tour), "Tour", None),
    on(Session, 2, 1.0, Item::Of(C::Haptics), "Vibration", Some(Icon::Buzz)),
    on(Session, 2, 1.0, Item::Of(C::RollWorld), "Tilt world", Some(Icon::Tilt)),
    on(Session, 2, 1.0, Item::Of(C::Turntable), "Turntable", Some(Icon::Turntable)),
    on(Session, 3, 1.4, Item::Of(C::Smooth), "Smooth edges", Some(Icon::Smooth)),
    on(Session, 3, 1.0, Item::Of(C::Phong), "Phong", Some(Icon::Phong)),
    on(Session, 3, 1.3, Item::Of(C::OtherFace), "Window", Some(Icon::Window)),
    on(Session, 3, 1.0, Item::Of(C::Quit), "Quit", Some(Icon::Quit)),
    Entry {
        item: Item::Of(C::Open),
        panel: Panel::Files,
        page: None,
        row: 0,
        weight: 1.0,
        label: "Open",
        icon: Some(Icon::Folder),
    },
];

impl Item {
    /// The kind of command that the item gives.
    pub fn kind(self) -> CommandKind {
        match self {
            Self::Of(kind) => kind,
            Self::OtherMethod => CommandKind::Deformer,
            Self::TurnLeft => CommandKind::SnapTurn,
        }
    }

    /// The item's entry in the table.
    pub fn entry(self) -> &'static Entry {
        let found = ENTRIES.iter().find(|e| e.item == self);
        // A test checks that the table has every item.
        found.unwrap_or(&ENTRIES[0])
    }
}

/// Behaviour of an item in the current state of the panels.
pub(super) enum Offer {
    /// Gives the command when pressed. `count` is a number shown beside the label.
    Press { command: Command, enabled: bool, label: Option<String>, count: Option<usize> },
    /// A switch that is on or off.
    Switch { on: bool, command: Command },
    /// A choice of one of several values.
    Choice(Vec<Choice>),
    /// A slider: its position 0..=1, the value as text, and the command for a new position.
    Slider { value: f32, text: String, command: Box<dyn Fn(f32) -> Command> },
    /// Gives the command at the second press, which confirms the first. `label` shows between both presses.
    Confirm { command: Command, label: &'static str },
    /// An item that the panel draws with code outside of this table.
    Own,
}

/// One value of an [`Offer::Choice`].
pub(super) struct Choice {
    pub label: String,
    pub icon: Option<Icon>,
    pub on: bool,
    pub command: Command,
}

pub(super) fn press(command: Command, enabled: bool) -> Offer {
    Offer::Press { command, enabled, label: None, count: None }
}

impl Item {
    /// Returns the item's behaviour in this state.
    pub(super) fn offer(self, state: &PanelState, memory: &PaletteMemory) -> Offer {
        let p = &state.preferences;
        let counted = |command, count: usize| Offer::Press {
            command,
            enabled: count > 0,
            label: None,
            count: Some(count),
        };
        let kind = match self {
            Self::Of(kind) => kind,
            Self::OtherMethod => {
                return press(Command::Deformer(memory.other_method(&state.deformer).to_owned()), true);
            }
            Self::TurnLeft => return press(Command::SnapTurn(-1), true),
        };
        // With the skin tool, an offset stroke can be that of a mark.
        let offsets = p.tool == Tool::Skin && p.marks == MarkBy::Offset;
        match kind {
            C::Tool => {
                let choice = |tool: Tool| Choice {
                    label: tool.word().to_owned(),
                    icon: Some(Icon::of(tool)),
                    on: p.tool == tool,
                    command: Command::Tool(tool),
                };
                Offer::Choice(Tool::ALL.map(choice).into())
            }
            C::Undo => counted(Command::Undo, state.undo),
            C::Redo => counted(Command::Redo, state.redo),
            C::Cancel => press(Command::Cancel, state.can_cancel),
            C::Radius => Offer::Slider {
                value: slider_of_radius(p.radius),
                text: format!("{:.1} cm", p.radius * 100.0),
                command: Box::new(|at| Command::Radius(radius_of_slider(at))),
            },
            C::Lengths => {
                let choice = |lengths, label: &str, icon| Choice {
                    label: label.to_owned(),
                    icon: Some(icon),
                    on: p.lengths == lengths,
                    command: Command::Lengths(lengths),
                };
                Offer::Choice(vec![
                    choice(Lengths::Keep, "Keep lengths", Icon::Keep),
                    choice(Lengths::Stretch, "Stretch", Icon::Stretch),
                ])
            }
            C::Pen => Offer::Press {
                command: Command::Pen(p.pen.next()),
                enabled: true,
                label: Some(p.pen.word().to_owned()),
                count: None,
            },
            C::GrabBy => Offer::Press {
                command: Command::GrabBy(p.grab.next()),
                enabled: true,
                label: Some(p.grab.label().to_owned()),
                count: None,
            },
            C::Measure => {
                // The first press chooses the measure tool; each further press chooses the next quantity to measure.
                let by = if p.tool == Tool::Measure { p.measure.next() } else { p.measure };
                let label = if p.tool == Tool::Measure { p.measure.label() } else { "Measure" };
                Offer::Press {
                    command: Command::Measure(by),
                    enabled: true,
                    label: Some(label.to_owned()),
                    count: None,
                }
            }
            C::RedrawOffset => press(Command::RedrawOffset, state.redraw || (offsets && state.strokes > 0)),
            C::RemoveStroke => counted(Command::RemoveStroke, state.strokes),
            C::TogglePin => Offer::Press {
                command: Command::TogglePin,
                enabled: state.pin.is_some(),
                label: state.pin.as_ref().map(|pin| {
                    let verb = if pin.pinned { "Free" } else { "Pin" };
                    format!("{verb} {}", pin.joint)
                }),
                count: None,
            },
            C::Deformer => {
                let current = method(&state.deformer);
                let choice = |slot: usize| Choice {
                    label: format!("{}  {}", ["A", "B"][slot], method_label(memory.methods[slot])),
                    icon: None,
                    on: memory.methods[slot] == current,
                    command: Command::Deformer(memory.methods[slot].to_owned()),
                };
                Offer::Choice(vec![choice(0), choice(1)])
            }
            C::Swing => offer_of_swing(state, 0, SWINGS, Command::Swing, |v| {
                if v > 0.0 { format!("{v:.1} Hz") } else { "off".into() }
            }),
            C::Damping => offer_of_swing(state, 1, DAMPINGS, Command::Damping, |v| format!("{v:.2}")),
            C::Contact => Offer::Switch { on: state.contact, command: Command::Contact(!state.contact) },
            C::Shading => {
                let on = p.shading == Shading::Clay;
                let other = if on { Shading::Textured } else { Shading::Clay };
                Offer::Switch { on, command: Command::Shading(other) }
            }
            C::SnapTurn => press(Command::SnapTurn(1), true),
            C::UndoNavigation => press(Command::UndoNavigation, state.moved),
            C::KeyStroke => press(Command::KeyStroke, state.redraw),
            C::Play
            | C::Scrub
            | C::Key
            | C::DeleteKey
            | C::MoveKey
            | C::AutoKey
            | C::Record
            | C::Rate
            | C::Interpolation => offer_of_time(kind, &state.timeline),
            C::Save => Offer::Press {
                command: Command::Save,
                enabled: true,
                label: Some(if state.unsaved { "Save" } else { "Saved" }.to_owned()),
                count: None,
            },
            C::Tour => {
                Offer::Switch { on: state.tour.is_some(), command: Command::Tour(state.tour.is_none()) }
            }
            C::Files => Offer::Switch { on: p.files, command: Command::Files },
            C::Details => Offer::Switch { on: p.details, command: Command::Details },
            C::LeftHanded => {
                let choice = |left, label: &str| Choice {
                    label: label.to_owned(),
                    icon: Some(Icon::Hand),
                    on: p.left_handed == left,
                    command: Command::LeftHanded(left),
                };
                Offer::Choice(vec![choice(true, "Left hand"), choice(false, "Right hand")])
            }
            C::Quit => Offer::Confirm { command: Command::Quit, label: "Press again to quit" },
            // The file panel draws these.
            C::Open => Offer::Own,
            _ => match (kind.switch(p), kind.plain()) {
                (Some((on, command)), _) => Offer::Switch { on, command },
                (None, Some(command)) => press(command, true),
                (None, None) => Offer::Own,
            },
        }
    }
}

/// Returns the slider of the dynamics parameter with this index: 0 is the frequency, 1 the damping.
fn offer_of_swing(
    state: &PanelState,
    which: usize,
    range: [f64; 2],
    command: fn(f32) -> Command,
    text: fn(f32) -> String,
) -> Offer {
    let [least, most] = range.map(|v| v as f32);
    let now = state.swing.map(|s| s[which]);
    Offer::Slider {
        value: now.map_or(0.0, |v| ((v - least) / (most - least)).clamp(0.0, 1.0)),
        text: now.map_or_else(|| "no flesh".into(), text),
        command: Box::new(move |at| command(least + (most - least) * at)),
    }
}

/// Converts a brush radius to a slider position 0..=1, on a logarithmic scale.
fn slider_of_radius(radius: f32) -> f32 {
    let [least, most] = RADIUS_RANGE;
    ((radius / least).ln() / (most / least).ln()).clamp(0.0, 1.0)
}

fn radius_of_slider(at: f32) -> f32 {
    let [least, most] = RADIUS_RANGE;
    least * (most / least).powf(at.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sliders_and_radii_are_inverse() {
        for at in [0.0, 0.3, 1.0] {
            assert!((slider_of_radius(radius_of_slider(at)) - at).abs() < 1e-5);
        }
    }
}
