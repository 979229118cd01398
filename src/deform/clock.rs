//! The time between frames, for deformers whose frames depend on earlier frames.

use serde::{Deserialize, Serialize};

/// If the time between two frames exceeds this, it counts as a cut, seconds.
const CUT: f64 = 1.0;

/// Whether a frame starts from the result of the previous frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frames {
    /// Starts at the geometric method's shape. Equal poses give bitwise equal results.
    Independent,
    /// Starts at the last frame's result, moved along with each vertex's joints. Slow motions need fewer iterations,
    /// but unconverged frames depend on earlier ones. The first frame starts at the geometric method's shape.
    Dependent,
}

/// The interval from one frame to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// No earlier frame exists: the flesh starts at rest, in equilibrium.
    Start,
    /// The seconds since the last frame.
    Run(f64),
}

/// The times of the frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    now: Option<f64>,
    last: Option<f64>,
}

impl Clock {
    /// Sets the time of the next frame, seconds. With `None`, nothing moves and the next frame is the equilibrium.
    pub fn set(&mut self, seconds: Option<f64>) {
        self.now = seconds.filter(|t| t.is_finite());
    }

    /// Returns the interval to the current frame, or `None` if nothing moves. `on` says whether dynamics are on.
    pub fn tick(&mut self, on: bool) -> Option<Way> {
        let now = self.now.filter(|_| on);
        let last = std::mem::replace(&mut self.last, now);
        let (now, Some(last)) = (now?, last) else { return Some(Way::Start) };
        let passed = now - last;
        Some(if (0.0..=CUT).contains(&passed) { Way::Run(passed) } else { Way::Start })
    }
}
