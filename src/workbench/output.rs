//! What one step of the editor returns to the front end.

use super::{AccentStroke, Similarity};
use crate::base::math::Turn;
use crate::bind::weights::WeightMethod;
use crate::render::{Lines, View};
use crate::scene::{BoneSketch, CageSource, FactorSource, Refit};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Result of [`super::Workbench::step`], reused every frame to avoid allocations.
#[derive(Default)]
pub struct Output {
    /// Transform from room to world in this frame, with which front ends transform eyes and devices.
    pub world_from_room: Similarity,
    /// Transform from floor to world. The turntable rotates the character relative to the floor.
    pub world_from_floor: Turn,
    /// Strokes, marks, cursors, bones and hints, in world space.
    pub lines: Lines,
    /// Haptic pulse per hand.
    pub haptics: [Option<Haptic>; 2],
    /// Probe camera of each hand; its image gives the hand's [`crate::scene::SurfaceSample`]. `None` if the tool needs
    /// no surface.
    pub probes: [Option<View>; 2],
    /// Requests to the front end, in order.
    pub requests: Vec<Request>,
}

/// A haptic signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Haptic {
    /// Near something that can be grabbed.
    Hover,
    /// The brush touches the skin.
    Contact,
    /// Something was selected or pressed.
    Selection,
    /// The stroke being drawn has become a ring.
    Closing,
    /// A limit was reached: a pinned joint, the end of a range, an empty undo history.
    Limit,
}

impl Haptic {
    /// Duration in seconds, and amplitude, 0..=1.
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

/// A task for the front end. While the front end performs the task, it must not block a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Load and bind a character or project, then open the document.
    Open(PathBuf),
    /// Save the project.
    Save,
    /// Export a posed glTF file and its receipt.
    Export,
    /// Interpret an accent stroke ([`super::AccentSolver`]) and pass the sculpt layer to
    /// [`super::Workbench::receive`].
    Accent(Box<AccentStroke>),
    /// Refit a pulled sculpt layer ([`Refit::solve`]) and pass the result to [`super::Workbench::receive`].
    Refit(Box<Refit>),
    /// Place the joints of a stroke of bones ([`BoneSketch::joints`]) and pass them to
    /// [`super::Workbench::receive_bones`].
    Bones(Box<BoneSketch>),
    /// Compute skin weights for the drawn bones, write the rigged character and open it; false cancels this.
    Rig(bool),
    /// Compute new skin weights, write a project with them and open it.
    Weigh(WeightMethod),
    /// Make or read a cage and pass it to [`super::Workbench::receive_cage`].
    Cage(CageSource),
    /// Couple the document's cage with the skin and pass the coupling to [`super::Workbench::know_coupling`].
    Couple,
    /// Bind the character as the document says and pass the attachments to [`super::Workbench::know_binding`].
    Bind,
    /// Load the share of DQS of every vertex and give the command of [`super::Workbench::with_factors`].
    Factors(FactorSource),
    /// Write the cage as `.obj`.
    ExportCage,
    /// Switch to the headset or to the window.
    OtherFace,
    /// End the session.
    Quit,
}
