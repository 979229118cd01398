//! The Vulkan device that all tests share.

use super::{Device, DeviceOptions};
use std::sync::{Arc, OnceLock};

/// Returns the shared device, with the validation layer enabled; `None` if `SINEW_NO_GPU=1`.
///
/// # Panics
/// If there is no Vulkan device or no validation layer, so that a test without a device cannot pass unnoticed.
#[allow(clippy::panic, reason = "a helper of tests")]
pub fn device() -> Option<Arc<Device>> {
    static SHARED: OnceLock<Option<Arc<Device>>> = OnceLock::new();
    SHARED
        .get_or_init(|| {
            if std::env::var_os("SINEW_NO_GPU").is_some_and(|v| v == "1") {
                crate::base::testing::skip("gpu", "SINEW_NO_GPU=1");
                return None;
            }
            let name = std::env::var("SINEW_DEVICE").ok();
            match Device::new(&DeviceOptions { name, validation: true }) {
                Ok(device) => Some(device),
                Err(error) => panic!("{error}; or set SINEW_NO_GPU=1 to skip the tests that need Vulkan"),
            }
        })
        .clone()
}

/// Checks that the validation layer has reported no message so far.
///
/// # Panics
/// If there are messages; the panic contains their text.
pub fn assert_silent(device: &Device) {
    let messages = device.validation_messages();
    assert!(messages.is_empty(), "validation messages:\n{}", messages.join("\n"));
}
