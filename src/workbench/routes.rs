//! The table of the buttons, keys and panels by which users reach each command. Buttons, panels, hints and `sinew xr
//! doctor` all use this table.

use super::{CommandKind, WindowPlace};

/// An abstract control of a hand (see [`super::Hand`]), independent of the controller's buttons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Control {
    /// The tool's main action; on a panel, a click.
    Draw,
    /// Grabs the body or the world.
    Grab,
    /// Thumbstick or trackpad, horizontal.
    StickX,
    /// Thumbstick or trackpad, vertical.
    StickY,
    /// Undo button.
    Undo,
    /// Redo button.
    Redo,
    /// Shows or hides the palette.
    Menu,
}

impl Control {
    /// All controls.
    pub const ALL: [Self; 7] =
        [Self::Draw, Self::Grab, Self::StickX, Self::StickY, Self::Undo, Self::Redo, Self::Menu];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        match self {
            Self::Draw => "draw",
            Self::Grab => "grab",
            Self::StickX => "turn",
            Self::StickY => "brush radius, jump",
            Self::Undo => "undo",
            Self::Redo => "redo",
            Self::Menu => "palette",
        }
    }
}

/// A route to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// A button, trigger, squeeze or stick of a controller; no panel is needed.
    Control(Control),
    /// An entry of the palette.
    Palette,
    /// An entry of the file panel, which the palette can open.
    Files,
    /// An entry of the details panel, which the palette can open.
    Details,
}

impl CommandKind {
    /// The commands that the palette must offer, in order.
    pub fn palette() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| kind.routes().contains(&Route::Palette))
    }

    /// The commands that the shared panel at `place` draws from the table, in order.
    pub fn listed(place: WindowPlace) -> impl Iterator<Item = Self> {
        let is_there = move |kind: &Self| matches!(kind.place(), WindowPlace::Listed(at) if *at == place);
        Self::ALL.into_iter().filter(is_there)
    }

    /// The commands that the file panel must offer, in order.
    pub fn files() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| kind.routes().contains(&Route::Files))
    }
}

/// The names of a controller's buttons, for hints such as `A: undo`; `None` if the controller lacks the control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    names: [Option<&'static str>; Control::ALL.len()],
}

impl Labels {
    /// Collects the button name of each control.
    pub fn new(name: impl Fn(Control) -> Option<&'static str>) -> Self {
        Self { names: Control::ALL.map(name) }
    }

    /// The button name of a control.
    pub fn of(&self, control: Control) -> Option<&'static str> {
        self.names[control as usize]
    }

    /// Hint lines such as `A: undo`, for each available control.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let lines = Control::ALL.map(|c| self.of(c).map(|name| format!("{name}: {}", c.label())));
        lines.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workbench::{Command, Preferences};

    #[test]
    fn every_command_has_a_route() {
        let is_listed = |kind: &CommandKind| matches!(kind.place(), WindowPlace::Listed(_));
        for kind in CommandKind::ALL.into_iter().filter(is_listed) {
            let drawn = kind.switch(&Preferences::default()).is_some() || kind.plain().is_some();
            assert!(drawn, "a panel cannot draw {kind:?}, which needs a value");
        }
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
