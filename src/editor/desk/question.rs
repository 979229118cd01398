//! A question of the window's front end, shown over everything until it is answered; an answer is [`super::Ask::Answer`].

use egui::{Align, Context, Id, Key, Layout, Modal};

/// A question with its answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// One line.
    pub title: String,
    /// What it is about.
    pub text: String,
    /// What buttons say; Enter is the first, Escape the last.
    pub answers: Vec<String>,
}

impl Question {
    /// Shows it; the number of the answer where one was given.
    pub(super) fn show(&self, context: &Context) -> Option<usize> {
        let mut answer = None;
        Modal::new(Id::new("question")).show(context, |ui| {
            ui.set_max_width(440.0);
            ui.heading(&self.title);
            ui.add_space(6.0);
            ui.label(&self.text);
            ui.add_space(12.0);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                for (i, text) in self.answers.iter().enumerate() {
                    if ui.button(text).clicked() {
                        answer = Some(i);
                    }
                }
            });
        });
        let last = self.answers.len().saturating_sub(1);
        let key = |key| context.input(|i| i.key_pressed(key));
        answer.or(key(Key::Enter).then_some(0)).or(key(Key::Escape).then_some(last))
    }
}
