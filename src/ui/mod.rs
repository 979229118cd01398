//! The user interface beside the rendered character: the panels of the headset and of the window.

mod icons;
pub mod palette;
mod panels;
mod theme;
pub mod window;

pub use panels::{HeadsetOffers, Section};
