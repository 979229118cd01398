//! Test bed: a real OpenXR runtime, the program under test, and a puppet that simulates headset and controllers.
//!
//! The tests count the program's frames instead of clock time. After the puppet sends a state, a test waits until the
//! program reports a frame with this state. Timeouts only catch a program that hangs.

use crate::desktop::Desktop;
use crate::program::PATIENCE;
pub use crate::program::Program as App;
use sinew::app::report::{Ask, Event, Frame, ReportLine};
use sinew::puppet::{Player, Puppet, Script};
use sinew::workbench::{Command as Press, Tracking};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Script time per frame, seconds.
pub const STEP: f64 = 1.0 / 30.0;

fn tool() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/xr-runtime")
}

/// A private OpenXR runtime with its own folder and port.
pub struct Runtime {
    folder: tempfile::TempDir,
    port: u16,
    service: Option<Child>,
}

impl Runtime {
    /// Starts a runtime. Returns `None` and prints a line if no OpenXR runtime is installed.
    pub fn start() -> Option<Self> {
        // The path of a socket must be short, so the folder is not below Cargo's target folder.
        let folder = tempfile::Builder::new().prefix("sxr").tempdir().unwrap();
        let probe = Command::new(tool()).arg("env").arg("--dir").arg(folder.path()).output().unwrap();
        if !probe.status.success() {
            sinew::base::testing::skip("xr", "there is no OpenXR runtime; run tools/xr-runtime prepare");
            return None;
        }
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut runtime = Self { folder, port, service: None };
        runtime.serve();
        Some(runtime)
    }

    /// Starts the service and waits for its socket. The service must not be running.
    pub fn serve(&mut self) {
        assert!(self.service.is_none());
        let log = std::fs::File::create(self.path("service.log")).unwrap();
        let service = Command::new(tool())
            .args(["start", "--wait", "--port", &self.port.to_string(), "--dir"])
            .arg(self.folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.service = Some(service);
        let begin = Instant::now();
        while !self.path("monado_comp_ipc").exists() {
            assert!(self.service.as_mut().unwrap().try_wait().unwrap().is_none(), "{}", self.log());
            assert!(begin.elapsed() < PATIENCE, "no socket: {}", self.log());
            std::thread::yield_now();
        }
    }

    /// Kills the service without cleanup, as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut service) = self.service.take() {
            service.kill().unwrap();
            service.wait().unwrap();
        }
        // The socket file remains, as after a crash. The next `serve` replaces it, as a service manager does.
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.path("service.log")).unwrap_or_default()
    }

    /// Returns the path of a file in the runtime's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a command that runs `program` under this runtime with both validation layers.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(tool());
        command.args(["run", "--alone", "--xr-check", "--vk-check", "--dir"]).arg(self.folder.path());
        command.arg("--").arg(program);
        command
    }

    /// Connects a puppet to this runtime.
    pub fn puppet(&self) -> Puppet {
        Puppet::connect(self.port).unwrap()
    }

    /// Returns all findings of OpenXR's validation layer. [`App::quit`] checks the findings of Vulkan's layer.
    pub fn findings(&self) -> String {
        let text = std::fs::read_to_string(self.path("xr-validation.txt")).unwrap_or_default();
        assert!(text.contains("VUID-CoreValidation-Initialize"), "OpenXR's validation layer did not run");
        let found = text.lines().filter(|l| !l.contains("VALID_DEBUG") && !l.contains("VALID_INFO"));
        found.collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.kill();
    }
}

impl App {
    /// Runs `sinew vr ARGUMENTS --report` under the runtime, without a display.
    pub fn start(runtime: &Runtime, arguments: &[&str]) -> Self {
        Self::run(runtime, &[&["vr"], arguments].concat(), None)
    }

    /// Runs `sinew ARGUMENTS --report` under the runtime, on `desktop` if it is given, else without a display and step by
    /// step: a window would not answer its display while it waits for the test.
    pub fn run(runtime: &Runtime, arguments: &[&str], desktop: Option<&Desktop>) -> Self {
        let mut command = runtime.command(env!("CARGO_BIN_EXE_sinew"));
        command.args(arguments).arg("--report").env_remove("WAYLAND_DISPLAY");
        match desktop {
            Some(desktop) => command.env("DISPLAY", &desktop.name).env("SINEW_VK_SYNC", "1"),
            None => command.env_remove("DISPLAY"),
        };
        let app = Self::spawn(command, runtime.folder.path());
        if desktop.is_none() { app.step_by_step() } else { app }
    }

    /// Waits until `wanted` accepts a frame. Fails after `most` rendered frames or if the program ends. Frames
    /// without an image are not counted, so a timeout limits the wait for a rendered frame.
    pub fn until_frame(&mut self, most: usize, what: &str, mut wanted: impl FnMut(&Frame) -> bool) {
        let (mut seen, mut last) = (0, Instant::now());
        while let Some(line) = self.next() {
            if let ReportLine::Frame(frame) = line {
                if wanted(&frame) {
                    return;
                }
                if frame.rendered {
                    (seen, last) = (seen + 1, Instant::now());
                }
                assert!(
                    seen < most && last.elapsed() < PATIENCE,
                    "not {what} within {most} frames: {:?}; events {:?}",
                    self.frame,
                    self.events
                );
            }
        }
        self.gone(what)
    }

    /// Waits until the program has reported `count` more frames.
    pub fn frames(&mut self, count: u64) {
        let end = self.frame.frame + count;
        self.until_frame(count as usize + 2, "running on", |f| f.frame >= end);
    }

    /// Runs a command as if the user pressed its button, then waits two frames.
    pub fn press(&mut self, command: Press) {
        self.ask(&Ask::Command(command));
        self.frames(2);
    }

    /// Captures the images of both eyes side by side, saves them as a PNG file and returns them.
    pub fn picture(&mut self, name: &str) -> image::RgbImage {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("headset");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name).with_extension("png");
        self.ask(&Ask::Picture(path.clone()));
        self.event("a picture", |e| matches!(e, Event::Written(p) if *p == path).then_some(()));
        image::open(&path).unwrap().into_rgb8()
    }

    /// Quits the program as its user would. Checks its exit status and that Vulkan's validation layer found nothing.
    pub fn quit(mut self) -> Vec<Event> {
        self.ask(&Ask::Quit);
        self.ended()
    }
}

/// Plays a script at one step per frame. Waits for a frame with each state before sending the next.
pub fn play(puppet: &mut Puppet, app: &mut App, script: &str) {
    let mut player = Player::new(Script::read(script, Path::new("scenario")).unwrap());
    while player.advance(STEP, &mut puppet.state) {
        show(puppet, app);
    }
}

/// Sends the puppet's state and waits until the program reports a new frame with this state. Frames report no buttons;
/// a button must stay pressed for two steps, because the first new frame may have begun before.
pub fn show(puppet: &mut Puppet, app: &mut App) {
    app.catch_up();
    puppet.send().unwrap();
    let (state, room) = (puppet.state.clone(), app.room_from_stage);
    app.until_frame(300, "at the puppet's state", |frame| {
        let near_head = frame.head.position.distance(room.point(state.head.position)) < 1e-3
            && frame.head.orientation.angle_between(room.orientation * state.head.orientation) < 2e-3;
        near_head
            && (0..2).all(|i| {
                let hand = &state.hands[i];
                let near = frame.aim[i].position.distance(room.point(hand.pose.position)) < 1e-3
                    && frame.aim[i].orientation.angle_between(room.orientation * hand.pose.orientation)
                        < 2e-3;
                let pressed = (frame.draw[i] - hand.trigger).abs() < 1e-3
                    && (frame.grab[i] - hand.squeeze).abs() < 1e-3
                    && (0..2).all(|k| (frame.stick[i][k] - hand.stick[k]).abs() < 1e-3);
                if hand.active {
                    near && pressed && frame.tracking[i] == Tracking::Tracked
                } else {
                    frame.tracking[i] == Tracking::Lost
                }
            })
    });
}
