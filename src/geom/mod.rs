//! Geometry on the CPU: functions from data to data, one algorithm per file.

mod mesh;

pub use mesh::{Adjacency, ControlMesh, DisplayMesh, Part};
