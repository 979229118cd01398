//! Binds the character again in the background, with the settings in the document.

use super::{AppSession, News};
use crate::app::jobs::Job;
use crate::scene::Model;
use std::sync::Arc;

impl AppSession {
    /// Starts the job that binds the character with the settings in the document, unless such a job is already running.
    pub(super) fn bind(&mut self) {
        let (Some(model), Some(bench)) = (&self.model, &self.bench) else { return };
        let options = bench.session().document().binding();
        if !self.rebinding && model.binding() != options {
            self.rebinding = true;
            self.worker.ask(Job::Bind(model.clone(), Box::new(options.clone())));
        }
    }

    /// Shows a character that was bound again. Returns `None` if another file is open by now. If the document's binding
    /// has changed during the job, starts the next job.
    pub(super) fn bound(&mut self, model: Arc<Model>) -> Option<News> {
        let bench = self.bench.as_mut().filter(|b| Arc::ptr_eq(b.character(), &model.bound.character))?;
        bench.know_binding(model.bound.attachments.clone());
        self.model = Some(model);
        self.bind();
        Some(News::Bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::jobs::Done;
    use crate::bind::shapes::Shape;
    use crate::bind::{BindOptions, Binding};
    use crate::workbench::{BindChange, Command, Input, Request, Workbench};
    use std::time::Duration;

    /// Runs a command and a frame, and carries out the requests.
    fn run(app: &mut AppSession, command: Command) -> usize {
        let bench = app.bench.as_mut().unwrap();
        bench.run_command(command);
        let requests = bench.step(&Input::default()).requests.clone();
        let asked = requests.iter().filter(|r| **r == Request::Bind).count();
        (0..asked).for_each(|_| app.bind());
        asked
    }

    /// Takes the result of the next job.
    fn next(app: &mut AppSession) -> Option<News> {
        let done: Done = app.worker.wait()?;
        app.take(done)
    }

    #[test]
    fn the_character_is_bound_as_the_document_says_and_edits_meanwhile_count() {
        let shape = Shape { bones: 3, rings: 24, segments: 8, radius: 0.1, length: 1.5, blend: 0.2 };
        let model = Model::bind(shape.capsule_asset(), &BindOptions::default(), Duration::ZERO).unwrap();
        let mut app = AppSession::new((false, true), None, || {}).unwrap();
        let character = model.bound.character.clone();
        app.bench = Some(Workbench::new(model.start(None).unwrap(), character, app.preferences.clone()));
        app.model = Some(Arc::new(model));
        let plain = app.model.clone().unwrap();
        let bind = |change| Command::Bind(change, false);
        assert_eq!(run(&mut app, bind(BindChange::Method(Binding::Weights))), 0);
        assert_eq!(run(&mut app, bind(BindChange::Method(Binding::Direct))), 1);
        assert_eq!(app.busy().as_deref(), Some("binding the skin"));
        // During the job, the character keeps its binding, and another edit asks for no second job.
        assert!(Arc::ptr_eq(app.model.as_ref().unwrap(), &plain));
        assert_eq!(run(&mut app, bind(BindChange::Rounds(0))), 1);
        assert!(matches!(next(&mut app), Some(News::Bound)));
        assert_eq!(app.model.as_ref().unwrap().binding().smooth, 6);
        assert!(matches!(next(&mut app), Some(News::Bound)) && !app.worker.is_busy());
        let wanted = BindOptions { method: Binding::Direct, smooth: 0, ..BindOptions::default() };
        let now = app.model.clone().unwrap();
        assert_eq!(*now.binding(), wanted);
        let library = crate::bind::bind_attachments(&plain.bound.character, &wanted).unwrap().0;
        assert_eq!(now.bound.attachments.t, library.t);
        assert_ne!(library.t, plain.bound.attachments.t);
        // Undo binds again, and both models are one character.
        assert_eq!(run(&mut app, Command::Undo), 1);
        next(&mut app);
        assert_eq!(run(&mut app, Command::Undo), 1);
        next(&mut app);
        let back = app.model.clone().unwrap();
        assert_eq!(back.bound.attachments.t, plain.bound.attachments.t);
        assert!(Arc::ptr_eq(&back.bound.character, &plain.bound.character));
        assert!(app.busy().is_none());
    }
}
