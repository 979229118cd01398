//! The graph on the CPU: the twins in a row, as the oracle and as the path without a Vulkan device.

use super::surface::{self, Crease, Display};
use super::{Bound, Recipe, Reference, Stream, Streams, springs};
use crate::base::Result;
use crate::base::math::Vec3;
use crate::rig::PosedRig;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A bound chain of nodes and the display stage.
pub struct CpuGraph {
    nodes: Vec<Box<dyn Reference>>,
    surface: surface::Surface,
    streams: Streams,
}

impl CpuGraph {
    /// Binds a recipe. Errors where attachments and character do not fit together.
    pub fn new(bound: &Bound, recipe: &Recipe) -> Result<Self> {
        let mut nodes = vec![recipe.geometric.bind(bound)?];
        if let Some(params) = &recipe.springs {
            let binding = Arc::new(springs::bind::bind(bound));
            nodes.push(Box::new(springs::cpu::Springs::new(bound, &binding, params)));
        }
        let mut ready: Vec<Stream> = Vec::new();
        for node in &nodes {
            debug_assert!(node.reads().iter().all(|s| ready.contains(s)), "{} lacks an input", node.name());
            ready.extend(node.writes());
        }
        Ok(Self {
            nodes,
            surface: surface::bind(&bound.character, Crease::Source),
            streams: Streams::default(),
        })
    }

    /// Evaluates a pose; the time each node took comes back by name. `morph` is the displacement of every display
    /// vertex in bind space, metres, or empty.
    pub fn evaluate(
        &mut self,
        rig: &PosedRig,
        morph: &[Vec3],
        out: &mut Display,
    ) -> Vec<(&'static str, Duration)> {
        let mut times = Vec::with_capacity(self.nodes.len() + 1);
        for node in &self.nodes {
            let start = Instant::now();
            node.reference(rig, &mut self.streams);
            times.push((node.name(), start.elapsed()));
        }
        let start = Instant::now();
        self.surface.reference(rig, &self.streams.position, morph, out);
        times.push(("surface", start.elapsed()));
        times
    }

    /// The control vertices of the last evaluation, world, metres.
    pub fn control(&self) -> &[Vec3] {
        &self.streams.position
    }
}
