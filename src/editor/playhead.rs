//! The playhead: which time of the motion is shown, and how it runs.

use crate::asset::Interpolation;
use crate::edit::{Document, dope_sheet};
use crate::rig::Skeleton;

/// A motion without an end is this long, seconds, so that there is room to key.
const ROOM: f64 = 2.0;

/// Where a motion is looked at. Its time goes by the input's clock alone, so that takes replay it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Playhead {
    /// Seconds.
    pub time: f64,
    /// It runs.
    pub playing: bool,
    /// The motion at its time is shown; otherwise the pose being edited.
    pub shown: bool,
    /// What is changed while it stands somewhere is keyed there.
    pub auto_key: bool,
}

impl Playhead {
    /// Runs on by so many seconds, around at the end.
    pub fn advance(&mut self, seconds: f64, length: f64) {
        if self.playing && length > 0.0 {
            self.time = (self.time + seconds).rem_euclid(length);
            self.shown = true;
        }
    }

    /// Stands still on the frame nearest to a time.
    pub fn stand(&mut self, time: f64, rate: u32) {
        let rate = f64::from(rate);
        let time = if time.is_finite() { time.max(0.0) } else { 0.0 };
        *self = Self {
            time: f64::from(((time * rate).round() / rate) as f32),
            playing: false,
            shown: true,
            ..*self
        };
    }
}

/// What a timeline shows of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Where it stands.
    pub playhead: Playhead,
    /// Length of what can be scrubbed, seconds.
    pub length: f64,
    /// Frames per second.
    pub rate: u32,
    /// Times with keys, rising, seconds.
    pub columns: Vec<f64>,
    /// How all channels go from key to key; none where they differ, or there are none.
    pub interpolation: Option<Interpolation>,
    /// The column under the playhead.
    pub column: Option<f64>,
}

impl Timeline {
    /// Of a document.
    pub fn new(playhead: Playhead, document: &Document, skeleton: &Skeleton) -> Self {
        let sheet = dope_sheet(document, skeleton);
        let mut out = Self {
            playhead,
            length: length(document, skeleton),
            rate: sheet.rate,
            column: None,
            interpolation: document
                .motion()
                .channels()
                .first()
                .map(|c| c.interpolation)
                .filter(|way| document.motion().channels().iter().all(|c| c.interpolation == *way)),
            columns: sheet.columns,
        };
        out.follow(playhead);
        out
    }

    /// Takes in where the playhead is now.
    pub fn follow(&mut self, playhead: Playhead) {
        self.playhead = playhead;
        let near = 0.5 / f64::from(self.rate.max(1));
        let after = self.columns.partition_point(|c| *c < playhead.time);
        let beside = self.columns[after.saturating_sub(1)..].iter().take(2).copied();
        let apart = |c: &f64| (c - playhead.time).abs();
        self.column = beside.filter(|c| apart(c) <= near).min_by(|a, b| apart(a).total_cmp(&apart(b)));
    }

    /// Where the column under the playhead may go: a frame away from both neighbours.
    pub fn between(&self) -> Option<[f64; 2]> {
        let at = self.columns.iter().position(|c| Some(*c) == self.column)?;
        let frame = 1.0 / f64::from(self.rate.max(1));
        let before = at.checked_sub(1).map_or(0.0, |i| self.columns[i] + frame);
        let after = self.columns.get(at + 1).map_or(f64::INFINITY, |c| c - frame);
        (before <= after).then_some([before, after])
    }
}

/// Seconds that can be scrubbed and played: the motion, and room to key after the start.
pub fn length(document: &Document, skeleton: &Skeleton) -> f64 {
    document.motion().duration(skeleton).max(ROOM)
}
