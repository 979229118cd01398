//! Runs `sinew ... --report` as a child process, reads its report line by line and sends it requests.
//!
//! The tests count the program's frames instead of clock time. A timeout only catches a program that hangs.

use sinew::app::report::{Ask, Event, Frame, ReportLine, Text, WindowFrame};
use sinew::base::math::{Mat4, Vec3};
use sinew::workbench::Rigid;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Longest silence before a test reports a hang. Pipeline creation on a busy machine takes seconds.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The program under test.
pub struct Program {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<ReportLine>,
    /// The newest frame report of the headset.
    pub frame: Frame,
    /// The newest frame report of the window.
    pub turn: WindowFrame,
    /// All events that the program has reported so far.
    pub events: Vec<Event>,
    /// Transform from the puppet's space to the program's room space. Recentring changes this transform.
    pub room_from_stage: Rigid,
    errors: Option<std::thread::JoinHandle<String>>,
    /// Whether the command sets `SINEW_VALIDATION`, which enables Vulkan's validation layer.
    validates: bool,
    /// Whether the headset shows a frame only when the test reads on.
    steps: bool,
    /// Whether the program waits for a step.
    waits: bool,
}

impl Program {
    /// Starts a command that runs `sinew ... --report` in a folder with private settings and journals.
    pub fn spawn(mut command: Command, folder: &Path) -> Self {
        command.current_dir(folder);
        // Keeps the user's own settings and journals out of the test.
        command.env("XDG_STATE_HOME", folder.join("state")).env("XDG_CONFIG_HOME", folder.join("settings"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let validates = command.get_envs().any(|(name, value)| name == "SINEW_VALIDATION" && value.is_some());
        let mut child = command.spawn().unwrap();
        let (output, errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // Vulkan's validation layer prints a plain line that names its output. Report lines are JSON objects.
                if !line.starts_with('{') {
                    continue;
                }
                let line = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{line}: {e}"));
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let errors = std::thread::spawn(move || std::io::read_to_string(errors).unwrap_or_default());
        let input = child.stdin.take();
        let (frame, turn, events) = (Frame::default(), WindowFrame::default(), Vec::new());
        let room_from_stage = Rigid::default();
        let errors = Some(errors);
        let (steps, waits) = (false, false);
        Self { child, input, lines, frame, turn, events, room_from_stage, errors, validates, steps, waits }
    }

    /// Makes the headset wait after each frame until the test reads on, so that no frame passes between what the test
    /// sees and what it does.
    pub fn step_by_step(mut self) -> Self {
        self.ask(&Ask::Step);
        self.steps = true;
        self
    }

    /// Returns the next report line, or `None` at the end of the output.
    pub fn next(&mut self) -> Option<ReportLine> {
        if std::mem::take(&mut self.waits) {
            // A program that has ended reads no more; its last lines are still there.
            let _ = self.tell(&Ask::Step);
        }
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                self.note(&line);
                Some(line)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                let words = self.words();
                let last = self.events.last();
                panic!("the program hangs after {:?}; {:?}; {last:?}; {words}", self.frame, self.turn)
            }
        }
    }

    /// Reads all lines that the program has reported by now, so that the next line is a new one.
    pub fn catch_up(&mut self) {
        while let Ok(line) = self.lines.try_recv() {
            self.note(&line);
        }
    }

    fn note(&mut self, line: &ReportLine) {
        match line {
            ReportLine::Frame(frame) => {
                assert!(frame.frame >= self.frame.frame, "frames count backwards");
                self.frame = (**frame).clone();
                self.waits = self.steps;
            }
            ReportLine::Window(turn) => {
                assert!(turn.frame > self.turn.frame, "turns count backwards");
                self.turn = (**turn).clone();
            }
            ReportLine::Event(event) => self.events.push(event.clone()),
        }
    }

    /// Panics with a message that the program ended before `what` happened.
    pub fn gone(&mut self, what: &str) -> ! {
        let words = self.words();
        panic!("the program ended without {what}: {:?}; {words}", self.events);
    }

    /// Waits until `wanted` returns a value for a new event, and returns this value. A timeout limits the wait, because
    /// reports of frames without an event may go on forever.
    pub fn event<T>(&mut self, what: &str, mut wanted: impl FnMut(&Event) -> Option<T>) -> T {
        let begin = Instant::now();
        while let Some(line) = self.next() {
            if let ReportLine::Event(event) = &line
                && let Some(value) = wanted(event)
            {
                return value;
            }
            assert!(begin.elapsed() < PATIENCE, "no {what}: {line:?}; {:?}", self.events);
        }
        self.gone(what)
    }

    /// Waits until `wanted` accepts a frame report of the window. The newest report may match already.
    pub fn until(&mut self, what: &str, mut wanted: impl FnMut(&WindowFrame) -> bool) {
        while !wanted(&self.turn) {
            if self.next().is_none() {
                self.gone(what);
            }
        }
    }

    /// Waits until the window is idle and has presented an image.
    pub fn rest(&mut self) {
        self.until("rest", |t| t.idle && t.shown > 0);
    }

    /// Projects a world-space point to pixels of the window.
    pub fn pixel(&self, world: Vec3) -> [f32; 2] {
        let clip = Mat4::from_cols_array(&self.turn.clip_from_world) * world.extend(1.0);
        let [x, y, width, height] = self.turn.viewport.map(|v| v as f32);
        [x + (clip.x / clip.w * 0.5 + 0.5) * width, y + (0.5 - clip.y / clip.w * 0.5) * height]
    }

    /// Writes a request to the standard input of the program.
    pub fn ask(&mut self, ask: &Ask) {
        self.tell(ask).unwrap();
    }

    fn tell(&mut self, ask: &Ask) -> std::io::Result<()> {
        let mut line = serde_json::to_string(ask).unwrap();
        line.push('\n');
        self.input.as_mut().unwrap().write_all(line.as_bytes())
    }

    /// Returns the texts of all visible panels.
    pub fn texts(&mut self) -> Vec<Text> {
        self.ask(&Ask::Texts);
        self.event("the texts", |e| if let Event::Texts(t) = e { Some(t.clone()) } else { None })
    }

    /// Returns the document's hash from the newest [`Event::Hash`].
    pub fn hash(&self) -> String {
        let hash = self.events.iter().rev().find_map(|e| if let Event::Hash(h) = e { Some(h) } else { None });
        hash.expect("no hash was told").clone()
    }

    /// Returns the resident memory of the program, bytes.
    pub fn memory(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).unwrap();
        4096 * text.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
    }

    /// Waits until the program exits, and checks for success. Returns all events and the text of standard error.
    pub fn finish(&mut self) -> (Vec<Event>, String) {
        while self.next().is_some() {}
        let status = self.child.wait().unwrap();
        let events = std::mem::take(&mut self.events);
        let words = self.words();
        assert!(status.success(), "{status}: {words}; {events:?}");
        assert!(matches!(events.last(), Some(Event::Ended)), "{events:?}");
        assert!(!words.contains("panicked"), "{words}");
        (events, words)
    }

    /// Checks for a successful exit without findings of Vulkan's validation layer. Returns all events.
    pub fn ended(mut self) -> Vec<Event> {
        let (events, words) = self.finish();
        // With `SINEW_VALIDATION`, Sinew refuses to start if the validation layer is missing.
        let switched_on = words.contains("Khronos Validation Layer Active") || self.validates;
        assert!(switched_on, "Vulkan's validation layer did not run: {words}");
        let finding = |l: &&str| {
            l.contains("Vulkan validation")
                || l.starts_with("Validation ") && !l.starts_with("Validation Information")
        };
        assert_eq!(words.lines().find(finding), None, "{words}");
        events
    }

    /// Kills the program as `kill -9` does.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Kills the program and returns the complete text of its standard error.
    pub fn words(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.errors.take().and_then(|e| e.join().ok()).unwrap_or_default()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
