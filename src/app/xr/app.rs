//! State that survives the loss of OpenXR sessions and runtimes: the document, tools, background jobs and reporter.

use super::Options;
use super::clock::{Clock, Stages};
use super::instance::Runtime;
use super::report_lines::tell_phases;
use crate::app::context::{say, wanted_samples};
use crate::app::jobs::Left;
use crate::app::report::{Ask, Event};
use crate::app::session::{AppSession, News};
use crate::base::{Error, Result, counted};
use crate::deform::fast::Grips;
use crate::document::DeformerSettings;
use crate::gpu::{Device, Timings};
use crate::render::Lines;
use crate::scene::{Actor, Model, Stage};
use crate::take::{Recorder, TakeFrame};
use crate::ui::palette::{PanelState, Panels};
use crate::ui::window::Writes;
use crate::workbench::{Haptic, Input, Labels, Notice, Preferences, Request};
use std::path::PathBuf;
use std::sync::Arc;

/// Message for a user who asks for the window when no window is available.
const NO_DESK: &str = "there is no window here: no display, or a take is being recorded";

/// State of the headset that is kept while the user is at the window.
#[derive(Default)]
pub struct XrMemory {
    panels: Option<Panels>,
    stages: Stages,
}

/// The editor in the headset.
pub struct HeadsetApp<'o> {
    pub(super) options: &'o Options,
    pub(super) app_session: AppSession,
    pub(super) input: Input,
    pub(super) panels: Panels,
    pub(super) panel_state: PanelState,
    /// Message for the user that does not come from the workbench.
    pub(super) message: Option<Notice>,
    /// The file that was written last, for the user.
    written: Option<String>,
    /// Lines of the current frame, from the workbench and the pointer.
    pub(super) lines: Lines,
    pub(super) haptics: [Option<Haptic>; 2],
    pub(super) clock: Clock,
    pub(super) stages: Stages,
    /// Number that identifies the current render stage in jobs.
    pub(super) stage: u64,
    /// Paths of requested screenshots, which the next frame fulfils.
    pub(super) pictures: Vec<PathBuf>,
    pub(super) take: Option<Recorder>,
    pub(super) taken: TakeFrame,
    /// The character that the take currently records.
    pub(super) taking: Option<Arc<Model>>,
    /// Image size of one eye, pixels.
    pub(super) eye_size: [u32; 2],
    pub(super) waiting: Lines,
    /// The last requested actor: number of the stage, character, deformer settings.
    asked: Option<(u64, *const Model, DeformerSettings, Grips)>,
    /// GPU time of each phase in the last frame.
    pub(super) phases: Timings,
    /// Whether the user can switch to the window.
    pub(super) has_window: bool,
    /// Whether the user has asked for the window.
    pub(super) to_window: bool,
}

impl<'o> HeadsetApp<'o> {
    /// Continues a session in the headset. With a display, the user can switch to the window.
    pub fn new(options: &'o Options, app_session: AppSession, memory: XrMemory, has_display: bool) -> Self {
        let mut app_session = app_session;
        // Do not spend frame time on document hashes unless they are reported.
        app_session.exact = app_session.reporter.is_on();
        let mut panels = memory.panels.unwrap_or_default();
        if app_session.reporter.is_on() {
            panels.keep_texts();
        }
        Self {
            options,
            input: Input::default(),
            panels,
            panel_state: PanelState::default(),
            message: None,
            written: None,
            lines: Lines::default(),
            haptics: [None; 2],
            clock: Clock::from(app_session.seconds()),
            stages: memory.stages,
            stage: 0,
            pictures: Vec::new(),
            take: None,
            taken: TakeFrame::default(),
            taking: None,
            eye_size: [0; 2],
            waiting: Lines::default(),
            asked: None,
            phases: Timings::new(),
            // A take must record a single headset visit from beginning to end.
            has_window: has_display && options.record.is_none(),
            to_window: false,
            app_session,
        }
    }

    /// Ends the visit and returns the session.
    pub fn leave(mut self) -> (AppSession, XrMemory) {
        self.interrupt();
        let app_session = self.app_session;
        if let (Some(take), Some(bench)) = (self.take, &app_session.bench)
            && let Err(error) = take.finish(bench.session().document().hash())
        {
            app_session.fail(&error);
        }
        if app_session.quit && !app_session.reporter.is_on() {
            self.stages.text().lines().for_each(say);
            tell_phases(&self.phases);
        }
        (app_session, XrMemory { panels: Some(self.panels), stages: self.stages })
    }

    /// Gives a newly created render stage a number. The session then requests a new actor for this stage.
    pub fn new_stage(&mut self) {
        self.stage = self.app_session.new_stage();
    }

    /// Handles finished jobs and requests, and starts new jobs. `stage` is `None` without an OpenXR session.
    pub fn attend(&mut self, mut stage: Option<&mut Stage>) {
        while let Some(news) = self.app_session.news() {
            self.take(news, stage.as_deref_mut());
        }
        if let Some(stage) = &stage {
            self.app_session.look_for_accents(&stage.pipelines().renderer);
        }
        if let Some(stage) = stage {
            self.empty(stage);
            self.make_ready(stage);
            self.app_session.mind_ghosts(self.stage, stage);
        }
        if self
            .app_session
            .bench
            .as_ref()
            .is_some_and(|b| b.preferences().palette || !b.measures().is_empty())
        {
            self.app_session.measure();
        }
        while let Some(ask) = self.app_session.reporter.asked() {
            match ask {
                Ask::Picture(path) => self.pictures.push(path),
                Ask::Texts => self.tell_texts(),
                Ask::Command(command) => self.command(command),
                Ask::Quit => self.app_session.quit = true,
                Ask::Step => {}
            }
        }
    }

    /// Removes the actor of another character: the user has the scale and the place for the new one already.
    fn empty(&mut self, stage: &mut Stage) {
        let left = self.app_session.bench.is_some() && !self.app_session.is_on(stage);
        if left
            && stage.actor().model().is_some()
            && let Err(error) = stage.clear()
        {
            self.fail(&error);
        }
    }

    /// Requests a new actor if the actor on the stage cannot follow the document's deformer.
    fn make_ready(&mut self, stage: &mut Stage) {
        let (Some(model), Some(bench)) = (&self.app_session.model, &self.app_session.bench) else { return };
        let settings = bench.session().document().deformer();
        let unfit = !self.app_session.suits(stage);
        let wanted = unfit.then_some((self.stage, Arc::as_ptr(model), settings, bench.grip_shapes()));
        if self.asked.as_ref().map(|(number, model, settings, grips)| (*number, *model, settings, grips))
            != wanted
        {
            if wanted.is_none() {
                self.app_session.cancel_binding(self.stage);
            }
            self.asked = wanted
                .map(|(number, model, settings, grips)| (number, model, settings.clone(), grips.clone()));
            if let Some((number, _, settings, _)) = &self.asked {
                self.app_session.make_ready(*number, stage, settings);
            }
        }
    }

    fn take(&mut self, news: News, stage: Option<&mut Stage>) {
        match news {
            News::Measured(strain) => self.panel_state.strain = Some(strain),
            News::Shaped(shape) => self.receive(*shape),
            News::Bones(drawn) => self.receive_bones(*drawn),
            News::Caged(cage) => self.receive_cage(*cage),
            News::Command(command) => self.command(*command),
            News::Coupled(cage, coupling) => self.know_coupling(*cage, coupling),
            News::Listed(files) | News::Entered(files) => self.panel_state.files.follow(files),
            News::Opened { path, restored, left, told } => {
                let edits = || format!("restored {} of the last session", counted(restored, "edit"));
                self.message = told.or_else(|| (restored > 0).then(edits)).map(Notice::fact);
                self.app_session.remember();
                if restored > 0 && !self.app_session.reporter.is_on() {
                    say(format_args!("{}: goes on where its last session stopped", path.display()));
                }
                if let Some(left) = left {
                    let file = left.name();
                    let text =
                        format!("A session on {file} went on after this save: Files, Unfinished has it");
                    self.message = Some(Notice::fact(text));
                }
                self.start_take();
            }
            News::NotOpened(error) => {
                self.message = Some((&error).into());
                // Without any document there is nothing to show.
                if self.app_session.bench.is_none() {
                    self.app_session.failure = Some(error);
                    self.app_session.quit = true;
                }
            }
            News::Ready(number, actor) if number == self.stage => self.ready(actor, stage),
            News::Ghosts(number, ghosts) if number == self.stage => {
                if let Some(stage) = stage {
                    self.app_session.set_ghosts(stage, Some(ghosts));
                }
            }
            // The actor or the onion skins are for a stage that no longer exists.
            News::Ready(..) | News::Ghosts(..) | News::Looked(..) | News::Bound => {}
            // A message about a picture would be in the next picture.
            News::Written(path, _) if path.extension().is_some_and(|e| e == "png") => {}
            News::Written(path, note) => {
                let note = note.map_or_else(String::new, |note| format!(": {note}"));
                (self.message, self.written) = (None, Some(format!("wrote {}{note}", path.display())));
            }
            News::Previewed => {}
            News::NotWritten(_, error) | News::Failed(error) => self.message = Some((&error).into()),
        }
    }

    /// Returns the user's current preferences.
    pub fn preferences(&self) -> &Preferences {
        self.app_session.bench.as_ref().map_or(&self.app_session.preferences, |b| b.preferences())
    }

    /// Returns the wanted image size of an eye, pixels.
    pub fn picture_size(&self, runtime: &Runtime) -> [u32; 2] {
        runtime.scaled(self.preferences().render_scale)
    }

    /// Keeps the new image size of an eye.
    pub fn resized(&mut self, size: [u32; 2]) {
        self.eye_size = size;
    }

    /// Returns the number of samples per pixel of the eye images.
    pub fn samples(&self, device: &Device) -> u32 {
        let smooth = self.app_session.bench.as_ref().is_none_or(|b| b.preferences().smooth);
        wanted_samples(device, self.options.samples, smooth)
    }

    fn ready(&mut self, actor: Result<Box<Actor>>, stage: Option<&mut Stage>) {
        match (actor, stage) {
            (Ok(actor), Some(stage)) => {
                let method = actor.recipe().map_or("", |r| r.name());
                self.app_session.reporter.event(Event::Shown(method.into()));
                // The render targets may have been recreated since the job began.
                match stage.enter_anew(actor) {
                    Ok(()) => self.asked = None,
                    Err(error) => self.fail(&error),
                }
            }
            (Ok(_), None) => {}
            (Err(error), _) => self.fail(&error),
        }
    }

    /// Sets the names of the controllers' buttons.
    pub fn relabel(&mut self, labels: [Labels; 2]) {
        self.panel_state.labels = labels;
    }

    /// Steps the panels: runs pressed commands and marks the tool hand if it points at a panel.
    pub(super) fn step_panels(&mut self) {
        let Some(bench) = &self.app_session.bench else { return };
        let tool = bench.tool_hand();
        self.panel_state.follow(bench);
        self.panels.see(bench, bench.rig());
        if self.message.is_some() {
            self.panel_state.message.clone_from(&self.message);
        } else if let Some(percent) = self.app_session.weighing().or(self.app_session.rigging()) {
            self.panel_state.message = Some(Notice::fact(format!("weights {percent} %")));
        }
        if self.panel_state.written != self.written {
            self.panel_state.written.clone_from(&self.written);
        }
        self.panel_state.unsaved = self.app_session.unsaved;
        self.panel_state.rigging = self.app_session.rigging();
        let out = self.panels.step(&self.input, tool, &self.panel_state, Some(bench));
        out.mark(tool, &mut self.input);
        if out.tell.is_some() {
            self.message = out.tell.as_deref().map(Notice::from);
        }
        if !out.commands.is_empty() {
            for command in out.commands.clone() {
                (self.message, self.written) = (None, None);
                self.command(command);
            }
        }
    }

    /// Steps the panels and the workbench with the current input.
    pub fn step(&mut self) {
        self.step_panels();
        let Some(bench) = &mut self.app_session.bench else { return };
        bench.step(&self.input);
        let output = bench.output();
        self.haptics = output.haptics;
        if let (Some(haptic), true) = (self.panels.out().haptic, bench.preferences().haptics) {
            self.haptics[bench.tool_hand()] = Some(haptic);
        }
        self.lines.clear();
        self.lines.segments.extend_from_slice(&output.lines.segments);
        self.lines.anchors.extend_from_slice(&output.lines.anchors);
        self.panels.draw(&output.world_from_room, &mut self.lines);
        let requests: Vec<Request> = output.requests.clone();
        self.app_session.stepped();
        for request in requests {
            let Some(request) = self.app_session.carry_out(request) else { continue };
            match request {
                Request::Open(path) => self.app_session.open(path, Left::GoOn),
                Request::Save => self.app_session.write_without_asking(Writes::Project),
                Request::Export => {
                    self.written = Some("exporting…".into());
                    self.app_session.write_without_asking(Writes::Posed);
                }
                Request::OtherFace if self.has_window => self.to_window = true,
                Request::OtherFace => self.message = Some(NO_DESK.into()),
                Request::Quit => self.app_session.quit = true,
                // The session carries out all other requests.
                _ => {}
            }
        }
    }

    /// Reports an error; the session continues.
    pub fn fail(&mut self, error: &Error) {
        self.app_session.fail(error);
        self.message = Some(error.into());
    }
}
