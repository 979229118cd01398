//! A question of the window's front end, shown over everything until it is answered.

use super::{Ask, Desk};
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

impl Desk {
    /// Shows the question where there is one; an answer is [`Ask::Answer`].
    pub(super) fn ask_question(&mut self, context: &Context) {
        let Some(question) = &self.facts.question else { return };
        let mut answer = None;
        Modal::new(Id::new("question")).show(context, |ui| {
            ui.set_max_width(440.0);
            ui.heading(&question.title);
            ui.add_space(6.0);
            ui.label(&question.text);
            ui.add_space(12.0);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                for (i, text) in question.answers.iter().enumerate() {
                    if ui.button(text).clicked() {
                        answer = Some(i);
                    }
                }
            });
        });
        let last = question.answers.len().saturating_sub(1);
        let key = |key| context.input(|i| i.key_pressed(key));
        answer = answer.or(key(Key::Enter).then_some(0)).or(key(Key::Escape).then_some(last));
        if let Some(answer) = answer {
            self.facts.question = None;
            self.output.asks.push(Ask::Answer(answer));
            self.changed = true;
        }
    }
}
