//! Benchmarks and the papers' figures.

pub mod bench;
pub mod figures;
