//! The structs that the renderer's shaders share with Rust, checked at start-up and in a test without a device.

use super::anchors::{Anchor, AnchorPush};
use super::lines::Segment;
use super::look::Lighting;
use super::material::GpuMaterial;
use super::renderer::{LinePush, ShadePush};
use super::scene::{Attributes, PartPush};
use super::view::View;
use crate::base::Result;
use crate::gpu::{Reflection, assert_layout};
use std::mem::offset_of;

/// The stages whose structs are checked.
pub(super) struct Stages<'a> {
    pub vertex: &'a Reflection,
    pub fragment: &'a Reflection,
    pub shadow: &'a Reflection,
    pub shade: &'a Reflection,
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
    let Stages { vertex, fragment, shadow, shade, lines } = stages;
    let view = fields!(View { clip_from_world, eye, ray_corner, ray_right, ray_down });
    assert_layout::<View>(vertex, "View", view)?;
    assert_layout::<View>(shade, "View", view)?;
    assert_layout::<Attributes>(vertex, "Attributes", fields!(Attributes { uv0, uv1, color }))?;
    let material =
        fields!(GpuMaterial { base_color, emissive, metallic, roughness, normal_scale, alpha_cutoff, flags });
    assert_layout::<GpuMaterial>(fragment, "Material", material)?;
    assert_layout::<PartPush>(fragment, "Push", fields!(PartPush { part, first_triangle, material }))?;
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
        grid_spacing,
        flags
    });
    assert_layout::<Lighting>(shade, "Lighting", lighting)?;
    assert_layout::<Lighting>(shadow, "Lighting", lighting)?;
    assert_layout::<ShadePush>(shade, "Push", fields!(ShadePush { size, samples }))?;
    let segment = fields!(Segment { a, width_a, b, width_b, color_a, color_b, outline, hidden, joined });
    for stage in *lines {
        assert_layout::<Segment>(stage, "Segment", segment)?;
        assert_layout::<LinePush>(stage, "Push", fields!(LinePush { size, samples }))?;
    }
    Ok(())
}

/// Checks the structs of the stage that puts lines onto the skin.
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
        check(&Stages {
            vertex: &reflect(spv!("render/gbuffer.vert")),
            fragment: &reflect(spv!("render/gbuffer.frag")),
            shadow: &reflect(spv!("render/shadow.vert")),
            shade: &reflect(spv!("render/shade.comp")),
            lines: &[reflect(spv!("render/lines.vert")), reflect(spv!("render/lines.frag"))],
        })
        .unwrap();
        check_anchors(&reflect(spv!("render/anchor.comp"))).unwrap();
    }
}
