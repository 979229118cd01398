//! Converts Vulkan results to errors with a remedy.

use crate::base::Error;
use ash::vk;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Returns a converter from a Vulkan result of the named call to an error, for `map_err(failed("vkQueueSubmit2"))`.
pub(crate) fn failed(call: &'static str) -> impl Fn(vk::Result) -> Error {
    move |result| match result {
        vk::Result::ERROR_DEVICE_LOST => Error::gpu(
            format!("{call}: the device was lost"),
            "start again: edits are already in the journal; update the driver if it recurs, or use --device llvmpipe",
        ),
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => Error::gpu(
            format!("{call}: out of device memory"),
            "close other programs that use the GPU, use a smaller model or picture, or --device llvmpipe",
        ),
        vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
            Error::gpu(format!("{call}: out of memory"), "close other programs or use a smaller model")
        }
        other => Error::gpu(
            format!("{call} failed: {other}"),
            "update the graphics driver or choose another --device",
        ),
    }
}

/// Returns the error for a failed allocation of `bytes` bytes for the object called `name`.
pub(crate) fn failed_allocation(name: &str, bytes: u64, error: &gpu_allocator::AllocationError) -> Error {
    Error::gpu(
        format!("no memory for {name} ({:.1} MiB): {error}", bytes as f64 / (1024.0 * 1024.0)),
        "close other programs that use the GPU, use a smaller model or picture, or --device llvmpipe",
    )
}

/// Locks a mutex and ignores poisoning: a panic in this module leaves no guarded state half-changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
