//! The program around the editor: the window and the headset, and the session, jobs and preferences that both share.

pub mod window;
pub mod xr;

pub mod context;
pub mod display;
pub mod faces;
mod handover;
mod jobs;
mod places;
mod preferences;
pub mod report;
mod samples;
mod session;
