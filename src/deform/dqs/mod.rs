//! Dual quaternion skinning.
//!
//! L. Kavan, S. Collins, J. Žára, C. O'Sullivan, *Geometric Skinning with Approximate Dual Quaternion
//! Blending*, ACM TOG 2008: blended unit dual quaternions (section 4.1), signs chosen relative to the
//! heaviest joint (antipodality, section 4.1), scale and shear in a separate linear phase before (section
//! 4.2; [`crate::deform::rig_data::RigData::update`] splits `T_j`). The method preserves volume when
//! twisted and bulges when bent.

mod cpu;

pub use cpu::Dqs;
pub(in crate::deform) use cpu::skin;
