//! Tests of antialiasing on a real device: shades along an edge, line widths, exact ids with multisampling.

use super::*;
use crate::base::math::{Aabb, Vec3};
use crate::gpu::constants::NONE;
use crate::gpu::testing::{assert_silent, device};
use crate::gpu::{Device, DeviceOptions};
use std::sync::Arc;

/// Renders a dark triangle over a light backdrop. The triangle's edge rises by one pixel per about six pixels of width.
fn slope(device: &Arc<Device>, samples: u32) -> image::RgbaImage {
    let (asset, mut display) = capsule();
    let corners = [Vec3::new(-4.0, -0.4, 0.0), Vec3::new(4.0, -4.0, 0.0), Vec3::new(4.0, 0.93, 0.0)];
    display.positions.truncate(3);
    display.normals = vec![Vec3::Z; 3];
    display.positions.copy_from_slice(&corners);
    display.triangles = vec![[0, 1, 2]];
    (display.parts[0].vertices, display.parts[0].triangles) = (0..3, 0..1);
    let look = Look { floor: false, shadows: false, exposure: 0.05, ..Look::default() };
    let (renderer, scene) = scene_of(device, &asset, &display);
    let targets = Targets::new(device, [64, 64], 1, samples).unwrap();
    let mut bound = renderer.bind(&scene, &targets).unwrap();
    let view = Camera { eye: Vec3::Z * 4.0, target: Vec3::ZERO, up: Vec3::Y, fov_y: 0.5 }.view(1.0);
    let shot = Shot { views: &[view], look: &look, lines: &Lines::default(), hidden: None, ghosts: None };
    device.run(|frame| renderer.record(frame, &scene, &targets, &mut bound, &shot)).unwrap();
    targets.read(device, 0).unwrap()
}

/// Counts the pixels in each of five brightness ranges, from the light backdrop above the edge to the dark triangle
/// below it.
fn levels(picture: &image::RgbaImage) -> [usize; 5] {
    let mut out = [0; 5];
    for x in 0..picture.width() {
        let column: Vec<f32> =
            (0..picture.height()).map(|y| f32::from(picture.get_pixel(x, y).0[1])).collect();
        let (light, dark) = (column[0], column[column.len() - 1]);
        assert!(light > dark + 60.0, "{light} over {dark}");
        for value in column {
            // The backdrop's gradient and noise are far below an eighth of the range from light to dark.
            let share = (light - value) / (light - dark);
            out[(share * 4.0).round().clamp(0.0, 4.0) as usize] += 1;
        }
    }
    out
}

#[test]
fn a_slanting_edge_has_three_shades_between_with_four_samples_and_none_with_one() {
    let Some(device) = device() else { return };
    let hard = levels(&slope(&device, 1));
    assert_eq!(hard[1..4], [0, 0, 0], "{hard:?}");
    assert!(hard[0] > 500 && hard[4] > 500, "{hard:?}");
    if device.samples(4) == 4 {
        let smooth = levels(&slope(&device, 4));
        assert!(smooth[1..4].iter().all(|n| *n >= 8), "every coverage occurs: {smooth:?}");
        assert!(smooth[1..4].iter().sum::<usize>() < 128, "nothing but the edge is mixed: {smooth:?}");
    }
    assert_silent(&device);
}

/// Draws a white line across a dark image and returns its width, pixels: the sum of its coverage over one pixel column.
fn width(device: &Arc<Device>, size: u32, scale: f32, samples: u32) -> f32 {
    let (asset, display) = capsule();
    let (renderer, mut scene) = scene_of(device, &asset, &display);
    scene.bounds = Aabb { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
    let targets = Targets::new(device, [size; 2], 1, samples).unwrap();
    let mut bound = renderer.bind(&scene, &targets).unwrap();
    // The camera looks past the body, so only the line and the backdrop are visible.
    let view =
        Camera { eye: Vec3::new(3.0, 0.0, 4.0), target: Vec3::X * 3.0, up: Vec3::Y, fov_y: 0.5 }.view(1.0);
    let black = [Vec3::ZERO; 2];
    let look = Look { floor: false, backdrop: black, scale, ..Look::default() };
    let mut lines = Lines::default();
    lines.polyline(&[Vec3::new(0.0, 0.1, 0.0), Vec3::new(6.0, -0.1, 0.0)], [255; 4], 3.0, 0.0);
    let shot = Shot { views: &[view], look: &look, lines: &lines, hidden: None, ghosts: None };
    device.run(|frame| renderer.record(frame, &scene, &targets, &mut bound, &shot)).unwrap();
    let picture = targets.read(device, 0).unwrap();
    (0..size).map(|y| f32::from(picture.get_pixel(size / 2, y).0[0]) / 255.0).sum()
}

#[test]
fn lines_are_as_many_pixels_wide_as_their_points_and_the_scale_say() {
    let Some(device) = device() else { return };
    for samples in [1, device.samples(4)] {
        for (size, scale) in [(64, 1.0), (64, 2.0), (128, 2.0), (128, 4.0)] {
            let wide = width(&device, size, scale, samples);
            assert!((wide - 3.0 * scale).abs() < 0.25, "{wide} pixels at {scale} pixels a point");
        }
    }
    assert_silent(&device);
}

#[test]
fn ids_are_exact_whatever_the_pictures_samples() {
    let Some(device) = device() else { return };
    let (asset, display) = capsule();
    let (renderer, scene) = scene_of(&device, &asset, &display);
    let view = Camera::framing(&scene.bounds, 1.0, 0.3, 0.1).view(1.0);
    let (look, lines) = (Look::default(), Lines::default());
    let gbuffer = GBuffer::new(&device, [96, 96], 1).unwrap();
    let seen = renderer.bind_gbuffer(&scene, &gbuffer).unwrap();
    let mut all = Vec::new();
    for samples in [1, device.samples(4)] {
        let targets = Targets::new(&device, [96, 96], 1, samples).unwrap();
        let mut bound = renderer.bind(&scene, &targets).unwrap();
        let shot = Shot { views: &[view], look: &look, lines: &lines, hidden: None, ghosts: None };
        device
            .run(|frame| {
                renderer.record(frame, &scene, &targets, &mut bound, &shot)?;
                renderer.record_gbuffer(frame, &scene, &gbuffer, &seen, &[view])
            })
            .unwrap();
        let ids: Vec<[u32; 2]> = device.read_image(&gbuffer.ids, 0).unwrap();
        for [triangle, part] in &ids {
            let drawn = *part == 0 && (*triangle as usize) < display.triangles.len();
            assert!(drawn || [*triangle, *part] == [NONE; 2], "{triangle} of part {part} was never drawn");
        }
        // A compositor receives the depth of one surface sample, never a mean of two depths.
        let depth: Vec<f32> = device.read_image(&targets.depth, 0).unwrap();
        let there =
            depth.iter().filter(|d| **d > 0.0).fold([f32::MAX, 0.0], |[a, b], d| [a.min(*d), b.max(*d)]);
        let exact: Vec<f32> = device.read_image(&gbuffer.depth, 0).unwrap();
        let least = exact.iter().filter(|d| **d > 0.0).fold(f32::MAX, |a, d| a.min(*d));
        assert!(there[0] > 0.9 * least, "{} is farther than all of the surface, {least}", there[0]);
        all.push(ids);
    }
    assert_eq!(all[0], all[1]);
    assert_silent(&device);
}

#[test]
fn other_sizes_and_samples_leave_nothing_behind() {
    // This test needs its own device, because other tests allocate on the shared device.
    let Some(name) = device().map(|d| d.name().to_owned()) else { return };
    let device = Device::new(&DeviceOptions { name: Some(name), validation: true }).unwrap();
    let (asset, display) = capsule();
    let (renderer, scene) = scene_of(&device, &asset, &display);
    let view = Camera::framing(&scene.bounds, 1.0, 0.3, 0.1).view(1.0);
    let (look, lines) = (Look::default(), Lines::default());
    let change = |size: [u32; 2], samples: u32| {
        let targets = Targets::new(&device, size, 2, samples).unwrap();
        let mut bound = renderer.bind(&scene, &targets).unwrap();
        let shot = Shot { views: &[view; 2], look: &look, lines: &lines, hidden: None, ghosts: None };
        device.run(|frame| renderer.record(frame, &scene, &targets, &mut bound, &shot)).unwrap();
        device.allocated_bytes()
    };
    let all = [([211, 97], 1), ([211, 97], device.samples(4)), ([97, 211], 1)];
    let first = all.map(|(size, samples)| change(size, samples));
    assert!(device.samples(4) == 1 || first[1] > first[0], "samples take memory while they are drawn");
    for _ in 0..3 {
        assert_eq!(all.map(|(size, samples)| change(size, samples)), first);
    }
    assert!(Targets::new(&device, [16, 16], 1, 2).is_err() && Targets::new(&device, [16, 16], 3, 1).is_err());
    assert_silent(&device);
}
