//! Takes: what the devices said in a session, frame by frame, so that replaying it gives the same document.
//!
//! A binary file: a magic number and a version, then records of `length, payload, checksum`, little endian. The
//! payload begins with its kind. The checksum (64 bits of BLAKE3) covers the payload and the checksum before it, so that a
//! record that is torn, changed, repeated or out of place ends the take; what is before it still replays. The first
//! record says on what the take was made, the last one, where the session ended in order, to what it led.

mod codec;
mod read;
mod record;
mod replay;

pub use read::{TakeReader, TornTake, is_take};
pub use record::Recorder;
pub use replay::Replay;

use crate::document::{AssetRef, Operation, Session};
use crate::render::{Tangents, View};
use crate::scene::Model;
use crate::surface::Sculpt;
use crate::workbench::{Command, Input, Preferences, Rigid, Rules, Similarity};
use serde::{Deserialize, Serialize};

/// The file's first bytes.
const MAGIC: [u8; 8] = *b"sinewtk\0";
/// Version of the format that is written. Version 1 went by other rules for views, [`Rules::First`].
const VERSION: u32 = 2;

/// Where an eye was and how far it saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eye {
    /// Room from eye.
    pub pose: Rigid,
    /// Angles to the left, right, upper and lower edge of the picture, radians; left and down are negative in a
    /// symmetric view.
    pub fov: [f32; 4],
}

impl Default for Eye {
    fn default() -> Self {
        let quarter = std::f32::consts::FRAC_PI_4;
        Self { pose: Rigid::default(), fov: [-quarter, quarter, quarter, -quarter] }
    }
}

impl Eye {
    /// Distance of the near plane, metres of the room.
    pub const NEAR: f32 = 0.05;

    /// What it sees of the world; `None` if the angles make no picture.
    pub fn view(&self, world_from_room: &Similarity) -> Option<View> {
        let [left, right, up, down] = self.fov.map(f32::tan);
        let flat = self.fov.iter().any(|a| !a.is_finite() || a.abs() >= std::f32::consts::FRAC_PI_2);
        if flat || right - left < 1e-3 || up - down < 1e-3 {
            return None;
        }
        let eye = world_from_room.rigid(&self.pose);
        let near = Self::NEAR * world_from_room.scale;
        Some(View::new(eye.position, eye.orientation, Tangents { left, right, up, down }, near))
    }
}

/// One frame of a take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TakeFrame {
    /// What [`crate::workbench::Workbench::step`] got.
    pub input: Input,
    /// Left and right eye, as the frame was drawn.
    pub eyes: [Eye; 2],
}

/// On what a take was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TakeStart {
    /// The character's file.
    pub asset: AssetRef,
    /// What led to the document and its history before the first frame.
    pub operations: Vec<Operation>,
    /// The user's choices before the first frame.
    pub preferences: Preferences,
    /// Width and height of an eye's picture, pixels.
    pub eye_size: [u32; 2],
}

impl TakeStart {
    /// A session as it stands, undo and redo included.
    pub fn new(model: &Model, session: &Session<'_>, preferences: &Preferences, eye_size: [u32; 2]) -> Self {
        let preferences = preferences.clone();
        Self { asset: model.file(), operations: session.recording(), preferences, eye_size }
    }
}

/// How a take ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeEnd {
    /// [`crate::document::Document::hash`] after the last frame.
    pub document: String,
    /// How many frames there were.
    pub frames: u64,
}

/// What happened, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum TakeEvent {
    /// A frame: [`crate::workbench::Workbench::step`].
    Frame(Box<TakeFrame>),
    /// A panel's or a key's command: [`crate::workbench::Workbench::run_command`].
    Command(Command),
    /// Another file was loaded: [`crate::workbench::Workbench::open`] on what this starts with.
    Opened(Box<TakeStart>),
    /// A sculpt layer that was made beside the frames: [`crate::workbench::Workbench::receive`].
    Shape(Box<Sculpt>),
    /// The runtime went or the headset was taken off: [`crate::workbench::Workbench::interrupt`].
    Interrupt,
    /// The session ended in order.
    End(TakeEnd),
}

/// Kinds of record.
mod kind {
    pub const START: u8 = 0;
    pub const FRAME: u8 = 1;
    pub const COMMAND: u8 = 2;
    pub const OPENED: u8 = 3;
    pub const END: u8 = 4;
    pub const INTERRUPT: u8 = 5;
    pub const SHAPE: u8 = 6;
}

/// The longest payload of a kind, bytes.
fn longest(kind: u8) -> u32 {
    match kind {
        kind::START | kind::OPENED | kind::SHAPE => 1 << 28,
        kind::FRAME => codec::LONGEST as u32,
        kind::INTERRUPT => 1,
        _ => 1 << 16,
    }
}

/// The chained checksum of a record.
fn checksum(chain: u64, payload: &[u8]) -> u64 {
    let mut hash = blake3::Hasher::new();
    hash.update(&chain.to_le_bytes());
    hash.update(payload);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests;
