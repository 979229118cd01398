//! Deferred rendering of one or two views: G-buffer, physically based shading with image-free light, lines on top.
//!
//! [`Renderer`] holds the pipelines, [`Scene`] a character's mesh and materials, [`Targets`] the images; a frame is
//! [`Renderer::record`]. The surface is pulled from storage buffers that the deformer writes ([`SurfaceBuffers`]).
//! [`PanelPainter`] paints egui's shapes into images, [`QuadPainter`] puts such images into the picture.

mod anchors;
mod layout;
mod lines;
mod look;
mod material;
mod panel;
mod probe;
mod quad;
mod renderer;
mod scene;
mod targets;
mod texture;
mod view;

pub use anchors::Anchor;
pub use lines::{BASELINE, BONE, JOINT, LineBuffer, Lines, OFFSET, Segment, rgba};
pub use look::Look;
pub use panel::{PanelImage, PanelPaint, PanelPainter};
pub use probe::{PROBE_SIZE, Probe};
pub use quad::{Quad, QuadBindings, QuadPainter};
pub use renderer::{Renderer, SceneBindings, Shot};
pub use scene::{Scene, SurfaceBuffers};
pub use targets::Targets;
pub use view::{Camera, Tangents, View};

#[cfg(test)]
mod panel_tests;
#[cfg(test)]
mod tests;
