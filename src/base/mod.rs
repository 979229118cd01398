//! Math types, typed ids and errors. This module depends on no other module, no GPU and no file format.

mod count;
mod error;
pub mod folders;
mod id;
pub mod math;
mod percent;
mod progress;
mod random;
#[doc(hidden)]
pub mod testing;
mod turn;
mod version;

pub use count::{ago, counted};
pub use error::{Error, Result};
pub use id::*;
pub use percent::percent_decoded;
pub use progress::Progress;
pub use random::Random;
pub use version::Version;

/// Maximum length of the name of a stroke, a mark, a region or a sculpt layer, bytes.
pub const MAX_NAME: usize = 1024;
