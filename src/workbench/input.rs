//! The input of one frame. A front end fills the input, and a take records it. [`super::Workbench::step`] reads nothing
//! else, so a replayed take gives the identical document.
//!
//! Device poses are in room space (see [`super::Similarity`]). All poses of a frame belong to the same instant.

use super::{Rigid, Similarity};
use crate::base::math::Turn;
use crate::pose::Fingers;
use crate::scene::SurfaceSample;
use serde::{Deserialize, Serialize};

/// One frame of input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Predicted display time of the frame, seconds since the session began; never decreases.
    pub time: f64,
    /// Head pose, midway between the eyes.
    pub head: Tracked,
    /// The left hand, then the right hand, regardless of handedness.
    pub hands: [Hand; 2],
    /// Whether this application has input focus. Without focus, all tools and buttons are ignored.
    pub focused: bool,
    /// Transform from the old to the new room space, if the runtime moved the room's origin in this frame. Navigation
    /// compensates for the move.
    pub recentred: Option<Rigid>,
    /// Transform from room to world, which the window's camera sets in this frame. `None` in a headset, where the user
    /// moves through the world by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Similarity>,
    /// Transform from floor to world, which the window's turntable sets. `None` in a headset, where the workbench runs
    /// the turntable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Turn>,
}

/// A device's pose and tracking quality.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tracked {
    /// Room from device; the last valid pose while tracking is lost.
    pub pose: Rigid,
    /// Tracking quality of the pose.
    pub tracking: Tracking,
}

/// Tracking quality of a pose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tracking {
    /// Position or orientation is invalid. Such a pose never enters a stroke.
    #[default]
    Lost,
    /// Valid, but the runtime estimates the pose. A stroke pauses while its hand has such a pose.
    Inferred,
    /// Valid and tracked.
    Tracked,
}

/// One hand's controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hand {
    /// Pose of the palm; grabbed things move with it.
    pub grip: Tracked,
    /// Pose of the pointer, for rays and the brush tip.
    pub aim: Tracked,
    /// Trigger or select, 0..=1: the tool's main action.
    pub draw: f32,
    /// Squeeze, 0..=1: grabs the body or the world.
    pub grab: f32,
    /// Thumbstick or trackpad, right and up, -1..=1 each.
    pub stick: [f32; 2],
    /// Undo button; true while held. One press is one undo, whichever tool is active.
    pub undo: bool,
    /// Redo button; true while held. One press is one redo, whichever tool is active.
    pub redo: bool,
    /// Palette button, which shows or hides the palette; true while held.
    pub menu: bool,
    /// Whether the hand points at a panel, so that the panel receives the trigger.
    #[serde(default)]
    pub on_panel: bool,
    /// The latest surface sample of the hand's probe camera, at most two frames old; `None` if the camera does not see
    /// the skin.
    pub surface: Option<SurfaceSample>,
    /// The angles of the tracked fingers; `None` if the headset tracks no fingers of this hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingers: Option<Fingers>,
    /// Whether the pointer of the window is known to be beside the body. Always false in a headset.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub off_skin: bool,
}
