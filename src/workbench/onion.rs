//! Onion skins: the times at which ghosts show.

use super::{Playhead, Timeline, Workbench};
use crate::render::GHOSTS;
use crate::scene::GhostTimes;
use serde::{Deserialize, Serialize};

/// Largest distance between two ghosts, frames.
pub const WIDEST_SPACING: u32 = 48;

/// Where ghosts lie in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GhostSpacing {
    /// At the keys around the playhead.
    #[default]
    Keys,
    /// At every so many frames from the playhead, 1..=[`WIDEST_SPACING`].
    Frames(u32),
}

/// Which ghosts show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OnionSkins {
    /// Whether any ghost shows.
    pub on: bool,
    /// Number of ghosts before the playhead, at most [`GHOSTS`].
    pub before: u32,
    /// Number of ghosts after the playhead, at most [`GHOSTS`].
    pub after: u32,
    /// Where they lie.
    pub spacing: GhostSpacing,
}

impl Default for OnionSkins {
    fn default() -> Self {
        Self { on: false, before: 2, after: 2, spacing: GhostSpacing::Keys }
    }
}

impl OnionSkins {
    /// Brings all numbers into their ranges.
    pub fn sane(self) -> Self {
        let most = GHOSTS as u32;
        let spacing = match self.spacing {
            GhostSpacing::Keys => GhostSpacing::Keys,
            GhostSpacing::Frames(frames) => GhostSpacing::Frames(frames.clamp(1, WIDEST_SPACING)),
        };
        Self { before: self.before.min(most), after: self.after.min(most), spacing, ..self }
    }

    /// Times of the ghosts around the playhead, within the motion. With a spacing in frames, the ghosts of a motion that
    /// plays stay where they were, `last`: the playhead would leave them behind before they are solved.
    fn times(&self, timeline: &Timeline, playhead: &Playhead, last: &GhostTimes) -> GhostTimes {
        let (sheet, now) = (&timeline.sheet, playhead.time);
        let counts = [self.before, self.after].map(|n| n as usize);
        let mut out = GhostTimes::default();
        match self.spacing {
            GhostSpacing::Frames(_) if playhead.playing => {
                for (out, (last, count)) in out.iter_mut().zip(last.iter().zip(counts)) {
                    out[..count].copy_from_slice(&last[..count]);
                }
            }
            GhostSpacing::Keys => {
                let same = 1e-6;
                let first = sheet.columns.partition_point(|t| *t < now - same);
                let after = sheet.columns.partition_point(|t| *t <= now + same);
                for (rank, time) in out[0].iter_mut().enumerate().take(counts[0]) {
                    *time = first.checked_sub(rank + 1).map(|i| sheet.columns[i]);
                }
                for (rank, time) in out[1].iter_mut().enumerate().take(counts[1]) {
                    *time = sheet.columns.get(after + rank).copied();
                }
            }
            GhostSpacing::Frames(step) => {
                let rate = f64::from(sheet.rate.max(1));
                let frame = (now * rate).round();
                for ((times, count), sign) in out.iter_mut().zip(counts).zip([-1.0, 1.0]) {
                    for (ghost, by) in times.iter_mut().zip(1..).take(count) {
                        let at = frame + sign * f64::from(by * step);
                        let time = f64::from((at / rate) as f32);
                        *ghost = (0.0..=sheet.duration).contains(&time).then_some(time);
                    }
                }
            }
        }
        out
    }
}

impl Workbench {
    /// Times of the ghosts that the picture shows, seconds; all `None` while onion skins are off or nothing moves.
    pub fn ghost_times(&self) -> &GhostTimes {
        &self.ghosts
    }

    /// Whether onion skins are on and the document moves, so that the picture needs ghosts.
    pub fn shows_ghosts(&self) -> bool {
        let skins = &self.preferences().onion;
        skins.on && skins.before + skins.after > 0 && self.session().document().moves()
    }

    /// Runs once a frame, after the playhead has moved.
    pub(super) fn aim_ghosts(&mut self) {
        self.ghosts = if self.shows_ghosts() {
            self.preferences.onion.times(&self.timeline, &self.playhead, &self.ghosts)
        } else {
            GhostTimes::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::DopeSheet;
    use std::sync::Arc;

    fn timeline(columns: &[f64]) -> Timeline {
        let duration = columns.last().copied().unwrap_or_default();
        let sheet = DopeSheet { columns: columns.to_vec(), duration, rate: 24, ..DopeSheet::default() };
        Timeline { sheet: Arc::new(sheet), ..Timeline::default() }
    }

    fn at(time: f64) -> Playhead {
        Playhead { time, ..Playhead::default() }
    }

    #[test]
    fn ghosts_lie_at_the_nearest_keys_on_both_sides() {
        let timeline = timeline(&[0.0, 0.5, 1.0, 2.0, 3.0]);
        let skins = OnionSkins { on: true, before: 3, after: 2, ..OnionSkins::default() };
        let none = GhostTimes::default();
        let times = |time| skins.times(&timeline, &at(time), &none);
        assert_eq!(times(1.0)[0], [Some(0.5), Some(0.0), None, None], "the key at the playhead is no ghost");
        assert_eq!(times(1.0)[1], [Some(2.0), Some(3.0), None, None]);
        assert_eq!(times(1.2), [[Some(1.0), Some(0.5), Some(0.0), None], [Some(2.0), Some(3.0), None, None]]);
        assert_eq!(times(9.0)[1], [None; 4]);
        // They follow a motion that plays.
        let plays = Playhead { playing: true, ..at(2.5) };
        assert_eq!(skins.times(&timeline, &plays, &none)[0][0], Some(2.0));
    }

    #[test]
    fn ghosts_at_frames_lie_within_the_motion_and_stay_while_it_plays() {
        let timeline = timeline(&[0.0, 1.0]);
        let skins = OnionSkins { on: true, before: 4, after: 4, spacing: GhostSpacing::Frames(6) };
        let [before, after] = skins.times(&timeline, &at(0.5), &GhostTimes::default());
        assert_eq!(
            (before, after),
            ([Some(0.25), Some(0.0), None, None], [Some(0.75), Some(1.0), None, None])
        );
        let plays = Playhead { playing: true, ..at(0.9) };
        assert_eq!(skins.times(&timeline, &plays, &[before, after]), [before, after]);
        let fewer = OnionSkins { before: 1, ..skins };
        assert_eq!(fewer.times(&timeline, &plays, &[before, after])[0], [Some(0.25), None, None, None]);
        let wild = OnionSkins { before: 9, spacing: GhostSpacing::Frames(0), ..skins }.sane();
        assert_eq!((wild.before, wild.spacing), (4, GhostSpacing::Frames(1)));
    }
}
