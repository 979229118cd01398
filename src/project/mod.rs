//! Project files, crash recovery, and baking of frames.

pub mod bake;
#[cfg(test)]
mod binding_tests;
mod cage_shapes;
mod file;
#[cfg(test)]
mod firm_tests;
#[cfg(test)]
mod grip_mix_tests;
#[cfg(test)]
mod grip_tests;
#[cfg(test)]
mod limit_tests;
pub mod recovery;
#[cfg(test)]
mod sculpt_tests;
mod shown;

pub(crate) use file::locate;
pub use file::{Opened, open};
pub use shown::{Saving, export, save, save_as};
