//! What an animator's devices say in one frame. A front end fills it, a take records it, and replaying it gives the
//! same document: [`super::Workbench::step`] looks at nothing else.
//!
//! Device poses are in the room (see [`super::Similarity`]), all of one frame for the same instant.

use super::{Rigid, Similarity};
use crate::base::math::Turn;
use crate::scene::SurfaceSample;
use serde::{Deserialize, Serialize};

/// One frame of input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// When the frame will be seen, seconds since the session began; never falls.
    pub time: f64,
    /// The head, between the eyes.
    pub head: Tracked,
    /// Left and right, whatever the user's handedness.
    pub hands: [Hand; 2],
    /// Whether this application has the user's attention. Without it nothing is drawn, grabbed or pressed.
    pub focused: bool,
    /// The runtime moved the room's origin: new room from old room. Navigation makes up for it.
    pub recentred: Option<Rigid>,
    /// The input is a window's: where its camera has put the room this frame. None in a headset, where the user moves
    /// through the world by his hands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Similarity>,
    /// World from floor, where a window's turntable has turned the character. None in a headset, where the workbench
    /// turns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Turn>,
}

/// A device's pose and how far to trust it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tracked {
    /// Room from device; the last known one where tracking is lost.
    pub pose: Rigid,
    /// Its quality.
    pub tracking: Tracking,
}

/// Quality of a pose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tracking {
    /// Position or orientation is not valid: never enters a stroke.
    #[default]
    Lost,
    /// Valid, but inferred and not tracked: pauses a stroke.
    Inferred,
    /// Tracked.
    Tracked,
}

/// One hand's controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hand {
    /// The palm: what it holds moves with this.
    pub grip: Tracked,
    /// The pointer: rays and the brush tip.
    pub aim: Tracked,
    /// Trigger or select, 0..=1: the tool's own act.
    pub draw: f32,
    /// Squeeze, 0..=1: grabs the body, or the world.
    pub grab: f32,
    /// Thumbstick or trackpad, right and up, -1..=1 each.
    pub stick: [f32; 2],
    /// One press from every tool, held while the button is down.
    pub undo: bool,
    /// As undo.
    pub redo: bool,
    /// Shows and hides the palette.
    pub menu: bool,
    /// It points at a panel: the trigger is the panel's.
    #[serde(default)]
    pub on_panel: bool,
    /// The newest answer of the controller's own camera, where it sees the body; at most two frames old.
    pub surface: Option<SurfaceSample>,
}
