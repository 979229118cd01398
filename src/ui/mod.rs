//! What users see of the editor besides the character: the headset's panels and the window's.

pub mod palette;
pub mod window;
