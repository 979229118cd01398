//! CPU reference of the displacement by sculpt layers.

use super::Field;
use crate::base::math::{Quat, Vec3};
use crate::bind::Character;
use crate::deform::springs::cpu::blended_rotation;
use crate::rig::PosedRig;

/// Returns the rotation `Q` of a control vertex: the blend of its joints' rotations by skin weight.
pub fn rotation(character: &Character, rig: &PosedRig, vertex: u32) -> Quat {
    blended_rotation(character.control.influences.of(vertex as usize), &rig.rotation)
}

/// Moves control vertices by the rotated offsets: `x' = x + Q D`.
pub fn displace(field: &Field, character: &Character, rig: &PosedRig, positions: &mut [Vec3]) {
    for (v, offset) in field.iter() {
        positions[v as usize] += rotation(character, rig, v) * offset.offset;
    }
}
