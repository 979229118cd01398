//! The inside of a body: energies of its volume (methods, section 9).
//!
//! So far it holds the gold standard, [`gold`]: what an elastic body does, converged, to measure deformers by.

pub mod gold;
