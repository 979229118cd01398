//! Sinew poses and deforms 3D characters.
//!
//! Data flows one way, and the modules are listed in that order; a module uses only modules above it
//! (`tests/layering.rs` enforces it). A front end gives input, tools emit [`edit`]s, the document changes,
//! [`anim`] samples it, [`deform`] evaluates the surface (on the GPU, or on the CPU by the reference twin),
//! [`render`] draws it and [`export`] writes it.

pub mod base;
pub mod gpu;
pub mod asset;
pub mod geom;
pub mod rig;
pub mod bind;
pub mod anim;
pub mod deform;
pub mod render;
pub mod query;
pub mod edit;
pub mod export;
pub mod editor;
pub mod front;
