//! The playhead: the displayed time of the motion, and playback.

use crate::asset::Interpolation;
use crate::document::{Document, DopeSheet, dope_sheet};
use crate::rig::Skeleton;
use std::sync::Arc;

/// Minimum length of the timeline, seconds, so that there is room for keys.
const ROOM: f64 = 2.0;
/// Factor by which the timeline extends past the motion's end, so that there is room for keys.
const PAST: f64 = 1.25;

/// Playback state. Only the time of the input frames advances the playhead, so a replayed take gives identical times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Playhead {
    /// Current time, seconds.
    pub time: f64,
    /// Whether the motion plays.
    pub playing: bool,
    /// Whether the motion is displayed; otherwise the edited pose is.
    pub shown: bool,
    /// Whether changes are keyed at the playhead automatically.
    pub auto_key: bool,
    /// Whether a grab is keyed as a motion, in real time.
    pub record: bool,
    /// In point and out point of playback, seconds; `None` plays the whole motion.
    pub range: Option<[f64; 2]>,
}

impl Playhead {
    /// Start and end of playback, seconds. A motion that has only waves has the duration 0; it plays over the minimum
    /// length of the timeline.
    pub fn bounds(&self, duration: f64) -> [f64; 2] {
        self.range.unwrap_or([0.0, if duration > 0.0 { duration } else { ROOM }])
    }

    /// Advances by `seconds` while the motion plays. At the end, playback starts again if `loops` is set; otherwise it
    /// stops.
    pub fn advance(&mut self, seconds: f64, duration: f64, loops: bool) {
        if !self.playing {
            return;
        }
        let [start, end] = self.bounds(duration);
        let time = (self.time + seconds).max(start);
        if loops {
            self.time = start + (time - start).rem_euclid(end - start);
        } else {
            self.time = time.min(end);
            self.playing = time < end;
        }
        self.shown = true;
    }

    /// Sets in point and out point, rounded to frames and at least one frame apart. `None` plays the whole motion.
    pub fn set_range(&mut self, range: Option<[f64; 2]>, rate: u32) {
        let rate = f64::from(rate);
        self.range = range.filter(|r| r.iter().all(|t| t.is_finite())).map(|[a, b]| {
            let frame = |t: f64| (t.max(0.0) * rate).round();
            let (start, end) = (frame(a.min(b)), frame(a.max(b)));
            [start, end.max(start + 1.0)].map(|frame| f64::from((frame / rate) as f32))
        });
    }

    /// Stops at the frame nearest to a time.
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

/// A document's timeline, for panels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// The playhead.
    pub playhead: Playhead,
    /// Length of the time slider, seconds: the motion plus space for later keys. The playhead may lie beyond it.
    pub length: f64,
    /// All keys and the frame rate. Rebuilt when the document changes, shared by all viewers.
    pub sheet: Arc<DopeSheet>,
    /// Interpolation of all channels; `None` if they differ or there are none.
    pub interpolation: Option<Interpolation>,
    /// Time of the key column under the playhead, seconds.
    pub column: Option<f64>,
}

impl Timeline {
    /// Builds the timeline of a document.
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

    /// Updates the playhead and the column under it.
    pub fn follow(&mut self, playhead: Playhead) {
        self.playhead = playhead;
        self.column = self.sheet.column_near(playhead.time, 0.5 * self.frame());
    }

    /// Whether both timelines have the same playhead and share the sheet. Compares pointers to the sheets, not their
    /// keys.
    pub fn is_like(&self, other: &Self) -> bool {
        self.playhead == other.playhead && Arc::ptr_eq(&self.sheet, &other.sheet)
    }

    /// Duration of a frame, seconds.
    pub fn frame(&self) -> f64 {
        1.0 / f64::from(self.sheet.rate.max(1))
    }

    /// Range of times to which the key column under the playhead may move, at least one frame away from both
    /// neighbouring columns. `None` if no column is under the playhead or there is no such time.
    pub fn between(&self) -> Option<[f64; 2]> {
        let columns = &self.sheet.columns;
        let at = columns.iter().position(|c| Some(*c) == self.column)?;
        let before = at.checked_sub(1).map_or(0.0, |i| columns[i] + self.frame());
        let after = columns.get(at + 1).map_or(f64::INFINITY, |c| c - self.frame());
        (before <= after).then_some([before, after])
    }
}
