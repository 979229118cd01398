//! A modal question of the window's front end. The answer is reported as [`super::output::Ask::Answer`].

use super::panels::primary;
use egui::{Align, Button, Context, Id, Key, Layout, Modal, RichText};

/// A question with its possible answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Title of the dialog, one line.
    pub title: String,
    /// Text below the title.
    pub text: String,
    /// Labels of the answer buttons. The first is highlighted and chosen by Enter; Escape chooses the last.
    pub answers: Vec<String>,
    /// Label of an additional answer that discards work. Its button is apart from the other buttons, and its index is
    /// the number of `answers`.
    pub discards: Option<String>,
}

impl Question {
    /// Shows the question. Returns the index of the chosen answer, `None` while the question is open.
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
