//! The factors of the LBS-DQS blend on the GPU.

use super::{Factor, Painted};
use crate::base::Result;
use crate::gpu::{Buffer, Device, Frame};
use std::sync::Arc;

/// Buffer with one factor per control vertex.
pub(in crate::deform) struct BlendFactors {
    buffer: Buffer,
    vertices: usize,
    /// The painted factors that were set last.
    painted: Painted,
    /// New factors; [`BlendFactors::update`] writes them to the buffer.
    pending: Option<Factor>,
}

impl BlendFactors {
    /// Uploads the factors.
    ///
    /// # Errors
    /// An error if there is not one painted factor per vertex, or if the buffer cannot be allocated.
    pub fn new(device: &Arc<Device>, painted: &Painted, global: f32, vertices: u32) -> Result<Self> {
        let factor = painted.or(global);
        factor.check(vertices as usize)?;
        let factors: Vec<f32> = (0..vertices as usize).map(|i| factor.of(i)).collect();
        Ok(Self {
            buffer: Buffer::from_slice(device, "blend factors", &factors)?,
            vertices: vertices as usize,
            painted: painted.clone(),
            pending: None,
        })
    }

    /// Returns the buffer of the blend factors: one `float` per control vertex.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Sets new factors: the painted ones, else `global` for all vertices. Allocates only if the painted factors are new.
    /// Has no effect if their number differs from the number of vertices.
    pub fn set(&mut self, painted: &Painted, global: f32) {
        if !painted.is_empty() && (*painted == self.painted || painted.len() != self.vertices) {
            return;
        }
        self.painted = painted.clone();
        self.pending = Some(painted.or(global));
    }

    /// Records the upload after [`BlendFactors::set`]; the caller adds a barrier or a new phase after it.
    pub fn update(&mut self, frame: &mut Frame) {
        match self.pending.take() {
            Some(Factor::PerVertex(factors)) => frame.upload(&self.buffer, 0, &factors),
            Some(global) => frame.fill(&self.buffer, global.of(0).to_bits()),
            None => {}
        }
    }
}
