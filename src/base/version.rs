//! Versions in place of flags.

use std::sync::atomic::{AtomicU64, Ordering};

/// Names one state of something that changes: two states have equal versions only if they are the same state.
///
/// What was made from a state remembers its version; it is out of date where that differs from the present one. The
/// default is the version of no state. Versions live in memory only: they never reach a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version(u64);

impl Version {
    /// A version that nothing had before.
    pub fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
