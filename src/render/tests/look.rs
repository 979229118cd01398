//! Tests of the looks: backdrop, clay and ambient occlusion, for one view and for two eyes.

use super::*;
use crate::base::math::{Aabb, Quat, Vec3};
use crate::gpu::testing::{assert_silent, device};
use image::Rgba;

const BOUNDS: Aabb = Aabb { min: Vec3::new(-0.2, -0.2, -0.2), max: Vec3::new(0.2, 1.2, 0.2) };

fn differ(a: &Rgba<u8>, b: &Rgba<u8>) -> u8 {
    a.0.iter().zip(b.0).map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0)
}

#[test]
fn both_eyes_have_the_backdrop_in_tiles_of_any_size() {
    let Some(device) = device() else { return };
    let (asset, display) = capsule();
    let lines = Lines::default();
    let look = Look { floor: false, ..Look::default() };
    // Several tiles of 64 x 64 pixels, and a size that is no multiple of a tile.
    for size in [[256, 192], [200, 130]] {
        let aspect = size[0] as f32 / size[1] as f32;
        let pair = Camera::framing(&BOUNDS, aspect, 0.2, 0.1).stereo(aspect, 0.1);
        for samples in [1, device.samples(4)] {
            let draw = |views: &[View]| {
                draw_in(&device, (&asset, &display), size, (views, samples), (&look, &lines))
            };
            let both = draw(&pair);
            for (eye, view) in pair.iter().enumerate() {
                let seen = both.read(&device, eye as u32).unwrap();
                let alone = draw(&[*view]).read(&device, 0).unwrap();
                let [right, bottom] = size.map(|n| n - 2);
                for (x, y) in [(1, 1), (right, 1), (1, bottom), (right, bottom), (20, 90)] {
                    let (seen, alone) = (seen.get_pixel(x, y), alone.get_pixel(x, y));
                    assert!(differ(seen, alone) <= 1, "eye {eye} at {x} {y}: {seen:?}, alone {alone:?}");
                    assert!(seen.0[..3].iter().all(|c| *c > 90), "eye {eye} at {x} {y}: {seen:?}");
                }
            }
        }
    }
    assert_silent(&device);
}

/// Returns the picture of a look, for one view or two eyes.
fn shown(device: &Arc<Device>, views: &[View], look: &Look) -> Vec<image::RgbaImage> {
    let (asset, display) = capsule();
    let drawn = draw_in(device, (&asset, &display), [96, 96], (views, 1), (look, &Lines::default()));
    (0..views.len() as u32).map(|eye| drawn.read(device, eye).unwrap()).collect()
}

/// Returns the views of a head at a distance of the capsule, which rolls about its viewing direction.
fn head(roll: f32) -> [View; 2] {
    let turn = Quat::from_rotation_z(roll);
    let tangents = Tangents { left: -0.6, right: 0.6, up: 0.6, down: -0.6 };
    let middle = Vec3::new(0.0, 0.5, 1.2);
    [-0.1, 0.1].map(|x| View::new(middle + turn * (Vec3::X * x), turn, tangents, 0.01))
}

#[test]
fn both_eyes_see_the_same_clay_and_the_roll_of_the_head_does_not_move_its_light() {
    let Some(device) = device() else { return };
    let clay = Look { shading: Shading::Clay, floor: false, shadows: false, ..Look::default() };
    let level = shown(&device, &head(0.0), &clay);
    let rolled = shown(&device, &head(0.5), &clay);
    let textured = shown(&device, &head(0.0), &Look { shading: Shading::Textured, ..clay });
    // Points of the capsule's side, which both eyes see.
    let points = (0..7).flat_map(|k| {
        let angle = 0.25 * (k as f32 - 3.0);
        [0.2, 0.5, 0.8].map(|y| Vec3::new(0.2 * angle.sin(), y, 0.2 * angle.cos()))
    });
    let color = |view: &View, picture: &image::RgbaImage, point: Vec3| {
        let [x, y] = view.project(point).unwrap().map(|c| (c * 96.0) as u32);
        *picture.get_pixel(x, y)
    };
    let (mut apart, mut spread) = (0, [255u8, 0]);
    for point in points {
        let seen = [
            color(&head(0.0)[0], &level[0], point),
            color(&head(0.0)[1], &level[1], point),
            color(&head(0.5)[0], &rolled[0], point),
            color(&head(0.5)[1], &rolled[1], point),
        ];
        for other in &seen[1..] {
            assert!(differ(&seen[0], other) <= 12, "{point}: {seen:?}");
        }
        apart += u32::from(differ(&seen[0], &color(&head(0.0)[0], &textured[0], point)) > 10);
        spread = [spread[0].min(seen[0].0[1]), spread[1].max(seen[0].0[1])];
    }
    assert!(apart > 10, "clay looks like the material at all but {apart} points");
    assert!(spread[1] - spread[0] > 60, "clay shows no shape: {spread:?}");
    assert_silent(&device);
}

#[test]
fn ambient_occlusion_only_darkens_and_only_near_other_parts() {
    let Some(device) = device() else { return };
    let view = [Camera::framing(&BOUNDS, 1.0, 0.2, 0.1).view(1.0)];
    for shading in Shading::ALL {
        let look = Look { shading, floor: false, shadows: false, ..Look::default() };
        let plain = shown(&device, &view, &look).remove(0);
        let open = shown(&device, &view, &Look { occlusion: true, ..look }).remove(0);
        // A capsule is convex, so nothing of it occludes another part.
        for (x, y, pixel) in open.enumerate_pixels() {
            assert!(differ(pixel, plain.get_pixel(x, y)) <= 6, "{shading:?} at {x} {y}");
        }
    }
    assert_silent(&device);
}

#[test]
fn hidden_pixels_are_black_and_the_others_are_as_before() {
    let Some(device) = device() else { return };
    let (asset, display) = capsule();
    let (renderer, scene) = scene_of(&device, &asset, &display);
    let views = Camera::framing(&BOUNDS, 1.0, 0.2, 0.1).stereo(1.0, 0.1);
    let (look, lines) = (Look::default(), Lines::default());
    for samples in [1, device.samples(4)] {
        let targets = Targets::new(&device, [96, 96], 2, samples).unwrap();
        let mut bound = renderer.bind(&scene, &targets).unwrap();
        // The upper left corner of the left eye, and the lower half of the right eye.
        let left = vec![[0.0, 0.0], [0.3, 0.0], [0.0, 0.3]];
        let right = vec![[0.0, 0.5], [1.0, 0.5], [0.0, 1.0], [0.0, 1.0], [1.0, 0.5], [1.0, 1.0]];
        let area = renderer.bind_hidden(&targets, &[left, right]).unwrap();
        let mut draw = |hidden: Option<&HiddenArea>| {
            let shot = Shot { views: &views, look: &look, lines: &lines, hidden, ghosts: None };
            device.run(|frame| renderer.record(frame, &scene, &targets, &mut bound, &shot)).unwrap();
            [0, 1].map(|eye| targets.read(&device, eye).unwrap())
        };
        let (whole, masked) = (draw(None), draw(area.as_ref()));
        let black = masked.each_ref().map(|p| p.pixels().filter(|p| p.0[..3] == [0; 3]).count());
        assert!(black[0] > 300 && black[1] > 4000, "{black:?} hidden pixels");
        for (eye, (whole, masked)) in whole.iter().zip(&masked).enumerate() {
            for (x, y, pixel) in masked.enumerate_pixels() {
                let (u, v) = ((x as f32 + 0.5) / 96.0, (y as f32 + 0.5) / 96.0);
                let inside = if eye == 0 { 0.3 - u - v } else { v - 0.5 };
                if inside > 0.02 {
                    assert_eq!(pixel.0, [0, 0, 0, 255], "eye {eye} at {x} {y}");
                } else if inside < -0.02 {
                    assert_eq!(pixel, whole.get_pixel(x, y), "eye {eye} at {x} {y}");
                }
            }
        }
    }
    let one = Targets::new(&device, [8, 8], 1, 1).unwrap();
    assert!(renderer.bind_hidden(&one, &[vec![[0.0; 2]; 3], Vec::new()]).unwrap().is_none());
    assert_silent(&device);
}

#[test]
fn a_clear_backdrop_is_transparent_but_for_the_shadow_and_the_body_is_opaque() {
    let Some(device) = device() else { return };
    let view = [Camera::framing(&BOUNDS, 1.0, 0.2, 0.3).view(1.0)];
    let plain = shown(&device, &view, &Look::default()).remove(0);
    let clear = shown(&device, &view, &Look { clear: true, ..Look::default() }).remove(0);
    let middle = clear.get_pixel(48, 48);
    assert_eq!((middle, middle.0[3]), (plain.get_pixel(48, 48), 255), "the body");
    assert_eq!(clear.get_pixel(2, 2).0, [0; 4], "above the floor");
    let shadows = clear.pixels().filter(|p| p.0[3] > 60 && p.0[3] < 255 && p.0[..3] == [0; 3]).count();
    assert!(shadows > 20, "{shadows} pixels of shadow");
    assert_silent(&device);
}

#[test]
fn the_edge_of_a_shadow_on_the_surface_is_wide_and_has_no_noise() {
    let Some(device) = device() else { return };
    // A wall, and a board in front of it whose vertical edge throws a shadow onto the wall.
    let quad = |low: Vec3, high: Vec3| {
        [[low.x, low.y], [high.x, low.y], [high.x, high.y], [low.x, high.y]]
            .map(|[x, y]| Vec3::new(x, y, low.z))
    };
    let wall = quad(Vec3::new(-1.0, -1.0, 0.0), Vec3::new(1.0, 1.0, 0.0));
    let board = quad(Vec3::new(-0.9, -0.6, 0.3), Vec3::new(-0.3, 0.9, 0.3));
    let display = phong::mesh(
        [wall, board].concat(),
        vec![Vec3::Z; 8],
        vec![[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]],
    );
    let (asset, lines) = (capsule().0, Lines::default());
    let view = [Camera { eye: Vec3::Z * 3.0, target: Vec3::ZERO, up: Vec3::Y, fov_y: 0.4 }.view(1.0)];
    let draw = |shadows: bool| {
        let look = Look { shadows, floor: false, ..Look::default() };
        let drawn = draw_in(&device, (&asset, &display), [256, 256], (&view, 1), (&look, &lines));
        drawn.read(&device, 0).unwrap()
    };
    let (shaded, open) = (draw(true), draw(false));
    // From the shadow to the light, right of the board, in rows far from the ends of the shadow.
    for y in [110, 128, 140] {
        let row: Vec<i32> = (100..200)
            .map(|x| i32::from(open.get_pixel(x, y).0[1]) - i32::from(shaded.get_pixel(x, y).0[1]))
            .collect();
        let dark = row[0];
        assert!(dark > 30 && row[99] == 0, "row {y}: {row:?}");
        // The dither of a picture is at most one level, in either picture.
        assert!(row.windows(2).all(|w| w[1] <= w[0] + 2), "row {y}: {row:?}");
        let between = row.iter().filter(|d| **d > 3 && **d < dark - 3).count();
        assert!((2..20).contains(&between), "row {y}: {row:?}");
    }
    assert_silent(&device);
}
