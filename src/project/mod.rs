//! Project files, recovery after a crash, and bakes.

pub mod bake;
mod file;
pub mod recovery;
#[cfg(test)]
mod sculpt_tests;
mod shown;

pub(crate) use file::locate;
pub use file::{Opened, open};
pub use shown::{Saving, export, save, save_as};
