//! Reads back the surface under a pixel without waiting: part, triangle, barycentrics, world position and normal.

use crate::base::Result;
use crate::gpu::constants::NONE;
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame, Memory, Readback, Resource, Sampler};
use crate::render::{GBuffer, Scene};
use crate::shared_with_shaders;
use crate::spv;
use std::sync::Arc;

/// Maximum number of pending read-backs, enough for a few frames of two controllers and a cursor.
const RING: usize = 16;

/// The surface under a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Index into [`crate::geom::DisplayMesh::parts`].
    pub part: u32,
    /// Index into [`crate::geom::DisplayMesh::triangles`].
    pub triangle: u32,
    /// Barycentric weights of the triangle's corners, with sum 1. They identify the same skin point in any pose.
    pub barycentrics: [f32; 3],
    /// World position, metres.
    pub position: [f32; 3],
    /// World normal, unit length, on the side facing the camera.
    pub normal: [f32; 3],
}

shared_with_shaders! {
    /// The struct `Hit` in `glsl/query/pick.comp`.
    #[derive(Debug, PartialEq)]
    struct GpuHit as "Hit" {
        part: u32,
        triangle: u32,
        barycentrics: [f32; 3],
        position: [f32; 3],
        normal: [f32; 3],
    }

    struct Push as "Push" {
        pixel: [u32; 2],
        view: u32,
    }
}

/// Picks surface points from a scene's G-buffer. Each sample carries a `Tag`, e.g. its time.
pub struct Picker<Tag> {
    pick: Compute,
    bindings: Vec<Bindings>,
    hits: Vec<Buffer>,
    next: usize,
    readback: Readback<Tag>,
    size: [u32; 2],
    views: u32,
}

impl<Tag> Picker<Tag> {
    /// Binds a scene and its G-buffer. Fails if shader and Rust layouts differ or memory is short.
    pub fn new(device: &Arc<Device>, scene: &Scene, gbuffer: &GBuffer) -> Result<Self> {
        let pick = Compute::new(device, spv!("query/pick.comp"), &[])?;
        pick.reflection().check::<GpuHit>()?;
        let sampler = Sampler::texels(device)?;
        let hits = (0..RING)
            .map(|_| Buffer::new(device, "hit", size_of::<GpuHit>() as u64, Memory::Device))
            .collect::<Result<Vec<_>>>()?;
        let bind = |hit| {
            pick.bind(&[
                ("positions", Resource::Buffer(&scene.surface.positions)),
                ("triangles", Resource::Buffer(scene.triangles())),
                ("ids", Resource::Sampled(&gbuffer.ids, &sampler)),
                ("position", Resource::Sampled(&gbuffer.position, &sampler)),
                ("normal", Resource::Sampled(&gbuffer.normal, &sampler)),
                ("hit", Resource::Buffer(hit)),
            ])
        };
        let bindings = hits.iter().map(bind).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            pick,
            bindings,
            hits,
            next: 0,
            readback: Readback::new(device, RING, size_of::<GpuHit>() as u64)?,
            size: gbuffer.size,
            views: gbuffer.views,
        })
    }

    /// Requests the surface at a pixel. The G-buffer must have been recorded before, separated by a phase or barrier.
    /// Returns false and skips the sample if too many samples are pending, if the pixel lies outside the image, or if
    /// the view does not exist.
    pub fn record(&mut self, frame: &mut Frame, view: u32, pixel: [u32; 2], tag: Tag) -> bool {
        if view >= self.views || pixel[0] >= self.size[0] || pixel[1] >= self.size[1] {
            return false;
        }
        let bytes = size_of::<GpuHit>();
        let Some(target) = self.readback.target(frame, bytes, tag) else { return false };
        let slot = self.next;
        self.next = (slot + 1) % RING;
        frame.dispatch(&self.pick, &self.bindings[slot], &Push { pixel, view }, 1);
        frame.barrier();
        frame.copy_range(&self.hits[slot], 0, &target, 0, bytes as u64);
        true
    }

    /// Whether samples are pending.
    pub fn is_waiting(&self) -> bool {
        self.readback.is_waiting()
    }

    /// Returns the tag and the hit of the oldest finished sample; samples finish in request order. The hit is `None` if
    /// the pixel shows no surface. Never waits.
    pub fn poll(&mut self) -> Result<Option<(Tag, Option<Hit>)>> {
        Ok(self.readback.poll()?.map(|(tag, bytes)| {
            let g: GpuHit = bytemuck::pod_read_unaligned(&bytes);
            let hit = (g.part != NONE).then_some(Hit {
                part: g.part,
                triangle: g.triangle,
                barycentrics: g.barycentrics,
                position: g.position,
                normal: g.normal,
            });
            (tag, hit)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Vec3;
    use crate::bind::Character;
    use crate::gpu::testing::{assert_silent, device};
    use crate::render::{Camera, Renderer, SurfaceBuffers};

    #[test]
    fn a_pick_names_the_point_under_the_pixel_and_the_backdrop_is_nothing() {
        let Some(device) = device() else { return };
        let asset = crate::bind::shapes::Shape {
            bones: 2,
            rings: 16,
            segments: 24,
            radius: 0.2,
            length: 1.0,
            blend: 0.5,
        }
        .capsule_asset();
        let display = Character::from_asset(&asset).unwrap().display;
        let surface = SurfaceBuffers::from_slices(&device, &display.positions, &display.normals).unwrap();
        let renderer = Renderer::new(&device).unwrap();
        let scene = Scene::new(&device, &asset, &display, &surface).unwrap();
        let gbuffer = GBuffer::new(&device, [64, 64], 2).unwrap();
        let bound = renderer.bind_gbuffer(&scene, &gbuffer).unwrap();
        let views = Camera::framing(&scene.bounds, 1.0, 0.4, 0.1).stereo(1.0, 0.1);
        let mut picker = Picker::new(&device, &scene, &gbuffer).unwrap();
        let asked = [(0, [32, 32]), (1, [30, 20]), (0, [1, 1])];
        device
            .run(|frame| {
                renderer.record_gbuffer(frame, &scene, &gbuffer, &bound, &views)?;
                frame.phase("pick");
                for (view, pixel) in asked {
                    assert!(picker.record(frame, view, pixel, (view, pixel)));
                }
                assert!(!picker.record(frame, 0, [64, 0], (0, [64, 0])));
                Ok(())
            })
            .unwrap();
        for (view, pixel) in asked {
            let (tag, hit) = picker.poll().unwrap().unwrap();
            assert_eq!(tag, (view, pixel));
            if pixel == [1, 1] {
                assert_eq!(hit, None);
                continue;
            }
            let hit = hit.unwrap();
            let corners = display.triangles[hit.triangle as usize].map(|i| display.positions[i as usize]);
            let point: Vec3 = corners.iter().zip(hit.barycentrics).map(|(c, w)| *c * w).sum();
            assert!(point.distance(hit.position.into()) < 1e-4, "{hit:?} {point}");
            assert!((hit.barycentrics.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            let [u, v] = views[view as usize].project(point).unwrap();
            assert!((u * 64.0 - pixel[0] as f32 - 0.5).abs() < 0.01, "{u}");
            assert!((v * 64.0 - pixel[1] as f32 - 0.5).abs() < 0.01, "{v}");
        }
        assert_eq!(picker.poll().unwrap(), None);
        assert_silent(&device);
    }
}
