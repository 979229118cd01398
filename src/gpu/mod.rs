//! Vulkan.
pub mod compile;
pub mod constants;
