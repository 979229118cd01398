//! The user interface beside the rendered character: the panels of the headset and of the window.

pub mod palette;
pub mod window;
