//! Interprets accent strokes in the background: the stroke in progress for previews, and finished strokes. One job
//! runs at a time. Finished strokes come first; the next preview is always that of the newest state of the stroke.

use super::{AppSession, News};
use crate::app::jobs::{AccentJob, Job};
use crate::base::{Result, Version};
use crate::document::Document;
use crate::render::Renderer;
use crate::workbench::{AccentOutcome, AccentSolver, AccentStart, AccentStroke};
use std::collections::VecDeque;
use std::sync::Arc;

/// The accent strokes of a session.
pub struct Accents {
    /// The solver; `None` while a job uses it.
    solver: Option<Box<AccentSolver>>,
    /// Finished strokes that no job has interpreted yet.
    finished: VecDeque<AccentStroke>,
    /// Whether a job interprets a finished stroke.
    ending: bool,
    /// The last interpreted state of the stroke in progress: its start and its number of samples.
    seen: Option<(Arc<AccentStart>, usize)>,
    /// Copy of the document at a revision.
    document: Option<(Version, Arc<Document>)>,
}

impl Default for Accents {
    fn default() -> Self {
        let solver = Some(Box::default());
        Self { solver, finished: VecDeque::new(), ending: false, seen: None, document: None }
    }
}

impl Accents {
    /// Whether finished strokes are not interpreted yet.
    pub fn is_ending(&self) -> bool {
        self.ending || !self.finished.is_empty()
    }
}

impl AppSession {
    /// Queues a finished accent stroke for interpretation.
    pub(super) fn finish_accent(&mut self, accent: AccentStroke) {
        self.accents.finished.push_back(accent);
    }

    /// Starts the job for the next finished accent stroke or, without one, for the preview of the stroke in progress
    /// if the stroke has grown.
    pub fn look_for_accents(&mut self, renderer: &Arc<Renderer>) {
        let (Some(model), Some(bench)) = (&self.model, &self.bench) else { return };
        let own = &mut self.accents;
        if own.solver.is_none() {
            return;
        }
        let grown = |s: &&AccentStroke| {
            let seen = |(start, samples): &(Arc<AccentStart>, usize)| {
                Arc::ptr_eq(start, &s.start) && *samples == s.stroke.len()
            };
            !own.seen.as_ref().is_some_and(seen)
        };
        let (accent, finished) = match own.finished.pop_front() {
            Some(accent) => (accent, true),
            None => match bench.accent_stroke().filter(grown) {
                Some(accent) => (accent.clone(), false),
                None => return,
            },
        };
        let Some(solver) = own.solver.take() else { return };
        let revision = bench.session().revision();
        let document = match own.document.take().filter(|(known, _)| *known == revision) {
            Some((_, document)) => document,
            None => Arc::new(bench.session().document().clone()),
        };
        own.ending = finished;
        own.seen = (!finished).then(|| (accent.start.clone(), accent.stroke.len()));
        own.document = (!finished).then(|| (revision, document.clone()));
        let (renderer, model) = (renderer.clone(), model.clone());
        self.worker.ask(Job::Accent(Box::new(AccentJob {
            solver,
            renderer,
            model,
            document,
            accent,
            finished,
        })));
    }

    /// Takes the result of a job that interpreted a stroke with this start.
    pub(super) fn accent_done(
        &mut self,
        solver: Box<AccentSolver>,
        start: &Arc<AccentStart>,
        outcome: Result<AccentOutcome>,
    ) -> News {
        let finished = std::mem::take(&mut self.accents.ending);
        self.accents.solver = Some(solver);
        match outcome {
            Ok(AccentOutcome { sculpt, .. }) if finished => News::Shaped(Box::new(sculpt)),
            Err(error) if finished => {
                self.preview_accent(start, None);
                self.failed(error)
            }
            // A stroke that does not select a silhouette yet is no error.
            preview => {
                self.preview_accent(start, preview.ok());
                News::Previewed
            }
        }
    }

    fn preview_accent(&mut self, start: &Arc<AccentStart>, outcome: Option<AccentOutcome>) {
        if let Some(bench) = &mut self.bench {
            bench.preview_accent(start, outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::{Quat, Vec3};
    use crate::bind::BindOptions;
    use crate::bind::shapes::Shape;
    use crate::gpu::testing::{assert_silent, device};
    use crate::scene::Model;
    use crate::surface::{Form, Sculpt};
    use crate::take::{Recorder, Replay, TakeFrame, TakeStart};
    use crate::workbench::tools::TIP;
    use crate::workbench::{Command, Request, Rigid, Tool, Tracked, Tracking, Workbench};
    use std::path::PathBuf;

    const RADIUS: f32 = 0.15;

    /// A session whose right hand draws in front of a capsule, and its take.
    struct Animator {
        app: AppSession,
        renderer: Arc<Renderer>,
        recorder: Recorder,
        frame: TakeFrame,
        take: PathBuf,
    }

    impl Animator {
        fn new(folder: &std::path::Path, renderer: &Arc<Renderer>, method: &str) -> Self {
            let shape = Shape { bones: 2, rings: 36, segments: 32, radius: RADIUS, length: 1.0, blend: 0.5 };
            let file = folder.join(format!("{method}.glb"));
            std::fs::write(&file, crate::export::unedited(&shape.capsule_asset()).unwrap()).unwrap();
            let model = Model::load(&file, &BindOptions::default()).unwrap();
            let mut app = AppSession::new((false, true), None, || {}).unwrap();
            let (session, take) = (model.start(None).unwrap(), file.with_extension("take"));
            let start = TakeStart::new(&model, &session, &app.preferences, [64, 64]);
            let recorder = Recorder::new(&take, &start).unwrap();
            let character = model.bound.character.clone();
            app.bench = Some(Workbench::new(session, character, app.preferences.clone()));
            app.model = Some(Arc::new(model));
            let mut frame = TakeFrame::default();
            frame.input.focused = true;
            let mut out = Self { app, renderer: renderer.clone(), recorder, frame, take };
            out.head(Vec3::new(0.0, 1.6, 1.0));
            out.step();
            out.command(Command::Deformer(method.into()));
            out.command(Command::Tool(Tool::Silhouette));
            out
        }

        fn bench(&mut self) -> &mut Workbench {
            self.app.bench.as_mut().unwrap()
        }

        fn command(&mut self, command: Command) {
            self.recorder.command(&command).unwrap();
            self.bench().run_command(command);
        }

        fn head(&mut self, position: Vec3) {
            let pose = Rigid { position, orientation: Quat::IDENTITY };
            self.frame.input.head = Tracked { pose, tracking: Tracking::Tracked };
        }

        fn step(&mut self) {
            self.frame.input.time += 1.0 / 90.0;
            self.recorder.frame(&self.frame);
            let input = self.frame.input.clone();
            let requests = self.bench().step(&input).requests.clone();
            for request in requests {
                if let Request::Accent(accent) = request {
                    self.app.finish_accent(*accent);
                }
            }
        }

        fn hand(&mut self, world: Vec3, draw: f32) {
            let room = self.bench().output().world_from_room.inverse_point(world);
            let pose = Rigid { position: room + Vec3::Z * TIP, orientation: Quat::IDENTITY };
            let hand = &mut self.frame.input.hands[1];
            hand.aim = Tracked { pose, tracking: Tracking::Tracked };
            (hand.grip, hand.draw) = (hand.aim, draw);
        }

        /// Waits for the next job about silhouettes, if one is due. Returns what it found.
        fn news(&mut self) -> Option<News> {
            let renderer = self.renderer.clone();
            self.app.look_for_accents(&renderer);
            let done = self.app.worker.wait()?;
            self.app.take(done)
        }

        /// Draws a stroke. Returns the last preview and the layer. A preview is asked for in some frames only.
        fn draw(&mut self, path: &[Vec3]) -> (Vec<Sculpt>, Sculpt) {
            self.hand(path[0], 0.0);
            self.step();
            let mut previews = Vec::new();
            for (k, at) in path.iter().enumerate() {
                self.hand(*at, 1.0);
                self.step();
                if k % 5 == 4 || k + 1 == path.len() {
                    assert!(matches!(self.news(), Some(News::Previewed)));
                    assert!(self.news().is_none(), "the stroke has not grown");
                    previews.extend(self.bench().sculpts().cloned());
                }
            }
            self.hand(path[path.len() - 1], 0.0);
            self.step();
            assert_eq!(self.app.busy().as_deref(), Some("looking for the silhouette"));
            let Some(News::Shaped(layer)) = self.news() else { panic!("{:?}", self.app.busy()) };
            self.recorder.shape(&layer).unwrap();
            self.bench().receive((*layer).clone());
            self.step();
            assert!(self.app.busy().is_none());
            (previews, *layer)
        }
    }

    /// The world's positions on the right silhouette of the capsule as seen from the front, further out in the middle by
    /// `out` metres and nearer to the eye by `near` metres.
    fn path(out: f32, near: f32) -> Vec<Vec3> {
        let at = |k: i32| {
            let t = k as f32 / 24.0;
            let bow = (t * std::f32::consts::PI).sin();
            Vec3::new(RADIUS + out * bow, 0.25 + 0.5 * t, near * bow)
        };
        (0..=24).map(at).collect()
    }

    fn offsets(layer: &Sculpt) -> &[[f32; 3]] {
        let Form::Drawn(offsets) = &layer.form else { panic!("{:?}", layer.form) };
        offsets
    }

    #[test]
    fn the_skin_follows_an_accent_stroke_while_it_is_drawn_as_it_does_in_the_end() {
        let Some(device) = device() else { return };
        let renderer = Arc::new(Renderer::new(&device).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let mut a = Animator::new(folder.path(), &renderer, "lbs");
        let (previews, layer) = a.draw(&path(0.05, 0.0));
        let most = |l: &Sculpt, axis: usize| offsets(l).iter().map(|o| o[axis]).fold(0.0, f32::max);
        assert_eq!(previews.last(), Some(&layer), "the last preview is the layer");
        assert!(previews.len() >= 4, "{}", previews.len());
        assert!(previews.windows(2).all(|p| p[0].region.kinematic.len() <= p[1].region.kinematic.len()));
        assert!((0.03..0.07).contains(&most(&layer, 0)), "{}", most(&layer, 0));
        assert!(most(&layer, 2) < 0.01, "it keeps its depth: {}", most(&layer, 2));
        let around = layer.surroundings.as_ref().unwrap();
        assert!(around.offsets.len() == layer.region.passive.len() && !around.offsets.is_empty());
        // In depth, the skin follows the hand, whether the hand is at the skin or not.
        a.command(Command::Undo);
        a.command(Command::AccentDepth(true));
        let (previews, layer) = a.draw(&path(0.0, 0.06));
        assert_eq!(previews.last(), Some(&layer));
        assert!((0.045..0.075).contains(&most(&layer, 2)), "{}", most(&layer, 2));
        // A stroke that selects nothing gives an error, and its preview ends.
        let above = |k: i32| Vec3::new(0.0, 1.4 + 0.01 * k as f32, 0.0);
        a.hand(above(0), 0.0);
        a.step();
        for k in 0..3 {
            a.hand(above(k), 1.0);
            a.step();
            assert!(matches!(a.news(), Some(News::Previewed)));
        }
        a.hand(above(3), 0.0);
        a.step();
        let Some(News::Failed(error)) = a.news() else { panic!() };
        assert!(error.to_string().contains("one point"), "{error}");
        let document = a.bench().session().document();
        assert_eq!(document.sculpts(), [layer]);
        let hash = document.hash();
        a.recorder.finish(hash.clone()).unwrap();
        let mut replay = Replay::open(&a.take).unwrap();
        while replay.step().unwrap() {}
        assert_eq!(replay.bench().session().document().hash(), hash);
        assert!(replay.bench().preferences().accent_depth);
        assert_silent(&device);
    }
}
