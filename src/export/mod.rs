//! Export: glTF, OBJ, and atomic file writes.
//!
//! A loaded file is exported by editing its own JSON and buffers ([`crate::asset::Source`]), so that
//! content unknown to Sinew (extensions, extras, materials, cameras, names) is preserved.

mod atomic;
mod builder;
mod clips;
#[cfg(test)]
mod clips_tests;
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
pub use surfaces::{Surface, Surfaces};
pub use weigh::{Weighed, weigh};

use crate::asset::Asset;
use crate::base::Result;

/// The file as loaded, as a .glb: semantically identical, with buffers and images packed into the one file.
///
/// A .glb with one buffer keeps its binary chunk byte for byte and its JSON's keys and values in order.
///
/// # Errors
/// A buffer is shorter than its declared length, or the result exceeds 4 GiB.
pub fn unedited(asset: &Asset) -> Result<Vec<u8>> {
    Builder::of(asset)?.glb()
}
