//! Strokes, posing, and the document: everything the user does to a character.
//!
//! A grab is kept as turns and shifts on top of the newest stroke ([`StrokeLayer::adjustments`]), or in the pose below all
//! strokes where there is none, so that an offset can still be drawn again below it. Marks are triangles and weights; segments
//! of a picture can be anchored to them, and the renderer puts those onto the surface that it draws.

mod canonical;
mod chains;
mod channel;
mod clip_layer;
mod demo;
mod document;
mod dope;
mod film;
mod frames;
mod gesture;
mod grab;
mod guide;
mod joints;
mod journal;
mod key_edit;
mod keys;
mod layer;
mod library;
mod limb;
mod linkage;
mod mark;
mod mirror;
mod motion;
#[cfg(test)]
mod motion_tests;
mod names;
mod operation;
mod pinned;
mod plane;
mod pose_file;
mod posing;
mod reduce;
mod region;
mod ring;
mod rotate;
mod sampler;
mod sculpt;
mod select;
mod session;
mod silsketch;
mod spline;
mod state;
mod stroke;
#[cfg(test)]
mod testing;
mod whole;
mod world;

pub use chains::{Chain, ChainKind, chains};
pub use channel::{Channel, MAX_KEYS, Target};
pub use clip_layer::ClipLayer;
pub use demo::{DemoStroke, demo_edits, demo_strokes};
pub use document::{AssetRef, DeformerSettings, Document};
pub use dope::{DopeSheet, Row, Subject, dope_sheet};
pub use frames::{Frames, Warp};
pub use gesture::{Gesture, gesture};
pub use grab::{Goal, Grab};
pub use guide::{line_mark, ring_mark};
pub use joints::{LimbJoint, limb_joints, move_joint, turn_joint};
pub use journal::{
    Journal, Recovered, Torn, discard_journal, journal_folder, journal_path, recover, unfinished_journals,
};
pub use key_edit::{KeyAt, KeyEdit, KeyValue, Slot};
pub use layer::{Adjustment, StrokeLayer};
pub use library::{KeptPose, mirrored_pose};
pub use mark::{MAX_MARK_POINTS, SurfacePoint, SurfaceStroke};
pub use mirror::{Mirror, Plane};
pub use motion::{FRAME_RATES, Key, Motion};
pub use names::named_node;
pub use operation::{Context, Edit, Line, Operation};
pub use plane::{WorkingPlane, ray_through};
pub use pose_file::{load_pose, parse_pose, pose_text, save_pose};
pub use posing::{Lengths, Poser, Posing, RootMotion, carries_all, pose_by_stroke};
pub use reduce::{reduce, tolerance_in_space, tolerance_in_window};
pub use region::{Reach, Region, Round, mirrored_mark};
pub use ring::{Ring, RingFinder, close as close_ring};
pub use rotate::{Axis, Turns, parse_rotation, rotate_joint};
pub use sampler::Sampler;
pub use sculpt::{Form, STIFFNESS, Sculpt, bind_sculpts, drawn, mirrored as mirrored_sculpt, turns};
pub use select::{Selected, posable, select};
pub use session::{Loader, Session};
pub use silsketch::{Accent, SilSketch, silsketch};
pub use spline::Spline;
pub use state::State;
pub use stroke::{MAX_KNOTS, Sample, Stroke};
pub use whole::WholeGrab;
