//! What a session says of itself and takes as requests, one JSON value a line, for tests and scripts:
//! `sinew vr FILE --report` writes [`Line`]s to standard output and reads [`Ask`]s from standard input.
//!
//! ```text
//! {"frame":{"frame":812,"state":"FOCUSED","rendered":true, ...}}
//! {"event":{"hash":"5e0c..."}}
//! ```

use crate::base::{Error, Result};
use crate::ui::palette::Strain;
use crate::workbench::{Rigid, Similarity, Tool, Tracking};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

/// One line of standard output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// After every frame that the runtime took (xrEndFrame), and every turn of the loop where there is no session.
    Frame(Box<Frame>),
    /// After every turn of a window's loop: an idle window writes none.
    #[serde(rename = "desk")]
    Window(Box<WindowFrame>),
    /// Something that happens now and then, before the line of its frame.
    Event(Event),
}

/// What a frame was made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Frame {
    /// Counts from 1 and never falls, over lost sessions too.
    pub frame: u64,
    /// The session's state as OpenXR calls it, e.g. `FOCUSED`; `NONE` without a session.
    pub state: String,
    /// Whether the runtime asked for pictures (`shouldRender`) and got them.
    pub rendered: bool,
    /// Frames that were begun and could not be ended, so far.
    pub missed: u64,
    /// Pictures that the mirror on the display has shown so far.
    pub mirrored: u64,
    /// The head in the room, between the eyes.
    pub head: Rigid,
    /// Aim poses in the room, left and right.
    pub aim: [Rigid; 2],
    /// Their quality.
    pub tracking: [Tracking; 2],
    /// Draw value (trigger) of each hand.
    pub draw: [f32; 2],
    /// Interaction profile of each hand, e.g. `/interaction_profiles/valve/index_controller`; empty where none is.
    pub profiles: [String; 2],
    /// Where the room is in the world.
    pub world_from_room: Similarity,
    /// What the trigger does.
    pub tool: Tool,
    /// Tools in the left hand.
    pub left_handed: bool,
    /// Whether the palette is shown.
    pub palette: bool,
    /// Where it stands in the room: its middle, and width and height, metres. None while it does not show.
    pub palette_place: Option<(Rigid, [f32; 2])>,
    /// Whether a stroke or a grab is under way.
    pub busy: bool,
    /// Steps that can be undone and redone.
    pub history: [usize; 2],
    /// The time of the motion that shows, seconds; none while the pose being edited does.
    pub time: Option<f64>,
    /// Points of the skin under each hand, world, where its camera sees the body.
    pub surface: [Option<[f32; 3]>; 2],
}

/// A turn of a window's loop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WindowFrame {
    /// Counts turns from 1.
    pub frame: u64,
    /// Pictures shown so far: a turn in which nothing looks otherwise shows none.
    pub shown: u64,
    /// Pixels of the window.
    pub size: [u32; 2],
    /// Pixels per point.
    pub scale: f32,
    /// Where the character's picture is in the window: left, top, width, height, pixels.
    pub viewport: [u32; 4],
    /// Columns of the matrix from the world to that picture's clip space (y up, reversed depth).
    pub clip_from_world: [f32; 16],
    /// Where the pointer was last, pixels of the window.
    pub pointer: [f32; 2],
    /// Whether a button or a pen is down.
    pub pressed: bool,
    /// Pressure of the pen, 0..=1; none from a mouse.
    pub pressure: Option<f32>,
    /// What the first button does.
    pub tool: Tool,
    /// Whether a stroke or a grab is under way.
    pub busy: bool,
    /// Steps that can be undone and redone.
    pub history: [usize; 2],
    /// The time of the motion that shows, seconds; none while the pose being edited does.
    pub time: Option<f64>,
    /// Whether it runs.
    pub playing: bool,
    /// Where the divider between two deformers is, share of the picture's width; none while one fills it.
    pub divider: Option<f32>,
    /// Whether there is something that is on no disk but in the journal.
    pub unsaved: bool,
    /// The line that is shown to the user, empty where there is none.
    pub message: String,
    /// The title of the question that should be answered, empty where there is none.
    pub question: String,
    /// Nothing is under way: no job, no picture to be made; the next turn comes with an event.
    pub idle: bool,
}

/// Something that happens now and then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A character is loaded, bound and shown.
    Loaded(PathBuf),
    /// The document changed: its hash.
    Hash(String),
    /// It is on the stage with the deformation method of this name.
    Shown(String),
    /// What that deformation did to the body, as the palette shows it.
    Measured(Strain),
    /// The session's state changed, to this.
    State(String),
    /// The session or the instance was lost; what the runtime said.
    Lost(String),
    /// There is no runtime or no headset: the advice that was given.
    NoRuntime(String),
    /// Written: project, export or picture.
    Written(PathBuf),
    /// The runtime moved the room's origin.
    Recentred,
    /// An [`Ask`] or something asked for by a user failed.
    Failed(String),
    /// The program ends well.
    Ended,
}

/// One line of standard input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Write what both eyes see, side by side, as .png; answered by [`Event::Written`].
    Picture(PathBuf),
    /// Any command, as if pressed.
    Command(crate::workbench::Command),
    /// End the session as its user would.
    Quit,
}

/// Writes lines, reads requests; or does neither.
pub struct Reporter {
    asked: Option<Receiver<Result<Ask>>>,
}

impl Reporter {
    /// Reports where `on`, with a thread that waits for lines of standard input and calls `wake` after each: a loop that
    /// waits for events is to look for [`Reporter::asked`]. The end of standard input is no request; the program goes
    /// on.
    pub fn new(on: bool, wake: impl Fn() + Send + 'static) -> Self {
        if !on {
            return Self { asked: None };
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
        Self { asked: Some(asked) }
    }

    /// Whether anybody reads: spare the work of filling a [`Frame`] where not.
    pub fn is_on(&self) -> bool {
        self.asked.is_some()
    }

    /// Writes a frame's line.
    pub fn frame(&self, frame: Frame) {
        self.line(&Line::Frame(Box::new(frame)));
    }

    /// Writes the line of a window's turn.
    pub fn window(&self, frame: WindowFrame) {
        self.line(&Line::Window(Box::new(frame)));
    }

    /// Writes an event's line.
    pub fn event(&self, event: Event) {
        self.line(&Line::Event(event));
    }

    /// The next request, without waiting; what is none is answered by [`Event::Failed`] and passed over.
    pub fn asked(&self) -> Option<Ask> {
        loop {
            match self.asked.as_ref()?.try_recv().ok()? {
                Ok(ask) => return Some(ask),
                Err(error) => self.event(Event::Failed(error.to_string())),
            }
        }
    }

    fn line(&self, line: &Line) {
        if self.is_on() {
            // A reader that has gone away is no reason to stop. One write a line, so that no reader sees halves.
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
        for line in
            [Line::Frame(Box::new(frame)), Line::Event(Event::Hash("5e0c".into())), Line::Event(Event::Ended)]
        {
            let text = serde_json::to_string(&line).unwrap();
            assert!(!text.contains('\n'));
            assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line, "{text}");
        }
    }

    #[test]
    fn requests_are_short_and_what_is_none_is_refused() {
        assert_eq!(ask("\"quit\"").unwrap(), Ask::Quit);
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
