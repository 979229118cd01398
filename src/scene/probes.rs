//! The controllers' own cameras (thesis 7.5): each sees the skin that it aims at, whatever the eyes see.

use super::Aim;
use crate::base::Result;
use crate::base::math::Vec3;
use crate::gpu::{Device, Frame};
use crate::query::{Hit, Picker};
use crate::render::{PROBE_SIZE, Probe, Scene, View};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// What a controller's own camera saw in the middle of its picture (thesis 7.5): a point of the skin that stays on it
/// in any pose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SurfaceSample {
    /// Triangle of the display mesh, counted over all its parts.
    pub triangle: u32,
    /// Weights of its corners, they sum to 1.
    pub barycentrics: [f32; 3],
    /// World, metres, on the deformed skin at that time.
    pub position: Vec3,
    /// World, unit, outwards.
    pub normal: Vec3,
    /// Time of the frame whose aim pose and skin it belongs to, seconds.
    pub time: f64,
    /// Trigger at that time, 0..=1.
    pub draw: f32,
}

/// What travels with a sample: whose and when it is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Asked {
    hand: usize,
    frame: u64,
    time: f64,
    draw: f32,
}

/// Cameras with their pickers. One pass draws both hands' pictures where both are wanted.
pub(super) struct Probes {
    /// For one hand, for two.
    by_count: [(Probe, Picker<Asked>); 2],
    /// Finished samples that are not due yet.
    waiting: VecDeque<(Asked, Option<Hit>)>,
}

impl Probes {
    pub(super) fn new(device: &Arc<Device>, scene: &Scene) -> Result<Self> {
        let make = |views| -> Result<_> {
            let probe = Probe::new(device, scene, [PROBE_SIZE; 2], views)?;
            let picker = Picker::new(device, scene, &probe.gbuffer)?;
            Ok((probe, picker))
        };
        Ok(Self { by_count: [make(1)?, make(2)?], waiting: VecDeque::with_capacity(16) })
    }

    pub(super) fn record(&mut self, frame: &mut Frame, aim: &Aim, number: u64) -> Result<()> {
        let Some(first) = aim.views.iter().flatten().next() else { return Ok(()) };
        let mut views: [View; 2] = [*first; 2];
        let mut hands = [0; 2];
        let mut count = 0;
        for (hand, view) in aim.views.iter().enumerate() {
            if let Some(view) = view {
                (views[count], hands[count]) = (*view, hand);
                count += 1;
            }
        }
        let (probe, picker) = &mut self.by_count[count - 1];
        probe.record(frame, &views[..count])?;
        frame.phase("pick");
        for (index, &hand) in hands[..count].iter().enumerate() {
            let asked = Asked { hand, frame: number, time: aim.time, draw: aim.draw[hand] };
            // The ring holds more frames than can be in flight.
            picker.record(frame, index as u32, [PROBE_SIZE / 2; 2], asked);
        }
        Ok(())
    }

    /// The samples of frame `number`, which the GPU has finished; those before are too old.
    pub(super) fn answers(&mut self, number: u64) -> Result<[Option<SurfaceSample>; 2]> {
        for (_, picker) in &mut self.by_count {
            while let Some(answer) = picker.poll()? {
                self.waiting.push_back(answer);
            }
        }
        let mut out = [None; 2];
        self.waiting.retain(|(asked, hit)| {
            if asked.frame == number {
                out[asked.hand] = hit.as_ref().map(|hit| sample(asked, hit));
            }
            asked.frame > number
        });
        Ok(out)
    }
}

fn sample(asked: &Asked, hit: &Hit) -> SurfaceSample {
    SurfaceSample {
        triangle: hit.triangle,
        barycentrics: hit.barycentrics,
        position: Vec3::from_array(hit.position),
        normal: Vec3::from_array(hit.normal),
        time: asked.time,
        draw: asked.draw,
    }
}
