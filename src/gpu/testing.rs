//! The Vulkan device that all tests share.

use super::compile::source_folder;
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

/// Checks constants against the declarations of the same names in a file below `glsl/`; see
/// [`crate::shared_constants!`].
///
/// # Panics
/// If the file has no such constant, or one with another value.
#[allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests")]
pub fn assert_constants(file: &str, constants: &[(&str, f32)]) {
    let source = std::fs::read_to_string(source_folder().join(file)).unwrap();
    for (name, rust) in constants {
        let value = source.lines().find_map(|line| {
            let words: Vec<&str> = line.trim_end_matches(';').split_whitespace().collect();
            match words[..] {
                ["const", _, found, "=", value] if found == *name => Some(value.trim_end_matches('u')),
                _ => None,
            }
        });
        let value: f32 = match value {
            Some(hex) if hex.starts_with("0x") => u32::from_str_radix(&hex[2..], 16).unwrap() as f32,
            Some(value) => value.parse().unwrap(),
            None => panic!("glsl/{file} declares no {name}"),
        };
        assert!(value == *rust, "{name} is {value} in glsl/{file} and {rust} in Rust");
    }
}

#[cfg(test)]
mod tests {
    use super::assert_constants;

    #[test]
    #[should_panic(expected = "SAME_SHEET is 0.3 in glsl/deform/volume/contact_pair.comp and 0.25 in Rust")]
    fn another_value_is_an_error() {
        assert_constants("deform/volume/contact_pair.comp", &[("SAME_SHEET", 0.25)]);
    }

    #[test]
    #[should_panic(expected = "declares no SHEET")]
    fn a_missing_constant_is_an_error() {
        assert_constants("deform/volume/contact_pair.comp", &[("SHEET", 0.3)]);
    }
}
