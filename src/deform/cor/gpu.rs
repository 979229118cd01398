//! The GPU buffer with the centres of rotation.

use super::bind::{center_coordinates, centers};
use crate::base::Result;
use crate::base::math::Vec3;
use crate::deform::rest::SkinCage;
use crate::deform::rest::gpu::Followers;
use crate::deform::rig_buffers::padded;
use crate::geom::ControlMesh;
use crate::gpu::{Buffer, Device};
use std::sync::Arc;

/// The centre of rotation of each control vertex.
pub(in crate::deform) struct CorCenters {
    base: Vec<Vec3>,
    buffer: Buffer,
}

impl CorCenters {
    /// Computes and uploads the centres of the file's rest shape.
    ///
    /// # Errors
    /// If memory is short.
    pub fn new(device: &Arc<Device>, control: &ControlMesh) -> Result<Self> {
        let base = centers(control);
        Ok(Self { buffer: Buffer::from_slice(device, "centres of rotation", &padded(&base))?, base })
    }

    /// Returns the buffer, `vec4` per vertex, bind space, metres.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The centres as points that follow a cage.
    pub fn followers(&self, control: &ControlMesh, skin: &SkinCage) -> Followers {
        Followers::Points {
            buffer: self.buffer.clone(),
            base: self.base.clone(),
            coordinates: center_coordinates(control, skin),
        }
    }
}
