//! Version numbers that tell whether derived data is out of date.

use std::sync::atomic::{AtomicU64, Ordering};

/// Identifies one state of a changing object: two states have equal versions only if they are the same state.
///
/// Derived data stores the version of its source. Derived data is out of date if the source now has a different
/// version. The default value belongs to no state. Versions exist only in memory and are never saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version(u64);

impl Version {
    /// Creates a version that differs from all earlier versions of this process.
    pub fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
