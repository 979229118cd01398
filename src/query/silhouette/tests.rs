use super::*;
use crate::base::math::Vec3;
use crate::bind::Character;
use crate::gpu::testing::{assert_silent, device};
use crate::render::{Camera, Filter, GBuffer, Lines, Look, Renderer, Shot, SurfaceBuffers, Targets};

/// Converts a half float to f32.
fn single(half: u16) -> f32 {
    let (sign, exponent, mantissa) = (half >> 15, (half >> 10) & 31, half & 1023);
    let size = match exponent {
        0 => f32::from(mantissa) * 2.0f32.powi(-24),
        _ => (1.0 + f32::from(mantissa) / 1024.0) * 2.0f32.powi(i32::from(exponent) - 15),
    };
    if sign == 1 { -size } else { size }
}

/// CPU reference of the filters, computed from the images. It returns the strength of a pixel and the relative depth by
/// which the pixel lies behind its surroundings; `None` for a pixel without surface.
struct Twin {
    size: [usize; 2],
    ids: Vec<[u32; 2]>,
    normals: Vec<Vec3>,
    positions: Vec<Vec3>,
    eye: Vec3,
    depth: Vec<f32>,
    footprint: f32,
}

impl Twin {
    fn strength(&self, x: usize, y: usize, filter: Filter) -> Option<(f32, f32)> {
        let [w, h] = self.size;
        let here = y * w + x;
        if self.ids[here][1] == crate::gpu::constants::NONE {
            return None;
        }
        let p = self.positions[here];
        let footprint = self.footprint * p.distance(self.eye);
        let (mut normals, mut offsets, mut depths) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        for (dx, dy) in (-1i32..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy))) {
            let clamped = |v: usize, d: i32, n: usize| (v as i32 + d).clamp(0, n as i32 - 1) as usize;
            let there = clamped(y, dy, h) * w + clamped(x, dx, w);
            normals += self.normals[there] - self.normals[here];
            depths += self.depth[there] - self.depth[here];
            offsets += match self.ids[there][1] {
                crate::gpu::constants::NONE => (p - self.eye).normalize() * (1e3 * footprint),
                _ => self.positions[there] - p,
            };
        }
        let relative = depths / (8.0 * self.depth[here]);
        let strength = match filter {
            Filter::Normal => normals.length() / 8.0,
            Filter::Depth => -relative,
            Filter::Position => offsets.length() / (8.0 * footprint),
        };
        Some((strength, relative))
    }
}

#[test]
fn every_filter_lists_what_its_twin_does_and_names_points_of_the_skin() {
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
    let side = 96;
    let gbuffer = GBuffer::new(&device, [side as u32; 2], 2).unwrap();
    let bound = renderer.bind_gbuffer(&scene, &gbuffer).unwrap();
    let views = Camera::framing(&scene.bounds, 1.0, 0.4, 0.1).stereo(1.0, 0.1);
    let silhouettes = Silhouettes::new(&device, &scene, &gbuffer).unwrap();
    for (view, filter) in
        [(0, Filter::Normal), (1, Filter::Normal), (0, Filter::Depth), (1, Filter::Position)]
    {
        let options = filter.options();
        device
            .run(|frame| {
                renderer.record_gbuffer(frame, &scene, &gbuffer, &bound, &views)?;
                frame.phase("between");
                silhouettes.record(frame, view, &views[view as usize], &options)
            })
            .unwrap();
        let found = silhouettes.read(&device).unwrap();
        let seen = &views[view as usize];
        let normals: Vec<[u16; 4]> = device.read_image(&gbuffer.normal, view).unwrap();
        let positions: Vec<[f32; 4]> = device.read_image(&gbuffer.position, view).unwrap();
        let forward = seen.ray(0.5, 0.5).normalize();
        let depth = |p: &[f32; 4]| match p[3] > 0.5 {
            true => 1.0 / (Vec3::new(p[0], p[1], p[2]) - seen.eye).dot(forward),
            false => 0.0,
        };
        let twin = Twin {
            size: [side; 2],
            ids: device.read_image(&gbuffer.ids, view).unwrap(),
            normals: normals.iter().map(|n| Vec3::new(single(n[0]), single(n[1]), single(n[2]))).collect(),
            depth: positions.iter().map(depth).collect(),
            positions: positions.iter().map(|p| Vec3::new(p[0], p[1], p[2])).collect(),
            eye: seen.eye,
            footprint: seen.ray_right.length() / side as f32,
        };
        let mut listed = 0;
        for (x, y) in (0..side).flat_map(|y| (0..side).map(move |x| (x, y))) {
            let pixel = [x, y].map(|v| v as f32 + 0.5);
            let point = found.iter().find(|p| p.pixel == pixel);
            let Some((strength, behind)) = twin.strength(x, y, filter) else {
                assert!(point.is_none(), "the backdrop is no silhouette");
                continue;
            };
            let close = (strength - options.threshold).abs() < 1e-3 * options.threshold
                || (behind - 2e-3).abs() < 1e-5;
            let wanted = strength > options.threshold && behind <= 2e-3;
            assert!(close || point.is_some() == wanted, "{filter:?} {pixel:?}: {strength} {behind}");
            let Some(point) = point else { continue };
            listed += 1;
            assert!((point.strength - strength).abs() <= 1e-3 * strength.max(0.1), "{point:?} {strength}");
            let corners = display.triangles[point.triangle as usize].map(|i| display.positions[i as usize]);
            let place: Vec3 = corners.iter().zip(point.barycentrics).map(|(c, w)| *c * w).sum();
            assert!(place.distance(point.position.into()) < 1e-4);
        }
        assert_eq!(listed, found.len(), "each once");
        // The outline of a capsule that fills most of the image.
        assert!((side / 2..side * 8).contains(&listed), "{filter:?}: {listed}");
    }
    assert_silent(&device);
}

#[test]
fn what_cannot_be_filtered_is_refused() {
    let Some(device) = device() else { return };
    let asset =
        crate::bind::shapes::Shape { bones: 1, rings: 2, segments: 6, radius: 0.2, length: 1.0, blend: 0.5 }
            .capsule_asset();
    let display = Character::from_asset(&asset).unwrap().display;
    let surface = SurfaceBuffers::from_slices(&device, &display.positions, &display.normals).unwrap();
    let scene = Scene::new(&device, &asset, &display, &surface).unwrap();
    let gbuffer = GBuffer::new(&device, [16, 16], 1).unwrap();
    let silhouettes = Silhouettes::new(&device, &scene, &gbuffer).unwrap();
    let view = Camera::framing(&scene.bounds, 1.0, 0.0, 0.0).view(1.0);
    for (index, threshold, says) in
        [(1, 0.3, "no view 1"), (0, f32::NAN, "threshold"), (0, -1.0, "threshold")]
    {
        let options = SilhouetteOptions { filter: Filter::Normal, threshold };
        let refused = device.run(|frame| silhouettes.record(frame, index, &view, &options));
        assert!(refused.unwrap_err().to_string().contains(says));
    }
}

#[test]
fn the_silhouettes_in_the_picture_of_both_eyes_are_those_in_the_list() {
    let Some(device) = device() else { return };
    let asset = crate::bind::shapes::Shape {
        bones: 2,
        rings: 12,
        segments: 16,
        radius: 0.2,
        length: 1.0,
        blend: 0.5,
    }
    .capsule_asset();
    let display = Character::from_asset(&asset).unwrap().display;
    let surface = SurfaceBuffers::from_slices(&device, &display.positions, &display.normals).unwrap();
    let renderer = Renderer::new(&device).unwrap();
    let scene = Scene::new(&device, &asset, &display, &surface).unwrap();
    let size = [72, 64];
    let targets = Targets::new(&device, size, 2, device.samples(4)).unwrap();
    let mut bound = renderer.bind(&scene, &targets).unwrap();
    let gbuffer = GBuffer::new(&device, size, 2).unwrap();
    let seen = renderer.bind_gbuffer(&scene, &gbuffer).unwrap();
    let silhouettes = Silhouettes::new(&device, &scene, &gbuffer).unwrap();
    let lines = Lines::default();
    for (filter, yaw) in [(Filter::Normal, 0.4), (Filter::Depth, 1.3), (Filter::Position, 0.4)] {
        let options = filter.options();
        let views = Camera::framing(&scene.bounds, targets.aspect(), yaw, 0.2).stereo(targets.aspect(), 0.1);
        // At this scale, a texel is a pixel.
        let mut shoot = |silhouettes, scale| {
            let look = Look { silhouettes, scale, shadows: false, ..Look::default() };
            let shot = Shot { views: &views, look: &look, lines: &lines, hidden: None, ghosts: None };
            device.run(|frame| renderer.record(frame, &scene, &targets, &mut bound, &shot)).unwrap();
            [0, 1].map(|view| targets.read(&device, view).unwrap())
        };
        let (plain, drawn, coarse) = (shoot(None, 0.5), shoot(Some(options), 0.5), shoot(Some(options), 1.0));
        assert_eq!(shoot(None, 0.5), plain, "switched off, nothing remains");
        for view in 0..2 {
            device
                .run(|frame| {
                    renderer.record_gbuffer(frame, &scene, &gbuffer, &seen, &views)?;
                    silhouettes.record(frame, view as u32, &views[view], &options)
                })
                .unwrap();
            let found = silhouettes.read(&device).unwrap();
            let mut listed: Vec<[u32; 2]> = found.iter().map(|p| p.pixel.map(|x| x as u32)).collect();
            let colored = |picture: &image::RgbaImage| -> Vec<[u32; 2]> {
                let both = plain[view].enumerate_pixels().zip(picture.pixels());
                let other = both.filter(|((.., a), b)| a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 8));
                other.map(|((x, y, _), _)| [x, y]).collect()
            };
            let mut pixels = colored(&drawn[view]);
            pixels.sort_unstable();
            listed.sort_unstable();
            assert!(listed.len() > 60, "{filter:?}: {}", listed.len());
            assert_eq!(pixels, listed, "{filter:?}, view {view}");
            // A line of coarse texels is wider, but it is the same line.
            let wide = colored(&coarse[view]);
            let near =
                |p: &[u32; 2]| listed.iter().any(|q| p[0].abs_diff(q[0]).max(p[1].abs_diff(q[1])) <= 3);
            let share = wide.iter().filter(|p| near(p)).count() as f32 / wide.len() as f32;
            assert!(wide.len() > listed.len() && share > 0.9, "{filter:?}: {} {share}", wide.len());
        }
    }
    assert_silent(&device);
}
