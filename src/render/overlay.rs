//! What the passes over a finished picture share: their pipelines for one view and for two views, and *marks*. Triangles
//! mark their pixels in masks, and a compute stage then draws the marks over the picture. A mask keeps the largest mark
//! of a pixel, so a pass of marks needs no depth of its own, and its triangles may come in any order.

use super::targets::Targets;
use super::view::View;
use crate::base::Result;
use crate::gpu::{
    Bindings, Blend, Compute, Device, Frame, Graphics, GraphicsInfo, Image, Layout, Load, Pass, Reflection,
    Resource, Spv,
};
use ash::vk::Format;
use std::sync::Arc;

/// The pipelines of a pass for one view and for two views, created once per device.
pub(super) struct ByViews([Graphics; 2]);

impl ByViews {
    /// Creates the pipelines; the number of views in `info` has no effect.
    pub fn new(device: &Arc<Device>, info: &GraphicsInfo<'_>) -> Result<Self> {
        let make = |views| Graphics::new(device, &GraphicsInfo { views, ..*info });
        Ok(Self([make(1)?, make(2)?]))
    }

    /// The pipeline for this number of views, 1 or 2.
    pub fn of(&self, views: u32) -> &Graphics {
        &self.0[views as usize - 1]
    }

    /// The reflections of the stages, which both pipelines share.
    pub fn reflections(&self) -> &[Reflection] {
        self.0[0].reflections()
    }

    /// Binds descriptor set 0 of a pass over the picture: the picture's views and its depth.
    pub fn bind_picture(&self, targets: &Targets) -> Result<Bindings> {
        let depth = Resource::Sampled(&targets.depth, &targets.sampler);
        let views = Resource::Buffer(&targets.view_buffer);
        self.of(targets.views).bind(0, &[("views", views), ("depth", depth)])
    }
}

/// The stages of a pass of marks: the vertex and fragment stages, which mark, and the compute stage, which draws.
pub(super) type MarkStages = [Spv; 3];

/// The pipelines of a pass of marks, created once per device.
pub(super) struct MarkPass {
    pub marks: ByViews,
    draw: Compute,
}

/// The masks of a pass for the targets of a picture.
pub(super) struct Masks<const N: usize> {
    images: [Image; N],
    picture: Bindings,
    drawn: Bindings,
}

/// Checks the structs of the stage that marks and of the stage that draws with the push constants `P`.
fn check<P: Layout>(marks: &Reflection, draw: &Reflection) -> Result<()> {
    marks.check::<View>()?;
    draw.check::<P>()
}

impl MarkPass {
    /// Creates the pipelines for masks of these formats; `P` are the push constants of the stage that draws.
    pub fn new<P: Layout>(
        device: &Arc<Device>,
        [vertex, fragment, draw]: MarkStages,
        formats: &[Format],
    ) -> Result<Self> {
        let info = GraphicsInfo { blend: Blend::Max, ..GraphicsInfo::new(vertex, fragment, formats) };
        let marks = ByViews::new(device, &info)?;
        let draw = Compute::new(device, draw, &[])?;
        check::<P>(&marks.reflections()[0], draw.reflection())?;
        Ok(Self { marks, draw })
    }

    /// Binds masks, each with its name in the stage that draws, to a picture.
    pub fn bind<const N: usize>(&self, targets: &Targets, masks: [(&str, Image); N]) -> Result<Masks<N>> {
        let sampled = masks.iter().map(|(name, mask)| (*name, Resource::Sampled(mask, &targets.sampler)));
        let resources: Vec<_> = sampled.chain([("picture", Resource::Storage(&targets.picture))]).collect();
        Ok(Masks {
            picture: self.marks.bind_picture(targets)?,
            drawn: self.draw.bind(&resources)?,
            images: masks.map(|(_, mask)| mask),
        })
    }

    /// Clears the masks, marks pixels and draws the marks over a picture whose surface is drawn.
    pub fn record<const N: usize>(
        &self,
        frame: &mut Frame,
        targets: &Targets,
        masks: &Masks<N>,
        push: &impl Layout,
        mark: impl FnOnce(&mut Pass<'_>, &Graphics),
    ) {
        let pipeline = self.marks.of(targets.views);
        let cleared = masks.images.each_ref().map(|image| (image, Load::Clear([0.0; 4])));
        frame.render(&cleared, None, targets.views, |pass| {
            pass.bind(pipeline, &[&masks.picture]);
            mark(pass, pipeline);
        });
        frame.barrier();
        frame.dispatch_grid(&self.draw, &masks.drawn, push, targets.texels());
    }
}

/// Checks the structs of a pass of marks without a device.
#[cfg(test)]
pub(super) fn check_stages<P: Layout>([vertex, _, draw]: MarkStages) {
    let reflect = |spv: Spv| Reflection::new(spv.name, &spv.words().unwrap()).unwrap();
    check::<P>(&reflect(vertex), &reflect(draw)).unwrap();
}
