//! Sinew poses and deforms 3D characters.
//!
//! Data flows one way, and the modules are listed in that order; a module uses only modules above it
//! (`tests/layering.rs` enforces it). A front end gives input, tools emit [`edit`]s, the document changes,
//! [`anim`] samples it, [`deform`] evaluates the surface (on the GPU, or on the CPU by the reference twin),
//! [`render`] draws it and [`export`] writes it.

pub mod anim;
pub mod asset;
pub mod base;
pub mod bind;
pub mod deform;
pub mod edit;
pub mod editor;
pub mod export;
pub mod front;
pub mod generate;
pub mod geom;
pub mod gpu;
pub mod query;
pub mod render;
pub mod rig;
