//! The playhead: which time of the motion is shown, and how it runs.

use crate::asset::Interpolation;
use crate::document::{Document, DopeSheet, dope_sheet};
use crate::rig::Skeleton;
use std::sync::Arc;

/// A motion without an end is this long, seconds, so that there is room to key.
const ROOM: f64 = 2.0;
/// Sliders go on past a motion's end by this factor, so that there is room to key there.
const PAST: f64 = 1.25;

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
    /// Runs on by so many seconds, around at the end of a motion; one without an end (waves alone) is
    /// as long as a timeline without keys.
    pub fn advance(&mut self, seconds: f64, duration: f64) {
        if self.playing {
            let end = if duration > 0.0 { duration } else { ROOM };
            self.time = (self.time + seconds).rem_euclid(end);
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
    /// What a slider of time spans, seconds: the motion, and room to key after it. Time itself has no end.
    pub length: f64,
    /// All keys, and the frames per second; made when the document changes, shared by whoever shows it.
    pub sheet: Arc<DopeSheet>,
    /// How all channels go from key to key; `None` if they differ, or there are none.
    pub interpolation: Option<Interpolation>,
    /// The column under the playhead.
    pub column: Option<f64>,
}

impl Timeline {
    /// Of a document.
    pub fn new(playhead: Playhead, document: &Document, skeleton: &Skeleton) -> Self {
        let sheet = dope_sheet(document, skeleton);
        let channels = document.motion().channels();
        let way = channels.first().map(|c| c.interpolation);
        let mut out = Self {
            playhead,
            length: (sheet.duration * PAST).max(ROOM),
            column: None,
            interpolation: way.filter(|way| channels.iter().all(|c| c.interpolation == *way)),
            sheet: Arc::new(sheet),
        };
        out.follow(playhead);
        out
    }

    /// Takes in where the playhead is now.
    pub fn follow(&mut self, playhead: Playhead) {
        self.playhead = playhead;
        self.column = self.sheet.column_near(playhead.time, 0.5 * self.frame());
    }

    /// Whether it shows what another does, without a look at the keys.
    pub fn is_like(&self, other: &Self) -> bool {
        self.playhead == other.playhead && Arc::ptr_eq(&self.sheet, &other.sheet)
    }

    /// Seconds between two frames.
    pub fn frame(&self) -> f64 {
        1.0 / f64::from(self.sheet.rate.max(1))
    }

    /// Where the column under the playhead may go: a frame away from both neighbours.
    pub fn between(&self) -> Option<[f64; 2]> {
        let columns = &self.sheet.columns;
        let at = columns.iter().position(|c| Some(*c) == self.column)?;
        let before = at.checked_sub(1).map_or(0.0, |i| columns[i] + self.frame());
        let after = columns.get(at + 1).map_or(f64::INFINITY, |c| c - self.frame());
        (before <= after).then_some([before, after])
    }
}
