//! Front ends: thin siblings over [`crate::editor`]. Headless ones, one file per command, the window ([`desk`]) and the
//! headset ([`vr`]).

pub mod bake;
pub mod bench;
pub mod bind;
pub mod compare;
pub mod context;
pub mod deform;
pub mod demo;
pub mod desk;
pub mod display;
pub mod faces;
pub mod fast;
pub mod figures;
pub mod headset;
pub mod inspect;
pub mod joints;
mod kept;
pub mod play;
pub mod pose;
pub mod puppet;
pub mod recover;
pub mod render;
pub mod report;
pub mod roi;
pub mod save;
pub mod sculpt;
pub mod silsketch;
mod sitting;
pub mod vr;
mod window_picture;
mod work;
