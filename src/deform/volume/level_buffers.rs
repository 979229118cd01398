//! Buffers of the cubes and nodes of a level on the GPU, which the stages of the solve and of contact share.

use super::levels::{Level, Lists};
use super::tissue::{LevelStiffness, Node};
use crate::base::Result;
use crate::gpu::{Buffer, Device, Resource, Texel};
use bytemuck::Pod;
use std::sync::Arc;

/// Buffers of a level that several stages read.
pub(super) struct LevelBuffers {
    pub(super) corners: Buffer,
    pub(super) nodes: Buffer,
    pub(super) at_node: (Buffer, Buffer),
    pub(super) displacements: Buffer,
    pub(super) bases: Buffer,
    pub(super) rotations: Buffer,
    pub(super) forces: Buffer,
    pub(super) loads: Buffer,
    /// Loads without contact; only on the finest level.
    pub(super) pulls: Buffer,
    pub(super) residuals: Buffer,
    pub(super) moves: Buffer,
    pub(super) weights: Buffer,
}

/// Uploads a list. An empty list becomes a single zero, because a buffer must not be empty.
pub(super) fn upload<T: Pod>(device: &Arc<Device>, name: &str, data: &[T]) -> Result<Buffer> {
    if data.is_empty() {
        Buffer::zeroed::<T>(device, name, 1)
    } else {
        Buffer::from_slice(device, name, data)
    }
}

pub(super) fn upload_lists<T: Pod>(
    device: &Arc<Device>,
    name: &str,
    lists: &Lists<T>,
) -> Result<(Buffer, Buffer)> {
    Ok((upload(device, name, &lists.offset)?, upload(device, name, &lists.entry)?))
}

impl LevelBuffers {
    pub(super) fn new(device: &Arc<Device>, level: &Level, stiffness: &LevelStiffness) -> Result<Self> {
        let vectors = |name: &str, count: usize| Buffer::zeroed::<[f32; 4]>(device, name, count.max(1));
        let (nodes, cells) = (level.nodes(), level.cells.len());
        Ok(Self {
            corners: upload(device, "cube corners", &level.cells)?,
            nodes: upload::<Node>(device, "cube nodes", &stiffness.nodes)?,
            at_node: upload_lists(device, "cubes at nodes", &level.at_node)?,
            displacements: vectors("displacements", nodes)?,
            bases: vectors("cube bases", 3 * cells)?,
            rotations: vectors("cube rotations", cells)?,
            forces: vectors("cube forces", 8 * cells)?,
            loads: vectors("node loads", nodes)?,
            pulls: vectors("node pulls", nodes)?,
            residuals: vectors("node residuals", nodes)?,
            moves: vectors("node moves", nodes)?,
            weights: upload(device, "cube weights", &stiffness.weight)?,
        })
    }

    pub(super) fn texels(buffer: &Buffer) -> Resource<'_> {
        Resource::Texels(buffer, Texel::Float4)
    }
}
