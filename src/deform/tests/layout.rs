//! Compares Rust structs with the committed shaders. Needs no Vulkan device.

use crate::deform::attach::Anchor;
use crate::deform::irs::BoneReach;
use crate::deform::lbs::TailEntry;
use crate::deform::rig_buffers::GeometricPush;
use crate::deform::rig_data::{BoneFrame, DualQuat, Rows, Strain};
use crate::deform::stb::{BoneRest, StbEntry};
use crate::deform::surface::SourceNormal;
use crate::deform::swing_twist::{ChainEntry, JointMotion};
use crate::gpu::{Reflection, Spv};
use crate::spv;

fn reflect(spv: Spv) -> Reflection {
    Reflection::new(spv.name, &spv.words().unwrap()).unwrap()
}

#[test]
fn structs_agree_with_the_shaders() {
    let lbs = reflect(spv!("deform/lbs.comp"));
    lbs.check::<Rows>().unwrap();
    lbs.check::<TailEntry>().unwrap();
    lbs.check::<GeometricPush>().unwrap();
    reflect(spv!("deform/dqs.comp")).check::<DualQuat>().unwrap();
    let irs = reflect(spv!("deform/irs.comp"));
    irs.check::<BoneFrame>().unwrap();
    irs.check::<Anchor>().unwrap();
    irs.check::<BoneReach>().unwrap();
    let stb = reflect(spv!("deform/stb.comp"));
    stb.check::<Strain>().unwrap();
    stb.check::<StbEntry>().unwrap();
    stb.check::<BoneRest>().unwrap();
    let swing_twist = reflect(spv!("deform/swing_twist.comp"));
    swing_twist.check::<JointMotion>().unwrap();
    swing_twist.check::<ChainEntry>().unwrap();
    reflect(spv!("deform/surface/normals.comp")).check::<SourceNormal>().unwrap();
}
