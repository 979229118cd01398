//! The coarse G-buffer of a picture, from which silhouettes and ambient occlusion are computed: it has the picture's
//! views and [`super::TEXEL`] points per texel.

use super::gbuffer::{GBuffer, GBufferBindings, GBufferPass};
use super::look::Look;
use super::occlusion::{OcclusionBindings, OcclusionPass};
use super::scene::Scene;
use super::silhouettes::{SilhouetteBindings, SilhouettePass};
use super::targets::Targets;
use super::view::View;
use crate::base::Result;
use crate::gpu::{Device, Frame};
use std::sync::Arc;

/// The pipelines, created once per device.
pub(super) struct CoarsePasses {
    pub gbuffer: GBufferPass,
    pub silhouettes: SilhouettePass,
    pub occlusion: OcclusionPass,
}

/// The G-buffer of one scene and its targets, and what is computed from it.
pub(super) struct Coarse {
    pub gbuffer: GBuffer,
    scene: GBufferBindings,
    silhouettes: Option<SilhouetteBindings>,
    pub occlusion: Option<OcclusionBindings>,
}

impl CoarsePasses {
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self {
            gbuffer: GBufferPass::new(device)?,
            silhouettes: SilhouettePass::new(device)?,
            occlusion: OcclusionPass::new(device)?,
        })
    }

    /// Makes what the look needs and drops the rest. Returns whether the image of the ambient occlusion is another one
    /// than before.
    pub fn fit(
        &self,
        device: &Arc<Device>,
        (scene, targets): (&Scene, &Targets),
        bound: &mut Option<Coarse>,
        look: &Look,
    ) -> Result<bool> {
        let had = bound.as_ref().is_some_and(|b| b.occlusion.is_some());
        if look.silhouettes.is_none() && !look.occlusion {
            *bound = None;
            return Ok(had);
        }
        let size = SilhouettePass::size(targets.size, look.scale);
        let mut fresh = false;
        let coarse = match bound {
            Some(known) if known.gbuffer.size == size => known,
            old => {
                fresh = true;
                let gbuffer = GBuffer::new(device, size, targets.views)?;
                let scene = self.gbuffer.bind(scene, &gbuffer)?;
                old.insert(Coarse { gbuffer, scene, silhouettes: None, occlusion: None })
            }
        };
        match (&look.silhouettes, &coarse.silhouettes) {
            (Some(_), None) => {
                coarse.silhouettes = Some(self.silhouettes.bind(device, targets, &coarse.gbuffer)?);
            }
            (None, Some(_)) => coarse.silhouettes = None,
            _ => {}
        }
        match (look.occlusion, &coarse.occlusion) {
            (true, None) => coarse.occlusion = Some(self.occlusion.bind(device, &coarse.gbuffer)?),
            (false, Some(_)) => coarse.occlusion = None,
            _ => {}
        }
        Ok(coarse.occlusion.is_some() != had || (had && fresh))
    }

    /// Draws the G-buffer and computes the ambient occlusion, before the surface is shaded.
    pub fn record_before(
        &self,
        frame: &mut Frame,
        scene: &Scene,
        bound: Option<&Coarse>,
        views: &[View],
    ) -> Result<()> {
        let Some(coarse) = bound else { return Ok(()) };
        self.gbuffer.record(frame, scene, &coarse.gbuffer, &coarse.scene, views)?;
        if let Some(occlusion) = &coarse.occlusion {
            let radius = OcclusionPass::radius(scene.rest_size);
            self.occlusion.record(frame, &coarse.gbuffer, occlusion, radius);
        }
        Ok(())
    }

    /// Colours the silhouettes in the finished picture.
    pub fn record_after(&self, frame: &mut Frame, targets: &Targets, bound: Option<&Coarse>, look: &Look) {
        let Some(Coarse { gbuffer, silhouettes: Some(silhouettes), .. }) = bound else { return };
        if let Some(options) = &look.silhouettes {
            self.silhouettes.record(frame, targets, (gbuffer, silhouettes), options);
        }
    }
}
