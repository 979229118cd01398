//! Rules of the project: the order of the modules, tables of the documents, shaders, no allocation in a frame (in a
//! program whose other tests leave the thread pool alone).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod frame_memory;
mod layering;
mod readme;
mod shaders;
