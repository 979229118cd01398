//! Report lines of the window.

use super::app::WindowApp;
use crate::app::report::{Event, Text, WindowFrame as Told};
use crate::ui::window::Picture;

/// Window state for the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub shown: u64,
    pub size: [u32; 2],
    pub scale: f32,
    pub pointer: [f32; 2],
    pub keys: u64,
    pub pressed: bool,
    pub pressure: Option<f32>,
    /// Whether the event loop waits for an event.
    pub idle: bool,
}

impl WindowApp<'_> {
    /// Writes the texts of the panels.
    pub fn tell_texts(&self) {
        let scale = self.desk.output().scale;
        let text = |(text, rect): &(String, egui::Rect)| Text {
            panel: "window".into(),
            text: text.clone(),
            pixel: (rect.center() / scale).into(),
            centre: [rect.center().x, rect.center().y, 0.0],
            right: [scale, 0.0, 0.0],
            down: [0.0, scale, 0.0],
        };
        self.app_session.reporter.event(Event::Texts(self.desk.texts().iter().map(text).collect()));
    }

    /// Writes the report line of one iteration of the event loop.
    pub fn tell(&self, seen: &Seen) {
        if !self.app_session.reporter.is_on() {
            return;
        }
        let out = self.desk.output();
        let Seen { shown, size, scale, pointer, keys, pressed, pressure, idle } = *seen;
        let mut told = Told {
            frame: self.app_session.frame,
            shown,
            size,
            scale,
            viewport: out.viewport,
            pointer,
            keys,
            pressed,
            pressure,
            unsaved: self.desk.facts.unsaved,
            message: self.desk.facts.message.as_deref().unwrap_or_default().to_owned(),
            question: match &self.desk.facts.question {
                Some(question) => question.title.clone(),
                None => self.desk.asks_where().unwrap_or_default().to_owned(),
            },
            idle: idle && !self.app_session.worker.is_busy() && !self.app_session.quit,
            ..Told::default()
        };
        if let Some(view) = out.views.first() {
            told.clip_from_world = view.clip_from_world.to_cols_array();
        }
        if let Picture::Wipe(at) = out.picture {
            told.divider = Some(at);
        }
        if let Some(bench) = &self.app_session.bench {
            (told.time, told.playing) = (bench.shown_time(), bench.timeline().playhead.playing);
            if let Some(notice) = bench.notice().filter(|_| told.message.is_empty()) {
                told.message = notice.to_owned();
            }
            told.tool = bench.preferences().tool;
            told.busy = bench.is_busy();
            let (done, all) = bench.session().history();
            told.history = [done, all - done];
        }
        self.app_session.reporter.window(told);
    }
}
