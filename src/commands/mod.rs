//! The program's commands, one file per command.

pub mod arguments;
pub mod bake;
pub mod bind;
pub mod cage;
pub mod compare;
pub mod deform;
pub mod demo;
pub mod edit;
pub mod fast;
pub mod headset_picture;
pub mod inspect;
pub mod joints;
pub mod play;
pub mod pose;
pub mod recover;
pub mod render;
pub mod rig;
pub mod save;
pub mod sculpt;
mod tables;
pub mod vr;
pub mod window_picture;
pub mod xr;
