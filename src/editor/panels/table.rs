//! The one table of what can be pressed on the panels: the palette is drawn from it. Tests press everything and find
//! every [`CommandKind`] that its routes promise.

use super::icons::Icon;
use super::state::PanelState;
use super::{Memory, Page, Panel};
use crate::asset::Interpolation;
use crate::deform::Recipe;
use crate::edit::{FRAME_RATES, Lengths};
use crate::editor::{Command, CommandKind, RADIUS_RANGE, Timeline, Tool};

/// Something that can be pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the commands they give")]
pub enum Item {
    Tool,
    Undo,
    Redo,
    Palette,
    Radius,
    Lengths,
    Roll,
    Mirror,
    GrabBy,
    RedrawOffset,
    RemoveStroke,
    TogglePin,
    Deformer,
    OtherMethod,
    Wire,
    Turntable,
    TurnLeft,
    LifeSize,
    TurnRight,
    UndoNavigation,
    RollWorld,
    Save,
    Export,
    Files,
    LeftHanded,
    Haptics,
    Play,
    Scrub,
    Key,
    DeleteKey,
    MoveKey,
    AutoKey,
    Rate,
    KeyStroke,
    Interpolation,
    Quit,
    Open,
}

/// Where an item is and how it is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// What it is.
    pub item: Item,
    /// The panel it is on.
    pub panel: Panel,
    /// The palette's page; none where it always shows.
    pub page: Option<Page>,
    /// Row of the page, from 0; items of a row stand in the table's order.
    pub row: u8,
    /// Width in its row, relative to its neighbours'.
    pub weight: f32,
    /// What its tile says.
    pub label: &'static str,
    /// What its tile shows.
    pub icon: Option<Icon>,
}

const fn always(item: Item, label: &'static str, icon: Icon) -> Entry {
    Entry { item, panel: Panel::Palette, page: None, row: 0, weight: 1.0, label, icon: Some(icon) }
}

const fn on(page: Page, row: u8, weight: f32, item: Item, label: &'static str, icon: Option<Icon>) -> Entry {
    Entry { item, panel: Panel::Palette, page: Some(page), row, weight, label, icon }
}

use Page::{Pose, Session, Time, View};

/// All of them.
pub const ENTRIES: [Entry; 37] = [
    always(Item::Tool, "Tool", Icon::Line),
    always(Item::Undo, "Undo", Icon::Undo),
    always(Item::Redo, "Redo", Icon::Redo),
    always(Item::Palette, "Hide palette", Icon::Close),
    on(Pose, 0, 1.0, Item::Radius, "Brush", None),
    on(Pose, 1, 1.0, Item::Lengths, "Bone lengths", None),
    on(Pose, 2, 1.0, Item::Mirror, "Mirror", Some(Icon::Mirror)),
    on(Pose, 2, 1.0, Item::Roll, "Roll twists", Some(Icon::Roll)),
    on(Pose, 2, 1.0, Item::GrabBy, "Grab limb", Some(Icon::Grab)),
    on(Pose, 3, 1.0, Item::RedrawOffset, "Redraw", Some(Icon::Redraw)),
    on(Pose, 3, 1.0, Item::RemoveStroke, "Remove", Some(Icon::Remove)),
    on(Pose, 3, 1.2, Item::TogglePin, "Pin", Some(Icon::Pin)),
    on(Time, 0, 1.0, Item::Scrub, "Time", None),
    on(Time, 1, 1.0, Item::Play, "Play", Some(Icon::Right)),
    on(Time, 1, 1.0, Item::Key, "Key", Some(Icon::Pin)),
    on(Time, 1, 1.0, Item::DeleteKey, "Delete", Some(Icon::Remove)),
    on(Time, 2, 1.0, Item::MoveKey, "Move key", None),
    on(Time, 2, 0.7, Item::KeyStroke, "As drawn", Some(Icon::Line)),
    on(Time, 2, 0.7, Item::AutoKey, "Auto-key", Some(Icon::Redraw)),
    on(Time, 3, 1.0, Item::Rate, "Frames", None),
    on(Time, 3, 1.2, Item::Interpolation, "Between", None),
    on(View, 0, 6.0, Item::Deformer, "Method", None),
    on(View, 0, 0.8, Item::OtherMethod, "Other method", Some(Icon::Other)),
    on(View, 1, 1.0, Item::Wire, "Wire", Some(Icon::Wire)),
    on(View, 1, 1.0, Item::Turntable, "Turntable", Some(Icon::Turntable)),
    on(View, 2, 1.0, Item::TurnLeft, "Turn", Some(Icon::Left)),
    on(View, 2, 1.2, Item::LifeSize, "Life size", Some(Icon::Person)),
    on(View, 2, 1.0, Item::TurnRight, "Turn", Some(Icon::Right)),
    on(View, 3, 1.0, Item::UndoNavigation, "Last view", Some(Icon::Back)),
    on(View, 3, 1.0, Item::RollWorld, "Tilt world", Some(Icon::Tilt)),
    on(Session, 0, 1.0, Item::Save, "Save", Some(Icon::Save)),
    on(Session, 0, 1.0, Item::Export, "Export", Some(Icon::Export)),
    on(Session, 0, 1.0, Item::Files, "Files", Some(Icon::Folder)),
    on(Session, 1, 1.0, Item::LeftHanded, "Tool hand", None),
    on(Session, 2, 1.0, Item::Haptics, "Vibration", Some(Icon::Buzz)),
    on(Session, 3, 1.0, Item::Quit, "Quit", Some(Icon::Quit)),
    Entry {
        item: Item::Open,
        panel: Panel::Files,
        page: None,
        row: 0,
        weight: 1.0,
        label: "Open",
        icon: Some(Icon::Folder),
    },
];

impl Item {
    /// The kind of command it gives.
    pub fn kind(self) -> CommandKind {
        match self {
            Self::Tool => CommandKind::Tool,
            Self::Undo => CommandKind::Undo,
            Self::Redo => CommandKind::Redo,
            Self::Palette => CommandKind::Palette,
            Self::Radius => CommandKind::Radius,
            Self::Lengths => CommandKind::Lengths,
            Self::Roll => CommandKind::Roll,
            Self::Mirror => CommandKind::Mirror,
            Self::GrabBy => CommandKind::GrabBy,
            Self::RedrawOffset => CommandKind::RedrawOffset,
            Self::RemoveStroke => CommandKind::RemoveStroke,
            Self::TogglePin => CommandKind::TogglePin,
            Self::Deformer | Self::OtherMethod => CommandKind::Deformer,
            Self::Wire => CommandKind::Wire,
            Self::Turntable => CommandKind::Turntable,
            Self::TurnLeft | Self::TurnRight => CommandKind::SnapTurn,
            Self::LifeSize => CommandKind::LifeSize,
            Self::UndoNavigation => CommandKind::UndoNavigation,
            Self::RollWorld => CommandKind::RollWorld,
            Self::Save => CommandKind::Save,
            Self::Export => CommandKind::Export,
            Self::Files => CommandKind::Files,
            Self::LeftHanded => CommandKind::LeftHanded,
            Self::Haptics => CommandKind::Haptics,
            Self::Play => CommandKind::Play,
            Self::Scrub => CommandKind::Scrub,
            Self::Key => CommandKind::Key,
            Self::DeleteKey => CommandKind::DeleteKey,
            Self::MoveKey => CommandKind::MoveKey,
            Self::AutoKey => CommandKind::AutoKey,
            Self::Rate => CommandKind::Rate,
            Self::KeyStroke => CommandKind::KeyStroke,
            Self::Interpolation => CommandKind::Interpolation,
            Self::Quit => CommandKind::Quit,
            Self::Open => CommandKind::Open,
        }
    }

    /// Its line of the table.
    pub fn entry(self) -> &'static Entry {
        let found = ENTRIES.iter().find(|e| e.item == self);
        // A test finds every item in the table.
        found.unwrap_or(&ENTRIES[0])
    }
}

/// How an item behaves at the moment.
pub(super) enum Offer {
    /// Gives its command. The number stands beside the label.
    Press { command: Command, enabled: bool, label: Option<String>, count: Option<usize> },
    /// On or off.
    Switch { on: bool, command: Command },
    /// One of several.
    Choice(Vec<Choice>),
    /// A number that a drag changes: where it is on the slider, 0..=1, in words, and back.
    Slider { value: f32, text: String, command: Box<dyn Fn(f32) -> Command> },
    /// Gives its command at the second press.
    Confirm { command: Command, label: &'static str },
    /// Is drawn by its panel.
    Own,
}

/// One of a [`Offer::Choice`].
pub(super) struct Choice {
    pub label: String,
    pub icon: Option<Icon>,
    pub on: bool,
    pub command: Command,
}

fn press(command: Command, enabled: bool) -> Offer {
    Offer::Press { command, enabled, label: None, count: None }
}

impl Item {
    /// How it behaves now.
    pub(super) fn offer(self, state: &PanelState, memory: &Memory) -> Offer {
        let p = &state.preferences;
        let counted = |command, count: usize| Offer::Press {
            command,
            enabled: count > 0,
            label: None,
            count: Some(count),
        };
        match self {
            Self::Tool => {
                let icon = |tool| match tool {
                    Tool::Line => Icon::Line,
                    Tool::Grab => Icon::Grab,
                    Tool::Skin => Icon::Skin,
                    Tool::Joint => Icon::Roll,
                };
                let choice = |tool: Tool| Choice {
                    label: tool.label().to_owned(),
                    icon: Some(icon(tool)),
                    on: p.tool == tool,
                    command: Command::Tool(tool),
                };
                Offer::Choice(Tool::ALL.map(choice).into())
            }
            Self::Undo => counted(Command::Undo, state.undo),
            Self::Redo => counted(Command::Redo, state.redo),
            Self::Palette => press(Command::Palette, true),
            Self::Radius => Offer::Slider {
                value: slider_of_radius(p.radius),
                text: format!("{:.1} cm", p.radius * 100.0),
                command: Box::new(|at| Command::Radius(radius_of_slider(at))),
            },
            Self::Lengths => {
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
            Self::Roll => Offer::Switch { on: p.roll, command: Command::Roll(!p.roll) },
            Self::Mirror => Offer::Switch { on: p.mirror, command: Command::Mirror(!p.mirror) },
            Self::GrabBy => Offer::Press {
                command: Command::GrabBy(p.grab.next()),
                enabled: true,
                label: Some(p.grab.label().to_owned()),
                count: None,
            },
            Self::RedrawOffset => press(Command::RedrawOffset, state.redraw),
            Self::RemoveStroke => counted(Command::RemoveStroke, state.strokes),
            Self::TogglePin => Offer::Press {
                command: Command::TogglePin,
                enabled: state.pin.is_some(),
                label: state.pin.as_ref().map(|pin| {
                    let verb = if pin.pinned { "Free" } else { "Pin" };
                    format!("{verb} {}", pin.joint)
                }),
                count: None,
            },
            Self::Deformer => {
                let current = method(&state.deformer);
                let choice = |slot: usize| Choice {
                    label: format!("{}  {}", ["A", "B"][slot], method_label(memory.methods[slot])),
                    icon: None,
                    on: memory.methods[slot] == current,
                    command: Command::Deformer(memory.methods[slot].to_owned()),
                };
                Offer::Choice(vec![choice(0), choice(1)])
            }
            Self::OtherMethod => {
                press(Command::Deformer(memory.other_method(&state.deformer).to_owned()), true)
            }
            Self::Wire => Offer::Switch { on: p.wire, command: Command::Wire(!p.wire) },
            Self::Turntable => Offer::Switch { on: p.turntable, command: Command::Turntable(!p.turntable) },
            Self::TurnLeft => press(Command::SnapTurn(-1), true),
            Self::LifeSize => press(Command::LifeSize, true),
            Self::TurnRight => press(Command::SnapTurn(1), true),
            Self::UndoNavigation => press(Command::UndoNavigation, state.moved),
            Self::RollWorld => Offer::Switch { on: p.roll_world, command: Command::RollWorld(!p.roll_world) },
            Self::Play | Self::Scrub | Self::Key | Self::DeleteKey => self.offer_of_time(&state.timeline),
            Self::KeyStroke => press(Command::KeyStroke, state.redraw),
            Self::MoveKey | Self::AutoKey | Self::Rate | Self::Interpolation => {
                self.offer_of_time(&state.timeline)
            }
            Self::Save => Offer::Press {
                command: Command::Save,
                enabled: true,
                label: Some(if state.unsaved { "Save" } else { "Saved" }.to_owned()),
                count: None,
            },
            Self::Export => press(Command::Export, true),
            Self::Files => Offer::Switch { on: p.files, command: Command::Files },
            Self::LeftHanded => {
                let choice = |left, label: &str| Choice {
                    label: label.to_owned(),
                    icon: Some(Icon::Hand),
                    on: p.left_handed == left,
                    command: Command::LeftHanded(left),
                };
                Offer::Choice(vec![choice(true, "Left hand"), choice(false, "Right hand")])
            }
            Self::Haptics => Offer::Switch { on: p.haptics, command: Command::Haptics(!p.haptics) },
            Self::Quit => Offer::Confirm { command: Command::Quit, label: "Press again to quit" },
            Self::Open => Offer::Own,
        }
    }
}

impl Item {
    /// How what is about time behaves now.
    fn offer_of_time(self, timeline: &Timeline) -> Offer {
        let head = timeline.playhead;
        let length = timeline.length.max(1e-3);
        let choice = |on: bool, label: String, command| Choice { label, icon: None, on, command };
        match self {
            Self::Play => Offer::Switch { on: head.playing, command: Command::Play(!head.playing) },
            Self::AutoKey => Offer::Switch { on: head.auto_key, command: Command::AutoKey(!head.auto_key) },
            Self::Scrub => Offer::Slider {
                value: (head.time / length).clamp(0.0, 1.0) as f32,
                text: format!("{:.2} s  frame {:.0}", head.time, head.time * f64::from(timeline.rate)),
                command: Box::new(move |at| Command::Scrub(f64::from(at) * length)),
            },
            Self::Key => Offer::Press {
                command: Command::Key,
                enabled: true,
                label: None,
                count: Some(timeline.columns.len()),
            },
            Self::DeleteKey => press(Command::DeleteKey, timeline.column.is_some()),
            Self::MoveKey => Offer::Slider {
                value: (timeline.column.unwrap_or(head.time) / length).clamp(0.0, 1.0) as f32,
                text: timeline.column.map_or_else(|| "no key".into(), |c| format!("{c:.2} s")),
                command: Box::new(move |at| Command::MoveKey(f64::from(at) * length)),
            },
            Self::Rate => {
                let rates = FRAME_RATES.iter();
                let rates = rates.map(|&r| choice(timeline.rate == r, r.to_string(), Command::Rate(r)));
                Offer::Choice(rates.collect())
            }
            _ => {
                let ways = [
                    (Interpolation::Step, "Step"),
                    (Interpolation::Linear, "Linear"),
                    (Interpolation::CubicSpline, "Spline"),
                ];
                let of = |(way, label): (Interpolation, &str)| {
                    choice(timeline.interpolation == Some(way), label.into(), Command::Interpolation(way))
                };
                Offer::Choice(ways.map(of).into())
            }
        }
    }
}

/// The full name of a method; none is springs.
pub(in crate::editor) fn method(name: &str) -> &str {
    if name.is_empty() { "springs" } else { name }
}

/// A method for people.
pub(in crate::editor) fn method_label(name: &str) -> &str {
    match method(name) {
        "rigid" => "Rigid",
        "lbs" => "LBS",
        "dqs" => "DQS",
        "blend" => "Blend",
        "irs" => "IRS",
        "cor" => "CoR",
        "stb" => "STB",
        "fast" => "FAST",
        "springs" => "Springs",
        other => other,
    }
}

/// The method after `name` in the table of methods, leaving out one.
pub(super) fn next_method(name: &str, without: &str) -> &'static str {
    let names = Recipe::NAMES;
    let at = names.iter().position(|n| *n == name).unwrap_or(0);
    let turned = (1..=names.len()).map(|i| names[(at + i) % names.len()]);
    turned.into_iter().find(|n| *n != without).unwrap_or(names[0])
}

/// Radii are spread evenly by their logarithm.
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
    fn sliders_and_radii_are_inverse_and_methods_go_round() {
        for at in [0.0, 0.3, 1.0] {
            assert!((slider_of_radius(radius_of_slider(at)) - at).abs() < 1e-5);
        }
        let mut name = "springs";
        let mut seen = Vec::new();
        for _ in 0..Recipe::NAMES.len() - 1 {
            name = next_method(name, "lbs");
            seen.push(name);
        }
        seen.sort_unstable();
        let mut all: Vec<_> = Recipe::NAMES.into_iter().filter(|n| *n != "lbs").collect();
        all.sort_unstable();
        assert_eq!(seen, all);
    }
}
