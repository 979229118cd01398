//! The program's clock, which continues across OpenXR sessions, and the CPU times of the stages of a frame.

use std::time::{Duration, Instant};

/// Converts the runtime's times to monotonic seconds.
#[derive(Debug, Default)]
pub struct Clock {
    /// A reference time of the runtime (ns) and the seconds it maps to.
    base: Option<(i64, f64)>,
    last: f64,
}

impl From<f64> for Clock {
    /// Creates a clock that starts at `seconds`.
    fn from(seconds: f64) -> Self {
        Self { base: None, last: seconds }
    }
}

impl Clock {
    /// Converts a time of the runtime, nanoseconds, to seconds.
    pub fn seconds(&mut self, nanos: i64) -> f64 {
        let (zero, start) = *self.base.get_or_insert((nanos, self.last));
        self.last = self.last.max(start + nanos.saturating_sub(zero) as f64 * 1e-9);
        self.last
    }

    /// Prepares for a new runtime, whose times count from another zero: the first time that the new runtime gives
    /// becomes the number of seconds that the clock returned last.
    pub fn restart(&mut self) {
        self.base = None;
    }
}

/// Names of the CPU stages of a frame, in order.
pub const STAGES: [&str; 6] =
    ["wait for the runtime", "input", "tools", "record", "hand over", "end of frame"];

/// CPU times of the stages, over all frames.
#[derive(Debug, Default)]
pub struct Stages {
    sum: [Duration; STAGES.len()],
    most: [Duration; STAGES.len()],
    frames: u32,
    last: Option<Instant>,
}

impl Stages {
    /// Starts the timing of a frame.
    pub fn start(&mut self) {
        self.last = Some(Instant::now());
        self.frames += 1;
    }

    /// Ends the stage with index `stage` and starts the next stage.
    pub fn lap(&mut self, stage: usize) {
        let now = Instant::now();
        if let Some(last) = self.last.replace(now) {
            let took = now - last;
            self.sum[stage] += took;
            self.most[stage] = self.most[stage].max(took);
        }
    }

    /// Returns a table with mean and maximum time of each stage; empty without frames.
    pub fn text(&self) -> String {
        if self.frames == 0 {
            return String::new();
        }
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        let mut out = format!("{} frames; CPU, ms: mean and longest\n", self.frames);
        for (i, name) in STAGES.iter().enumerate() {
            let mean = self.sum[i] / self.frames;
            out += &format!("  {name:<22} {:>8.3} {:>8.3}\n", ms(mean), ms(self.most[i]));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_go_on_over_a_restart_and_never_fall() {
        let mut clock = Clock::default();
        assert_eq!(clock.seconds(5_000_000_000), 0.0);
        assert_eq!(clock.seconds(5_500_000_000), 0.5);
        assert_eq!(clock.seconds(5_400_000_000), 0.5);
        clock.restart();
        assert_eq!(clock.seconds(1_000), 0.5);
        assert!((clock.seconds(250_001_000) - 0.75).abs() < 1e-9);
    }

    #[test]
    fn stages_are_told_with_their_names() {
        let mut stages = Stages::default();
        assert!(stages.text().is_empty());
        stages.start();
        (0..STAGES.len()).for_each(|i| stages.lap(i));
        let text = stages.text();
        assert!(STAGES.iter().all(|name| text.contains(name)) && text.starts_with("1 frames"), "{text}");
    }
}
