//! Skin weights from the shape of a mesh and its bones.
//!
//! Weights are computed on cubes that enclose mesh and bones ([`Flesh`]), and interpolated at the vertices.

mod biharmonic;
mod doctor;
mod elastic;
mod empty;
mod flesh;
#[cfg(test)]
pub(crate) mod known;
mod quasi_harmonic;
mod skin;
mod smoothness;
mod swing_twist;
#[cfg(test)]
mod testing;

#[cfg(feature = "clarabel")]
pub use biharmonic::biharmonic_weight_by_clarabel;
pub use biharmonic::{biharmonic_energy, biharmonic_weights};
pub use doctor::{Diagnosis, diagnose};
pub use elastic::{Hinge, Minimum, STEPS, swing_samples, twist_samples};
pub use flesh::{Flesh, FleshJoint, flesh_joints};
pub use quasi_harmonic::quasi_harmonic_weights;
pub use skin::{WeightMethod, skin_weights};
pub use swing_twist::{JointWeight, NodeWeights, Points, SwingTwistWeights, swing_twist_weights};
