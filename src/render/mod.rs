//! Rendering of one or two views. Surfaces are shaded in one forward pass, physically based, lit without
//! images, with four samples per pixel that are resolved to one; lines are drawn on top. A separate
//! G-buffer with one exact sample per pixel is drawn where a query needs it.
//!
//! [`Renderer`] holds the pipelines, [`Scene`] a character's mesh and materials, [`Targets`] the images;
//! [`Renderer::record`] draws a picture. The vertex stages fetch the surface from storage buffers that the
//! deformer writes ([`SurfaceBuffers`]). [`PanelPainter`] paints egui's shapes into images, [`QuadPainter`]
//! draws such images into the picture.

mod anchors;
mod gbuffer;
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
pub use gbuffer::{GBuffer, GBufferBindings};
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
mod edge_tests;
#[cfg(test)]
mod panel_tests;
#[cfg(test)]
mod tests;
