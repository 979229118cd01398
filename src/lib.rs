//! Sinew poses and deforms 3D characters.
//!
//! Data flows one way. A front end gives input, tools emit [`edit`]s, the document changes, [`anim`] samples it,
//! [`deform`] evaluates the surface (on the GPU, or on the CPU by the reference twin), [`render`] draws it and
//! [`export`] writes it. A module uses only modules above it in this list (`tests/layering.rs` reads it):
//!
//! - [`base`]: math names, typed ids, the error type
//! - [`gpu`]: Vulkan, which knows no mesh
//! - [`asset`]: a glTF file as plain data
//! - [`geom`]: functions on meshes
//! - [`rig`]: skeleton and pose
//! - [`bind`]: what all deformers share: character, attachment of skin to bones
//! - [`deform`]: the deformer graph, a folder per method
//! - [`render`]: pictures
//! - [`query`]: what is under a pixel
//! - [`edit`]: strokes, posing, document, journal
//! - [`anim`]: clips at a time
//! - [`export`]: files out
//! - [`generate`]: Sinew's own characters
//! - [`editor`]: what front ends share
//! - [`front`]: front ends

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
