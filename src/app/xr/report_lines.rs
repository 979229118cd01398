//! The output of the editor in the headset: report lines, requested screenshots and messages to the user.

use super::app::HeadsetApp;
use super::instance::Runtime;
use super::session::Session;
use crate::app::context::say;
use crate::app::jobs::Job;
use crate::app::report::{Event, Frame as Told, Text};
use crate::base::Result;
use crate::base::math::Vec3;
use crate::gpu::Timings;
use crate::render::Lines;
use crate::scene::Stage;
use crate::ui::HeadsetOffers;
use crate::ui::palette::{Panel, PanelText};
use crate::workbench::Similarity;
use image::RgbaImage;
use std::time::Duration;

impl HeadsetApp<'_> {
    /// Writes the texts of the panels.
    pub fn tell_texts(&self) {
        let text = |text: PanelText| {
            let ([width, height], placement) = (text.panel.panel.size().map(|n| n as f32), text.panel);
            let at = |x: f32, y: f32| placement.point([x / width, y / height]);
            let [x, y] = text.centre;
            let centre = at(x, y);
            Text {
                panel: text.panel.panel.name().into(),
                text: text.text,
                pixel: text.centre,
                centre: centre.into(),
                right: (at(x + 1.0, y) - centre).into(),
                down: (at(x, y + 1.0) - centre).into(),
            }
        };
        self.app_session.reporter.event(Event::Texts(self.panels.texts().map(text).collect()));
    }

    /// Prepares for a new OpenXR session and prints its properties.
    pub fn began(&mut self, runtime: &Runtime, session: &Session) {
        self.new_stage();
        self.clock.restart();
        self.eye_size = session.size();
        self.panel_state.headset = Some(HeadsetOffers {
            eye: runtime.size,
            rates: session.rates().to_vec(),
            hidden_area: runtime.offers.hidden_area,
            passthrough: runtime.offers.passthrough.is_some(),
        });
        self.start_take();
        if !self.app_session.reporter.is_on() {
            let [w, h] = session.size();
            let depth = if session.has_depth() { ", with depth" } else { "" };
            let (major, minor) = runtime.version;
            say(format_args!("{}: OpenXR {major}.{minor}, two eyes of {w} x {h}{depth}", runtime.name));
        }
    }

    /// Keeps the GPU timings and the last images of both eyes when a session ends.
    pub fn ended(&mut self, stage: &Stage) {
        self.panel_state.headset = None;
        self.phases.clone_from(stage.timings());
        if stage.drawn() {
            // Reading the images fails if the device is lost.
            let eyes = [0, 1].map(|eye| stage.targets().read(stage.device(), eye).ok());
            if let [Some(left), Some(right)] = eyes {
                self.app_session.last_pictures = vec![left, right];
            }
        }
    }

    /// Handles the loss of the session or the runtime. The user loses only an unfinished stroke. The program waits
    /// until a runtime is available again. Meanwhile it shows the document in a window, if it can open one.
    pub fn lost(&mut self, problem: String) {
        eprintln!("sinew: {problem}; your work is kept, waiting for the runtime");
        self.input.focused = false;
        self.interrupted();
        self.app_session.reporter.event(Event::State("NONE".into()));
        self.app_session.reporter.event(Event::Lost(problem));
    }

    /// Runs one iteration of the loop while no runtime is available.
    pub fn without_session(&mut self, pause: Duration) {
        self.attend(None);
        self.app_session.frame += 1;
        let frame = self.told("NONE", [String::new(), String::new()]);
        self.app_session.reporter.frame(frame);
        if !self.app_session.quit {
            std::thread::sleep(pause);
        }
    }

    /// Saves requested screenshots and writes the report line, after a frame has ended.
    ///
    /// # Errors
    /// Fails if the device is lost.
    pub fn after_frame(
        &mut self,
        session: &Session,
        profiles: impl FnOnce() -> [String; 2],
        rendered: bool,
        stage: &Stage,
    ) -> Result<()> {
        if rendered && !self.pictures.is_empty() {
            let eyes = [0, 1].map(|eye| stage.targets().read(stage.device(), eye));
            let eyes: Vec<RgbaImage> = eyes.into_iter().collect::<Result<_>>()?;
            for path in std::mem::take(&mut self.pictures) {
                self.app_session.worker.ask(Job::Picture(path, eyes.clone()));
            }
        }
        if self.app_session.reporter.is_on() {
            let mut frame = self.told(session.life().name(), profiles());
            frame.rendered = rendered;
            frame.missed += session.missed();
            self.app_session.reporter.frame(frame);
        }
        Ok(())
    }

    /// Reports the vibrations of this frame.
    pub fn tell_felt(&self) {
        for (hand, haptic) in self.haptics.iter().enumerate() {
            if let Some(haptic) = haptic {
                self.app_session.reporter.event(Event::Felt(hand, *haptic));
            }
        }
    }

    pub(super) fn told(&self, state: &str, profiles: [String; 2]) -> Told {
        let mut out = Told {
            frame: self.app_session.frame,
            state: state.into(),
            head: self.input.head.pose,
            aim: [0, 1].map(|h| self.input.hands[h].aim.pose),
            tracking: [0, 1].map(|h| self.input.hands[h].aim.tracking),
            draw: [0, 1].map(|h| self.input.hands[h].draw),
            grab: [0, 1].map(|h| self.input.hands[h].grab),
            stick: [0, 1].map(|h| self.input.hands[h].stick),
            surface: [0, 1].map(|h| self.input.hands[h].surface.map(|s| s.position.to_array())),
            profiles,
            missed: self.app_session.missed,
            mirrored: self.app_session.mirrored,
            ..Told::default()
        };
        if let Some(bench) = &self.app_session.bench {
            out.world_from_room = bench.output().world_from_room;
            out.tool = bench.preferences().tool;
            out.left_handed = bench.preferences().left_handed;
            out.palette = bench.preferences().palette;
            let places = &self.panels.out().placements;
            let place = |panel: Panel| places.iter().find(|p| p.panel == panel).map(|p| (p.pose, p.size));
            (out.palette_place, out.details_place) = (place(Panel::Palette), place(Panel::Details));
            out.busy = bench.is_busy();
            out.time = bench.shown_time();
            let (done, all) = bench.session().history();
            out.history = [done, all - done];
        }
        out
    }

    /// Returns the lines of a rotating spinner, shown while a character is loading.
    pub fn spinner(&mut self, world_from_room: &Similarity) -> &Lines {
        let turn = self.input.time as f32 * 4.0;
        let point = |i: i32| {
            let angle = turn + i as f32 * 0.25;
            world_from_room.point(Vec3::new(0.12 * angle.cos(), 1.3 + 0.12 * angle.sin(), -1.0))
        };
        let points: [Vec3; 16] = std::array::from_fn(|i| point(i as i32));
        self.waiting.segments.clear();
        self.waiting.polyline(&points, [90, 190, 255, 255], 5.0, 1.0);
        &self.waiting
    }
}

/// Prints the GPU times of the last frame; phases with the same name are summed.
pub fn tell_phases(phases: &Timings) {
    let mut sums: Vec<(&str, Duration)> = Vec::new();
    for (name, time) in phases {
        match sums.iter_mut().find(|(n, _)| n == name) {
            Some((_, sum)) => *sum += *time,
            None => sums.push((name, *time)),
        }
    }
    if !sums.is_empty() {
        say("GPU, ms, last frame");
    }
    for (name, time) in sums {
        say(format_args!("  {name:<22} {:>8.3}", time.as_secs_f64() * 1e3));
    }
}
