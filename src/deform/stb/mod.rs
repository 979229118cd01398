//! Stretchable, twistable bones.
//!
//! A. Jacobson, O. Sorkine, *Stretchable and Twistable Bones for Skeletal Shape Deformation*, ACM TOG 2011 (thesis
//! 2.1.3): linear blend skinning in which each bone distributes its stretch and its child's twist along its length by
//! endpoint weights `e`, 0 at its head and 1 at its tail. A twist no longer collapses, and a longer bone does not
//! swell at its end. Bends lose volume as in linear blend skinning (LBS).
//!
//! `x' = Σ w_b ( T_j (h + K_b(e θ_b) (x - h)) + e s_b )`: `h` is the bone's head in bind, and `K_b` the rotation
//! about the bone's bind direction. `θ_b` is the twist of the child joint's local rotation about this direction, and
//! `s_b = c' - T_j c` the stretch: the posed tail minus the tail as transformed by the bone's joint.
//!
//! **(differs)** The skin weights are per joint, not per bone. A joint's weight is distributed over its bones by
//! inverse squared distance, which is continuous where the joint branches. The endpoint weight is the vertex's
//! clamped projection on the bone.

mod bind;
mod cpu;
mod gpu;

pub use bind::{BoneRest, StbBinding, StbEntry, bind};
pub use cpu::Stb;
pub(super) use gpu::StbRests;
