//! Ambient occlusion: the share of ambient light that reaches the surface, computed from a coarse G-buffer in every frame
//! (`glsl/lib/ambient_occlusion.glsl`). The shading of the surface reads it.

use super::gbuffer::GBuffer;
use super::view::View;
use crate::base::Result;
use crate::gpu::{Bindings, Compute, Device, Frame, Image, ImageInfo, Reflection, Resource, Sampler};
use crate::shared_with_shaders;
use crate::spv;
use ash::vk::{Format, ImageUsageFlags};
use std::sync::Arc;

/// Distance from which a surface takes ambient light, as a share of the diagonal of the character's rest box.
const REACH: f32 = 0.05;

shared_with_shaders! {
    struct OcclusionPush as "Push" {
        size: [u32; 2],
        radius: f32,
    }
}

/// The pipeline, created once per device.
pub(super) struct OcclusionPass {
    stage: Compute,
    texels: Sampler,
}

/// The computed shares and the bindings for one G-buffer.
pub(super) struct OcclusionBindings {
    /// One layer per view, in red: 1 where all ambient light reaches the surface.
    pub open: Image,
    bindings: Bindings,
}

fn check(stage: &Reflection) -> Result<()> {
    stage.check::<View>()?;
    stage.check::<OcclusionPush>()
}

impl OcclusionPass {
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let stage = Compute::new(device, spv!("render/ambient_occlusion.comp"), &[])?;
        check(stage.reflection())?;
        Ok(Self { stage, texels: Sampler::texels(device)? })
    }

    /// Distance from which a surface takes ambient light, metres, for a character of this diagonal.
    pub fn radius(rest_size: f32) -> f32 {
        (REACH * rest_size).max(f32::MIN_POSITIVE)
    }

    pub fn bind(&self, device: &Arc<Device>, gbuffer: &GBuffer) -> Result<OcclusionBindings> {
        let GBuffer { size, views, .. } = *gbuffer;
        let usage = ImageUsageFlags::STORAGE | ImageUsageFlags::SAMPLED;
        let format = Format::R8G8B8A8_UNORM;
        let open = Image::new(
            device,
            &ImageInfo { name: "ambient occlusion", format, size, layers: views, levels: 1, usage },
        )?;
        let bindings = self.stage.bind(&[
            ("views", Resource::Buffer(&gbuffer.view_buffer)),
            ("open", Resource::Storage(&open)),
            ("position", Resource::Sampled(&gbuffer.position, &self.texels)),
            ("normal", Resource::Sampled(&gbuffer.normal, &self.texels)),
        ])?;
        Ok(OcclusionBindings { open, bindings })
    }

    /// Computes the shares from the G-buffer, which must have been recorded before. `radius` is in metres.
    pub fn record(&self, frame: &mut Frame, gbuffer: &GBuffer, bound: &OcclusionBindings, radius: f32) {
        let GBuffer { size, views, .. } = *gbuffer;
        frame.phase("ambient occlusion");
        let push = OcclusionPush { size, radius };
        frame.dispatch_grid(&self.stage, &bound.bindings, &push, [size[0], size[1], views]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Vec3;
    use crate::gpu::Spv;
    use crate::gpu::testing::{assert_silent, device};
    use crate::render::tests::capsule;
    use crate::render::{Camera, Renderer, Scene, SurfaceBuffers};

    crate::shared_constants! {
        "lib/ambient_occlusion.glsl" {
            const OCCLUSION_SAMPLES: u32 = 16;
            const OCCLUSION_STRENGTH: f32 = 4.0;
            const OCCLUSION_BIAS: f32 = 0.05;
            const OCCLUSION_SOFTNESS: f32 = 0.02;
        }
    }

    /// CPU reference of `occlusion_offset`.
    fn occlusion_offset(i: u32) -> Vec3 {
        let (turn, z) = (2.399_963_2 * i as f32, 1.0 - (2.0 * i as f32 + 1.0) / OCCLUSION_SAMPLES as f32);
        let (across, far) = ((1.0 - z * z).sqrt(), (((i * 5) % 8) as f32 + 1.0) / 8.0);
        far * Vec3::new(across * turn.cos(), across * turn.sin(), z)
    }

    /// CPU reference of `occluded_by`.
    fn occluded_by(u: Vec3, n: Vec3) -> f32 {
        let (square, height) = (u.length_squared(), (u.dot(n) - OCCLUSION_BIAS).max(0.0));
        (1.0 - square).max(0.0).powi(3) * height / (square + OCCLUSION_SOFTNESS)
    }

    /// CPU reference of `open_share`.
    fn open_share(sum: f32) -> f32 {
        (1.0 - OCCLUSION_STRENGTH * sum / OCCLUSION_SAMPLES as f32).max(0.0)
    }

    #[test]
    fn shaders_and_rust_agree_without_a_device() {
        let reflect = |spv: Spv| Reflection::new(spv.name, &spv.words().unwrap()).unwrap();
        check(&reflect(spv!("render/ambient_occlusion.comp"))).unwrap();
    }

    #[test]
    fn samples_lie_on_all_sides_within_the_radius() {
        let all: Vec<Vec3> = (0..OCCLUSION_SAMPLES).map(occlusion_offset).collect();
        assert!(all.iter().all(|o| o.length() <= 1.0 + 1e-6 && o.length() > 0.1));
        let mean = all.iter().sum::<Vec3>() / OCCLUSION_SAMPLES as f32;
        assert!(mean.length() < 0.2, "{mean}");
    }

    /// Returns the shares of both views and their CPU reference, at texels with a surface whose samples all lie clearly
    /// inside a texel.
    fn both(scale: f32) -> Option<Vec<(f32, f32)>> {
        let device = device()?;
        let (asset, mut display) = capsule();
        display.positions.iter_mut().for_each(|p| *p *= scale);
        // A second capsule beside the first one, with a crease between them.
        let (count, corners) = (display.positions.len() as u32, display.triangles.clone());
        for v in 0..count as usize {
            display.positions.push(display.positions[v] + Vec3::X * (0.3 * scale));
            display.normals.push(display.normals[v]);
        }
        display.triangles.extend(corners.iter().map(|t| t.map(|i| i + count)));
        display.parts[0].triangles.end *= 2;
        let surface = SurfaceBuffers::from_slices(&device, &display.positions, &display.normals).unwrap();
        let renderer = Renderer::new(&device).unwrap();
        let scene = Scene::new(&device, &asset, &display, &surface).unwrap();
        let size = [96, 80];
        let gbuffer = GBuffer::new(&device, size, 2).unwrap();
        let drawn = renderer.bind_gbuffer(&scene, &gbuffer).unwrap();
        let pass = OcclusionPass::new(&device).unwrap();
        let bound = pass.bind(&device, &gbuffer).unwrap();
        let views = Camera::framing(&scene.bounds, 1.2, 0.3, 0.2).stereo(1.2, 0.1 * scale);
        let radius = OcclusionPass::radius(scene.rest_size);
        device
            .run(|frame| {
                renderer.record_gbuffer(frame, &scene, &gbuffer, &drawn, &views)?;
                pass.record(frame, &gbuffer, &bound, radius);
                Ok(())
            })
            .unwrap();
        let mut pairs = Vec::new();
        for (layer, view) in views.iter().enumerate() {
            let layer = layer as u32;
            let open: Vec<[u8; 4]> = device.read_image(&bound.open, layer).unwrap();
            let positions: Vec<[f32; 4]> = device.read_image(&gbuffer.position, layer).unwrap();
            let normals: Vec<[u16; 4]> = device.read_image(&gbuffer.normal, layer).unwrap();
            for (at, p) in positions.iter().enumerate().filter(|(_, p)| p[3] > 0.5) {
                let n = Vec3::from_array([0, 1, 2].map(|k| half(normals[at][k]))).normalize();
                let here = Vec3::new(p[0], p[1], p[2]);
                let (mut sum, mut clear) = (0.0, true);
                for offset in (0..OCCLUSION_SAMPLES).map(occlusion_offset) {
                    let place = here + radius * (offset - n * offset.dot(n));
                    let uv = view.project(place).unwrap();
                    let [x, y] = [0, 1].map(|k| uv[k] * size[k] as f32);
                    clear &= [x, y].iter().all(|v| (v - v.round()).abs() > 1e-3);
                    let inside = x >= 0.0 && y >= 0.0 && x < size[0] as f32 && y < size[1] as f32;
                    if inside {
                        let q = positions[y as usize * size[0] as usize + x as usize];
                        let u = (Vec3::new(q[0], q[1], q[2]) - here) / radius;
                        sum += if q[3] > 0.5 { occluded_by(u, n) } else { 0.0 };
                    }
                }
                if clear {
                    pairs.push((f32::from(open[at][0]) / 255.0, open_share(sum)));
                }
            }
        }
        assert_silent(&device);
        Some(pairs)
    }

    fn half(bits: u16) -> f32 {
        let size = match (bits >> 10) & 31 {
            0 => f32::from(bits & 1023) * 2.0f32.powi(-24),
            exponent => (1.0 + f32::from(bits & 1023) / 1024.0) * 2.0f32.powi(i32::from(exponent) - 15),
        };
        if bits >> 15 == 1 { -size } else { size }
    }

    #[test]
    fn the_shares_are_those_of_the_reference_and_fall_where_surfaces_are_near() {
        let Some(pairs) = both(1.0) else { return };
        assert!(pairs.len() > 1000, "{}", pairs.len());
        let worst = pairs.iter().map(|(gpu, cpu)| (gpu - cpu).abs()).fold(0.0, f32::max);
        assert!(worst < 0.02, "{worst}");
        let dark = pairs.iter().filter(|(gpu, _)| *gpu < 0.7).count();
        let bright = pairs.iter().filter(|(gpu, _)| *gpu > 0.97).count();
        assert!(dark * 50 > pairs.len() && bright * 2 > pairs.len(), "{dark}, {bright} of {}", pairs.len());
    }

    #[test]
    fn a_character_in_centimetres_has_the_shares_of_one_in_metres() {
        let (Some(metres), Some(centimetres)) = (both(1.0), both(100.0)) else { return };
        let mean = |pairs: &[(f32, f32)]| pairs.iter().map(|p| p.0).sum::<f32>() / pairs.len() as f32;
        let (a, b) = (mean(&metres), mean(&centimetres));
        assert!((a - b).abs() < 2e-3 && a < 0.995, "{a} and {b}");
    }
}
