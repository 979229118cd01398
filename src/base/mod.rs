//! Leaf module: math names, typed ids and the error type. Knows no GPU and no file format.

mod error;
pub mod folders;
mod id;
pub mod math;
mod percent;
#[doc(hidden)]
pub mod testing;
mod turn;

pub use error::{Error, Result};
pub use id::*;
pub use percent::percent_decoded;
