//! What a step of the editor wants shown, felt and done.

use super::{Similarity, Sketch};
use crate::base::math::Turn;
use crate::render::{Lines, View};
use crate::scene::Refit;
use std::path::PathBuf;

/// Result of [`super::Workbench::step`], kept between frames so that nothing is allocated in them.
#[derive(Default)]
pub struct Output {
    /// For this frame's eyes and devices.
    pub world_from_room: Similarity,
    /// Where the floor is, on which the turntable turns the character.
    pub world_from_floor: Turn,
    /// Strokes, marks, cursors, bones, hints: world.
    pub lines: Lines,
    /// Per hand.
    pub haptics: [Option<Haptic>; 2],
    /// Per hand: the camera to look through for [`crate::scene::SurfaceSample`], `None` if the tool needs no surface.
    pub probes: [Option<View>; 2],
    /// For the front end, in order.
    pub requests: Vec<Request>,
}

/// What fingers feel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Haptic {
    /// Near something that can be grabbed.
    Hover,
    /// The brush touches the skin.
    Contact,
    /// Something was selected or pressed.
    Selection,
    /// The stroke being drawn has become a ring.
    Closing,
    /// A limit: a pinned joint, the end of a range, nothing to undo.
    Limit,
}

impl Haptic {
    /// Seconds and amplitude, 0..=1.
    pub fn pulse(self) -> (f32, f32) {
        match self {
            Self::Hover => (0.008, 0.15),
            Self::Contact => (0.012, 0.3),
            Self::Selection => (0.02, 0.6),
            Self::Closing => (0.04, 0.75),
            Self::Limit => (0.06, 0.9),
        }
    }
}

/// What the editor asks of its front end, which does it without blocking a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Load and bind a character or project, then open it.
    Open(PathBuf),
    /// Write the project.
    Save,
    /// Write a posed glTF and its receipt.
    Export,
    /// Find what an accent stroke means ([`Sketch::sculpt`]) and give it to [`super::Workbench::receive`].
    Sketch(Box<Sketch>),
    /// Find what draws again what springs leave of a pull ([`Refit::solve`]) and give it to [`super::Workbench::receive`].
    Refit(Box<Refit>),
    /// Go on in the headset, or in the window.
    OtherFace,
    /// End the session.
    Quit,
}
