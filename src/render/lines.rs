//! Lines on top of the rendered surface: skeleton and strokes, as tapered ribbons. Widths are in points;
//! [`super::Look::scale`] gives the pixels per point.

use super::anchors::Anchor;
use crate::base::Result;
use crate::base::math::Vec3;
use crate::geom::Place;
use crate::gpu::{Buffer, Device, Frame, Memory};
use crate::{shared_constants, shared_with_shaders};
use std::sync::Arc;

shared_with_shaders! {
    /// A tapered line segment, in the layout of `glsl/types/segment.glsl`.
    #[derive(Debug, PartialEq)]
    pub struct Segment as "Segment" {
        /// Start in world space, metres.
        pub a: Vec3,
        /// Width at the start, points.
        pub width_a: f32,
        /// End in world space, metres.
        pub b: Vec3,
        /// Width at the end, points.
        pub width_b: f32,
        /// Colour at the start: sRGB-encoded RGBA8, red in the lowest bits; see [`rgba`].
        pub color_a: u32,
        /// Colour at the end, encoded like `color_a`.
        pub color_b: u32,
        /// Width of the darker outline, points.
        pub outline: f32,
        /// Factor on the line's opacity where a surface is in front of the line, 0..=1.
        pub hidden: f32,
        /// Flags that join neighbouring segments: `SEGMENT_JOINED_BEFORE`, `SEGMENT_JOINED_AFTER`.
        pub joined: u32,
        /// Largest width in world space, metres; 0 for no limit. A line that this makes thinner than two pixels fades,
        /// and one thinner than a pixel is invisible.
        pub limit: f32,
    }
}

shared_constants! {
    "types/segment.glsl" {
        /// Line segment flag: the segment continues the previous segment of the list.
        const SEGMENT_JOINED_BEFORE: u32 = 1;
        /// Line segment flag: the next segment of the list continues this segment.
        const SEGMENT_JOINED_AFTER: u32 = 2;
    }
}

/// Packs an RGBA8 colour for [`Segment`].
pub fn rgba(color: [u8; 4]) -> u32 {
    u32::from_le_bytes(color)
}

/// Colour of bones: warm orange.
pub const BONE: [u8; 4] = [255, 172, 64, 235];
/// Colour of joints: pale yellow.
pub const JOINT: [u8; 4] = [255, 236, 200, 255];
/// Largest width of a bone as a fraction of its length.
const SLENDER: f32 = 0.15;
/// Colour of baseline strokes: blue.
pub const BASELINE: [u8; 4] = [70, 160, 255, 255];
/// Colour of offset strokes: red.
pub const OFFSET: [u8; 4] = [255, 84, 96, 255];

/// The lines of a frame, in drawing order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// Segments in drawing order; later segments are on top.
    pub segments: Vec<Segment>,
    /// Attachments to the surface: the GPU moves the ends of these segments onto the deformed surface.
    pub anchors: Vec<Anchor>,
}

impl Lines {
    /// Removes all lines but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.segments.clear();
        self.anchors.clear();
    }

    /// Adds a polyline through surface points (triangle and barycentric weights), `lift` metres above the surface.
    /// `points` are the approximate world positions of these surface points, for users of [`Lines`] that do not know
    /// the surface.
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

    /// Adds a round dot at a surface point, like [`Lines::on_surface`]. `width` is its diameter in points.
    pub fn dot_on_surface(&mut self, place: Place, at: Vec3, color: [u8; 4], width: f32, lift: f32) {
        let segment = self.segments.len() as u32;
        self.dot(at, color, width);
        let ((triangle_a, weights_a), (triangle_b, weights_b)) = (place, place);
        self.anchors.push(Anchor { segment, triangle_a, triangle_b, weights_a, weights_b, lift });
    }

    /// Adds a polyline through `points`, world space, metres. `width` is its constant width and `outline` the width of
    /// its dark outline, both in points of the screen ([`super::Look::scale`]).
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
            limit: 0.0,
        }));
    }

    /// Adds a stroke: a polyline with a dark outline and a dot at its start.
    pub fn stroke(&mut self, points: &[Vec3], color: [u8; 4], width: f32) {
        self.polyline(points, color, width, 1.0);
        if let Some(&start) = points.first() {
            self.dot(start, color, width * 2.2);
        }
    }

    /// Adds a round dot; `width` is its diameter in points.
    pub fn dot(&mut self, at: Vec3, color: [u8; 4], width: f32) {
        self.limited_dot(at, color, width, 0.0);
    }

    fn limited_dot(&mut self, at: Vec3, color: [u8; 4], width: f32, limit: f32) {
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
            limit,
        });
    }

    /// Adds a bone: a wedge from head to tail with a dot at its joint. `width` is the width at the head, points. The
    /// width is at most a fraction of the bone's length, so that the short bones of a face or a hand show when one
    /// comes near, and hide nothing from afar.
    pub fn bone(&mut self, head: Vec3, tail: Vec3, width: f32) {
        let limit = SLENDER * head.distance(tail);
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
            limit,
        });
        self.limited_dot(head, JOINT, width * 0.8, limit);
    }
}

/// The lines' buffer on the device. Its capacity grows when a frame has more lines.
pub struct LineBuffer {
    pub(super) buffer: Buffer,
    pub(super) count: u32,
}

impl LineBuffer {
    /// Creates a buffer with a small initial capacity.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self { buffer: room(device, 1024)?, count: 0 })
    }

    /// Uploads a frame's lines; returns true if a larger buffer replaced the old one. Put a barrier before drawing.
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
