//! End-to-end tests of the window: they run `sinew edit` on an X server (Xvfb) with Vulkan's validation layer, send input
//! by XTEST events and check screenshots.

mod bed;
mod binding;
mod bones;
mod cages;
mod drop;
mod first;
mod flesh;
mod grips;
mod looking;
mod motion;
mod opening;
mod posing;
pub mod stage;
mod whole;
