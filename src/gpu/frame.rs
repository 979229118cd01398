//! Recording and submission of frames, barriers and GPU timers.
//!
//! There is no frame graph. A frame is a function that records named phases, with one global memory barrier between
//! two phases. All images stay in layout GENERAL.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::buffer::{Buffer, Memory, RawBuffer};
use super::device::{Device, Semaphores};
use super::error::{failed, lock};
use crate::base::{Error, Result};
use ash::vk;
use bytemuck::Pod;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Maximum number of timestamps per frame. The time of phases beyond this limit is added to the last timed phase.
const MAX_TIMESTAMPS: u32 = 256;
const FIRST_UPLOAD_BYTES: u64 = 1 << 20;

/// Name and GPU duration of each phase, in order.
pub type Timings = Vec<(&'static str, Duration)>;

/// The reusable objects of one frame in flight.
pub(super) struct Slot {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    queries: vk::QueryPool,
    upload: Option<RawBuffer>,
    uploaded: u64,
    phases: Vec<&'static str>,
    /// The empty list of [`Frame::told`], which keeps its memory.
    told: Vec<Arc<AtomicU64>>,
}

impl Slot {
    fn new(device: &Device) -> Result<Self> {
        let pool_info = vk::CommandPoolCreateInfo::default().queue_family_index(device.queue_family());
        let query_info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(MAX_TIMESTAMPS);
        // SAFETY: plain creation. If a later call fails, the device is unusable and its objects are lost anyway.
        unsafe {
            let pool =
                device.handle.create_command_pool(&pool_info, None).map_err(failed("vkCreateCommandPool"))?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands =
                device.handle.allocate_command_buffers(&info).map_err(failed("vkAllocateCommandBuffers"))?[0];
            let queries =
                device.handle.create_query_pool(&query_info, None).map_err(failed("vkCreateQueryPool"))?;
            Ok(Self {
                pool,
                commands,
                queries,
                upload: None,
                uploaded: 0,
                phases: Vec::with_capacity(MAX_TIMESTAMPS as usize),
                told: Vec::new(),
            })
        }
    }

    pub(super) fn destroy(self, device: &Device) {
        // SAFETY: called when the device is idle and about to be destroyed.
        unsafe {
            device.handle.destroy_command_pool(self.pool, None);
            device.handle.destroy_query_pool(self.queries, None);
            if let Some(upload) = self.upload {
                device.handle.destroy_buffer(upload.handle, None);
                device.free(upload.memory);
            }
        }
    }

    /// Reads the durations of the phases into `out`; the slot's submission must be finished.
    fn timings(&self, device: &Device, out: &mut Timings) -> Result<()> {
        out.clear();
        if self.phases.is_empty() {
            return Ok(());
        }
        let mut ticks = [0u64; MAX_TIMESTAMPS as usize];
        let ticks = &mut ticks[..=self.phases.len()];
        // SAFETY: these queries were written by the finished submission.
        unsafe {
            device.handle.get_query_pool_results(self.queries, 0, ticks, vk::QueryResultFlags::TYPE_64)
        }
        .map_err(failed("vkGetQueryPoolResults"))?;
        let period = f64::from(device.limits().timestamp_period);
        let span = |w: &[u64]| Duration::from_nanos((w[1].saturating_sub(w[0]) as f64 * period) as u64);
        out.extend(self.phases.iter().copied().zip(ticks.windows(2).map(span)));
        Ok(())
    }
}

/// A frame being recorded. The recording functions store misuse, e.g. wrong sizes, as an error. The submission of the
/// frame returns this error.
pub struct Frame {
    device: Arc<Device>,
    slot: Option<Slot>,
    pub(super) commands: vk::CommandBuffer,
    error: Option<Error>,
    /// The bound compute pipeline and descriptor set. They are not bound a second time, because binding costs as much
    /// as a dispatch.
    pub(super) bound: Option<(vk::Pipeline, vk::DescriptorSet)>,
    /// Counters that receive the submission's timeline value; see [`super::Readback`].
    pub(super) told: Vec<Arc<AtomicU64>>,
}

impl Frame {
    pub(super) fn begin(device: &Arc<Device>, slot: Slot) -> Result<Self> {
        device.collect();
        let mut slot = slot;
        slot.phases.clear();
        slot.uploaded = 0;
        let commands = slot.commands;
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the slot's last submission is done, so its pool may be reset and recorded again.
        unsafe {
            device
                .handle
                .reset_command_pool(slot.pool, vk::CommandPoolResetFlags::empty())
                .map_err(failed("vkResetCommandPool"))?;
            device.handle.begin_command_buffer(commands, &begin).map_err(failed("vkBeginCommandBuffer"))?;
            device.handle.cmd_reset_query_pool(commands, slot.queries, 0, MAX_TIMESTAMPS);
        }
        device.open_frame();
        let told = std::mem::take(&mut slot.told);
        Ok(Self { device: device.clone(), slot: Some(slot), commands, error: None, bound: None, told })
    }

    /// Returns the frame's device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Starts a phase. All earlier work is finished and visible to everything after this call.
    pub fn phase(&mut self, name: &'static str) {
        self.barrier();
        let Some(slot) = &mut self.slot else { return };
        if slot.phases.len() as u32 + 1 < MAX_TIMESTAMPS {
            let index = slot.phases.len() as u32;
            slot.phases.push(name);
            Self::stamp(&self.device, self.commands, slot.queries, index);
        }
    }

    fn stamp(device: &Device, commands: vk::CommandBuffer, queries: vk::QueryPool, index: u32) {
        // SAFETY: the command buffer is recording; the pool was reset at the frame's start and each index is written
        // once.
        unsafe {
            device.handle.cmd_write_timestamp2(
                commands,
                vk::PipelineStageFlags2::ALL_COMMANDS,
                queries,
                index,
            );
        }
    }

    /// Records a global memory barrier. All earlier work is finished and visible to everything after this call. One
    /// barrier between two dependent steps suffices, whatever the number of buffers.
    pub fn barrier(&mut self) {
        self.memory_barrier(vk::PipelineStageFlags2::ALL_COMMANDS, vk::AccessFlags2::empty());
    }

    fn memory_barrier(&mut self, more_stages: vk::PipelineStageFlags2, more_access: vk::AccessFlags2) {
        let barrier = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS | more_stages)
            .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE | more_access)];
        let info = vk::DependencyInfo::default().memory_barriers(&barrier);
        // SAFETY: the command buffer is recording outside a render pass.
        unsafe { self.device.handle.cmd_pipeline_barrier2(self.commands, &info) };
    }

    /// Copies the first `bytes` bytes. It is an error if `source` or `target` is shorter.
    pub fn copy(&mut self, source: &Buffer, target: &Buffer, bytes: u64) {
        self.copy_range(source, 0, target, 0, bytes);
    }

    /// Copies a range of bytes. A range beyond a buffer's end is an error.
    pub fn copy_range(&mut self, source: &Buffer, from: u64, target: &Buffer, to: u64, bytes: u64) {
        if from + bytes > source.bytes() || to + bytes > target.bytes() {
            return self
                .fail(format!("copy of {bytes} bytes from {source:?} at {from} to {target:?} at {to}"));
        }
        if bytes == 0 {
            return;
        }
        let region = [vk::BufferCopy::default().src_offset(from).dst_offset(to).size(bytes)];
        // SAFETY: the command buffer is recording; the ranges were checked; both buffers live until the submission is
        // done.
        unsafe {
            self.device.handle.cmd_copy_buffer(self.commands, source.handle(), target.handle(), &region)
        };
    }

    /// Fills a whole buffer with a 32-bit value.
    pub fn fill(&mut self, target: &Buffer, value: u32) {
        // SAFETY: the command buffer is recording; the whole buffer is filled, so the range is valid.
        unsafe {
            self.device.handle.cmd_fill_buffer(self.commands, target.handle(), 0, vk::WHOLE_SIZE, value);
        }
    }

    /// Writes `data` into a buffer at a byte offset through the frame's staging memory. The staging memory is reused
    /// between frames and grows to the size that the largest frame needs. This is a copy: put a barrier before the
    /// buffer's use.
    pub fn upload<T: Pod>(&mut self, target: &Buffer, offset: u64, data: &[T]) {
        if let Err(error) = self.try_upload(target, offset, bytemuck::cast_slice(data)) {
            self.error.get_or_insert(error);
        }
    }

    fn try_upload(&mut self, target: &Buffer, offset: u64, data: &[u8]) -> Result<()> {
        let bytes = data.len() as u64;
        if offset + bytes > target.bytes() {
            self.fail(format!("upload of {bytes} bytes to {target:?} at {offset}"));
            return Ok(());
        }
        if bytes == 0 {
            return Ok(());
        }
        let Some((staging, start)) = self.stage(data)? else { return Ok(()) };
        let region = [vk::BufferCopy::default().src_offset(start).dst_offset(offset).size(bytes)];
        // SAFETY: the command buffer is recording; the ranges were checked; the staging buffer is retired, not freed,
        // when replaced.
        unsafe { self.device.handle.cmd_copy_buffer(self.commands, staging, target.handle(), &region) };
        Ok(())
    }

    /// Writes bytes to the frame's staging memory. Returns the buffer and the data's offset, a multiple of 16 bytes.
    pub(super) fn stage(&mut self, data: &[u8]) -> Result<Option<(vk::Buffer, u64)>> {
        let Some(slot) = &mut self.slot else { return Ok(None) };
        let (start, end) = (slot.uploaded, slot.uploaded + data.len() as u64);
        if slot.upload.as_ref().is_none_or(|u| u.bytes < end) {
            let bytes = end.next_power_of_two().max(FIRST_UPLOAD_BYTES);
            let larger = RawBuffer::new(&self.device, "frame upload", bytes, Memory::Upload)?;
            if let Some(full) = slot.upload.replace(larger) {
                self.device.retire(full.retired());
            }
        }
        let Some(upload) = &mut slot.upload else { return Ok(None) };
        upload.mapped_mut()?[start as usize..end as usize].copy_from_slice(data);
        slot.uploaded = end.next_multiple_of(16);
        Ok(Some((upload.handle, start)))
    }

    pub(super) fn fail(&mut self, problem: String) {
        self.error.get_or_insert(Error::gpu(problem, "this is a mistake in the program: report it"));
    }

    pub(super) fn check<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        }
    }

    /// Ends and submits the frame. Returns the timeline value of its completion, and the slot for later reuse.
    fn finish(mut self, semaphores: &Semaphores) -> Result<(u64, Slot)> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.memory_barrier(vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ);
        if let Some(slot) = &self.slot
            && !slot.phases.is_empty()
        {
            Self::stamp(&self.device, self.commands, slot.queries, slot.phases.len() as u32);
        }
        // SAFETY: the command buffer is recording, and its recording ends here.
        unsafe { self.device.handle.end_command_buffer(self.commands) }
            .map_err(failed("vkEndCommandBuffer"))?;
        let mut slot =
            self.slot.take().ok_or_else(|| Error::gpu("a frame was submitted twice", "report it"))?;
        match self.device.close_frame(Some(self.commands), semaphores) {
            Ok(value) => {
                for told in self.told.drain(..) {
                    told.store(value, Ordering::Release);
                }
                slot.told = std::mem::take(&mut self.told);
                Ok((value, slot))
            }
            Err(error) => {
                lock(&self.device.slots).push(slot);
                Err(error)
            }
        }
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            // The frame was abandoned: nothing was submitted, so the slot is free immediately.
            let _ = self.device.close_frame(None, &Semaphores::default());
            lock(&self.device.slots).push(slot);
        }
    }
}

impl Device {
    fn take_slot(&self) -> Result<Slot> {
        let free = lock(&self.slots).pop();
        free.map_or_else(|| Slot::new(self), Ok)
    }

    /// Records a frame with `record`, submits it, waits, and returns the times of its phases.
    pub fn run(self: &Arc<Self>, record: impl FnOnce(&mut Frame) -> Result<()>) -> Result<Timings> {
        let mut frame = Frame::begin(self, self.take_slot()?)?;
        record(&mut frame)?;
        let (value, slot) = frame.finish(&Semaphores::default())?;
        self.wait(value)?;
        let mut timings = Timings::new();
        let read = slot.timings(self, &mut timings);
        lock(&self.slots).push(slot);
        self.collect();
        read.map(|()| timings)
    }
}

/// A queue of frames in flight: the CPU records one frame while the GPU executes earlier frames.
pub struct Frames {
    device: Arc<Device>,
    /// Submitted frames, oldest first, with their timeline values.
    flying: std::collections::VecDeque<(u64, Slot)>,
    in_flight: usize,
    timings: Timings,
}

impl Frames {
    /// Creates the queue. At most `in_flight` frames are submitted at a time (minimum 1, usually 2).
    pub fn new(device: &Arc<Device>, in_flight: usize) -> Self {
        Self {
            device: device.clone(),
            flying: Default::default(),
            in_flight: in_flight.max(1),
            timings: Vec::with_capacity(MAX_TIMESTAMPS as usize),
        }
    }

    /// Starts a frame; waits for the oldest one if too many are in flight.
    pub fn begin(&mut self) -> Result<Frame> {
        while let Some((value, _)) = self.flying.front() {
            let full = self.flying.len() >= self.in_flight;
            if full {
                self.device.wait(*value)?;
            } else if !self.device.is_done(*value)? {
                break;
            }
            if let Some((_, slot)) = self.flying.pop_front() {
                slot.timings(&self.device, &mut self.timings)?;
                lock(&self.device.slots).push(slot);
            }
        }
        Frame::begin(&self.device, self.device.take_slot()?)
    }

    /// Submits a frame; returns its timeline value for [`Device::wait`].
    pub fn submit(&mut self, frame: Frame, semaphores: &Semaphores) -> Result<u64> {
        let (value, slot) = frame.finish(semaphores)?;
        self.flying.push_back((value, slot));
        Ok(value)
    }

    /// Returns the phase times of the last finished frame.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        while let Some((value, slot)) = self.flying.pop_front() {
            // Waiting fails immediately on a lost device; the slots are destroyed with the device.
            let _ = self.device.wait(value);
            lock(&self.device.slots).push(slot);
        }
    }
}
