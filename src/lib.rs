//! Sinew poses and deforms 3D characters.
//!
//! Data flows one way. A front end gives input, tools emit [`edit`]s, the document changes, [`anim`] samples it,
//! [`deform`] evaluates the surface (on the GPU, or on the CPU by the reference twin), [`render`] draws it and
//! [`export`] writes it. A module uses only modules above it in this list (`tests/layering.rs` reads it):
//!
//! - [`base`] has math names, typed ids and the error type
//! - [`gpu`] is Vulkan and knows no mesh
//! - [`asset`] reads glTF files into plain data
//! - [`geom`] has functions on meshes
//! - [`rig`] has skeleton and pose
//! - [`bind`] makes characters and attaches skin to bones
//! - [`deform`] is the deformer graph, a folder per method
//! - [`render`] draws pictures
//! - [`query`] tells what is under a pixel
//! - [`anim`] samples and makes clips
//! - [`edit`] has strokes, posing, keys, document and journal
//! - [`export`] writes files
//! - [`generate`] makes Sinew's own characters
//! - [`editor`] has what front ends share
//! - [`front`] has the front ends

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
