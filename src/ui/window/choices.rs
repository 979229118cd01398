//! What a user of the window has chosen: kept between sessions beside [`crate::workbench::Preferences`].

use super::keys::KeyMap;
use serde::{Deserialize, Serialize};

/// Smallest and largest zoom of the panels.
pub const ZOOM_RANGE: [f32; 2] = [0.5, 3.0];

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the system.
    System,
    /// Dark.
    #[default]
    Dark,
    /// Light.
    Light,
}

/// How two eyes are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stereo {
    /// One eye.
    #[default]
    Off,
    /// Side by side.
    SideBySide,
    /// Red and cyan glasses.
    Anaglyph,
}

impl Stereo {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Off, Self::SideBySide, Self::Anaglyph];

    /// For people.
    pub fn label(self) -> &'static str {
        ["One eye", "Side by side", "Anaglyph"][self as usize]
    }

    /// The next one.
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }
}

/// The plane that strokes are drawn on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plane {
    /// Parallel to the window, at the depth of the joint where the stroke begins, or of the root.
    #[default]
    Camera,
    /// Where the user has put it: a point and a unit normal, world, metres.
    Fixed {
        /// A point of it.
        origin: [f32; 3],
        /// Its normal.
        normal: [f32; 3],
    },
}

/// Choices that outlive a session. [`super::WindowEditor::choices`] gives them to be saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Choices {
    /// Keys that the user has chosen.
    pub keys: KeyMap,
    /// Light or dark.
    pub theme: Theme,
    /// Size of the panels, see [`ZOOM_RANGE`].
    pub zoom: f32,
    /// Whether the panels at the sides show.
    pub panels: bool,
    /// Stereo preview.
    pub stereo: Stereo,
    /// Where strokes are drawn.
    pub plane: Plane,
    /// Whether the selected joint's way through the motion shows.
    pub arcs: bool,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            keys: KeyMap::default(),
            theme: Theme::Dark,
            zoom: 1.0,
            panels: true,
            stereo: Stereo::Off,
            plane: Plane::Camera,
            arcs: true,
        }
    }
}

impl Choices {
    /// The same with everything in range, for what was read from a file.
    pub fn sane(mut self) -> Self {
        self.zoom = if self.zoom.is_finite() { self.zoom.clamp(ZOOM_RANGE[0], ZOOM_RANGE[1]) } else { 1.0 };
        if let Plane::Fixed { origin, normal } = self.plane {
            let length = normal.iter().map(|v| v * v).sum::<f32>();
            let sound = origin.iter().all(|v| v.is_finite()) && (0.5..2.0).contains(&length);
            self.plane = if sound { self.plane } else { Plane::Camera };
        }
        self
    }
}
