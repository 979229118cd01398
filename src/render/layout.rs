//! Checks the structs that the renderer's shaders share with Rust, at start-up and in a test without a
//! device.

use super::anchors::{Anchor, AnchorPush};
use super::lines::Segment;
use super::look::Lighting;
use super::material::GpuMaterial;
use super::renderer::LinePush;
use super::scene::{Attributes, PartPush};
use super::view::View;
use crate::base::Result;
use crate::gpu::{Reflection, assert_layout};
use std::mem::offset_of;

/// The stages whose structs are checked.
pub(super) struct Stages<'a> {
    pub surface: &'a [Reflection],
    pub cut: &'a [Reflection],
    pub backdrop: &'a [Reflection],
    pub shadow: &'a Reflection,
    pub lines: &'a [Reflection],
}

macro_rules! fields {
    ($type:ty { $($field:ident),* }) => {
        &[$((
            stringify!($field),
            offset_of!($type, $field),
            field_size(|v: &$type| &v.$field),
        )),*]
    };
}

fn field_size<T, F>(_: impl Fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Checks every struct that the picture's stages share with Rust. Needs no device.
pub(super) fn check(stages: &Stages<'_>) -> Result<()> {
    let Stages { surface, cut, backdrop, shadow, lines } = stages;
    check_material(surface)?;
    check_material(cut)?;
    let lighting = fields!(Lighting {
        shadow_from_world,
        key_direction,
        key_color,
        fill_direction,
        fill_color,
        rim_direction,
        rim_color,
        sky_color,
        floor_color,
        background_top,
        background_bottom,
        center,
        radius,
        floor_height,
        floor_turn,
        floor_shift,
        grid_spacing,
        flags,
        scale
    });
    for stage in [&surface[1], &cut[1], &backdrop[1], shadow] {
        assert_layout::<Lighting>(stage, "Lighting", lighting)?;
    }
    for stage in [&surface[1], &cut[1], &backdrop[0], &backdrop[1]] {
        check_view(stage)?;
    }
    let segment = fields!(Segment { a, width_a, b, width_b, color_a, color_b, outline, hidden, joined });
    for stage in *lines {
        assert_layout::<Segment>(stage, "Segment", segment)?;
        assert_layout::<LinePush>(stage, "Push", fields!(LinePush { size, scale }))?;
    }
    Ok(())
}

/// Checks the structs of the stages that fill a G-buffer.
pub(super) fn check_gbuffer(stages: &[Reflection]) -> Result<()> {
    check_material(stages)
}

/// Checks a vertex stage that fetches the surface and a fragment stage that reads its material.
fn check_material(stages: &[Reflection]) -> Result<()> {
    check_view(&stages[0])?;
    assert_layout::<Attributes>(&stages[0], "Attributes", fields!(Attributes { uv0, uv1, color }))?;
    let material =
        fields!(GpuMaterial { base_color, emissive, metallic, roughness, normal_scale, alpha_cutoff, flags });
    assert_layout::<GpuMaterial>(&stages[1], "Material", material)?;
    assert_layout::<PartPush>(&stages[1], "Push", fields!(PartPush { part, first_triangle, material }))
}

fn check_view(stage: &Reflection) -> Result<()> {
    let view = fields!(View { clip_from_world, eye, ray_corner, ray_right, ray_down });
    assert_layout::<View>(stage, "View", view)
}

/// Checks the structs of the stage that places lines on the skin.
pub(super) fn check_anchors(stage: &Reflection) -> Result<()> {
    let anchor = fields!(Anchor { segment, triangle_a, triangle_b, weights_a, weights_b, lift });
    assert_layout::<Anchor>(stage, "Anchor", anchor)?;
    let segment = fields!(Segment { a, width_a, b, width_b, color_a, color_b, outline, hidden, joined });
    assert_layout::<Segment>(stage, "Segment", segment)?;
    assert_layout::<AnchorPush>(stage, "Push", fields!(AnchorPush { count, triangles }))
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
