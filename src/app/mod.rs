//! What window and headset share: the session, its jobs, preferences on disk. The two are siblings.

pub mod window;
pub mod xr;

pub mod context;
pub mod display;
pub mod faces;
mod handover;
mod jobs;
mod preferences;
pub mod report;
mod session;
