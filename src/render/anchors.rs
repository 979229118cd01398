//! Lines on the skin. A compute stage moves segment ends, given as triangle and barycentric weights, onto the
//! deformed surface of the current frame. It works with every deformation method.

use super::lines::{LineBuffer, Lines};
use super::scene::Scene;
use crate::base::Result;
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame, Memory};
use crate::shared_with_shaders;
use crate::spv;
use std::sync::Arc;

shared_with_shaders! {
    /// Attachment of both ends of a segment to the surface, in the layout of `glsl/types/anchor.glsl`.
    #[derive(Debug, PartialEq)]
    pub struct Anchor as "Anchor" {
        /// Index into [`Lines::segments`].
        pub segment: u32,
        /// Triangle at the segment's start: its index in the display mesh, counted over all parts.
        pub triangle_a: u32,
        /// Triangle at the segment's end: its index in the display mesh, counted over all parts.
        pub triangle_b: u32,
        /// Barycentric weights of the segment's start; their sum is 1.
        pub weights_a: [f32; 3],
        /// Barycentric weights of the segment's end; their sum is 1.
        pub weights_b: [f32; 3],
        /// Distance from the surface along its normal, metres.
        pub lift: f32,
    }

    pub(super) struct AnchorPush as "Push" {
        pub count: u32,
        pub triangles: u32,
    }
}

pub(super) struct Anchoring(Compute);

/// Bindings and buffers of the anchor stage for one scene and its lines.
pub(super) struct Anchored {
    buffer: Buffer,
    bindings: Bindings,
}

impl Anchoring {
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let stage = Compute::new(device, spv!("render/anchor.comp"), &[])?;
        super::layout::check_anchors(stage.reflection())?;
        Ok(Self(stage))
    }

    pub fn bind(&self, device: &Arc<Device>, scene: &Scene, lines: &LineBuffer) -> Result<Anchored> {
        let buffer = room(device, 1024)?;
        let bindings = self.bindings(scene, lines, &buffer)?;
        Ok(Anchored { buffer, bindings })
    }

    fn bindings(&self, scene: &Scene, lines: &LineBuffer, anchors: &Buffer) -> Result<Bindings> {
        self.0.bind(&[
            ("positions", &scene.surface.positions),
            ("normals", &scene.surface.normals),
            ("triangles", scene.triangles()),
            ("anchors", anchors),
            ("segments", &lines.buffer),
        ])
    }

    /// Records the anchor stage after the upload of the lines. `grown` is true if a larger line buffer has replaced the
    /// previous one.
    pub fn record(
        &self,
        frame: &mut Frame,
        scene: &Scene,
        lines: (&Lines, &LineBuffer),
        anchored: &mut Anchored,
        grown: bool,
    ) -> Result<()> {
        let (lines, segments) = lines;
        let count = lines.anchors.len();
        let more = (count * size_of::<Anchor>()) as u64 > anchored.buffer.bytes();
        if more {
            anchored.buffer = room(frame.device(), count.next_power_of_two())?;
        }
        if more || grown {
            anchored.bindings = self.bindings(scene, segments, &anchored.buffer)?;
        }
        // An anchor with an invalid segment index would make the shader write out of bounds.
        if count == 0 || lines.anchors.iter().any(|a| a.segment as usize >= lines.segments.len()) {
            return Ok(());
        }
        frame.upload(&anchored.buffer, 0, &lines.anchors);
        frame.phase("anchors");
        let push = AnchorPush { count: count as u32, triangles: scene.triangle_count() };
        frame.dispatch(&self.0, &anchored.bindings, &push, count as u32);
        Ok(())
    }
}

fn room(device: &Arc<Device>, anchors: usize) -> Result<Buffer> {
    Buffer::new(device, "anchors", (anchors * size_of::<Anchor>()) as u64, Memory::Device)
}
