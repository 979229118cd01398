//! Silhouettes on the GPU (thesis 7.3, figure 32): a Laplacian edge filter runs over the G-buffer. Pixels that pass the
//! filter identify points on the skin by their entries in the id buffer.

mod chain;

pub use chain::chain;

use crate::base::{Error, Result};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame, Memory, Resource, Sampler};
use crate::render::{GBuffer, Scene, SilhouetteOptions, View};
use crate::shared_with_shaders;
use crate::spv;
use std::sync::Arc;

/// Maximum number of points. Silhouettes rarely cover a tenth of a 1920 x 1080 image.
const CAPACITY: usize = 1 << 18;

shared_with_shaders! {
    /// A pixel on the nearer side of a silhouette.
    #[derive(Debug, PartialEq)]
    pub struct SilhouettePoint as "Point" {
        /// Position in the image, pixels from the upper left corner; pixel centres are at half-integers.
        pub pixel: [f32; 2],
        /// Index into [`crate::geom::DisplayMesh::parts`].
        pub part: u32,
        /// Index into [`crate::geom::DisplayMesh::triangles`].
        pub triangle: u32,
        /// Barycentric weights of the triangle's corners.
        pub barycentrics: [f32; 3],
        /// World position, metres.
        pub position: [f32; 3],
        /// Strength of the edge filter at the pixel.
        pub strength: f32,
    }

    struct Push as "Push" {
        eye: [f32; 3],
        footprint: f32,
        size: [u32; 2],
        view: u32,
        filter_over: u32,
        threshold: f32,
        capacity: u32,
    }
}

/// Finds silhouettes in a scene's G-buffer.
pub struct Silhouettes {
    stage: Compute,
    bindings: Bindings,
    count: Buffer,
    points: Buffer,
    size: [u32; 2],
    views: u32,
}

impl Silhouettes {
    /// Binds a scene and its G-buffer. Fails if shader and Rust layouts differ or memory is short.
    pub fn new(device: &Arc<Device>, scene: &Scene, gbuffer: &GBuffer) -> Result<Self> {
        let stage = Compute::new(device, spv!("query/silhouette.comp"), &[])?;
        let word = size_of::<u32>();
        stage.reflection().check::<SilhouettePoint>()?;
        let sampler = Sampler::texels(device)?;
        let count = Buffer::new(device, "silhouette count", word as u64, Memory::Device)?;
        let bytes = (CAPACITY * size_of::<SilhouettePoint>()) as u64;
        let points = Buffer::new(device, "silhouette points", bytes, Memory::Device)?;
        let bindings = stage.bind(&[
            ("positions", Resource::Buffer(&scene.surface.positions)),
            ("triangles", Resource::Buffer(scene.triangles())),
            ("ids", Resource::Sampled(&gbuffer.ids, &sampler)),
            ("position", Resource::Sampled(&gbuffer.position, &sampler)),
            ("normal", Resource::Sampled(&gbuffer.normal, &sampler)),
            ("depth", Resource::Sampled(&gbuffer.depth, &sampler)),
            ("count", Resource::Buffer(&count)),
            ("points", Resource::Buffer(&points)),
        ])?;
        let GBuffer { size, views, .. } = *gbuffer;
        Ok(Self { stage, bindings, count, points, size, views })
    }

    /// Filters one view of the G-buffer. The G-buffer must have been recorded before, separated by a phase or barrier.
    /// `seen` is the camera with which that view was recorded.
    ///
    /// # Errors
    /// The view does not exist, or the threshold is negative or NaN.
    pub fn record(
        &self,
        frame: &mut Frame,
        view: u32,
        seen: &View,
        options: &SilhouetteOptions,
    ) -> Result<()> {
        if view >= self.views {
            return Err(Error::input(format!("there is no view {view}"), "name one that is drawn"));
        }
        if options.threshold.is_nan() || options.threshold < 0.0 {
            let problem = format!("a silhouette threshold of {}", options.threshold);
            return Err(Error::input(problem, "give a number from 0 up"));
        }
        frame.fill(&self.count, 0);
        frame.phase("silhouettes");
        let size = self.size;
        let push = Push {
            eye: seen.eye.to_array(),
            footprint: seen.ray_right.length() / size[0] as f32,
            size,
            view,
            filter_over: options.filter.constant(),
            threshold: options.threshold,
            capacity: CAPACITY as u32,
        };
        frame.dispatch_grid(&self.stage, &self.bindings, &push, [size[0], size[1], 1]);
        Ok(())
    }

    /// Returns the points found, row by row from the upper left. Waits for all submitted work, so call it once per
    /// stroke, not per frame.
    ///
    /// # Errors
    /// There were more points than the list can hold, or the device is lost.
    pub fn read(&self, device: &Arc<Device>) -> Result<Vec<SilhouettePoint>> {
        let count = device.read::<u32>(&self.count, 1)?[0] as usize;
        if count > CAPACITY {
            let problem = format!("{count} pixels lie on silhouettes");
            return Err(Error::input(problem, format!("raise the threshold: at most {CAPACITY} can be")));
        }
        let mut points: Vec<SilhouettePoint> = device.read(&self.points, count)?;
        // The GPU writes the points in arbitrary order.
        points.sort_by(|a, b| a.pixel[1].total_cmp(&b.pixel[1]).then(a.pixel[0].total_cmp(&b.pixel[0])));
        Ok(points)
    }
}

#[cfg(test)]
mod tests;
