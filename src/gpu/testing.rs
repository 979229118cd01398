//! The device that tests share; validation is always on.

use super::{Device, DeviceOptions};
use std::sync::{Arc, OnceLock};

/// The tests' device, with validation; `None` if `SINEW_NO_GPU=1`.
///
/// # Panics
/// If there is no Vulkan device or no validation layer: a test that needs one must not pass silently.
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

/// Checks that the validation layer has reported nothing so far.
///
/// # Panics
/// If there are messages; the panic shows them.
pub fn assert_silent(device: &Device) {
    let messages = device.validation_messages();
    assert!(messages.is_empty(), "validation messages:\n{}", messages.join("\n"));
}
