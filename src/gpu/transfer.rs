//! Transfers to and from the device: blocking transfers for tools and tests, a ring of readbacks for frames.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::buffer::{Buffer, Memory};
use super::device::Device;
use super::frame::Frame;
use crate::base::{Error, Result};
use bytemuck::Pod;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum bytes per copy of a blocking transfer.
const CHUNK_BYTES: usize = 16 << 20;

impl Device {
    /// Writes `data` into a buffer at a byte offset and waits for the copy.
    pub fn upload<T: Pod>(self: &Arc<Self>, target: &Buffer, offset: u64, data: &[T]) -> Result<()> {
        let mut at = offset;
        for chunk in bytemuck::cast_slice::<T, u8>(data).chunks(CHUNK_BYTES) {
            self.run(|frame| {
                frame.upload(target, at, chunk);
                Ok(())
            })?;
            at += chunk.len() as u64;
        }
        Ok(())
    }

    /// Reads the first `count` elements of a buffer. Waits until all submitted work is done.
    pub fn read<T: Pod>(self: &Arc<Self>, source: &Buffer, count: usize) -> Result<Vec<T>> {
        let mut out = vec![T::zeroed(); count];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut out);
        if bytes.is_empty() {
            return Ok(out);
        }
        if bytes.len() as u64 > source.bytes() {
            return Err(Error::gpu(
                format!("{} bytes were to be read from {source:?}", bytes.len()),
                "this is a mistake in the program: report it",
            ));
        }
        let staging = Buffer::new(self, "readback", bytes.len().min(CHUNK_BYTES) as u64, Memory::Readback)?;
        let mut at = 0;
        for chunk in bytes.chunks_mut(CHUNK_BYTES) {
            self.run(|frame| {
                frame.copy_range(source, at, &staging, 0, chunk.len() as u64);
                Ok(())
            })?;
            chunk.copy_from_slice(&staging.mapped()?[..chunk.len()]);
            at += chunk.len() as u64;
        }
        Ok(out)
    }
}

/// A ring of buffers for small readbacks; no operation waits for the GPU. Results arrive in order, after the GPU has
/// finished the copies.
pub struct Readback<Tag> {
    device: Arc<Device>,
    free: Vec<Buffer>,
    pending: VecDeque<Pending<Tag>>,
}

struct Pending<Tag> {
    buffer: Buffer,
    /// The submission's timeline value; 0 while the frame is being recorded.
    value: Arc<AtomicU64>,
    bytes: usize,
    tag: Tag,
}

impl<Tag> Readback<Tag> {
    /// Creates a ring for at most `entries` pending readbacks of at most `bytes` bytes each.
    pub fn new(device: &Arc<Device>, entries: usize, bytes: u64) -> Result<Self> {
        let free = (0..entries).map(|_| Buffer::new(device, "readback ring", bytes, Memory::Readback));
        Ok(Self { device: device.clone(), free: free.collect::<Result<_>>()?, pending: VecDeque::new() })
    }

    /// Returns the next free buffer, which the frame must write; [`Readback::poll`] later returns its content with
    /// `tag`. Returns `None` if the ring is full; the caller then skips this readback.
    pub fn target(&mut self, frame: &mut Frame, bytes: usize, tag: Tag) -> Option<Buffer> {
        let buffer = self.free.pop()?;
        let value = Arc::new(AtomicU64::new(0));
        frame.told.push(value.clone());
        self.pending.push_back(Pending { buffer: buffer.clone(), value, bytes, tag });
        Some(buffer)
    }

    /// Records the readback of a range of a buffer. Returns false if the ring is full.
    pub fn record(
        &mut self,
        frame: &mut Frame,
        source: &Buffer,
        offset: u64,
        bytes: usize,
        tag: Tag,
    ) -> bool {
        let Some(target) = self.target(frame, bytes, tag) else { return false };
        frame.copy_range(source, offset, &target, 0, bytes as u64);
        true
    }

    /// Whether readbacks are pending.
    pub fn is_waiting(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Returns the oldest finished readback, if any. Never waits. Readbacks of abandoned frames are dropped.
    pub fn poll(&mut self) -> Result<Option<(Tag, Vec<u8>)>> {
        while let Some(front) = self.pending.front() {
            let value = front.value.load(Ordering::Acquire);
            let abandoned = value == 0 && Arc::strong_count(&front.value) == 1;
            if !abandoned && (value == 0 || !self.device.is_done(value)?) {
                return Ok(None);
            }
            let Some(done) = self.pending.pop_front() else { return Ok(None) };
            let content = done.buffer.mapped()?.get(..done.bytes).unwrap_or_default().to_vec();
            self.free.push(done.buffer);
            if !abandoned {
                return Ok(Some((done.tag, content)));
            }
        }
        Ok(None)
    }
}
