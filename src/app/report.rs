//! The line protocol of tests and scripts, one JSON value per line: `sinew vr FILE --report` writes [`ReportLine`]s to
//! standard output and reads [`Ask`]s from standard input.
//!
//! ```text
//! {"frame":{"frame":812,"state":"FOCUSED","rendered":true, ...}}
//! {"event":{"hash":"5e0c..."}}
//! ```
//!
//! The headset shows frame after frame without waiting for the reader, until the first [`Ask::Step`]. From then on, it
//! waits after each frame for the next step, so that no frame passes between what the reader sees and what it does.

use crate::base::{Error, Result};
use crate::ui::palette::Strain;
use crate::workbench::{Haptic, Rigid, Similarity, Tool, Tracking};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

/// One line of standard output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportLine {
    /// Written after every successful `xrEndFrame` and, without an OpenXR session, in every iteration of the loop.
    Frame(Box<Frame>),
    /// Written after every iteration of the window's event loop; an idle window writes no lines.
    #[serde(rename = "desk")]
    Window(Box<WindowFrame>),
    /// A rare event, written before the line of its frame.
    Event(Event),
}

/// State of one headset frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Frame {
    /// Frame number, from 1; it continues to count after a lost session.
    pub frame: u64,
    /// The OpenXR session state, e.g. `FOCUSED`; `NONE` without a session.
    pub state: String,
    /// Whether the runtime asked for images (`shouldRender`) and they were rendered.
    pub rendered: bool,
    /// Number of frames so far with `xrBeginFrame` but without a successful `xrEndFrame`.
    pub missed: u64,
    /// Number of frames that the mirror window has shown so far.
    pub mirrored: u64,
    /// Pose of the head, midway between the eyes, in room space.
    pub head: Rigid,
    /// Aim poses of the left and the right controller, in room space.
    pub aim: [Rigid; 2],
    /// Tracking quality of the two aim poses.
    pub tracking: [Tracking; 2],
    /// Trigger value of each hand, 0..=1, left and right.
    pub draw: [f32; 2],
    /// Squeeze value of each hand, 0..=1.
    pub grab: [f32; 2],
    /// Thumbstick position of each hand (right, up), -1..=1.
    pub stick: [[f32; 2]; 2],
    /// Interaction profile of each hand, e.g. `/interaction_profiles/valve/index_controller`; empty if there is none.
    pub profiles: [String; 2],
    /// Transform from room space to world space.
    pub world_from_room: Similarity,
    /// The active tool, which the trigger operates.
    pub tool: Tool,
    /// Whether the left hand holds the tool.
    pub left_handed: bool,
    /// Whether the tool palette is visible.
    pub palette: bool,
    /// Pose of the palette's centre in room space, and its size in metres; `None` while the palette is hidden.
    pub palette_place: Option<(Rigid, [f32; 2])>,
    /// Pose in the room and size of the visible details panel, metres.
    pub details_place: Option<(Rigid, [f32; 2])>,
    /// Whether a stroke or a grab is in progress.
    pub busy: bool,
    /// Number of undo steps and of redo steps.
    pub history: [usize; 2],
    /// Time of the displayed motion in seconds; `None` while the edited pose is displayed.
    pub time: Option<f64>,
    /// For the left and the right hand: the skin point at which the hand points, in world space. `None` if the hand's
    /// probe camera does not see the body.
    pub surface: [Option<[f32; 3]>; 2],
}

/// State after one iteration of the window's event loop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WindowFrame {
    /// Iteration number, from 1.
    pub frame: u64,
    /// Number of images presented so far; an iteration without a visible change presents no image.
    pub shown: u64,
    /// Size of the window, pixels.
    pub size: [u32; 2],
    /// Display scale: pixels per egui point.
    pub scale: f32,
    /// Viewport of the character in the window: left, top, width, height, pixels.
    pub viewport: [u32; 4],
    /// Matrix from world space to the viewport's clip space (y up, reversed depth), column-major.
    pub clip_from_world: [f32; 16],
    /// Last position of the pointer in the window, pixels.
    pub pointer: [f32; 2],
    /// Number of keys that the user has pressed so far.
    pub keys: u64,
    /// Whether a mouse button or the pen is down.
    pub pressed: bool,
    /// Pen pressure, 0..=1; `None` for a mouse.
    pub pressure: Option<f32>,
    /// The active tool, which the primary button operates.
    pub tool: Tool,
    /// Whether a stroke or a grab is in progress.
    pub busy: bool,
    /// Number of undo steps and of redo steps.
    pub history: [usize; 2],
    /// Time of the displayed motion in seconds; `None` while the edited pose is displayed.
    pub time: Option<f64>,
    /// Whether the motion is playing.
    pub playing: bool,
    /// Divider between two compared deformers, as a fraction of the viewport's width; `None` without a comparison.
    pub divider: Option<f32>,
    /// Whether the document has changes that only the journal holds.
    pub unsaved: bool,
    /// The message shown to the user; empty if there is none.
    pub message: String,
    /// The title of the open dialog; empty if there is none.
    pub question: String,
    /// Whether no job is running and no image is due. If so, the event loop waits for an event before the next
    /// iteration.
    pub idle: bool,
}

/// An event that happens between frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A character is loaded and its skin is bound to its skeleton; holds the path of the file.
    Loaded(PathBuf),
    /// The document changed; holds its new hash.
    Hash(String),
    /// The character is on the stage; holds the name of its deformation method.
    Shown(String),
    /// Strain that the deformer causes in the body, as the palette displays it.
    Measured(Strain),
    /// The OpenXR session state changed; holds the new state.
    State(String),
    /// The OpenXR session or instance was lost; holds the message of the runtime.
    Lost(String),
    /// No runtime or no headset was found; holds the advice shown to the user.
    NoRuntime(String),
    /// A project, export or image was written; holds its path.
    Written(PathBuf),
    /// The texts of all visible panels; answers [`Ask::Texts`].
    Texts(Vec<Text>),
    /// The runtime moved the origin of room space.
    Recentred,
    /// A controller vibrates: the hand, 0 for left and 1 for right, and the reason.
    Felt(usize, Haptic),
    /// An [`Ask`] or an action of the user failed; holds the error message.
    Failed(String),
    /// The program ends without an error.
    Ended,
}

/// A text on a panel of the window or of the headset. In the window, the unit is pixels, and the third coordinate is 0.
/// In the headset, the unit is metres in room space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// The panel: `window`, or the name of a panel of the headset.
    pub panel: String,
    /// The text.
    pub text: String,
    /// Centre of the text, logical pixels of the panel.
    pub pixel: [f32; 2],
    /// Centre of the text.
    pub centre: [f32; 3],
    /// Vector of one logical pixel of the panel to the right.
    pub right: [f32; 3],
    /// Vector of one logical pixel of the panel downwards.
    pub down: [f32; 3],
}

/// One line of standard input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Writes the images of both eyes, side by side, as a .png file; answered by [`Event::Written`].
    Picture(PathBuf),
    /// Lists the texts of all visible panels; answered by [`Event::Texts`].
    Texts,
    /// Runs a command as if its button was pressed.
    Command(crate::workbench::Command),
    /// Lets the headset show one more frame; the first such request only makes it wait. Without effect in the window.
    Step,
    /// Ends the session like the user's Quit command.
    Quit,
}

/// Writes [`ReportLine`]s and reads [`Ask`]s; does nothing if reporting is off.
pub struct Reporter {
    asked: Option<Receiver<Result<Ask>>>,
    /// Requests that came while the headset waited for a step.
    kept: VecDeque<Ask>,
    steps: Steps,
}

/// How the headset's frames follow each other.
#[derive(Debug, PartialEq, Eq)]
enum Steps {
    /// A frame waits for nothing.
    Free,
    /// The next frame waits for a step.
    Wait,
    /// The next frame's step has come already.
    Due,
}

impl Reporter {
    /// Creates a reporter. If `on`, a thread reads lines of standard input and calls `wake` after each, so that an
    /// event loop can poll [`Reporter::asked`]. The end of standard input does not end the program.
    pub fn new(on: bool, wake: impl Fn() + Send + 'static) -> Self {
        if !on {
            return Self::reading(None);
        }
        let (send, asked) = channel();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if line.trim().is_empty() {
                    continue;
                }
                if send.send(ask(&line)).is_err() {
                    break;
                }
                wake();
            }
        });
        Self::reading(Some(asked))
    }

    fn reading(asked: Option<Receiver<Result<Ask>>>) -> Self {
        Self { asked, kept: VecDeque::new(), steps: Steps::Free }
    }

    /// Returns whether reporting is on; if not, callers need not fill a [`Frame`].
    pub fn is_on(&self) -> bool {
        self.asked.is_some()
    }

    /// Writes the line of a headset frame. After an [`Ask::Step`], waits for the next one.
    pub fn frame(&mut self, frame: Frame) {
        self.line(&ReportLine::Frame(Box::new(frame)));
        self.wait_for_step();
    }

    fn wait_for_step(&mut self) {
        while self.steps == Steps::Wait {
            match self.asked.as_ref().map(Receiver::recv) {
                Some(Ok(ask)) => {
                    let other = self.sorted(ask);
                    self.kept.extend(other);
                }
                // The end of standard input: nobody asks for steps any more.
                _ => self.steps = Steps::Free,
            }
        }
        if self.steps == Steps::Due {
            self.steps = Steps::Wait;
        }
    }

    /// Writes the line of an iteration of the window's event loop.
    pub fn window(&self, frame: WindowFrame) {
        self.line(&ReportLine::Window(Box::new(frame)));
    }

    /// Writes the line of an event.
    pub fn event(&self, event: Event) {
        self.line(&ReportLine::Event(event));
    }

    /// Returns the next request without blocking. Reports an invalid line with [`Event::Failed`] and skips it.
    pub fn asked(&mut self) -> Option<Ask> {
        self.kept.pop_front().or_else(|| self.received())
    }

    /// Returns the next request of the reading thread that is no step.
    fn received(&mut self) -> Option<Ask> {
        loop {
            let ask = self.asked.as_ref()?.try_recv().ok()?;
            let other = self.sorted(ask);
            if other.is_some() {
                return other;
            }
        }
    }

    /// Notes a step, reports an invalid line, and returns any other request.
    fn sorted(&mut self, ask: Result<Ask>) -> Option<Ask> {
        match ask {
            Ok(Ask::Step) => self.steps = if self.steps == Steps::Free { Steps::Wait } else { Steps::Due },
            Ok(ask) => return Some(ask),
            Err(error) => self.event(Event::Failed(error.to_string())),
        }
        None
    }

    fn line(&self, line: &ReportLine) {
        if self.is_on() {
            // Ignores a closed pipe. A single write per line prevents readers from seeing partial lines.
            let mut text = serde_json::to_string(line).unwrap_or_default();
            text.push('\n');
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
    }
}

fn ask(line: &str) -> Result<Ask> {
    serde_json::from_str(line).map_err(|e| {
        Error::input(
            format!("{line:?} is no request: {e}"),
            "write one like {\"picture\":\"eyes.png\"} or \"quit\"",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workbench::Command;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let frame = Frame {
            frame: 7,
            state: "FOCUSED".into(),
            surface: [None, Some([0.1, 1.0, -2.5])],
            tracking: [Tracking::Lost, Tracking::Tracked],
            ..Frame::default()
        };
        for line in [
            ReportLine::Frame(Box::new(frame)),
            ReportLine::Event(Event::Hash("5e0c".into())),
            ReportLine::Event(Event::Ended),
        ] {
            let text = serde_json::to_string(&line).unwrap();
            assert!(!text.contains('\n'));
            assert_eq!(serde_json::from_str::<ReportLine>(&text).unwrap(), line, "{text}");
        }
    }

    #[test]
    fn frames_pass_freely_until_the_first_step_and_then_each_waits_for_one() {
        let (send, asked) = channel();
        let mut reporter = Reporter::reading(Some(asked));
        reporter.frame(Frame::default());
        assert_eq!((reporter.asked(), &reporter.steps), (None, &Steps::Free));
        // The first step makes the headset wait; a request that is no step does not end the waiting, and is kept.
        send.send(Ok(Ask::Step)).unwrap();
        assert_eq!((reporter.asked(), &reporter.steps), (None, &Steps::Wait));
        send.send(Ok(Ask::Texts)).unwrap();
        send.send(Ok(Ask::Step)).unwrap();
        reporter.frame(Frame::default());
        assert_eq!(
            (reporter.asked(), reporter.asked(), &reporter.steps),
            (Some(Ask::Texts), None, &Steps::Wait)
        );
        // A step that comes early counts for the next frame.
        send.send(Ok(Ask::Step)).unwrap();
        assert_eq!((reporter.asked(), &reporter.steps), (None, &Steps::Due));
        reporter.frame(Frame::default());
        assert_eq!(reporter.steps, Steps::Wait);
        let end = std::thread::spawn(move || drop(send));
        reporter.frame(Frame::default());
        end.join().unwrap();
        assert_eq!(reporter.steps, Steps::Free);
    }

    #[test]
    fn requests_are_short_and_what_is_none_is_refused() {
        assert_eq!(ask("\"quit\"").unwrap(), Ask::Quit);
        assert_eq!(ask("\"step\"").unwrap(), Ask::Step);
        assert_eq!(ask("{\"picture\":\"a.png\"}").unwrap(), Ask::Picture("a.png".into()));
        assert_eq!(ask("{\"command\":\"undo\"}").unwrap(), Ask::Command(Command::Undo));
        assert_eq!(
            ask("{\"command\":{\"tool\":\"grab\"}}").unwrap(),
            Ask::Command(Command::Tool(Tool::Grab))
        );
        for bad in ["quit", "{}", "{\"picture\":1}", "{\"command\":\"fly\"}"] {
            assert!(ask(bad).unwrap_err().to_string().contains("is no request"), "{bad}");
        }
    }
}
