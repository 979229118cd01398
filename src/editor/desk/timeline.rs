//! Time at the desk: a cursor that keys are set at, and playing. What shows at a time is the document's own state.

use super::{Act, Desk};
use crate::edit::{Edit, Key, dope_sheet};
use crate::editor::Workbench;

/// A timeline without keys is so long, seconds.
pub(super) const LEAST: f64 = 2.0;

/// A time on the nearest frame.
fn snapped(time: f64, rate: u32) -> f64 {
    let rate = f64::from(rate.max(1));
    (time.max(0.0) * rate).round() / rate
}

impl Desk {
    /// Where keys are set, seconds.
    pub fn cursor(&self) -> f64 {
        self.cursor
    }

    pub(super) fn timeline(&mut self, act: Act, bench: &mut Workbench) {
        let document = bench.session().document();
        let rate = document.motion().rate();
        let frame = 1.0 / f64::from(rate.max(1));
        match act {
            Act::Key => {
                let key = Key { time: snapped(self.cursor, rate), pose: bench.pose().clone() };
                bench.apply(Edit::SetKey(key), false);
            }
            Act::RemoveKey => {
                let sheet = dope_sheet(document, &bench.character().skeleton);
                match sheet.column_near(self.cursor, frame * 0.5) {
                    Some(time) => bench.apply(Edit::RemoveKey(time), false),
                    None => self.facts.message = Some("there is no key at this time: go to one first".into()),
                }
            }
            Act::TakePose => {
                self.playing = false;
                bench.take_pose();
            }
            Act::Play => {
                self.playing = !self.playing && document.moves();
                if !self.playing && !document.moves() {
                    self.facts.message =
                        Some("nothing moves: key a pose (I), go on in time, key another".into());
                }
            }
            Act::NextFrame => self.scrub(self.cursor + frame, bench),
            Act::LastFrame => self.scrub(self.cursor - frame, bench),
            _ => {}
        }
    }

    /// Goes to a time and shows the document there.
    pub(super) fn scrub(&mut self, time: f64, bench: &mut Workbench) {
        self.playing = false;
        self.cursor =
            snapped(if time.is_finite() { time } else { 0.0 }, bench.session().document().motion().rate());
        bench.show_time(Some(self.cursor));
        self.changed = true;
    }

    /// Playing goes on by so many seconds, round and round; whoever uses a tool stops it.
    pub(super) fn play(&mut self, step: f64, bench: &mut Workbench) {
        if !self.playing {
            return;
        }
        let length = dope_sheet(bench.session().document(), &bench.character().skeleton).duration;
        if bench.is_busy() || length <= 0.0 {
            self.playing = false;
            return;
        }
        self.cursor = (self.cursor + step).rem_euclid(length);
        bench.show_time(Some(self.cursor));
    }

    /// A tool works on the pose being edited.
    pub(super) fn leave_time(&mut self, bench: &mut Workbench) {
        self.playing = false;
        bench.show_time(None);
    }
}
