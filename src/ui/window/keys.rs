//! The key map: one table defines the shortcuts, the help list, the menus and the table in `docs/reference.md`. Keys
//! equal Blender's for features that Blender has.

use crate::workbench::{Command, CommandKind, Tool};
use egui::{Key, Modifiers};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// An action of a key or button of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the table tells")]
pub enum Act {
    Undo,
    Redo,
    Open,
    Save,
    SaveAs,
    Export,
    Files,
    OtherFace,
    Quit,
    LineTool,
    GrabTool,
    SkinTool,
    JointTool,
    SilhouetteTool,
    MeasureTool,
    BoneTool,
    CageTool,
    GripTool,
    GripHold,
    CageSet,
    CageRest,
    KeyCage,
    MarkBy,
    NextMeasure,
    NextTool,
    Grab,
    Rotate,
    Cancel,
    BrushLarger,
    BrushSmaller,
    BrushSize,
    FixPlane,
    MovePlane,
    RedrawOffset,
    Remove,
    Lengths,
    Pen,
    Roll,
    Mirror,
    GrabBy,
    Pin,
    Rig,
    Key,
    KeyJoint,
    RemoveKey,
    TakePose,
    Play,
    NextFrame,
    LastFrame,
    EditKeys,
    Onion,
    Deselect,
    CopyPose,
    PastePose,
    PasteMirrored,
    NextMethod,
    Compare,
    Wire,
    Binding,
    Crossings,
    #[serde(alias = "weights")]
    Colors,
    Turntable,
    Front,
    Back,
    Left,
    Right,
    Top,
    Bottom,
    Opposite,
    TurnLeft,
    TurnRight,
    TurnUp,
    TurnDown,
    Lens,
    FrameSelected,
    FrameAll,
    LastView,
    Stereo,
    Panels,
    Help,
    Larger,
    Smaller,
}

/// A group of the help list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named after their titles")]
pub enum Group {
    File,
    Tools,
    Pose,
    Time,
    View,
    Window,
}

impl Group {
    /// All groups, in the order of the help list.
    pub const ALL: [Self; 6] = [Self::File, Self::Tools, Self::Pose, Self::Time, Self::View, Self::Window];

    /// The displayed title.
    pub fn label(self) -> &'static str {
        ["File and history", "Tools", "Pose", "Time", "View", "Window"][self as usize]
    }
}

/// An entry of the key table.
#[derive(Clone, Copy, Debug)]
pub struct KeyLine {
    /// The action.
    pub act: Act,
    /// Displayed name of the action.
    pub label: &'static str,
    /// Group in the help list.
    pub group: Group,
    /// Default keys.
    pub keys: &'static [Chord],
    /// The kind of command that the action gives, which the headset also has; `None` if only the window has the action.
    pub command: Option<CommandKind>,
}

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Chord {
    key: Key,
    /// Control, or Command on a Mac.
    ctrl: bool,
    shift: bool,
    alt: bool,
}

/// Keys of signs. The names of the keys of letters and digits have one character.
const SIGNS: [Key; 18] = [
    Key::Colon,
    Key::Comma,
    Key::Minus,
    Key::Period,
    Key::Plus,
    Key::Equals,
    Key::Semicolon,
    Key::Backslash,
    Key::Slash,
    Key::Pipe,
    Key::Questionmark,
    Key::Exclamationmark,
    Key::OpenBracket,
    Key::CloseBracket,
    Key::OpenCurlyBracket,
    Key::CloseCurlyBracket,
    Key::Backtick,
    Key::Quote,
];

const fn key(key: Key) -> Chord {
    Chord { key, ctrl: false, shift: false, alt: false }
}

const fn ctrl(key: Key) -> Chord {
    Chord { key, ctrl: true, shift: false, alt: false }
}

const fn shift(key: Key) -> Chord {
    Chord { key, ctrl: false, shift: true, alt: false }
}

const fn ctrl_shift(key: Key) -> Chord {
    Chord { key, ctrl: true, shift: true, alt: false }
}

const fn alt(key: Key) -> Chord {
    Chord { key, ctrl: false, shift: false, alt: true }
}

const fn line(
    act: Act,
    label: &'static str,
    group: Group,
    keys: &'static [Chord],
    command: Option<CommandKind>,
) -> KeyLine {
    KeyLine { act, label, group, keys, command }
}

use CommandKind as C;
use Group::{File, Pose, Time, Tools, View, Window};

/// The key table, in the order of the help list.
pub const ACTS: &[KeyLine] = &[
    line(Act::Undo, "Undo", File, &[ctrl(Key::Z)], Some(C::Undo)),
    line(Act::Redo, "Redo", File, &[ctrl_shift(Key::Z), ctrl(Key::Y)], Some(C::Redo)),
    line(Act::Open, "Open a file", File, &[ctrl(Key::O)], Some(C::Open)),
    line(Act::Save, "Save the project", File, &[ctrl(Key::S)], Some(C::Save)),
    line(Act::SaveAs, "Save the project as", File, &[ctrl_shift(Key::S)], None),
    line(Act::Export, "Export a posed .glb", File, &[ctrl(Key::E)], Some(C::Export)),
    line(Act::Files, "Files at hand", File, &[shift(Key::F1)], Some(C::Files)),
    line(Act::OtherFace, "Go on in the headset", File, &[key(Key::F9)], Some(C::OtherFace)),
    line(Act::Quit, "Quit", File, &[ctrl(Key::Q)], Some(C::Quit)),
    line(Act::LineTool, "Line of action", Tools, &[key(Key::L)], Some(C::Tool)),
    line(Act::GrabTool, "Grab tool", Tools, &[key(Key::B)], Some(C::Tool)),
    line(Act::SkinTool, "Draw on skin", Tools, &[key(Key::D)], Some(C::Tool)),
    line(Act::JointTool, "Joint: gizmo", Tools, &[key(Key::J)], Some(C::Tool)),
    line(Act::SilhouetteTool, "Silhouette: draw its course", Tools, &[key(Key::S)], Some(C::Tool)),
    line(Act::MeasureTool, "Measure", Tools, &[key(Key::K)], Some(C::Tool)),
    line(Act::BoneTool, "Draw bones in a mesh without bones", Tools, &[key(Key::E)], Some(C::Tool)),
    line(Act::CageTool, "Move the cage", Tools, &[key(Key::C)], Some(C::Tool)),
    line(Act::GripTool, "Grips: points and regions of the skin", Tools, &[key(Key::H)], Some(C::Tool)),
    line(Act::GripHold, "Grip: free, position or full", Tools, &[shift(Key::H)], Some(C::GripHold)),
    line(
        Act::CageSet,
        "Cage: vertex, brush, ring, thickness or stroke",
        Tools,
        &[shift(Key::C)],
        Some(C::CageSet),
    ),
    line(Act::CageRest, "Cage: rest pose or current pose", Tools, &[alt(Key::C)], Some(C::CageRest)),
    line(Act::KeyCage, "Key the cage", Tools, &[alt(Key::K)], Some(C::KeyCage)),
    line(Act::MarkBy, "Skin: pull, offset, knots or paint", Tools, &[shift(Key::M)], Some(C::MarkBy)),
    line(Act::NextMeasure, "Measure distance, thickness or angle", Tools, &[shift(Key::K)], Some(C::Measure)),
    line(Act::NextTool, "Next tool", Tools, &[key(Key::W)], Some(C::Tool)),
    line(Act::BrushSize, "Size the brush by moving", Tools, &[key(Key::F)], Some(C::Radius)),
    line(Act::BrushLarger, "Larger brush", Tools, &[key(Key::CloseBracket)], Some(C::Radius)),
    line(Act::BrushSmaller, "Smaller brush", Tools, &[key(Key::OpenBracket)], Some(C::Radius)),
    line(Act::FixPlane, "Plane to draw on: here, or facing me", Tools, &[shift(Key::D)], None),
    line(Act::MovePlane, "Move that plane, or leave it", Tools, &[alt(Key::D)], None),
    line(
        Act::Grab,
        "Grab what is under the pointer; X, Y, Z and digits as for turns",
        Pose,
        &[key(Key::G)],
        None,
    ),
    line(Act::Rotate, "Turn the joint: X, Y, Z choose an axis, digits the angle", Pose, &[key(Key::R)], None),
    line(Act::Cancel, "Cancel what is under way", Pose, &[key(Key::Escape)], Some(C::Cancel)),
    line(Act::RedrawOffset, "Draw the offset again", Pose, &[shift(Key::L)], Some(C::RedrawOffset)),
    line(
        Act::Remove,
        "Remove the newest stroke",
        Pose,
        &[key(Key::X), key(Key::Delete)],
        Some(C::RemoveStroke),
    ),
    line(Act::Lengths, "Keep or stretch bones", Pose, &[shift(Key::B)], Some(C::Lengths)),
    line(Act::Pen, "Freehand, steady or straight strokes", Pose, &[shift(Key::F)], Some(C::Pen)),
    line(Act::Roll, "Roll twists (headset, pen)", Pose, &[], Some(C::Roll)),
    line(Act::Mirror, "Mirror", Pose, &[key(Key::M)], Some(C::Mirror)),
    line(Act::GrabBy, "Grab bone, limb or body", Pose, &[shift(Key::G)], Some(C::GrabBy)),
    line(Act::Pin, "Pin or free the joint", Pose, &[key(Key::P)], Some(C::TogglePin)),
    line(Act::Rig, "Rig the mesh by its drawn bones", Pose, &[ctrl(Key::P)], Some(C::Rig)),
    line(Act::Deselect, "Select nothing", Pose, &[alt(Key::A)], None),
    line(
        Act::CopyPose,
        "Copy the pose of the joint and those below",
        Pose,
        &[ctrl(Key::C)],
        Some(C::CopyPose),
    ),
    line(Act::PastePose, "Paste the pose", Pose, &[ctrl(Key::V)], Some(C::PastePose)),
    line(Act::PasteMirrored, "Paste the pose mirrored", Pose, &[ctrl_shift(Key::V)], Some(C::PastePose)),
    line(Act::NextMethod, "Next deformer", Pose, &[key(Key::Tab)], Some(C::Deformer)),
    line(Act::Compare, "Compare with another deformer: drag the line", Pose, &[shift(Key::Tab)], None),
    line(Act::Key, "Key the pose", Time, &[key(Key::I)], Some(C::Key)),
    line(Act::KeyJoint, "Key the selected joint", Time, &[ctrl(Key::I)], Some(C::KeyJoint)),
    line(Act::RemoveKey, "Remove the keys at this time", Time, &[alt(Key::I)], Some(C::DeleteKey)),
    line(Act::Play, "Play or stop", Time, &[key(Key::Space)], Some(C::Play)),
    line(Act::NextFrame, "Next frame", Time, &[key(Key::ArrowRight)], Some(C::Scrub)),
    line(Act::LastFrame, "Frame before", Time, &[key(Key::ArrowLeft)], Some(C::Scrub)),
    line(Act::EditKeys, "Rows and tools of the dope sheet", Time, &[shift(Key::T)], None),
    line(Act::Onion, "Onion skins", Time, &[key(Key::O)], Some(C::Onion)),
    line(Act::TakePose, "Edit the pose that shows", Time, &[shift(Key::I)], None),
    line(Act::Wire, "Bones and edges on top", View, &[shift(Key::Z)], Some(C::Wire)),
    line(
        Act::Binding,
        "Scale vectors, by the selected joint's weight",
        View,
        &[key(Key::V)],
        Some(C::Binding),
    ),
    line(Act::Crossings, "Where the skin crosses itself", View, &[shift(Key::V)], Some(C::Crossings)),
    line(
        Act::Colors,
        "Colours on the skin: weights, swing, twist, strain",
        View,
        &[alt(Key::V)],
        Some(C::Colors),
    ),
    line(Act::Turntable, "Turntable", View, &[key(Key::T)], Some(C::Turntable)),
    line(Act::Front, "Front", View, &[key(Key::Num1)], None),
    line(Act::Back, "Back", View, &[ctrl(Key::Num1)], None),
    line(Act::Right, "From its right", View, &[ctrl(Key::Num3)], None),
    line(Act::Left, "From its left", View, &[key(Key::Num3)], None),
    line(Act::Top, "Top", View, &[key(Key::Num7)], None),
    line(Act::Bottom, "Bottom", View, &[ctrl(Key::Num7)], None),
    line(Act::Opposite, "Opposite side", View, &[key(Key::Num9)], None),
    line(Act::TurnLeft, "Turn left", View, &[key(Key::Num4)], Some(C::SnapTurn)),
    line(Act::TurnRight, "Turn right", View, &[key(Key::Num6)], Some(C::SnapTurn)),
    line(Act::TurnUp, "Turn up", View, &[key(Key::Num8)], None),
    line(Act::TurnDown, "Turn down", View, &[key(Key::Num2)], None),
    line(Act::Lens, "Perspective or orthographic", View, &[key(Key::Num5)], None),
    line(Act::FrameSelected, "Frame the selected joint", View, &[key(Key::Period)], None),
    line(Act::FrameAll, "Frame all", View, &[key(Key::Home)], Some(C::LifeSize)),
    line(Act::LastView, "Last view", View, &[key(Key::Num0), key(Key::Backspace)], Some(C::UndoNavigation)),
    line(Act::Stereo, "Stereo preview", View, &[alt(Key::S)], None),
    line(Act::Panels, "Show or hide the panels", Window, &[key(Key::N)], Some(C::Palette)),
    line(Act::Help, "This list", Window, &[key(Key::Questionmark), key(Key::F1)], None),
    line(Act::Larger, "Larger panels", Window, &[ctrl(Key::Plus), ctrl(Key::Equals)], None),
    line(Act::Smaller, "Smaller panels", Window, &[ctrl(Key::Minus)], None),
];

impl Act {
    /// Returns the action that gives a command or changes the same setting; `None` if no key does.
    pub fn of(command: &Command) -> Option<Self> {
        Some(match command {
            Command::Tool(Tool::Line) => Self::LineTool,
            Command::Tool(Tool::Grab) => Self::GrabTool,
            Command::Tool(Tool::Skin) => Self::SkinTool,
            Command::Tool(Tool::Joint) => Self::JointTool,
            Command::Tool(Tool::Silhouette) => Self::SilhouetteTool,
            Command::Tool(Tool::Measure) => Self::MeasureTool,
            Command::Tool(Tool::Bone) => Self::BoneTool,
            Command::Tool(Tool::Cage) => Self::CageTool,
            Command::Tool(Tool::Grip) => Self::GripTool,
            other => ACTS.iter().find(|l| l.command == Some(other.kind()))?.act,
        })
    }

    /// The action's entry in the table.
    pub fn line(self) -> &'static KeyLine {
        // A test checks that the table has every action.
        ACTS.iter().find(|l| l.act == self).unwrap_or(&ACTS[0])
    }
}

impl Chord {
    /// Converts a key event. Shift is ignored for keys like `?` that are typed with Shift.
    pub fn new(key: Key, modifiers: Modifiers) -> Self {
        let shifts = matches!(
            key,
            Key::Questionmark
                | Key::Exclamationmark
                | Key::Colon
                | Key::Pipe
                | Key::Plus
                | Key::OpenCurlyBracket
                | Key::CloseCurlyBracket
        );
        let ctrl = modifiers.command || modifiers.ctrl;
        Self { key, ctrl, shift: modifiers.shift && !shifts, alt: modifiers.alt }
    }

    /// Whether the key has no modifiers.
    pub fn is_plain(self) -> bool {
        !(self.ctrl || self.shift || self.alt)
    }

    /// Whether the key types a letter, a digit or a sign.
    pub fn is_text(self) -> bool {
        !self.is_command() && (self.key.name().chars().count() == 1 || SIGNS.contains(&self.key))
    }

    /// Whether Control or Alt is held.
    pub fn is_command(self) -> bool {
        self.ctrl || self.alt
    }

    /// The key without modifiers.
    pub fn key(self) -> Key {
        self.key
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (on, name) in [(self.ctrl, "Ctrl"), (self.shift, "Shift"), (self.alt, "Alt")] {
            if on {
                write!(f, "{name}-")?;
            }
        }
        f.write_str(match self.key {
            Key::Questionmark => "?",
            Key::Period => ".",
            Key::OpenBracket => "[",
            Key::CloseBracket => "]",
            Key::Plus => "+",
            Key::Minus => "-",
            Key::Equals => "=",
            key => key.name(),
        })
    }
}

impl From<Chord> for String {
    fn from(chord: Chord) -> Self {
        chord.to_string()
    }
}

impl TryFrom<String> for Chord {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut out = key(Key::Space);
        let mut rest = text.as_str();
        for (name, on) in [("Ctrl-", &mut out.ctrl), ("Shift-", &mut out.shift), ("Alt-", &mut out.alt)] {
            if let Some(after) = rest.strip_prefix(name) {
                (*on, rest) = (true, after);
            }
        }
        out.key = Key::from_name(rest).ok_or_else(|| format!("{text:?} is no key"))?;
        Ok(out)
    }
}

/// Key bindings: the table's defaults, overridden by the user's choices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyMap {
    chosen: BTreeMap<Act, Vec<Chord>>,
}

impl KeyMap {
    /// Returns the keys of an action.
    pub fn keys(&self, act: Act) -> &[Chord] {
        self.chosen.get(&act).map_or(act.line().keys, Vec::as_slice)
    }

    /// Returns the action of a key combination.
    pub fn act(&self, chord: Chord) -> Option<Act> {
        ACTS.iter().map(|l| l.act).find(|act| self.keys(*act).contains(&chord))
    }

    /// Replaces the keys of an action by one key combination and removes the combination from other actions.
    pub fn bind(&mut self, act: Act, chord: Chord) {
        for other in ACTS.iter().map(|l| l.act).filter(|a| *a != act) {
            if self.keys(other).contains(&chord) {
                let left = self.keys(other).iter().copied().filter(|c| *c != chord).collect();
                self.chosen.insert(other, left);
            }
        }
        self.chosen.insert(act, vec![chord]);
    }

    /// Restores the default keys.
    pub fn reset(&mut self) {
        self.chosen.clear();
    }

    /// Whether the user has changed any key.
    pub fn is_chosen(&self) -> bool {
        !self.chosen.is_empty()
    }

    /// Formats the keys of an action; empty if the action has none.
    pub fn text(&self, act: Act) -> String {
        self.keys(act).iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_act_has_one_line_and_no_two_share_a_key() {
        let mut acts: Vec<Act> = ACTS.iter().map(|l| l.act).collect();
        acts.sort_unstable();
        acts.dedup();
        // The actions are sorted in the order of declaration, so the last entry is the last declared action.
        assert_eq!((acts.len(), acts[acts.len() - 1]), (ACTS.len(), Act::Smaller));
        assert_eq!(acts[acts.len() - 1] as usize + 1, ACTS.len());
        let keys: Vec<Chord> = ACTS.iter().flat_map(|l| l.keys).copied().collect();
        for (i, chord) in keys.iter().enumerate() {
            assert!(!keys[..i].contains(chord), "{chord} does two things");
        }
    }

    #[test]
    fn keys_are_read_as_they_are_written() {
        for chord in ACTS.iter().flat_map(|l| l.keys) {
            let text = serde_json::to_string(chord).unwrap();
            assert_eq!(serde_json::from_str::<Chord>(&text).unwrap(), *chord, "{text}");
        }
        assert!(serde_json::from_str::<Chord>("\"Ctrl-Foo\"").is_err());
        assert_eq!(Chord::new(Key::Questionmark, Modifiers::SHIFT), key(Key::Questionmark));
    }

    #[test]
    fn a_key_chosen_for_one_act_is_taken_from_the_other() {
        let mut map = KeyMap::default();
        let chord = ctrl(Key::Y);
        assert_eq!(map.act(chord), Some(Act::Redo));
        map.bind(Act::Mirror, chord);
        assert_eq!(map.act(chord), Some(Act::Mirror));
        assert_eq!(map.keys(Act::Redo), [ctrl_shift(Key::Z)]);
        assert_eq!(map.act(key(Key::M)), None);
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<KeyMap>(&text).unwrap(), map);
        map.reset();
        assert_eq!(map.act(chord), Some(Act::Redo));
    }
}
