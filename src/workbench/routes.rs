//! By what a command can be given: the one table for buttons, panels, hints and the doctor.

use super::Command;

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
    /// A hand's control on its own.
    Control(Control),
    /// An entry of the palette.
    Palette,
    /// An entry of the file panel, which an entry of the palette shows.
    Files,
}

/// A line for each [`Command`], in the palette's order: its name, and what people call it.
macro_rules! commands {
    ($($name:ident => $label:literal,)+) => {
        /// A [`Command`] without its value: a line of the table of routes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each is the command of its name")]
        pub enum CommandKind {
            $($name,)+
        }

        impl CommandKind {
            /// All of them, in the palette's order.
            pub const ALL: [Self; [$($label),+].len()] = [$(Self::$name),+];

            /// For people.
            pub fn label(self) -> &'static str {
                [$($label),+][self as usize]
            }
        }

        impl Command {
            /// The command without its value.
            pub fn kind(&self) -> CommandKind {
                match self {
                    $(Self::$name { .. } => CommandKind::$name,)+
                }
            }
        }
    };
}

commands! {
    Undo => "Undo",
    Redo => "Redo",
    Palette => "Palette",
    Files => "Files",
    Tool => "Tool",
    Radius => "Brush radius",
    Lengths => "Bone lengths",
    Roll => "Roll twists",
    Mirror => "Mirror",
    GrabBy => "What follows a grab",
    RedrawOffset => "Redraw offset",
    RemoveStroke => "Remove stroke",
    TogglePin => "Pin joint",
    Deformer => "Deformer",
    Swing => "Swing of the flesh",
    Damping => "Damping of the swing",
    SelectShape => "Next shape",
    ShapeOn => "Shape on or off",
    RemoveShape => "Remove shape",
    Amplitude => "Shape's amplitude",
    Stiffness => "Shape's stiffness",
    Profile => "Shape's profile",
    WaveCount => "Waves along a shape",
    WaveSpeed => "Waves' speed",
    WavePhase => "Waves' phase",
    Measure => "Measure",
    Wire => "Wire",
    Binding => "Binding",
    Turntable => "Turntable",
    SnapTurn => "Snap turn",
    LifeSize => "Life size",
    UndoNavigation => "Last view",
    RollWorld => "Roll world",
    LeftHanded => "Left-handed",
    Haptics => "Haptics",
    Smooth => "Smooth edges",
    Play => "Play",
    Scrub => "Scrub",
    Key => "Key pose",
    DeleteKey => "Delete key",
    MoveKey => "Move key",
    AutoKey => "Auto key",
    Rate => "Frame rate",
    KeyStroke => "Key stroke",
    Interpolation => "Between keys",
    Open => "Open",
    Save => "Save",
    Export => "Export",
    OtherFace => "Headset or window",
    Quit => "Quit",
}

impl CommandKind {
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

/// What a hand's controls are called on its controller, for hints such as `A: undo`; `None` if the controller has
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
    fn every_command_has_a_route() {
        assert!(CommandKind::ALL.iter().all(|kind| !kind.routes().is_empty()));
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
