//! A short tour for a first session: one instruction at a time, in window and headset. An instruction disappears when
//! the user has done what the instruction says. The tour does not change the document.

use super::Workbench;

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lesson {
    Baseline,
    Offset,
    Pin,
    Grab,
    Mark,
    Pull,
    Keys,
    Play,
}

impl Lesson {
    const ALL: [Self; 8] =
        [Self::Baseline, Self::Offset, Self::Pin, Self::Grab, Self::Mark, Self::Pull, Self::Keys, Self::Play];

    /// The instruction for the headset and for the window.
    fn texts(self) -> [&'static str; 2] {
        match self {
            Self::Baseline => [
                "Hold the trigger and draw along an arm, from the shoulder to the hand. This line is the baseline.",
                "Draw along an arm with the left mouse button, from the shoulder to the hand. This line is the baseline.",
            ],
            Self::Offset => [
                "Draw where the arm should go, from the shoulder outwards. The arm follows your line.",
                "Draw where the arm should go, from the shoulder outwards. The arm follows your line.",
            ],
            Self::Pin => [
                "Hold the grip at an ankle and pull the trigger. The foot is pinned. Pin the other foot, too.",
                "Click an ankle and press P. The foot is pinned. Pin the other foot, too.",
            ],
            Self::Grab => [
                "Hold the grip at the other hand and move it. The whole body follows, and the feet stay.",
                "Point at the other hand, press G, move the mouse, and click. The whole body follows, and the feet stay.",
            ],
            Self::Mark => [
                "Choose Skin on the palette. Point at the belly, hold the trigger and draw a line on the skin.",
                "Press D and draw a line on the belly.",
            ],
            Self::Pull => [
                "Touch the line with the tip, hold the trigger and pull the line away. The flesh follows.",
                "Drag the line to the side. The flesh follows.",
            ],
            Self::Keys => [
                "On the page Time, press Key. Move the time, choose Grab, change the pose, and press Key again.",
                "Press I. Click a later time on the timeline, press G at a hand, move it, click, and press I again.",
            ],
            Self::Play => [
                "Press Play. Your motion plays; you can save it on the page Session.",
                "Press the space bar. Your motion plays; Ctrl-S saves it.",
            ],
        }
    }
}

/// The progress of the tour.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tour {
    lesson: usize,
    /// Whether a hand has held the body since the lesson began.
    held: bool,
}

impl Workbench {
    /// The number of the current instruction, counted from 1; the number of instructions; and the text of the current
    /// instruction; `None` without a tour.
    pub fn tour(&self) -> Option<(usize, usize, &'static str)> {
        let tour = self.tour.as_ref()?;
        let lesson = Lesson::ALL.get(tour.lesson)?;
        Some((tour.lesson + 1, Lesson::ALL.len(), lesson.texts()[usize::from(self.windowed)]))
    }

    /// Starts the tour at its first instruction, or ends it.
    pub(super) fn set_tour(&mut self, on: bool) {
        self.tour = on.then(Tour::default);
    }

    /// Goes on to the next instruction if the user has done what the current one says.
    pub(super) fn follow_tour(&mut self) {
        let Some(mut tour) = self.tour else { return };
        let document = self.session().document();
        let busy = self.is_busy();
        let holds = busy && self.grabs_body();
        let done = match Lesson::ALL[tour.lesson] {
            Lesson::Baseline => !busy && !document.strokes().is_empty(),
            Lesson::Offset => !busy && document.strokes().iter().any(|s| s.offset.is_some()),
            Lesson::Pin => document.pins().len() > 1,
            Lesson::Grab => !busy && tour.held,
            Lesson::Mark => !busy && !document.marks().is_empty(),
            Lesson::Pull => !busy && !document.sculpts().is_empty(),
            Lesson::Keys => self.timeline.sheet.columns.len() > 1,
            Lesson::Play => self.playhead.playing,
        };
        tour.held |= holds;
        if done {
            tour = Tour { lesson: tour.lesson + 1, held: false };
        }
        self.tour = (tour.lesson < Lesson::ALL.len()).then_some(tour);
    }
}
