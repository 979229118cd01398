//! A thin layer over Vulkan 1.3. It knows nothing of meshes. Apart from the OpenXR module, only this module uses
//! `unsafe`.
//!
//! A [`Device`] runs [`Frame`]s. A frame is a list of named phases with [`Compute`] dispatches over [`Buffer`]s, and
//! one global barrier between two phases. Resources are bound by their names in the shaders ([`Reflection`]). Dropped
//! objects are destroyed once the GPU no longer uses them.

mod bindings;
mod buffer;
mod chain;
mod choose;
pub mod compile;
mod compute;
pub mod constants;
mod debug;
mod device;
mod error;
mod factory;
mod foreign;
mod frame;
mod graphics;
mod image;
mod layout;
mod mirror;
mod reflect;
mod shader;
pub mod testing;
mod transfer;
mod window;

pub use bindings::{Bindings, Resource, Texel};
pub use buffer::{Buffer, Memory};
pub use compute::Compute;
pub use device::{Device, DeviceOptions, Semaphores};
pub use factory::{DeviceFactory, Headless};
pub use foreign::{ForeignImage, Piece};
pub use frame::{Frame, Frames, Timings};
pub use graphics::{Blend, Cull, Graphics, GraphicsInfo, Load, Pass, Target};
pub use image::{Image, ImageInfo, Sampler};
pub use layout::{FieldLayout, Layout};
pub use mirror::{Held, Mirror, presents};
pub use reflect::{Binding, Field, Reflection, StructLayout};
pub use shader::{Spv, words_of};
pub use transfer::Readback;
pub use window::{Acquired, Surface, Window, surface_extensions};

#[cfg(test)]
mod tests;
