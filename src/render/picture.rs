//! The pipelines that draw a picture.

use super::gbuffer::DEPTH;
use super::targets::PICTURE;
use crate::base::Result;
use crate::gpu::{Blend, Device, Graphics, GraphicsInfo, Spv};
use crate::spv;
use std::sync::Arc;

/// The pipelines for one number of views and one number of samples per pixel.
pub(super) struct PicturePass {
    pub views: u32,
    pub samples: u32,
    pub opaque: Graphics,
    /// Pipeline for alpha-tested and alpha-blended materials; its fragment shader selects the covered samples of a
    /// pixel by writing the sample mask.
    pub cut: Graphics,
    /// `opaque` and `cut` with tessellation, where the device has it.
    pub curved: Option<[Graphics; 2]>,
    pub backdrop: Graphics,
    /// Only with two views.
    pub hidden: Option<Graphics>,
    pub lines: Graphics,
}

impl PicturePass {
    /// Compiles the pipelines.
    pub fn new(device: &Arc<Device>, views: u32, samples: u32) -> Result<Self> {
        let drawn = |vertex: Spv, tessellation: Option<[Spv; 2]>, fragment: Spv| {
            Graphics::new(
                device,
                &GraphicsInfo {
                    tessellation,
                    specialisation: &[samples],
                    depth: Some(DEPTH),
                    views,
                    samples,
                    ..GraphicsInfo::new(vertex, fragment, &[PICTURE])
                },
            )
        };
        let filled = |vertex: Spv, fragment: Spv| drawn(vertex, None, fragment);
        let curved = |fragment: Spv| {
            let stages = [spv!("render/surface.tesc"), spv!("render/surface.tese")];
            drawn(spv!("render/surface_patch.vert"), Some(stages), fragment)
        };
        let curved = match device.tessellates() {
            true => Some([curved(spv!("render/surface.frag"))?, curved(spv!("render/surface_cut.frag"))?]),
            false => None,
        };
        let hidden = match views {
            2 => Some(filled(spv!("render/hidden.vert"), spv!("render/hidden.frag"))?),
            _ => None,
        };
        let lines = GraphicsInfo::new(spv!("render/lines.vert"), spv!("render/lines.frag"), &[PICTURE]);
        Ok(Self {
            views,
            samples,
            hidden,
            curved,
            opaque: filled(spv!("render/surface.vert"), spv!("render/surface.frag"))?,
            cut: filled(spv!("render/surface.vert"), spv!("render/surface_cut.frag"))?,
            backdrop: filled(spv!("render/backdrop.vert"), spv!("render/backdrop.frag"))?,
            // One sample suffices: the line shader computes pixel coverage analytically.
            lines: Graphics::new(device, &GraphicsInfo { blend: Blend::Alpha, views, ..lines })?,
        })
    }
}
