//! Rendering of one or two views. Surfaces are drawn in one forward pass with physically based shading and analytic
//! lights. Colour and depth have four samples per pixel, which are resolved to one. Lines are drawn on top. Queries
//! and silhouettes use a separate G-buffer with one exact sample per pixel.
//!
//! [`Renderer`] holds the pipelines, [`Scene`] a character's mesh and materials, [`Targets`] the images;
//! [`Renderer::record`] draws a frame. Vertex shaders read the surface from buffers that the deformer writes
//! ([`SurfaceBuffers`]). [`PanelPainter`] paints egui's shapes into images; [`QuadPainter`] draws such images as
//! rectangles in the world. [`Look::silhouettes`] colours the silhouettes over the surface, [`Look::occlusion`] darkens it
//! where other parts are near; both read a coarse G-buffer of the picture's own views. [`Look::outline`]
//! outlines a part of the surface.

mod anchors;
mod coarse;
mod gbuffer;
mod ghosts;
mod hidden;
mod layout;
mod lines;
mod look;
mod material;
mod occlusion;
mod outline;
mod overlay;
mod panel;
mod picture;
mod probe;
mod quad;
mod renderer;
mod scene;
mod silhouettes;
mod targets;
mod texture;
mod view;

pub use anchors::Anchor;
pub use gbuffer::{GBuffer, GBufferBindings};
pub use ghosts::{FUTURE, GHOSTS, GhostMasks, GhostShape, PAST, ShownGhosts};
pub use hidden::HiddenArea;
pub use lines::{BASELINE, BONE, JOINT, LineBuffer, Lines, OFFSET, Segment, rgba};
pub use look::{Look, Occlusion, Shading};
pub use outline::OUTLINE_WIDTH;
pub use panel::{PanelImage, PanelPaint, PanelPainter};
pub use probe::{PROBE_SIZE, Probe};
pub use quad::{Quad, QuadBindings, QuadPainter};
pub use renderer::{Renderer, SceneBindings, Shot};
pub use scene::{Scene, SurfaceBuffers};
pub use silhouettes::{Filter, SilhouetteOptions, TEXEL};
pub use targets::Targets;
pub use view::{Camera, Tangents, View};

#[cfg(test)]
mod tests;
