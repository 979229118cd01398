//! Buffers of the cubes and nodes of a level on the GPU, which the stages of the solve and of contact share.
//!
//! The stages read texels of four numbers where they can: a software device reads a texel at once, but the numbers of a
//! storage buffer one by one. For the same reason, lists have one length per level. Their padding names a zero behind
//! the last element.

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
    /// Corners of cubes at each node, with the number of groups of four per node.
    pub(super) at_node: (Buffer, u32),
    /// Stiffness of the contact springs at each node, in units of one spring. Zero before the first frame with contact.
    pub(super) contacts: Buffer,
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

/// As [`upload`], for [`Lists::quads`].
pub(super) fn upload_quads(
    device: &Arc<Device>,
    name: &str,
    (data, quads): (Vec<[u32; 4]>, u32),
) -> Result<(Buffer, u32)> {
    Ok((upload(device, name, &data)?, quads))
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
            at_node: upload_quads(device, "cubes at nodes", level.at_node.quads(|&c| c, 8 * cells as u32))?,
            contacts: Buffer::zeroed::<f32>(device, "contact at nodes", nodes.max(1))?,
            displacements: vectors("displacements", nodes + 1)?,
            bases: vectors("cube bases", 3 * cells)?,
            rotations: vectors("cube rotations", cells)?,
            forces: vectors("cube forces", 8 * cells + 1)?,
            loads: vectors("node loads", nodes)?,
            pulls: vectors("node pulls", nodes)?,
            residuals: vectors("node residuals", nodes + 1)?,
            moves: vectors("node moves", nodes)?,
            weights: upload(device, "cube weights", &stiffness.weight)?,
        })
    }

    pub(super) fn texels(buffer: &Buffer) -> Resource<'_> {
        Resource::Texels(buffer, Texel::Float4)
    }
}
