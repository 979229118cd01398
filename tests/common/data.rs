//! Where the shared data lies: beside the repository, or where `SINEW_DATA` says.

use std::path::{Path, PathBuf};

/// A file or folder of it (`""` for all of it); none, and a line that says so, where it is absent.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SINEW_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    let path = if path.is_empty() { root } else { root.join(path) };
    if path.exists() {
        return Some(path);
    }
    println!("skipped: no shared data ({})", path.display());
    None
}
