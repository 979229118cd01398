//! User preferences of the window, saved between sessions together with [`crate::workbench::Preferences`].

use super::keys::KeyMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Smallest and largest zoom factor of the panels.
pub const ZOOM_RANGE: [f32; 2] = [0.5, 3.0];

/// The colour theme of the panels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// The theme of the operating system.
    System,
    /// The dark theme.
    #[default]
    Dark,
    /// The light theme.
    Light,
}

/// The mode of the stereo preview.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stereo {
    /// No stereo: one view.
    #[default]
    Off,
    /// The views of both eyes side by side.
    SideBySide,
    /// One picture for red-cyan glasses.
    Anaglyph,
}

impl Stereo {
    /// All modes, in the order of [`Stereo::next`].
    pub const ALL: [Self; 3] = [Self::Off, Self::SideBySide, Self::Anaglyph];

    /// The displayed name.
    pub fn label(self) -> &'static str {
        ["One eye", "Side by side", "Anaglyph"][self as usize]
    }

    /// Returns the next mode, cyclically.
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }
}

/// The drawing plane for strokes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plane {
    /// A plane that faces the camera. It has the depth of a joint near the start of the stroke, else of the root joint.
    #[default]
    Camera,
    /// A plane that the user has placed, world space, metres.
    Fixed {
        /// A point on the plane.
        origin: [f32; 3],
        /// The plane's unit normal.
        normal: [f32; 3],
    },
}

/// Preferences that outlive a session. The front end saves what [`super::WindowEditor::choices`] returns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Choices {
    /// Key bindings.
    pub keys: KeyMap,
    /// Colour theme.
    pub theme: Theme,
    /// Zoom factor of the panels, within [`ZOOM_RANGE`].
    pub zoom: f32,
    /// Whether the side panels show.
    pub panels: bool,
    /// The sections of the side panel that the user has opened (true) or closed, by name.
    pub sections: BTreeMap<String, bool>,
    /// Mode of the stereo preview.
    pub stereo: Stereo,
    /// Drawing plane for strokes.
    pub plane: Plane,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            keys: KeyMap::default(),
            theme: Theme::Dark,
            zoom: 1.0,
            panels: true,
            sections: BTreeMap::new(),
            stereo: Stereo::Off,
            plane: Plane::Camera,
        }
    }
}

impl Choices {
    /// Clamps all values to their ranges, for preferences read from a file.
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
