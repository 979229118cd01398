//! Lines over the picture: skeleton and strokes, as tapered ribbons. Widths are in points: [`super::Look::scale`] pixels
//! each.

use super::anchors::Anchor;
use crate::base::Result;
use crate::base::math::Vec3;
use crate::geom::Place;
use crate::gpu::constants::{SEGMENT_JOINED_AFTER, SEGMENT_JOINED_BEFORE};
use crate::gpu::{Buffer, Device, Frame, Memory};
use bytemuck::{Pod, Zeroable};
use std::sync::Arc;

/// A tapered line (`glsl/types/segment.glsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Segment {
    /// Start, world, metres.
    pub a: Vec3,
    /// Width at the start, points.
    pub width_a: f32,
    /// End, world, metres.
    pub b: Vec3,
    /// Width at the end, points.
    pub width_b: f32,
    /// RGBA8 at the start (first component in the low bits), sRGB encoded: see [`rgba`].
    pub color_a: u32,
    /// RGBA8 at the end.
    pub color_b: u32,
    /// Width of the darker edge around it, points.
    pub outline: f32,
    /// Factor on the opacity of what lies behind the surface, 0 to 1.
    pub hidden: f32,
    /// Whether it goes on from the segment before, and the next from it: [`SEGMENT_JOINED_BEFORE`],
    /// [`SEGMENT_JOINED_AFTER`].
    pub joined: u32,
}

/// A colour for [`Segment`].
pub fn rgba(color: [u8; 4]) -> u32 {
    u32::from_le_bytes(color)
}

/// Warm orange of bones.
pub const BONE: [u8; 4] = [255, 172, 64, 235];
/// Colour of joints.
pub const JOINT: [u8; 4] = [255, 236, 200, 255];
/// Blue of baseline strokes.
pub const BASELINE: [u8; 4] = [70, 160, 255, 255];
/// Red of offset strokes.
pub const OFFSET: [u8; 4] = [255, 84, 96, 255];

/// The lines of a frame, in drawing order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// Drawn in order, later ones on top.
    pub segments: Vec<Segment>,
    /// Ends of segments that lie on the surface of the scene: they are put there as it is deformed, whatever the
    /// segments say.
    pub anchors: Vec<Anchor>,
}

impl Lines {
    /// Takes all lines away; their memory stays.
    pub fn clear(&mut self) {
        self.segments.clear();
        self.anchors.clear();
    }

    /// A polyline on the surface through places of it (triangle and weights), `lift` metres above. `points` is where
    /// they are about, for whoever has no surface to look at; as many as places.
    pub fn on_surface(&mut self, places: &[Place], points: &[Vec3], color: [u8; 4], width: f32, lift: f32) {
        let count = places.len().min(points.len());
        let first = self.segments.len();
        self.polyline(&points[..count], color, width, 1.0);
        self.anchors.extend(places[..count].windows(2).enumerate().map(|(i, pair)| Anchor {
            segment: (first + i) as u32,
            triangle_a: pair[0].0,
            triangle_b: pair[1].0,
            weights_a: pair[0].1,
            weights_b: pair[1].1,
            lift,
        }));
    }

    /// A polyline of constant width with a dark edge of `outline`, both in points.
    pub fn polyline(&mut self, points: &[Vec3], color: [u8; 4], width: f32, outline: f32) {
        let color = rgba(color);
        let last = points.len().saturating_sub(2);
        self.segments.extend(points.windows(2).enumerate().map(|(i, p)| Segment {
            a: p[0],
            width_a: width,
            b: p[1],
            width_b: width,
            color_a: color,
            color_b: color,
            outline,
            hidden: 0.4,
            joined: if i > 0 { SEGMENT_JOINED_BEFORE } else { 0 }
                | if i < last { SEGMENT_JOINED_AFTER } else { 0 },
        }));
    }

    /// A stroke: a polyline with a dark edge, its start marked by a dot.
    pub fn stroke(&mut self, points: &[Vec3], color: [u8; 4], width: f32) {
        self.polyline(points, color, width, 1.0);
        if let Some(&start) = points.first() {
            self.dot(start, color, width * 2.2);
        }
    }

    /// A round dot.
    pub fn dot(&mut self, at: Vec3, color: [u8; 4], width: f32) {
        let color = rgba(color);
        self.segments.push(Segment {
            a: at,
            width_a: width,
            b: at,
            width_b: width,
            color_a: color,
            color_b: color,
            outline: 1.0,
            hidden: 0.6,
            joined: 0,
        });
    }

    /// A bone as a wedge from its head to its tail, with a dot on its joint. `width` is that of its head, points.
    pub fn bone(&mut self, head: Vec3, tail: Vec3, width: f32) {
        self.segments.push(Segment {
            a: head,
            width_a: width,
            b: tail,
            width_b: width * 0.25,
            color_a: rgba(BONE),
            color_b: rgba(BONE),
            outline: 1.0,
            hidden: 0.55,
            joined: 0,
        });
        self.dot(head, JOINT, width * 0.8);
    }
}

/// Lines on the device. Made once; its capacity doubles when a frame has more.
pub struct LineBuffer {
    pub(super) buffer: Buffer,
    pub(super) count: u32,
}

impl LineBuffer {
    /// Room for some lines.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self { buffer: room(device, 1024)?, count: 0 })
    }

    /// Puts a frame's lines in place; true where the buffer was replaced by a larger one. A copy: put a barrier
    /// before they are drawn.
    pub(super) fn upload(&mut self, frame: &mut Frame, lines: &Lines) -> Result<bool> {
        let needed = lines.segments.len();
        let grows = (needed * size_of::<Segment>()) as u64 > self.buffer.bytes();
        if grows {
            self.buffer = room(frame.device(), needed.next_power_of_two())?;
        }
        frame.upload(&self.buffer, 0, &lines.segments);
        self.count = needed as u32;
        Ok(grows)
    }
}

fn room(device: &Arc<Device>, segments: usize) -> Result<Buffer> {
    Buffer::new(device, "lines", (segments * size_of::<Segment>()) as u64, Memory::Device)
}
