//! The commands of `sinew-lab`. They measure speed, draw the papers' figures, generate Sinew's own characters, and study
//! rigging and methods of the papers.

pub mod bench;
pub mod figures;
pub mod generate;
pub mod rigging;
pub mod roi;
pub mod silsketch;
