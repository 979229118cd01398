//! Geometry algorithms on the CPU: pure functions, one algorithm per file.

mod adjacency;
mod cholesky;
mod cotangent;
mod crossings;
mod distortion;
mod fit;
mod geodesic;
mod lattice;
mod measure;
mod mesh;
mod normals;
mod order;
mod ray;
mod sets;
mod solid;
mod spline;
mod walk;
mod weld;

pub use cholesky::{Cholesky, Columns, Entry};
pub use cotangent::half_cotangents;
pub use crossings::{Crossings, CrossingsReport};
pub use distortion::{Distortion, DistortionReport};
pub use fit::fit_rotation;
pub use geodesic::{position, shortest_way, through};
pub use lattice::{Cell, Lattice};
pub use measure::{FOLD, Measure, MeasureReport, lids, smallest_radius_ratio, volume_under};
pub use mesh::{Adjacency, ControlMesh, DisplayMesh, Part};
pub use normals::vertex_normals;
pub use order::{locality_order, mean_edge_span};
pub use ray::ray_triangle;
pub(crate) use sets::{apart, root, unite};
pub use solid::{Solid, solid};
pub use spline::Spline;
pub use walk::{Place, Walk};
pub use weld::{WELD_TOLERANCE, Weld, weld};
