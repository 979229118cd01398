//! Checks that the renderer's shaders and Rust declare their common structs alike, at start-up and in a test.

use super::anchors::{Anchor, AnchorPush};
use super::lines::Segment;
use super::look::Lighting;
use super::material::GpuMaterial;
use super::renderer::{BackdropPush, LinePush};
use super::scene::{Attributes, PartPush};
use super::view::View;
use crate::base::Result;
use crate::gpu::Reflection;

/// The reflections of the shader stages to check.
pub(super) struct Stages<'a> {
    pub surface: &'a [Reflection],
    pub cut: &'a [Reflection],
    pub backdrop: &'a [Reflection],
    pub shadow: &'a Reflection,
    pub lines: &'a [Reflection],
}

/// Checks every struct that the render stages share with Rust. Needs no device.
pub(super) fn check(stages: &Stages<'_>) -> Result<()> {
    let Stages { surface, cut, backdrop, shadow, lines } = stages;
    check_material(surface)?;
    check_material(cut)?;
    for stage in [&surface[1], &cut[1], &backdrop[1], shadow] {
        stage.check::<Lighting>()?;
    }
    for stage in [&surface[1], &cut[1], &backdrop[0], &backdrop[1]] {
        stage.check::<View>()?;
    }
    backdrop[0].check::<BackdropPush>()?;
    for stage in *lines {
        stage.check::<Segment>()?;
        stage.check::<LinePush>()?;
    }
    Ok(())
}

/// Checks the structs of the stages that draw a G-buffer.
pub(super) fn check_gbuffer(stages: &[Reflection]) -> Result<()> {
    check_material(stages)
}

/// Checks a vertex stage that reads the surface and a fragment stage that reads a material.
fn check_material(stages: &[Reflection]) -> Result<()> {
    stages[0].check::<View>()?;
    stages[0].check::<Attributes>()?;
    stages[1].check::<GpuMaterial>()?;
    stages[1].check::<PartPush>()
}

/// Checks the structs of the compute stage that moves lines onto the skin.
pub(super) fn check_anchors(stage: &Reflection) -> Result<()> {
    stage.check::<Anchor>()?;
    stage.check::<Segment>()?;
    stage.check::<AnchorPush>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Spv;
    use crate::spv;

    #[test]
    fn shaders_and_rust_agree_without_a_device() {
        let reflect = |spv: Spv| Reflection::new(spv.name, &spv.words().unwrap()).unwrap();
        let pull = reflect(spv!("render/surface.vert"));
        check(&Stages {
            surface: &[pull.clone(), reflect(spv!("render/surface.frag"))],
            cut: &[pull, reflect(spv!("render/surface_cut.frag"))],
            backdrop: &[reflect(spv!("render/backdrop.vert")), reflect(spv!("render/backdrop.frag"))],
            shadow: &reflect(spv!("render/shadow.vert")),
            lines: &[reflect(spv!("render/lines.vert")), reflect(spv!("render/lines.frag"))],
        })
        .unwrap();
        check_gbuffer(&[reflect(spv!("render/gbuffer.vert")), reflect(spv!("render/gbuffer.frag"))]).unwrap();
        check_anchors(&reflect(spv!("render/anchor.comp"))).unwrap();
    }
}
