//! The commands of `sinew-lab`: benchmarks, the papers' figures, generators and studies.

pub mod bench;
pub mod figures;
pub mod generate;
pub mod rigging;
pub mod roi;
pub mod silsketch;
