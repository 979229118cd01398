//! Rendering of one or two views: surfaces shaded as they are drawn, physically based with image-free light, with four
//! samples per pixel that become one; lines on top. Beside the pictures a G-buffer, with one exact sample per pixel, is made
//! where a query asks for it.
//!
//! [`Renderer`] holds the pipelines, [`Scene`] a character's mesh and materials, [`Targets`] the images; a picture is
//! [`Renderer::record`]. The surface is pulled from storage buffers that the deformer writes ([`SurfaceBuffers`]).
//! [`PanelPainter`] paints egui's shapes into images, [`QuadPainter`] puts such images into the picture.

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
