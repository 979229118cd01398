//! The factors of the LBS-DQS blend on the GPU.

use super::Factor;
use crate::base::Result;
use crate::gpu::{Buffer, Device, Frame};
use std::sync::Arc;

/// Buffer with one factor per control vertex.
pub(in crate::deform) struct BlendFactors {
    buffer: Buffer,
    /// New value for all factors; [`BlendFactors::update`] writes it to the buffer.
    pending: Option<f32>,
}

impl BlendFactors {
    /// Uploads the factors.
    ///
    /// # Errors
    /// An error if `factor` does not have one factor per vertex, or if the buffer cannot be allocated.
    pub fn new(device: &Arc<Device>, factor: &Factor, vertices: u32) -> Result<Self> {
        factor.check(vertices as usize)?;
        let factors: Vec<f32> = (0..vertices as usize).map(|i| factor.of(i)).collect();
        Ok(Self { buffer: Buffer::from_slice(device, "blend factors", &factors)?, pending: None })
    }

    /// Returns the buffer with one `float` per vertex.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Sets one factor for all vertices.
    pub fn set(&mut self, factor: f32) {
        self.pending = Some(Factor::Global(factor).of(0));
    }

    /// Records the upload after [`BlendFactors::set`]; the caller adds a barrier or a new phase after it.
    pub fn update(&mut self, frame: &mut Frame) {
        if let Some(factor) = self.pending.take() {
            frame.fill(&self.buffer, factor.to_bits());
        }
    }
}
