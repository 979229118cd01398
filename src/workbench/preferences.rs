//! What the user has chosen: kept between sessions, no part of any document.

use super::{GrabBy, MeasureBy, Tool};
use crate::pose::Lengths;
use serde::{Deserialize, Serialize};

/// Smallest and largest brush radius, metres of the room.
pub const RADIUS_RANGE: [f32; 2] = [0.005, 0.5];

/// Choices that outlive a session. A front end loads and saves them; commands change them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// What the trigger does.
    pub tool: Tool,
    /// Brush radius, metres of the room; see [`RADIUS_RANGE`].
    pub radius: f32,
    /// Bone lengths under new strokes.
    pub lengths: Lengths,
    /// Whether controller roll twists.
    pub roll: bool,
    /// Whether strokes and grabs act on both sides.
    pub mirror: bool,
    /// What follows a hand that grabs the body.
    #[serde(default = "GrabBy::before_choice")]
    pub grab: GrabBy,
    /// What the measuring tool measures.
    pub measure: MeasureBy,
    /// Whether bones, strokes and edges show over the body.
    pub wire: bool,
    /// Whether edges are smooth, by four samples per pixel.
    pub smooth: bool,
    /// Whether attachment points and scale vectors show.
    pub binding: bool,
    /// Whether the character turns on its own axis.
    pub turntable: bool,
    /// Whether two hands may tilt the world.
    pub roll_world: bool,
    /// Whether the tools are in the left hand.
    pub left_handed: bool,
    /// Whether controllers vibrate.
    pub haptics: bool,
    /// Whether the palette shows.
    pub palette: bool,
    /// Whether the file panel shows.
    pub files: bool,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            tool: Tool::Line,
            radius: 0.06,
            lengths: Lengths::Keep,
            roll: false,
            mirror: false,
            grab: GrabBy::Body,
            measure: MeasureBy::Distance,
            wire: false,
            smooth: true,
            binding: false,
            turntable: false,
            roll_world: false,
            left_handed: false,
            haptics: true,
            palette: true,
            files: false,
        }
    }
}

impl Preferences {
    /// The same with everything in range, for what was read from a file.
    pub fn sane(mut self) -> Self {
        self.set_radius(if self.radius.is_finite() { self.radius } else { Self::default().radius });
        self
    }

    /// Sets the brush radius, brought into [`RADIUS_RANGE`]; false where that changed nothing.
    pub fn set_radius(&mut self, radius: f32) -> bool {
        let old = self.radius;
        if radius.is_finite() {
            self.radius = radius.clamp(RADIUS_RANGE[0], RADIUS_RANGE[1]);
        }
        self.radius != old
    }

    /// Index into [`super::Input::hands`] of the hand that holds the tools.
    pub fn tool_hand(&self) -> usize {
        usize::from(!self.left_handed)
    }
}
