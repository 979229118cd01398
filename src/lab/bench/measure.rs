//! Repeated runs and statistics of their times.

use crate::base::Result;
use crate::gpu::{Device, Frame, Timings};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Limits on the time of one measurement.
pub(super) struct Effort {
    /// Time after which the measurement stops; a measurement always makes at least two runs.
    pub budget: Duration,
    /// Maximum number of runs.
    pub most: usize,
}

impl Effort {
    /// Time of the unmeasured runs at the start. A GPU that was idle has a low clock rate, which rises while it works.
    pub fn warm_up(&self, device: &Device) -> Duration {
        if device.is_software() { Duration::ZERO } else { self.budget }
    }
}

/// Median and minimum of repeated runs, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Sample {
    /// Median; the mean of the middle two for an even number of runs.
    pub median_ms: f64,
    /// Time of the shortest run.
    pub min_ms: f64,
    /// Number of runs.
    pub runs: usize,
}

impl Sample {
    /// Computes the statistics of at least one time in milliseconds.
    pub fn of(times: &[f64]) -> Self {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |i: usize| sorted.get(i).copied().unwrap_or(f64::NAN);
        let n = sorted.len();
        Self { median_ms: (at(n / 2) + at(n.saturating_sub(1) / 2)) * 0.5, min_ms: at(0), runs: n }
    }
}

/// Times of repeated frames.
pub(super) struct Runs {
    phases: Vec<Timings>,
    wall_ms: Vec<f64>,
}

impl Runs {
    /// Returns the summed device time of the named phases.
    pub fn phases(&self, names: &[&str]) -> Sample {
        self.sum(|name| names.contains(&name))
    }

    /// Returns the device time of all phases.
    pub fn device(&self) -> Sample {
        self.sum(|_| true)
    }

    /// Returns the time from the start of recording until the device finished.
    pub fn wall(&self) -> Sample {
        Sample::of(&self.wall_ms)
    }

    fn sum(&self, counts: impl Fn(&str) -> bool) -> Sample {
        let of = |timings: &Timings| -> f64 {
            timings.iter().filter(|(name, _)| counts(name)).map(|(_, time)| time.as_secs_f64() * 1e3).sum()
        };
        Sample::of(&self.phases.iter().map(of).collect::<Vec<_>>())
    }
}

/// Runs a frame repeatedly, after unmeasured runs of its two variants, see [`Effort::warm_up`]. `record` receives the
/// run's number; its parity selects the variant. Both variants run equally often.
pub(super) fn repeat(
    device: &Arc<Device>,
    effort: &Effort,
    mut record: impl FnMut(usize, &mut Frame) -> Result<()>,
) -> Result<Runs> {
    let begin = Instant::now();
    loop {
        for i in 0..2 {
            device.run(|frame| record(i, frame))?;
        }
        if begin.elapsed() >= effort.warm_up(device) {
            break;
        }
    }
    let mut runs = Runs { phases: Vec::new(), wall_ms: Vec::new() };
    let begin = Instant::now();
    while runs.wall_ms.is_empty() || begin.elapsed() < effort.budget && runs.wall_ms.len() < effort.most {
        for i in 0..2 {
            let start = Instant::now();
            let timings = device.run(|frame| record(i, frame))?;
            runs.wall_ms.push(start.elapsed().as_secs_f64() * 1e3);
            runs.phases.push(timings);
        }
    }
    Ok(runs)
}

/// Minimum number of rounds, unless `Effort::most` is smaller. The median of fewer ratios is unreliable.
pub(super) const ROUNDS: usize = 15;

/// Runs the variants of a frame in rounds, alternately in forward and in backward order, so that other load on the
/// machine slows all variants equally. Returns the time of the phases that count, milliseconds, for each variant and each
/// round after the warm-up, which is at least one round. `record` receives the variant and the round.
pub(super) fn alternate(
    device: &Arc<Device>,
    effort: &Effort,
    counts: impl Fn(&str) -> bool,
    variants: usize,
    mut record: impl FnMut(usize, usize, &mut Frame) -> Result<()>,
) -> Result<Vec<Vec<f64>>> {
    let mut out = vec![Vec::new(); variants];
    let (mut begin, mut warm) = (Instant::now(), false);
    for round in 0.. {
        if !warm && round > 0 && begin.elapsed() >= effort.warm_up(device) {
            (begin, warm) = (Instant::now(), true);
        }
        let rounds = out[0].len();
        if rounds >= effort.most || rounds >= ROUNDS && begin.elapsed() >= effort.budget {
            break;
        }
        for k in 0..variants {
            let variant = if round % 2 == 0 { k } else { variants - 1 - k };
            let timings = device.run(|frame| record(variant, round, frame))?;
            let times = timings.iter().filter(|(name, _)| counts(name));
            let ms = times.map(|(_, time)| time.as_secs_f64() * 1e3).sum();
            if warm {
                out[variant].push(ms);
            }
        }
    }
    Ok(out)
}

/// Computes the relative increase from `first` to `second` in each round and returns the median; 0.01 means one
/// percent.
pub(super) fn longer(first: &[f64], second: &[f64]) -> f64 {
    let ratios: Vec<f64> = first.iter().zip(second).map(|(a, b)| b / a).collect();
    Sample::of(&ratios).median_ms - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_longer_is_told_round_by_round() {
        // In the second round the machine is three times as slow.
        let (first, second) = ([2.0, 6.0, 2.0], [2.1, 6.3, 2.4]);
        assert!((longer(&first, &second) - 0.05).abs() < 1e-9);
    }

    #[test]
    fn medians_and_minima_of_odd_and_even_numbers_of_runs() {
        let sample = |times: &[f64]| {
            let s = Sample::of(times);
            (s.median_ms, s.min_ms, s.runs)
        };
        assert_eq!(sample(&[5.0, 1.0, 3.0]), (3.0, 1.0, 3));
        assert_eq!(sample(&[4.0, 2.0]), (3.0, 2.0, 2));
        assert_eq!(sample(&[7.0]), (7.0, 7.0, 1));
    }

    #[test]
    fn phases_are_summed_by_name_and_a_name_may_come_twice() {
        let ms = Duration::from_millis;
        let frame = |a, b, c| vec![("x", ms(a)), ("y", ms(b)), ("x", ms(c))];
        let runs = Runs { phases: vec![frame(1, 10, 2), frame(3, 20, 4)], wall_ms: vec![50.0, 60.0] };
        assert_eq!(runs.phases(&["x"]).median_ms, 5.0);
        assert_eq!(runs.device().min_ms, 13.0);
        assert_eq!(runs.wall().median_ms, 55.0);
    }
}
