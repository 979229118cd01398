//! Tests with a motion on display: its path, acts that begin on it, and recorded grabs.

mod borrow;
mod path;
mod recording;

use super::*;
