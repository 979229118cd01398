//! Rust structs against the committed shaders; needs no device.

use crate::deform::attach::Anchor;
use crate::deform::irs::BoneReach;
use crate::deform::lbs::TailEntry;
use crate::deform::rig_buffers::GeometricPush;
use crate::deform::rig_data::{BoneFrame, DualQuat, Rows, Strain};
use crate::deform::stb::{BoneRest, StbEntry};
use crate::deform::surface::SourceNormal;
use crate::gpu::{Reflection, Spv, assert_layout};
use crate::spv;
use std::mem::offset_of;

macro_rules! fields {
    ($type:ty: $($field:ident $size:literal),*) => {
        &[$((stringify!($field), offset_of!($type, $field), $size)),*]
    };
}

fn reflect(spv: Spv) -> Reflection {
    Reflection::new(spv.name, &spv.words().unwrap()).unwrap()
}

#[test]
fn structs_agree_with_the_shaders() {
    let lbs = reflect(spv!("deform/lbs.comp"));
    assert_layout::<Rows>(&lbs, "Rows", fields!(Rows: rows 48)).unwrap();
    assert_layout::<TailEntry>(&lbs, "TailEntry", fields!(TailEntry: joint 4, weight 4)).unwrap();
    let push = fields!(GeometricPush: count 4, has_tail 4, flag 4, on_bone 4);
    assert_layout::<GeometricPush>(&lbs, "GeometricPush", push).unwrap();
    let dqs = reflect(spv!("deform/dqs.comp"));
    assert_layout::<DualQuat>(&dqs, "DualQuat", fields!(DualQuat: real 16, dual 16)).unwrap();
    let irs = reflect(spv!("deform/irs.comp"));
    let frame = fields!(BoneFrame: head 12, pad0 4, span 12, pad1 4, rotation 16);
    assert_layout::<BoneFrame>(&irs, "BoneFrame", frame).unwrap();
    assert_layout::<Anchor>(&irs, "Anchor", fields!(Anchor: scale_vector 12, t 4)).unwrap();
    let reach = fields!(BoneReach: parent 4, child 4, head 4, tail 4, near_offset 4, near_count 4);
    assert_layout::<BoneReach>(&irs, "BoneReach", reach).unwrap();
    let stb = reflect(spv!("deform/stb.comp"));
    assert_layout::<Strain>(&stb, "Strain", fields!(Strain: stretch 12, twist 4)).unwrap();
    assert_layout::<StbEntry>(&stb, "StbEntry", fields!(StbEntry: bone 4, weight 4, end 4)).unwrap();
    let rest = fields!(BoneRest: head 12, joint 4, direction 12, pad 4);
    assert_layout::<BoneRest>(&stb, "BoneRest", rest).unwrap();
    let normals = reflect(spv!("deform/surface/normals.comp"));
    let source = fields!(SourceNormal: components 12, toward 4);
    assert_layout::<SourceNormal>(&normals, "SourceNormal", source).unwrap();
}
