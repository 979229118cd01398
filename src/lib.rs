//! Sinew poses and deforms 3D characters.
//!
//! Data flows one way. A front end gives input, tools emit [`document::Edit`]s, the document changes, [`anim`] samples it,
//! [`deform`] evaluates the surface (on the GPU, or on the CPU by the CPU reference), [`render`] draws it and
//! [`export`] writes it. A module uses only modules above it in this list (`tests/checks/layering.rs` reads it):
//!
//! - [`base`] has math names, typed ids and the error type
//! - [`gpu`] is Vulkan and knows no mesh
//! - [`asset`] reads glTF files into plain data
//! - [`geom`] has functions on meshes and curves
//! - [`rig`] has skeleton, pose, chains and mirror
//! - [`bind`] makes characters and attaches skin to bones
//! - [`cage`] has coarse meshes that change the rest shape
//! - [`deform`] is the deformer graph, a folder per method
//! - [`render`] draws pictures
//! - [`query`] finds what is under a pixel
//! - [`anim`] samples and makes clips
//! - [`export`] writes files
//! - [`generate`] makes Sinew's own characters
//! - [`pose`] has strokes, grabs and the whole body
//! - [`surface`] has marks, regions, sculpt layers and silhouettes
//! - [`document`] has edits, undo, keys and journal
//! - [`scene`] evaluates and draws a loaded character
//! - [`project`] has project files, recovery and bakes
//! - [`workbench`] is the editor without clock, files or device
//! - [`take`] records input and replays it
//! - [`ui`] has the panels of headset and window
//! - [`app`] has what runs a session: window and headset
//! - [`puppet`] has scripted hands
//! - [`commands`] has the commands of the program
//! - [`lab`] has benchmarks and the papers' figures

pub mod anim;
pub mod app;
pub mod asset;
pub mod base;
pub mod bind;
pub mod cage;
pub mod commands;
pub mod deform;
pub mod document;
pub mod export;
pub mod generate;
pub mod geom;
pub mod gpu;
pub mod lab;
pub mod pose;
pub mod project;
pub mod puppet;
pub mod query;
pub mod render;
pub mod rig;
pub mod scene;
pub mod surface;
pub mod take;
pub mod ui;
pub mod workbench;
