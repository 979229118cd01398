//! The document, its edits and their inverses, animation keys, and the journal.

mod asset_ref;
mod canonical;
mod channel;
mod clip_layer;
mod contents;
mod demo;
mod dope;
mod easing;
mod gesture;
mod grip_edit;
mod journal;
mod key_clip;
mod key_edit;
mod keys;
mod library;
mod limit_edit;
mod motion;
mod motion_export;
#[cfg(test)]
mod motion_tests;
mod operation;
mod sampler;
mod sculpt_edit;
mod session;
mod state;
#[cfg(test)]
mod testing;

pub use asset_ref::AssetRef;
pub use channel::{Channel, MAX_KEYS, Target};
pub use clip_layer::ClipLayer;
pub use contents::{DeformerSettings, Document};
pub use demo::{DemoStroke, demo_edits, demo_strokes};
pub use dope::{DopeSheet, Row, Subject, dope_sheet};
pub use easing::{Easing, KeyCurves, SAME_KEY};
pub use gesture::{Gesture, LONGEST_RECORDING, Recording, gesture};
pub use journal::{Journal, recover};
pub use journal::{LastSave, Recovered, Torn};
pub use journal::{discard_journal, journal_folder, journal_path, open_journals, unfinished_journals};
pub use key_clip::KeyClip;
pub use key_edit::{KeyAt, KeyEdit, KeyPart, KeyValue, Slot};
pub use library::{KeptPose, mirrored_pose};
pub use motion::{FRAME_RATES, Key, Motion};
pub use operation::{CageMove, Context, Edit, Operation, StrokeLine};
pub use sampler::Sampler;
pub use session::{Loader, Session};
pub use state::State;
#[cfg(test)]
pub(crate) use testing::{asset, session};
