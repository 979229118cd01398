//! Export: glTF, OBJ, and atomic file writes.
//!
//! A loaded file is exported by editing its original JSON and buffers ([`crate::asset::Source`]). This preserves
//! content unknown to Sinew: extensions, extras, materials, cameras, names.

mod atomic;
mod builder;
mod clips;
mod diff;
mod evaluate;
mod files;
mod fit;
mod glb;
mod influences;
mod locals;
mod morph;
mod obj;
mod plain;
mod posed;
pub mod project;
mod prune;
mod receipt;
mod reread;
mod shading;
mod shared;
mod surfaces;
mod targets;
mod weigh;
mod weights;

pub use atomic::write_atomically;
pub use builder::{Builder, Usage, number, numbers};

pub use evaluate::{Drawn, Moment, evaluate};
pub use files::{is_model, write_model};
pub use fit::within_budget;
pub(crate) use glb::container;
pub use influences::Reduction;
pub use obj::obj;
pub use posed::{Clips, Export, Key, Options, Shape, posed, streamed};
pub use receipt::{KeyReceipt, Receipt};
pub use shared::{Shared, SharedShape};
pub use surfaces::{Surface, Surfaces};
pub use weigh::{RigBone, Weighed, ordered_bones, reweigh, rig, weigh, weigh_again};

use crate::asset::Asset;
use crate::base::Result;

/// Writes the loaded file unchanged as a .glb: semantically identical, with buffers and images packed into one file.
///
/// For a .glb with one buffer, the binary chunk stays identical byte for byte, and the JSON keeps its keys in order.
///
/// # Errors
/// A buffer is shorter than its declared length, or the result exceeds 4 GiB.
pub fn unedited(asset: &Asset) -> Result<Vec<u8>> {
    Builder::of(asset)?.glb()
}
