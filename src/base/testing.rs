//! What tests share: the shared data, and how a test is left out where the machine lacks a part.
//!
//! A test that cannot run here must not look as if it had passed. It calls [`skip`], which prints a line, adds it to the file
//! that `SINEW_SKIPPED` names, for a summary, and fails where `SINEW_REQUIRE` says that this machine has the part.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The parts of a machine that tests need, as `SINEW_REQUIRE` lists them: `data,gpu,xr,x11,node,blender,registry`.
pub const PARTS: [&str; 7] = ["data", "gpu", "xr", "x11", "node", "blender", "registry"];

/// Leaves a test, or a part of one, out: its caller returns.
///
/// # Panics
/// Where `SINEW_REQUIRE` names the part, or a part that does not exist.
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

/// A file or folder of the shared data (`""` for all of it), which lies beside the repository or where `SINEW_DATA` says.
/// None, with [`skip`], where it is absent.
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
