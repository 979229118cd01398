//! Tests of the outline: its place and width, what it leaves unchanged, and hidden parts.

use super::*;
use crate::render::outline::COLOR;

/// Pictures without and with the outline.
struct Pictures {
    size: [u32; 2],
    off: Vec<image::RgbaImage>,
    on: Vec<image::RgbaImage>,
}

/// Draws a surface whose part of these triangles and shares is outlined, in all views. Hides some parts of the mesh.
fn draw_outline(
    device: &Arc<Device>,
    (asset, display): (&Asset, &DisplayMesh),
    (triangles, shares): (&[u32], &[f32]),
    hidden: &[u32],
    (views, samples, scale): (&[View], u32, f32),
) -> Pictures {
    let size = [97, 130];
    let (renderer, mut scene) = scene_of(device, asset, display);
    scene.prepare_outline(device, display).unwrap();
    scene.hide(hidden);
    let targets = Targets::new(device, size, views.len() as u32, samples).unwrap();
    let mut bound = renderer.bind(&scene, &targets).unwrap();
    let lines = Lines::default();
    let mut picture = |outline: bool| {
        let look = Look { scale, outline, ..Look::default() };
        let shot = Shot { views, look: &look, lines: &lines, hidden: None, ghosts: None };
        device
            .run(|frame| {
                scene.outline(frame, display, triangles, shares);
                renderer.record(frame, &scene, &targets, &mut bound, &shot)
            })
            .unwrap();
        (0..views.len() as u32).map(|view| targets.read(device, view).unwrap()).collect()
    };
    Pictures { size, off: picture(false), on: picture(true) }
}

/// CPU reference of `outline.comp`: the opacity of the line at each pixel of a mask, for a width in pixels.
fn opacity(marks: &[f32], [width, height]: [u32; 2], line: f32) -> Vec<f32> {
    let reach = line.ceil() as i32;
    let mark = |x: i32, y: i32| {
        let inside = (0..width as i32).contains(&x) && (0..height as i32).contains(&y);
        if inside { marks[(y * width as i32 + x) as usize] } else { 0.0 }
    };
    let at = |i: i32| {
        let (x, y) = (i % width as i32, i / width as i32);
        let own = mark(x, y);
        if own > 0.7 {
            return 0.0;
        }
        let around = (-reach..=reach).flat_map(|b| (-reach..=reach).map(move |a| (a, b)));
        let one = |(a, b): (i32, i32)| {
            let covered = (line + 1.0 - ((a * a + b * b) as f32).sqrt()).clamp(0.0, 1.0);
            let mark = mark(x + a, y + b);
            if mark > 0.7 || own == 0.0 { mark * covered } else { 0.0 }
        };
        COLOR[3] * around.map(one).fold(0.0, f32::max)
    };
    (0..(width * height) as i32).map(at).collect()
}

/// Compares a view with the reference. Returns the numbers of pixels that the line covers wholly and partly.
fn check(pictures: &Pictures, view: usize, marks: &[f32], line: f32) -> [usize; 2] {
    let mut counts = [0; 2];
    let opacity = opacity(marks, pictures.size, line);
    for ((off, on), strength) in pictures.off[view].pixels().zip(pictures.on[view].pixels()).zip(&opacity) {
        for (k, color) in COLOR.iter().enumerate().take(3) {
            let below = f32::from(off.0[k]) / 255.0;
            let wanted = below + (color - below) * strength;
            assert!((wanted * 255.0 - f32::from(on.0[k])).abs() <= 1.5, "{off:?} {on:?} {strength}");
        }
        if *strength == 0.0 {
            assert_eq!(off, on, "nothing else changes");
        }
        counts[0] += usize::from(*strength == COLOR[3]);
        counts[1] += usize::from(*strength > 0.0 && *strength < COLOR[3]);
    }
    counts
}

#[test]
fn the_line_is_as_wide_as_its_points_and_leaves_the_surface_unchanged() {
    let Some(device) = device() else { return };
    let (asset, display) = capsule();
    let all: Vec<u32> = (0..display.triangles.len() as u32).collect();
    let shares = vec![1.0; display.positions.len()];
    let size = [97, 130];
    let views = [
        front(size),
        Camera { eye: Vec3::new(1.5, 1.0, 1.5), target: Vec3::Y * 0.5, up: Vec3::Y, fov_y: 0.8 }.view(0.75),
    ];
    let (seen, _) = gbuffer(&device, size, &views);
    let marks = [0, 1].map(|view| {
        let ids: Vec<[u32; 2]> = device.read_image(&seen.ids, view).unwrap();
        ids.iter().map(|id| f32::from(u8::from(id[1] != NONE))).collect::<Vec<f32>>()
    });
    for samples in [1, device.samples(4)] {
        // A line is at least one pixel wide, and at most eight.
        for (scale, line) in [(0.25, 1.0), (1.0, 2.0), (1.25, 2.5), (9.0, 8.0)] {
            let shown = (&all[..], &shares[..]);
            let pictures = draw_outline(&device, (&asset, &display), shown, &[], (&views, samples, scale));
            for (view, marks) in marks.iter().enumerate() {
                let [whole, partly] = check(&pictures, view, marks, line);
                let border = marks.iter().sum::<f32>().sqrt();
                assert!(whole as f32 > line.floor() * border && partly > 0, "{whole} {partly} {border}");
            }
        }
    }
    // A hidden part has no outline, and neither has nothing.
    for (triangles, hidden) in [(&all[..], &[0][..]), (&[], &[])] {
        let pictures =
            draw_outline(&device, (&asset, &display), (triangles, &shares), hidden, (&views[..1], 1, 1.0));
        assert!(pictures.off == pictures.on);
    }
    assert_silent(&device);
}

#[test]
fn the_part_ends_where_its_share_is_a_half() {
    let Some(device) = device() else { return };
    let (asset, display) = capsule();
    let size = [97, 130];
    let view = front(size);
    // The share falls from 1 at the height 0.3 to 0 at 0.7.
    let share = |x: &Vec3| ((0.7 - x.y) / 0.4).clamp(0.0, 1.0);
    let shares: Vec<f32> = display.positions.iter().map(share).collect();
    let inside = |t: &[u32; 3]| t.iter().any(|v| shares[*v as usize] >= 0.5);
    let triangles: Vec<u32> =
        (0..display.triangles.len() as u32).filter(|t| inside(&display.triangles[*t as usize])).collect();
    assert!(triangles.len() < display.triangles.len());
    let pictures = draw_outline(&device, (&asset, &display), (&triangles, &shares), &[], (&[view], 1, 1.0));
    let (seen, _) = gbuffer(&device, size, &[view]);
    let positions: Vec<[f32; 4]> = device.read_image(&seen.position, 0).unwrap();
    let (mut line, mut border) = (0, 0);
    for (i, p) in positions.iter().enumerate().filter(|(_, p)| p[3] == 1.0) {
        let (x, y) = (i as u32 % size[0], i as u32 / size[0]);
        let changed = pictures.off[0].get_pixel(x, y) != pictures.on[0].get_pixel(x, y);
        // Shares are linear in each triangle of the straight part.
        assert!(!changed || p[1] > 0.499, "{p:?}");
        // A pixel has 13 mm. The camera looks down, so the border behind the body is 40 mm higher.
        line += usize::from(changed);
        border += usize::from((0.5..0.51).contains(&p[1]));
        assert!(changed || !(0.502..0.51).contains(&p[1]), "{p:?}");
        assert!(!changed || p[1] < 0.58, "{p:?}");
    }
    assert!(border > 10 && line > 2 * border, "{line} {border}");
    assert_silent(&device);
}

#[test]
fn the_line_is_fainter_around_what_other_surfaces_hide() {
    let Some(device) = device() else { return };
    let (asset, mut display) = capsule();
    // A small square behind the right half of a large one.
    let square = |z: f32, [left, right]: [f32; 2], high: f32| {
        [(left, -high), (right, -high), (right, high), (left, high)].map(|(x, y)| Vec3::new(x, y, z))
    };
    display.positions = [square(0.0, [0.0, 2.0], 2.0), square(-0.5, [-0.4, 0.4], 0.4)].concat();
    display.normals = vec![Vec3::Z; 8];
    display.uvs.clear();
    display.uvs1.clear();
    display.colors.clear();
    display.control_of = (0..8).collect();
    display.triangles = vec![[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]];
    (display.parts[0].vertices, display.parts[0].triangles) = (0..8, 0..4);
    let size = [97u32, 130];
    let view = Camera { eye: Vec3::Z * 4.0, target: Vec3::ZERO, up: Vec3::Y, fov_y: 0.5 }.view(97.0 / 130.0);
    for samples in [1, device.samples(4)] {
        let shares = vec![1.0; 8];
        let pictures =
            draw_outline(&device, (&asset, &display), (&[2, 3], &shares), &[], (&[view], samples, 1.0));
        let strength = |at: Vec3| {
            let [u, v] = view.project(at).unwrap();
            let (x, y) = ((u * size[0] as f32) as u32, (v * size[1] as f32) as u32);
            let [off, on] =
                [&pictures.off[0], &pictures.on[0]].map(|p| f32::from(p.get_pixel(x, y).0[2]) / 255.0);
            // The line has no blue.
            1.0 - on / off
        };
        // The middle of the line's second pixel, beyond each edge.
        let pixel = 2.0 * 4.5 * 0.25f32.tan() / size[1] as f32;
        for (at, wanted) in [
            (Vec3::new(-0.4 - pixel, 0.0, -0.5), COLOR[3]),
            (Vec3::new(-0.2, 0.4 + pixel, -0.5), COLOR[3]),
            (Vec3::new(0.4 + pixel, 0.0, -0.5), 0.4 * COLOR[3]),
            (Vec3::new(0.2, -0.4 - pixel, -0.5), 0.4 * COLOR[3]),
            // The line around the visible half covers the hidden half. The pixel at the edge counts as visible.
            (Vec3::new(2.0 * pixel, 0.0, -0.25), COLOR[3]),
            (Vec3::new(-0.2, 0.0, -0.5), 0.0),
            (Vec3::new(0.2, 0.0, -0.5), 0.0),
            (Vec3::new(0.6, 0.6, -0.5), 0.0),
        ] {
            assert!((strength(at) - wanted).abs() < 0.03, "{samples}: {at} {} {wanted}", strength(at));
        }
    }
    assert_silent(&device);
}
