//! Progress of background work, and its cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A handle to background work. Clones refer to the same work.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Fraction that is done, as the bits of a float.
    part: AtomicU32,
    stopped: AtomicBool,
}

impl Progress {
    /// Sets the fraction that is done, 0 to 1. Returns whether the work should go on.
    pub fn report(&self, part: f32) -> bool {
        self.0.part.store(part.to_bits(), Ordering::Relaxed);
        !self.is_cancelled()
    }

    /// The fraction that is done, 0 to 1.
    pub fn part(&self) -> f32 {
        f32::from_bits(self.0.part.load(Ordering::Relaxed)).clamp(0.0, 1.0)
    }

    /// Asks the work to end without a result.
    pub fn cancel(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the work was asked to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_progress_and_cancellation() {
        let (work, face) = (Progress::default(), Progress::default());
        assert!(work.report(0.4) && work.part() == 0.4 && face.part() == 0.0);
        let other = work.clone();
        other.cancel();
        assert!(!work.report(0.5) && other.part() == 0.5 && !face.is_cancelled());
    }
}
