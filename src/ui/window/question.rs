//! A question of the window's front end, shown over everything until it is answered; an answer is
//! [`super::output::Ask::Answer`].

use super::panels::primary;
use egui::{Align, Button, Context, Id, Key, Layout, Modal, RichText};

/// A question with its answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// One line.
    pub title: String,
    /// What it is about.
    pub text: String,
    /// What buttons say: the first stands out, and Enter is that; Escape is the last.
    pub answers: Vec<String>,
    /// An answer by which something is lost: it stands apart, and its number is after those of the others.
    pub discards: Option<String>,
}

impl Question {
    /// Shows it; the number of the answer where one was given.
    pub(super) fn show(&self, context: &Context) -> Option<usize> {
        let mut answer = None;
        Modal::new(Id::new("question")).show(context, |ui| {
            ui.set_width(440.0);
            ui.heading(&self.title);
            ui.add_space(6.0);
            ui.label(&self.text);
            ui.add_space(12.0);
            ui.horizontal(|ui| {
                if let Some(text) = &self.discards
                    && ui.add(Button::new(RichText::new(text).small().weak()).frame(false)).clicked()
                {
                    answer = Some(self.answers.len());
                }
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    for (i, text) in self.answers.iter().enumerate() {
                        let button = if i == 0 { primary(text) } else { Button::new(text.as_str()) };
                        if ui.add(button).clicked() {
                            answer = Some(i);
                        }
                    }
                });
            });
        });
        let last = self.answers.len().saturating_sub(1);
        let key = |key| context.input(|i| i.key_pressed(key));
        answer.or(key(Key::Enter).then_some(0)).or(key(Key::Escape).then_some(last))
    }
}
