//! Onion skins: a background job makes the deformer that all ghosts share; the stage solves one ghost per frame.

use super::{AppSession, News};
use crate::app::jobs::Job;
use crate::base::{Progress, Result};
use crate::deform::fast::Grips;
use crate::document::DeformerSettings;
use crate::scene::{Follows, Ghosts, Model, Stage};
use std::sync::Arc;

/// Onion skins that were asked for. The same ones are not asked for again, not even after an error.
pub(super) struct Asked {
    /// Number of the job.
    job: u64,
    /// Number of the render stage.
    stage: u64,
    model: Arc<Model>,
    settings: DeformerSettings,
    grips: Grips,
    progress: Progress,
}

impl AppSession {
    /// Gives the stage with this number the onion skins that the workbench shows, or removes them. Allocates if their
    /// number has changed. Call it between frames. Returns whether ghosts were removed, so that the picture must be drawn.
    pub fn mind_ghosts(&mut self, number: u64, stage: &mut Stage) -> bool {
        let had = stage.ghosts_mut().is_some();
        self.give_ghosts(number, stage);
        had && stage.ghosts_mut().is_none()
    }

    fn give_ghosts(&mut self, number: u64, stage: &mut Stage) {
        let shows = self.bench.as_ref().is_some_and(|b| b.shows_ghosts()) && self.is_on(stage);
        if !shows {
            self.forget_ghosts();
            self.set_ghosts(stage, None);
            return;
        }
        let (Some(model), Some(bench)) = (&self.model, &self.bench) else { return };
        let skins = bench.preferences().onion;
        if let Some(ghosts) = stage.ghosts_mut()
            && Arc::ptr_eq(ghosts.model(), model)
            && ghosts.fits(bench.recipe())
        {
            let counts = [skins.before, skins.after];
            if ghosts.counts() != counts
                && let Err(error) = ghosts.set_counts(counts)
            {
                self.fail(&error);
                self.set_ghosts(stage, None);
            }
            return;
        }
        let document = bench.session().document();
        let (settings, grips) = (document.deformer(), bench.grip_shapes());
        let same = self.ghosts.as_ref().is_some_and(|asked| {
            let of = (asked.stage, &asked.settings, &asked.grips);
            of == (number, settings, grips) && Arc::ptr_eq(&asked.model, model)
        });
        if !same {
            // Invalid settings were rejected when they were edited.
            let recipe = document.recipe_of(settings).unwrap_or_default();
            let (model, settings, grips) = (model.clone(), settings.clone(), grips.clone());
            let (pipelines, progress) = (stage.pipelines().clone(), Progress::default());
            self.forget_ghosts();
            let job = self.new_stage();
            self.worker.ask(Job::Ghosts {
                number: job,
                pipelines,
                model: model.clone(),
                recipe,
                progress: progress.clone(),
            });
            self.ghosts = Some(Asked { job, stage: number, model, settings, grips, progress });
        }
        self.set_ghosts(stage, None);
    }

    /// Updates the ghosts of a stage after changes of document and playhead. Returns whether the picture must be drawn,
    /// and whether a ghost waits for its solve in a later frame.
    pub fn follow_ghosts(&mut self, stage: &mut Stage) -> (bool, bool) {
        let (Some(bench), Some(ghosts)) = (&self.bench, stage.ghosts_mut()) else { return (false, false) };
        let session = bench.session();
        let document = (session.document(), session.revision());
        match ghosts.follow(document, bench.coupling(), bench.ghost_times()) {
            Ok(follows) => (follows == Follows::Changed, ghosts.waits()),
            Err(error) => {
                self.fail(&error);
                self.set_ghosts(stage, None);
                (true, false)
            }
        }
    }

    /// Handles the onion skins of the job with this number. A later request may have replaced the job.
    pub(super) fn ghosts_made(&mut self, job: u64, ghosts: Result<Box<Ghosts>>) -> Option<News> {
        let asked = self.ghosts.as_ref().filter(|asked| asked.job == job)?;
        let stage = asked.stage;
        Some(match ghosts {
            Ok(ghosts) => News::Ghosts(stage, ghosts),
            Err(error) => self.failed(error),
        })
    }

    /// Shows onion skins on a stage, or none.
    pub fn set_ghosts(&self, stage: &mut Stage, ghosts: Option<Box<Ghosts>>) {
        if (ghosts.is_some() || stage.ghosts_mut().is_some())
            && let Err(error) = stage.set_ghosts(ghosts)
        {
            self.fail(&error);
        }
    }

    fn forget_ghosts(&mut self) {
        if let Some(asked) = self.ghosts.take() {
            asked.progress.cancel();
        }
    }
}
