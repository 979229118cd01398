//! Takes: recordings of the device input of a session, frame by frame. A replay gives the identical document.
//!
//! A take is a binary file: a magic number and a version, then records of `length, payload, checksum`, little endian.
//! The first byte of the payload is its kind. The checksum (64 bits of BLAKE3) covers the payload and the previous
//! checksum, so a reader detects a truncated, changed, repeated or misplaced record. The take ends at that record; the
//! records before it still replay. The first record holds the initial state; the last record of a complete session
//! holds the document hash.

mod codec;
mod read;
mod record;
mod replay;

pub use read::{TakeReader, TornTake, is_take};
pub use record::Recorder;
pub use replay::Replay;

use crate::cage::Cage;
use crate::document::{AssetRef, Operation, Session};
use crate::render::{Tangents, View};
use crate::scene::DrawnBones;
use crate::scene::Model;
use crate::surface::Sculpt;
use crate::workbench::{Command, Input, Preferences, Rigid, Rules, Similarity};
use serde::{Deserialize, Serialize};

/// Magic number at the start of the file.
const MAGIC: [u8; 8] = *b"sinewtk\0";
/// Current version of the format. Earlier versions have other rules, see [`Rules`].
const VERSION: u32 = 14;

/// Pose and field of view of an eye.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eye {
    /// Pose of the eye in room space.
    pub pose: Rigid,
    /// Angles of the left, right, upper and lower edge of the image, radians. Left and down are negative in a
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
    /// Distance of the near plane from the eye, metres in room space.
    pub const NEAR: f32 = 0.05;

    /// The eye's view in world space; `None` if the angles are invalid.
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
    /// Input of [`crate::workbench::Workbench::step`].
    pub input: Input,
    /// Left and right eye, as rendered in this frame.
    pub eyes: [Eye; 2],
}

/// Initial state of a take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TakeStart {
    /// Reference to the character's file.
    pub asset: AssetRef,
    /// Operations that produce the document and its history before the first frame.
    pub operations: Vec<Operation>,
    /// User preferences before the first frame.
    pub preferences: Preferences,
    /// Width and height of the image per eye, pixels.
    pub eye_size: [u32; 2],
}

impl TakeStart {
    /// Captures the state of a session, including undo and redo history.
    pub fn new(model: &Model, session: &Session<'_>, preferences: &Preferences, eye_size: [u32; 2]) -> Self {
        let preferences = preferences.clone();
        Self { asset: model.file(), operations: session.recording(), preferences, eye_size }
    }
}

/// End record of a take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeEnd {
    /// [`crate::document::Document::hash`] after the last frame.
    pub document: String,
    /// Number of frames.
    pub frames: u64,
}

/// An event of a take, in recorded order.
#[derive(Clone, Debug, PartialEq)]
pub enum TakeEvent {
    /// A frame: [`crate::workbench::Workbench::step`].
    Frame(Box<TakeFrame>),
    /// A command of a panel or key: [`crate::workbench::Workbench::run_command`].
    Command(Command),
    /// Another file was opened: [`crate::workbench::Workbench::open`] with this state.
    Opened(Box<TakeStart>),
    /// A sculpt layer from a background job: [`crate::workbench::Workbench::receive`].
    Shape(Box<Sculpt>),
    /// Joints of drawn bones from a background job: [`crate::workbench::Workbench::receive_bones`].
    Bones(Box<DrawnBones>),
    /// A cage that a background job made, with messages for the user. See [`crate::workbench::Workbench::receive_cage`].
    Cage(Box<(Cage, Vec<String>)>),
    /// The coupling of the document's cage: [`crate::workbench::Workbench::know_coupling`].
    Coupled,
    /// The runtime was lost or the headset was removed: [`crate::workbench::Workbench::interrupt`].
    Interrupt,
    /// The session ended normally.
    End(TakeEnd),
}

/// Record kinds.
mod kind {
    pub const START: u8 = 0;
    pub const FRAME: u8 = 1;
    pub const COMMAND: u8 = 2;
    pub const OPENED: u8 = 3;
    pub const END: u8 = 4;
    pub const INTERRUPT: u8 = 5;
    pub const SHAPE: u8 = 6;
    pub const BONES: u8 = 7;
    pub const CAGE: u8 = 8;
    pub const COUPLED: u8 = 9;
}

/// Maximum payload length of a kind, bytes.
fn longest(kind: u8) -> u32 {
    match kind {
        kind::START | kind::OPENED | kind::SHAPE | kind::CAGE => 1 << 28,
        kind::FRAME => codec::LONGEST as u32,
        kind::INTERRUPT | kind::COUPLED => 1,
        _ => 1 << 16,
    }
}

/// Checksum of a record, chained to the previous one.
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
