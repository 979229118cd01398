//! GPU buffers that free themselves when dropped, with typed access to slices of plain data.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::device::{Device, Retired};
use super::error::failed;
use crate::base::{Error, Result};
use ash::vk;
use bytemuck::Pod;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::Allocation;
use std::sync::Arc;

/// The memory in which a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Memory local to the device.
    Device,
    /// Host memory that the CPU writes and the GPU reads.
    Upload,
    /// Host memory that the GPU writes and the CPU reads.
    Readback,
}

/// A GPU buffer. Clones share one buffer, which is freed after the last clone is dropped and the GPU has finished
/// with it.
///
/// Every buffer can be used for storage, texels, indices and indirect arguments, and as source and target of copies.
#[derive(Clone)]
pub struct Buffer(Arc<Inner>);

struct Inner {
    device: Arc<Device>,
    raw: Option<RawBuffer>,
    name: String,
}

/// A buffer and its memory; dropping this struct does not free them.
pub(super) struct RawBuffer {
    pub(super) handle: vk::Buffer,
    pub(super) memory: Allocation,
    pub(super) bytes: u64,
}

impl RawBuffer {
    pub(super) fn new(device: &Device, name: &str, bytes: u64, memory: Memory) -> Result<Self> {
        let limit = u64::from(device.limits().max_storage_buffer_range);
        if memory == Memory::Device && bytes > limit {
            return Err(Error::gpu(
                format!("{name} needs {:.0} MiB, a buffer here holds {:.0} MiB", mib(bytes), mib(limit)),
                "use a smaller model or another --device",
            ));
        }
        // Vulkan has no buffers of size 0, but a mesh without elements still needs buffers to bind.
        let bytes = bytes.max(16).next_multiple_of(16);
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER
            | vk::BufferUsageFlags::INDEX_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(bytes).usage(usage);
        // SAFETY: the info is complete; size and usage are valid for any device.
        let handle = unsafe { device.handle.create_buffer(&info, None) }.map_err(failed("vkCreateBuffer"))?;
        // SAFETY: the buffer was just made by this device.
        let requirements = unsafe { device.handle.get_buffer_memory_requirements(handle) };
        let location = match memory {
            Memory::Device => MemoryLocation::GpuOnly,
            Memory::Upload => MemoryLocation::CpuToGpu,
            Memory::Readback => MemoryLocation::GpuToCpu,
        };
        let destroy = |error| {
            // SAFETY: the buffer is not used by anything yet.
            unsafe { device.handle.destroy_buffer(handle, None) };
            error
        };
        let memory = device.allocate(name, requirements, location, true).map_err(destroy)?;
        // SAFETY: memory and offset were allocated for this buffer.
        let bound = unsafe { device.handle.bind_buffer_memory(handle, memory.memory(), memory.offset()) };
        if let Err(error) = bound {
            device.free(memory);
            return Err(destroy(failed("vkBindBufferMemory")(error)));
        }
        Ok(Self { handle, memory, bytes })
    }

    pub(super) fn mapped_mut(&mut self) -> Result<&mut [u8]> {
        self.memory
            .mapped_slice_mut()
            .ok_or_else(|| Error::gpu("upload memory is not mapped", "update the driver"))
    }

    pub(super) fn retired(self) -> Retired {
        Retired::Buffer(self.handle, self.memory)
    }
}

/// Returns the bytes of `count` elements, but at least of one element, because shaders may read the first element of an
/// empty array.
fn bytes_of<T>(count: usize) -> u64 {
    size_of::<T>() as u64 * count.max(1) as u64
}

impl Buffer {
    /// Creates a buffer of `bytes` bytes, at least 16. The content is undefined. Fails if memory is short.
    pub fn new(device: &Arc<Device>, name: &str, bytes: u64, memory: Memory) -> Result<Self> {
        let raw = RawBuffer::new(device, name, bytes, memory)?;
        Ok(Self(Arc::new(Inner { device: device.clone(), raw: Some(raw), name: name.to_owned() })))
    }

    /// Creates a device buffer for `count` elements of `T`, filled with zeros.
    pub fn zeroed<T: Pod>(device: &Arc<Device>, name: &str, count: usize) -> Result<Self> {
        let buffer = Self::new(device, name, bytes_of::<T>(count), Memory::Device)?;
        device.run(|frame| {
            frame.fill(&buffer, 0);
            Ok(())
        })?;
        Ok(buffer)
    }

    /// Creates a device buffer with the content `data`. Waits for the copy.
    pub fn from_slice<T: Pod>(device: &Arc<Device>, name: &str, data: &[T]) -> Result<Self> {
        let buffer = Self::new(device, name, bytes_of::<T>(data.len()), Memory::Device)?;
        device.upload(&buffer, 0, data)?;
        Ok(buffer)
    }

    /// Creates a device buffer with the content of this buffer. Waits for the copy.
    ///
    /// # Errors
    /// If memory is short.
    pub fn copied(&self, device: &Arc<Device>) -> Result<Self> {
        let copy = Self::new(device, self.name(), self.bytes(), Memory::Device)?;
        device.run(|frame| {
            frame.copy(self, &copy, self.bytes());
            Ok(())
        })?;
        Ok(copy)
    }

    /// Returns the allocated bytes: the requested size, rounded up to a multiple of 16.
    pub fn bytes(&self) -> u64 {
        self.raw().map_or(0, |r| r.bytes)
    }

    /// Returns the name given at creation.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the device that owns the buffer.
    pub fn device(&self) -> &Arc<Device> {
        &self.0.device
    }

    pub(super) fn handle(&self) -> vk::Buffer {
        self.raw().map_or(vk::Buffer::null(), |r| r.handle)
    }

    /// Returns the mapped bytes of an upload or readback buffer. Before reading bytes that a submission writes, wait
    /// for that submission.
    pub fn mapped(&self) -> Result<&[u8]> {
        self.raw().and_then(|r| r.memory.mapped_slice()).ok_or_else(|| {
            Error::gpu(format!("{} is not host visible", self.0.name), "read it through Device::read")
        })
    }

    fn raw(&self) -> Option<&RawBuffer> {
        self.0.raw.as_ref()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(raw) = self.raw.take() {
            self.device.retire(raw.retired());
        }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({:?}, {} bytes)", self.0.name, self.bytes())
    }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}
