//! The factors of the LBS-DQS blend on the GPU.

use super::Factor;
use crate::base::Result;
use crate::gpu::{Buffer, Device, Frame};
use std::sync::Arc;

/// Buffer with one factor per control vertex.
pub(in crate::deform) struct BlendFactors {
    buffer: Buffer,
    vertices: usize,
    /// New factors; [`BlendFactors::update`] writes them to the buffer.
    pending: Option<Factor>,
}

impl BlendFactors {
    /// Uploads the factors.
    ///
    /// # Errors
    /// An error if `factor` does not have one factor per vertex, or if the buffer cannot be allocated.
    pub fn new(device: &Arc<Device>, factor: &Factor, vertices: u32) -> Result<Self> {
        factor.check(vertices as usize)?;
        let factors: Vec<f32> = (0..vertices as usize).map(|i| factor.of(i)).collect();
        Ok(Self {
            buffer: Buffer::from_slice(device, "blend factors", &factors)?,
            vertices: vertices as usize,
            pending: None,
        })
    }

    /// Returns the buffer with one `float` per vertex.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Sets new factors. Has no effect if their number differs from the number of vertices.
    pub fn set(&mut self, factor: Factor) {
        if factor.check(self.vertices).is_ok() {
            self.pending = Some(factor);
        }
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
