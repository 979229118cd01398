//! What is under a cursor or a controller.

mod pick;

pub use pick::{Hit, Picker};
