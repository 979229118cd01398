//! Probe cameras of the hands (thesis 7.5): each camera sees the skin that its hand points at, whatever the eyes see.

use super::Aim;
use crate::base::Result;
use crate::base::math::Vec3;
use crate::gpu::{Device, Frame};
use crate::query::{Hit, Picker};
use crate::render::{PROBE_SIZE, Probe, Scene, View};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// The skin at the centre of a probe camera's image (thesis 7.5): a point that stays on the skin in any pose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SurfaceSample {
    /// Triangle index of the display mesh, counted over all its parts.
    pub triangle: u32,
    /// Barycentric coordinates in the triangle; their sum is 1.
    pub barycentrics: [f32; 3],
    /// Position on the deformed skin at `time`, world space, metres.
    pub position: Vec3,
    /// Outward unit normal, world space.
    pub normal: Vec3,
    /// Time of the frame that the sample belongs to, seconds.
    pub time: f64,
    /// Trigger value at `time`, 0..=1.
    pub draw: f32,
}

/// Metadata of a pending sample.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Asked {
    hand: usize,
    frame: u64,
    time: f64,
    draw: f32,
}

/// Probe cameras and their pickers. A single pass renders the images of both hands.
pub(super) struct Probes {
    /// Cameras and pickers for one hand and for two.
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
            // The picker's ring buffer holds more frames than can be in flight.
            picker.record(frame, index as u32, [PROBE_SIZE / 2; 2], asked);
        }
        Ok(())
    }

    /// Samples of frame `number`, which the GPU must have finished; drops older samples.
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
