//! Leaf module: math types, typed ids and the error type. Depends on no GPU and no file format.

mod error;
mod id;
pub mod math;
mod percent;
mod turn;

pub use error::{Error, Result};
pub use id::*;
pub use percent::percent_decoded;
