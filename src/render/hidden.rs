//! The pixels that the lenses of a headset hide. They are drawn first, black and at the near plane, so that the surface
//! and the backdrop are not shaded there.

use crate::base::Result;
use crate::gpu::{Bindings, Buffer, Device};
use std::sync::Arc;

/// Triangles that cover the hidden pixels of both eyes, on the device: see [`super::Renderer::bind_hidden`].
pub struct HiddenArea {
    pub(super) bindings: Bindings,
    /// Number of corners of each eye.
    pub(super) corners: u32,
}

impl std::fmt::Debug for HiddenArea {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} hidden triangles", self.corners / 3)
    }
}

/// Uploads the corners of both eyes' triangles, three per triangle, in image coordinates (0..1, v down). The eye with
/// fewer triangles gets triangles without area. Returns the number of corners of each eye.
pub(super) fn upload(device: &Arc<Device>, eyes: &[Vec<[f32; 2]>; 2]) -> Result<(Buffer, u32)> {
    let count = eyes[0].len().max(eyes[1].len());
    let corners = |eye: &Vec<[f32; 2]>| {
        let rest = vec![[0.0; 2]; count - eye.len()];
        [eye.clone(), rest].concat()
    };
    let all = eyes.each_ref().map(corners).concat();
    Ok((Buffer::from_slice(device, "hidden area", &all)?, count as u32))
}
