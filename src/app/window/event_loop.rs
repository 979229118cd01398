//! The window and its event loop.

use super::Options;
use super::app::{WindowApp, WindowMemory};
use super::report_lines::Seen;
use super::screen::Screen;
use crate::app::display::{Display, Wake, no_desktop};
use crate::app::handover::{Found, HeadsetWatch};
use crate::app::session::AppSession;
use crate::base::{Error, Result};
use crate::ui::window::{Picked, WindowInput};
use crate::workbench::{Command, Notice, Workbench};
use egui_winit::State;
use std::sync::Arc;
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{ElementState, Force, StartCause, TouchPhase, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow};
use winit::platform::pump_events::EventLoopExtPumpEvents;
use winit::window::{Window, WindowId};

/// Delay before the next attempt to present while the window is not visible.
const HIDDEN: Duration = Duration::from_millis(250);

/// Time after which an image that was presented is certainly on the display.
const SHOWING: Duration = Duration::from_millis(250);
/// Interval between two polls for window events during [`SHOWING`].
const GLANCE: Duration = Duration::from_millis(25);

/// Interval between two updates of the progress of a background job.
const PROGRESS: Duration = Duration::from_millis(200);

/// Interval between two checks for the GPU's answer to a pick.
const ANSWER: Duration = Duration::from_millis(4);

/// Reason for which the window visit ended.
pub enum End<C> {
    /// The user quits the program.
    Quit,
    /// The user put the headset on; holds its OpenXR connection.
    Headset(C),
    /// The window cannot be opened, or its GPU device failed.
    Failed(Error),
}

/// Function that starts the headset watch. Its arguments are the window and a function that wakes the event loop.
pub type StartWatch<'o, W> = Box<dyn FnOnce(Arc<Window>, Box<dyn Fn() + Send>) -> Result<W> + 'o>;

/// Runs the editor in a window until the user quits or puts a headset on. If a file cannot be opened or written, the
/// window shows the error and the editor continues. `message` is an initial message for the user.
pub fn visit<W: HeadsetWatch>(
    options: &Options,
    app_session: AppSession,
    memory: WindowMemory,
    (start, message): (StartWatch<W>, Option<String>),
    display: &mut Display,
) -> (End<W::Connection>, AppSession, WindowMemory) {
    let mut face = Face::new(WindowApp::new(options, app_session, memory), start, Box::new(display.wake()));
    face.app.desk.facts.message = message.map(Notice::from);
    while face.end.is_none() {
        // While the driver presents, it may read our events from the shared display connection, so a blocking wait
        // would miss them. Poll instead.
        let showing = face.shown_at.is_some_and(|at| at.elapsed() < SHOWING);
        display.events.pump_app_events(showing.then_some(GLANCE), &mut face);
    }
    // Drop the watch first, because it may hold the window. The screen's GPU work must end before the window closes.
    drop(face.watch.take());
    drop(face.screen.take());
    let (app_session, memory) = face.app.leave();
    (face.end.unwrap_or(End::Quit), app_session, memory)
}

/// The window with its input state and screen.
struct OpenWindow {
    // Declared before `window` so that it is dropped first.
    screen: Screen,
    input: State,
    window: Arc<Window>,
}

struct Face<'o, W: HeadsetWatch> {
    app: WindowApp<'o>,
    screen: Option<OpenWindow>,
    /// Headset watch; `None` until the window exists. `start` and `wake` are used to start the watch.
    watch: Option<W>,
    start: Option<StartWatch<'o, W>>,
    wake: Box<dyn Fn() + Send>,
    /// Time of the next iteration if no event arrives before.
    next: Option<Instant>,
    /// Time of the next check for the GPU's answer to a pick. The check runs a loop iteration only if the answer has
    /// arrived.
    look: Option<Instant>,
    answer: Option<Picked>,
    /// Whether the window is occluded.
    hidden: bool,
    /// Time of the last presented image.
    shown_at: Option<Instant>,
    /// Whether the window must be redrawn even if the editor reports no change.
    damaged: bool,
    seen: Seen,
    end: Option<End<W::Connection>>,
}

impl<'o, W: HeadsetWatch> Face<'o, W> {
    fn new(app: WindowApp<'o>, start: StartWatch<'o, W>, wake: Box<dyn Fn() + Send>) -> Self {
        Self {
            app,
            screen: None,
            watch: None,
            start: Some(start),
            wake,
            next: None,
            look: None,
            answer: None,
            hidden: false,
            shown_at: None,
            damaged: true,
            seen: Seen::default(),
            end: None,
        }
    }

    fn open(&mut self, events: &ActiveEventLoop) -> Result<()> {
        let kept = &self.app.kept;
        let [width, height] = kept.size.unwrap_or([1280.0, 800.0]);
        let attributes = Window::default_attributes()
            .with_title("Sinew")
            .with_inner_size(LogicalSize::new(width, height))
            .with_maximized(kept.maximised)
            .with_min_inner_size(LogicalSize::new(320.0, 240.0));
        let window = Arc::new(events.create_window(attributes).map_err(|e| no_desktop(&e))?);
        let screen = Screen::new(window.clone(), window.inner_size().into(), self.app.options)?;
        let scale = window.scale_factor() as f32;
        // A separate egui context, which only converts events. Its points follow the display scale and ignore the
        // user's zoom.
        let context = egui::Context::default();
        let theme = window.theme();
        let input = State::new(context, egui::ViewportId::ROOT, &window, Some(scale), theme, None);
        window.request_redraw();
        if let Some(start) = self.start.take() {
            let wake = std::mem::replace(&mut self.wake, Box::new(|| {}));
            self.watch = Some(start(window.clone(), wake)?);
        }
        self.screen = Some(OpenWindow { screen, input, window });
        Ok(())
    }

    /// Runs one iteration: passes events to the editor's step, and redraws if something changed.
    fn turn(&mut self) -> Result<()> {
        let Some(OpenWindow { screen, input, window }) = &mut self.screen else { return Ok(()) };
        self.next = None;
        let app = &mut self.app;
        let size: [u32; 2] = window.inner_size().into();
        self.damaged |= app.attend(screen.stage());
        if size.contains(&0) || self.hidden {
            self.damaged = true;
            return Ok(());
        }
        app.app_session.frame += 1;
        let scale = window.scale_factor() as f32;
        let raw = input.take_egui_input(window);
        let mut step = WindowInput::from_egui(raw, size, scale);
        // Window and headset share the session's clock.
        step.time = app.app_session.seconds();
        step.pressure = self.seen.pressure;
        step.picked = screen.picked()?.or(self.answer.take());
        app.desk.facts.stages = screen.stages();
        app.step(&step);
        let late = app.attend(screen.stage());
        self.damaged |= late;
        input.handle_platform_output(window, std::mem::take(&mut app.desk.output_mut().platform));
        if let Some(other) = app.other.take() {
            screen.compare(other)?;
            self.damaged = true;
        }
        let ready = app.app_session.is_on(screen.stage());
        if ready {
            app.app_session.suits(screen.stage());
            let painted = screen.stages_mut().map(|stage| app.app_session.bring_up(stage.actor_mut()));
            self.damaged |= painted.fold(false, |any, new| any | new);
        }
        let (haunted, waits) = app.app_session.follow_ghosts(screen.stage());
        self.damaged |= haunted;
        let pose = app.app_session.bench.as_ref().filter(|_| ready).map(Workbench::shown_pose);
        if self.damaged || app.desk.output().dirty || pose.is_some_and(|pose| !screen.has(&pose)) {
            if self.damaged {
                screen.renew();
            }
            window.pre_present_notify();
            self.damaged = !screen.draw(size, app.desk.output_mut(), pose)?;
            self.shown_at = Some(Instant::now());
        }
        let soon = |delay: Duration, next: Option<Instant>| {
            let at = Instant::now() + delay;
            Some(next.map_or(at, |n| n.min(at)))
        };
        if self.damaged {
            self.next = soon(HIDDEN, self.next);
        }
        if late || waits {
            // The next step carries out what arrived after this one, or solves the next ghost.
            self.next = soon(Duration::ZERO, self.next);
        }
        self.look = screen.asks().then(|| Instant::now() + ANSWER);
        if let Some(again) = app.desk.output().again {
            self.next = soon(again, self.next);
        }
        if app.app_session.rigging().or(app.app_session.weighing()).is_some() {
            self.next = soon(PROGRESS, self.next);
        }
        self.seen.shown = screen.shown();
        self.seen.size = size;
        self.seen.scale = scale;
        self.seen.idle = self.next.is_none() && self.look.is_none() && !self.damaged;
        app.tell(&self.seen);
        Ok(())
    }

    /// Updates the state of pointer and keys in the report from an event.
    fn note(&mut self, event: &WindowEvent) {
        let seen = &mut self.seen;
        match event {
            WindowEvent::CursorMoved { position, .. } => {
                seen.pointer = [position.x as f32, position.y as f32]
            }
            WindowEvent::MouseInput { state, .. } => {
                seen.pressed = *state == ElementState::Pressed;
                seen.pressure = None;
            }
            WindowEvent::KeyboardInput { event, is_synthetic: false, .. } => {
                seen.keys += u64::from(event.state == ElementState::Pressed && !event.repeat);
            }
            WindowEvent::Touch(touch) => {
                seen.pointer = [touch.location.x as f32, touch.location.y as f32];
                seen.pressed = matches!(touch.phase, TouchPhase::Started | TouchPhase::Moved);
                seen.pressure = touch.force.as_ref().map(pressure);
            }
            _ => {}
        }
    }

    /// Stores the window's size and maximised state for the next start.
    fn remember(&mut self) {
        let Some(shown) = &self.screen else { return };
        let (window, kept) = (&shown.window, &mut self.app.kept);
        kept.maximised = window.is_maximized();
        let size = window.inner_size().to_logical::<f64>(window.scale_factor());
        if !kept.maximised && size.width >= 1.0 && size.height >= 1.0 {
            kept.size = Some([size.width, size.height]);
        }
    }

    /// Forwards the user's request for the headset to the watch, and ends the visit when the headset is put on.
    fn mind_the_headset(&mut self) {
        let Some(watch) = &self.watch else { return };
        if std::mem::take(&mut self.app.calls) {
            watch.call();
        }
        match watch.found() {
            Some(Found::On(connection)) => self.end = Some(End::Headset(connection)),
            Some(Found::Nothing(error)) => {
                self.app.fail(&error);
                self.damaged = true;
                self.redraw();
            }
            None => {}
        }
    }

    fn redraw(&self) {
        if let Some(shown) = &self.screen {
            shown.window.request_redraw();
        }
    }

    fn give_up(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.end = Some(End::Failed(error));
        }
    }

    /// Opens the window if it is not open yet.
    fn begin(&mut self, events: &ActiveEventLoop) {
        if self.screen.is_none() && self.end.is_none() {
            let opened = self.open(events);
            self.give_up(opened);
        }
    }
}

/// Returns the pen pressure, 0..=1.
fn pressure(force: &Force) -> f32 {
    (force.normalized() as f32).clamp(0.0, 1.0)
}

impl<W: HeadsetWatch> ApplicationHandler<Wake> for Face<'_, W> {
    fn new_events(&mut self, _: &ActiveEventLoop, cause: StartCause) {
        if !matches!(cause, StartCause::ResumeTimeReached { .. }) {
            return;
        }
        let now = Instant::now();
        if self.next.is_some_and(|next| next <= now) {
            self.next = None;
            self.redraw();
        }
        if self.look.is_some_and(|look| look <= now)
            && let Some(shown) = &mut self.screen
        {
            // Errors are ignored here; the next iteration reports a lost device.
            self.answer = shown.screen.picked().ok().flatten().or(self.answer.take());
            self.look = (self.answer.is_none() && shown.screen.asks()).then(|| now + ANSWER);
            if self.look.is_none() {
                self.redraw();
            }
        }
    }

    fn resumed(&mut self, events: &ActiveEventLoop) {
        self.begin(events);
    }

    fn user_event(&mut self, _: &ActiveEventLoop, _: Wake) {
        self.damaged = true;
        // An occluded window gets no redraw requests, so handle its finished jobs here.
        if let (Some(shown), true) = (&mut self.screen, self.hidden) {
            self.app.attend(shown.screen.stage());
        }
        self.redraw();
    }

    fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        self.note(&event);
        let Some(shown) = &mut self.screen else { return };
        match &event {
            WindowEvent::RedrawRequested => {
                let turned = self.turn();
                return self.give_up(turned);
            }
            // The Quit command asks about unsaved changes.
            WindowEvent::CloseRequested => self.app.command(Command::Quit),
            WindowEvent::Occluded(hidden) => {
                self.hidden = *hidden;
                self.damaged = true;
            }
            WindowEvent::Resized(_) | WindowEvent::ScaleFactorChanged { .. } => self.damaged = true,
            _ => {}
        }
        if shown.input.on_window_event(&shown.window, &event).repaint || self.damaged {
            shown.window.request_redraw();
        }
        if matches!(event, WindowEvent::Resized(_)) {
            self.remember();
        }
    }

    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        // If this event loop has shown a window before, winit may not call `resumed` again.
        self.begin(events);
        self.mind_the_headset();
        if self.app.app_session.quit && self.end.is_none() {
            self.end = Some(End::Quit);
        }
        if self.end.is_some() {
            self.remember();
        }
        let first = self.next.into_iter().chain(self.look).min();
        events.set_control_flow(first.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_is_a_share_whatever_the_pen_gives() {
        assert_eq!(pressure(&Force::Normalized(0.25)), 0.25);
        assert_eq!(pressure(&Force::Normalized(7.0)), 1.0);
        let pen = Force::Calibrated { force: 2.0, max_possible_force: 4.0, altitude_angle: None };
        assert_eq!(pressure(&pen), 0.5);
    }
}
