//! By what a command can be given: the one table for buttons, panels, hints and the doctor.

use super::{Command, Tool};

/// What a hand can do, as [`super::Hand`] tells it, whichever button or gesture of the controller stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Control {
    /// The tool's act; presses what is pointed at on a panel.
    Draw,
    /// Takes hold.
    Grab,
    /// Thumbstick or pad, sideways.
    StickX,
    /// Thumbstick or pad, up and down.
    StickY,
    /// One step back.
    Undo,
    /// One step forward.
    Redo,
    /// The palette.
    Menu,
}

impl Control {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Draw, Self::Grab, Self::StickX, Self::StickY, Self::Undo, Self::Redo, Self::Menu];

    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Draw => "draw",
            Self::Grab => "grab",
            Self::StickX => "turn",
            Self::StickY => "brush radius",
            Self::Undo => "undo",
            Self::Redo => "redo",
            Self::Menu => "palette",
        }
    }
}

/// A way to give a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// A hand's control by itself.
    Control(Control),
    /// An entry of the palette.
    Palette,
    /// An entry of the file panel, which an entry of the palette shows.
    Files,
}

/// A [`Command`] without its value: a line of the table of routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is the command of its name")]
pub enum CommandKind {
    Undo,
    Redo,
    Palette,
    Files,
    Tool,
    Radius,
    Lengths,
    Roll,
    Mirror,
    GrabBy,
    RedrawOffset,
    RemoveStroke,
    TogglePin,
    Deformer,
    Wire,
    Turntable,
    SnapTurn,
    LifeSize,
    UndoNavigation,
    RollWorld,
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
    Open,
    Save,
    Export,
    Quit,
}

impl CommandKind {
    /// All of them, in the palette's order.
    pub const ALL: [Self; 35] = [
        Self::Undo,
        Self::Redo,
        Self::Palette,
        Self::Files,
        Self::Tool,
        Self::Radius,
        Self::Lengths,
        Self::Roll,
        Self::Mirror,
        Self::GrabBy,
        Self::RedrawOffset,
        Self::RemoveStroke,
        Self::TogglePin,
        Self::Deformer,
        Self::Wire,
        Self::Turntable,
        Self::SnapTurn,
        Self::LifeSize,
        Self::UndoNavigation,
        Self::RollWorld,
        Self::LeftHanded,
        Self::Haptics,
        Self::Play,
        Self::Scrub,
        Self::Key,
        Self::DeleteKey,
        Self::MoveKey,
        Self::AutoKey,
        Self::Rate,
        Self::KeyStroke,
        Self::Interpolation,
        Self::Open,
        Self::Save,
        Self::Export,
        Self::Quit,
    ];

    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Undo => "Undo",
            Self::Redo => "Redo",
            Self::Palette => "Palette",
            Self::Files => "Files",
            Self::Tool => "Tool",
            Self::Radius => "Brush radius",
            Self::Lengths => "Bone lengths",
            Self::Roll => "Roll twists",
            Self::Mirror => "Mirror",
            Self::GrabBy => "What follows a grab",
            Self::RedrawOffset => "Redraw offset",
            Self::RemoveStroke => "Remove stroke",
            Self::TogglePin => "Pin joint",
            Self::Deformer => "Deformer",
            Self::Wire => "Wire",
            Self::Turntable => "Turntable",
            Self::SnapTurn => "Snap turn",
            Self::LifeSize => "Life size",
            Self::UndoNavigation => "Undo navigation",
            Self::RollWorld => "Roll world",
            Self::LeftHanded => "Left-handed",
            Self::Haptics => "Haptics",
            Self::Play => "Play",
            Self::Scrub => "Scrub",
            Self::Key => "Key pose",
            Self::DeleteKey => "Delete key",
            Self::MoveKey => "Move key",
            Self::AutoKey => "Auto-key",
            Self::Rate => "Frame rate",
            Self::KeyStroke => "Key stroke",
            Self::Interpolation => "Between keys",
            Self::Open => "Open",
            Self::Save => "Save",
            Self::Export => "Export",
            Self::Quit => "Quit",
        }
    }

    /// Every way to give it. The palette itself is shown by a control alone; the file panel has what is about files.
    pub fn routes(self) -> &'static [Route] {
        match self {
            Self::Undo => &[Route::Control(Control::Undo), Route::Palette],
            Self::Redo => &[Route::Control(Control::Redo), Route::Palette],
            Self::Palette => &[Route::Control(Control::Menu)],
            Self::Radius => &[Route::Control(Control::StickY), Route::Palette],
            Self::SnapTurn => &[Route::Control(Control::StickX), Route::Palette],
            Self::Open => &[Route::Files],
            Self::Save | Self::Export => &[Route::Files, Route::Palette],
            _ => &[Route::Palette],
        }
    }

    /// What the palette must offer, in its order.
    pub fn palette() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| kind.routes().contains(&Route::Palette))
    }

    /// What the file panel must offer, in its order.
    pub fn files() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| kind.routes().contains(&Route::Files))
    }
}

impl Command {
    /// The command without its value.
    pub fn kind(&self) -> CommandKind {
        match self {
            Self::Undo => CommandKind::Undo,
            Self::Redo => CommandKind::Redo,
            Self::Palette => CommandKind::Palette,
            Self::Files => CommandKind::Files,
            Self::Tool(Tool::Line | Tool::Grab | Tool::Skin | Tool::Joint) => CommandKind::Tool,
            Self::Radius(_) => CommandKind::Radius,
            Self::Lengths(_) => CommandKind::Lengths,
            Self::Roll(_) => CommandKind::Roll,
            Self::Mirror(_) => CommandKind::Mirror,
            Self::GrabBy(_) => CommandKind::GrabBy,
            Self::RedrawOffset => CommandKind::RedrawOffset,
            Self::RemoveStroke => CommandKind::RemoveStroke,
            Self::TogglePin => CommandKind::TogglePin,
            Self::Deformer(_) => CommandKind::Deformer,
            Self::Wire(_) => CommandKind::Wire,
            Self::Turntable(_) => CommandKind::Turntable,
            Self::SnapTurn(_) => CommandKind::SnapTurn,
            Self::LifeSize => CommandKind::LifeSize,
            Self::UndoNavigation => CommandKind::UndoNavigation,
            Self::RollWorld(_) => CommandKind::RollWorld,
            Self::LeftHanded(_) => CommandKind::LeftHanded,
            Self::Haptics(_) => CommandKind::Haptics,
            Self::Play(_) => CommandKind::Play,
            Self::Scrub(_) => CommandKind::Scrub,
            Self::Key => CommandKind::Key,
            Self::DeleteKey => CommandKind::DeleteKey,
            Self::MoveKey(_) => CommandKind::MoveKey,
            Self::AutoKey(_) => CommandKind::AutoKey,
            Self::Rate(_) => CommandKind::Rate,
            Self::KeyStroke => CommandKind::KeyStroke,
            Self::Interpolation(_) => CommandKind::Interpolation,
            Self::Open(_) => CommandKind::Open,
            Self::Save => CommandKind::Save,
            Self::Export => CommandKind::Export,
            Self::Quit => CommandKind::Quit,
        }
    }
}

/// What a hand's controls are called on its controller, for hints such as `A: undo`; none where the controller has
/// no such control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    names: [Option<&'static str>; Control::ALL.len()],
}

impl Labels {
    /// From the name of each control.
    pub fn new(name: impl Fn(Control) -> Option<&'static str>) -> Self {
        Self { names: Control::ALL.map(name) }
    }

    /// What a control is called.
    pub fn of(&self, control: Control) -> Option<&'static str> {
        self.names[control as usize]
    }

    /// A line for each control there is: `A: undo`.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let lines = Control::ALL.map(|c| self.of(c).map(|name| format!("{name}: {}", c.label())));
        lines.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_route_and_every_kind_is_listed_once() {
        let mut kinds = CommandKind::ALL.to_vec();
        kinds.sort_unstable();
        kinds.dedup();
        // The last of the declaration is the highest.
        assert_eq!((kinds.len(), kinds[kinds.len() - 1] as usize), (35, 34));
        assert!(kinds.iter().all(|kind| !kind.routes().is_empty()));
        assert!(CommandKind::palette().all(|kind| kind != CommandKind::Palette));
        assert_eq!(CommandKind::files().count(), 3);
        assert_eq!(Command::SnapTurn(-1).kind(), CommandKind::SnapTurn);
    }

    #[test]
    fn labels_make_hints() {
        let labels = Labels::new(|c| (c == Control::Undo).then_some("A"));
        assert_eq!(labels.lines().collect::<Vec<_>>(), ["A: undo"]);
        assert!(Control::ALL.iter().enumerate().all(|(i, c)| *c as usize == i));
    }
}
