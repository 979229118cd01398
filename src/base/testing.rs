//! Helpers for tests: access to the shared test data, and a visible way to skip a test.
//!
//! A test that cannot run on this machine must not look as if it passed. It calls [`skip`], which prints a line,
//! appends it to the file `SINEW_SKIPPED`, and panics if `SINEW_REQUIRE` contains the missing part.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Optional parts of a machine that tests need. `SINEW_REQUIRE` is a comma-separated list of these names.
pub const PARTS: [&str; 7] = ["data", "gpu", "xr", "x11", "node", "blender", "registry"];

/// Reports that the calling test, or a part of it, is skipped; the caller must then return.
///
/// # Panics
/// If `SINEW_REQUIRE` contains `part` or an unknown part.
#[allow(clippy::panic, reason = "a helper of tests")]
pub fn skip(part: &str, why: &str) {
    let required = std::env::var("SINEW_REQUIRE").unwrap_or_default();
    let mut words = required.split(',').map(str::trim).filter(|word| !word.is_empty());
    assert!(words.clone().all(|word| PARTS.contains(&word)), "SINEW_REQUIRE={required}: choose of {PARTS:?}");
    if words.any(|word| word == part) {
        panic!("SINEW_REQUIRE says that this machine has {part:?}, but {why}");
    }
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    println!("skipped: {why}");
    if let Some(path) = std::env::var_os("SINEW_SKIPPED") {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(format!("{part}: {test}: {why}\n").as_bytes()));
        assert!(written.is_ok(), "{}: {written:?}", path.display());
    }
}

/// Returns the path of a file or folder of the shared test data (`""` for the root). The root is `SINEW_DATA`, by
/// default `shared/data` beside the repository. If the path is missing, calls [`skip`] and returns `None`.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SINEW_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    let path = if path.is_empty() { root } else { root.join(path) };
    if path.exists() {
        return Some(path);
    }
    skip("data", &format!("there is no shared data ({})", path.display()));
    None
}
