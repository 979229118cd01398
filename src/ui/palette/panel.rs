//! The names of the panels, of their pages and lists, and of what the pointer presses on them.

use super::{choices, details, files, keyboard, small};
use crate::ui::panels::Section;
use crate::workbench::Command;

/// One of the panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Panel {
    /// Tools and switches, at the off hand.
    Palette,
    /// Characters and projects, in front of the user.
    Files,
    /// World scale, current tool and button names, at the off hand.
    Wrist,
    /// Measurements of the deformation, beside the palette.
    Strain,
    /// A problem and its advice, in front of the user.
    Message,
    /// Settings and lists that do not fit on the palette, in front of the user.
    Details,
    /// The keyboard for the text fields of the details panel, below that panel.
    Keyboard,
}

impl Panel {
    /// All panels, in the order of their indices.
    pub const ALL: [Self; 7] =
        [Self::Palette, Self::Files, Self::Wrist, Self::Strain, Self::Message, Self::Details, Self::Keyboard];

    /// Size of the panel's image, pixels.
    pub fn size(self) -> [u32; 2] {
        match self {
            Self::Palette => choices::SIZE,
            Self::Files => files::SIZE,
            Self::Wrist => small::WRIST,
            Self::Strain => small::STRAIN,
            Self::Message => small::MESSAGE,
            Self::Details => details::SIZE,
            Self::Keyboard => keyboard::SIZE,
        }
    }

    /// The panel's name in messages and files.
    pub fn name(self) -> &'static str {
        ["palette", "files", "wrist", "strain", "message", "details", "keyboard"][self as usize]
    }

    /// Whether the pointer's ray can press items of the panel.
    pub(super) fn pressable(self) -> bool {
        matches!(self, Self::Palette | Self::Files | Self::Details | Self::Keyboard)
    }
}

/// A page of the palette.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Page {
    /// Settings of strokes, brush, bone lengths and pins.
    #[default]
    Pose,
    /// Animation keys and playback.
    Time,
    /// Deformation method, overlays and view of the character.
    View,
    /// Files and user preferences.
    Session,
}

impl Page {
    /// All pages, in the palette's order.
    pub const ALL: [Self; 4] = [Self::Pose, Self::Time, Self::View, Self::Session];

    /// The page's label.
    pub fn label(self) -> &'static str {
        ["Pose", "Time", "View", "Session"][self as usize]
    }
}

/// A list of the file panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tab {
    /// Characters and projects of the current folder.
    #[default]
    Folder,
    /// Recently opened files.
    Recent,
    /// Unsaved sessions that can be recovered.
    Unfinished,
    /// The sample characters.
    Samples,
}

/// A target that the pointer can press.
#[derive(Clone, Debug, PartialEq)]
pub enum Spot {
    /// The item that gives this command if the user presses it now.
    Command(Command),
    /// The tab of a palette page.
    Page(Page),
    /// The tab of a list of the file panel.
    Tab(Tab),
    /// The tab of a section of the details panel.
    Section(Section),
    /// A text of the details panel, which is the label of a widget.
    Text(String),
}
