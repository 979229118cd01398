//! Dual quaternion skinning.
//!
//! L. Kavan, S. Collins, J. Žára, C. O'Sullivan, *Geometric Skinning with Approximate Dual Quaternion
//! Blending*, ACM TOG 2008. Unit dual quaternions are blended (section 4.1), with signs chosen relative to the joint
//! of largest weight (antipodality, section 4.1). Scale and shear are applied before, in a separate linear phase
//! (section 4.2; [`crate::deform::rig_data::RigData::update`] splits `T_j`). The method preserves volume when twisted
//! and bulges when bent.

mod cpu;

pub use cpu::Dqs;
pub(in crate::deform) use cpu::skin;
