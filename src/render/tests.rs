//! Pictures of known things on a real device.

use super::*;
use crate::base::math::{Aabb, Vec3};
use crate::bind::Character;
use crate::gpu::Device;
use crate::gpu::constants::NONE;
use crate::gpu::testing::{assert_silent, device};
use std::sync::Arc;

struct Drawn {
    targets: Targets,
    views: Vec<View>,
    triangles: Vec<[u32; 3]>,
    positions: Vec<Vec3>,
}

fn draw(device: &Arc<Device>, size: [u32; 2], views: &[View], samples: u32, lines: &Lines) -> Drawn {
    let shape = crate::bind::shapes::Shape {
        bones: 2,
        rings: 16,
        segments: 24,
        radius: 0.2,
        length: 1.0,
        blend: 0.5,
    };
    let asset = shape.capsule_asset();
    let character = Character::from_asset(&asset).unwrap();
    let display = &character.display;
    let surface = SurfaceBuffers::from_slices(device, &display.positions, &display.normals).unwrap();
    let renderer = Renderer::new(device).unwrap();
    let scene = Scene::new(device, &asset, display, &surface).unwrap();
    let targets = Targets::new(device, size, views.len() as u32, samples).unwrap();
    let mut bound = renderer.bind(&scene, &targets).unwrap();
    let shot = Shot { views, look: &Look::default(), lines };
    device.run(|frame| renderer.record(frame, &scene, &targets, &mut bound, &shot)).unwrap();
    Drawn {
        targets,
        views: views.to_vec(),
        triangles: display.triangles.clone(),
        positions: display.positions.clone(),
    }
}

fn front(size: [u32; 2]) -> View {
    let bounds = Aabb { min: [-0.2, -0.2, -0.2].into(), max: [0.2, 1.2, 0.2].into() };
    let aspect = size[0] as f32 / size[1] as f32;
    Camera::framing(&bounds, aspect, 0.3, 0.1).view(aspect)
}

#[test]
fn the_gbuffer_holds_the_surface_and_every_pixel_names_its_triangle() {
    let Some(device) = device() else { return };
    let size = [96, 128];
    let d = draw(&device, size, &[front(size)], 1, &Lines::default());
    let ids: Vec<[u32; 2]> = device.read_image(&d.targets.ids, 0).unwrap();
    let positions: Vec<[f32; 4]> = device.read_image(&d.targets.position, 0).unwrap();
    let mut covered = 0;
    for (index, (id, p)) in ids.iter().zip(&positions).enumerate() {
        assert_eq!(id[1] == NONE, p[3] == 0.0);
        if id[1] == NONE {
            continue;
        }
        covered += 1;
        assert_eq!(id[1], 0);
        // The world position projects back to the pixel's centre.
        let [u, v] = d.views[0].project([p[0], p[1], p[2]].into()).unwrap();
        let (x, y) = (index % size[0] as usize, index / size[0] as usize);
        assert!((u * size[0] as f32 - x as f32 - 0.5).abs() < 0.02, "{u} {x}");
        assert!((v * size[1] as f32 - y as f32 - 0.5).abs() < 0.02, "{v} {y}");
        // It lies on the named triangle's plane.
        let t = d.triangles[id[0] as usize].map(|i| d.positions[i as usize]);
        let n = (t[1] - t[0]).cross(t[2] - t[0]).normalize();
        assert!((Vec3::new(p[0], p[1], p[2]) - t[0]).dot(n).abs() < 1e-5);
        assert!(n.dot(d.views[0].eye - t[0]) > 0.0, "a back face is seen");
    }
    assert!(covered > 800, "{covered}");
    assert_silent(&device);
}

#[test]
fn two_views_by_multiview_are_the_pictures_of_two_single_views() {
    let Some(device) = device() else { return };
    let size = [64, 64];
    let bounds = Aabb { min: [-0.2, -0.2, -0.2].into(), max: [0.2, 1.2, 0.2].into() };
    let pair = Camera::framing(&bounds, 1.0, 0.0, 0.0).stereo(1.0, 0.2);
    let both = draw(&device, size, &pair, 1, &Lines::default());
    let mut pictures = Vec::new();
    for (eye, view) in pair.iter().enumerate() {
        let single = draw(&device, size, &[*view], 1, &Lines::default());
        let ids = |d: &Drawn, layer| device.read_image::<[u32; 2]>(&d.targets.ids, layer).unwrap();
        assert_eq!(ids(&both, eye as u32), ids(&single, 0));
        pictures.push(both.targets.read(&device, eye as u32).unwrap());
    }
    assert_ne!(pictures[0], pictures[1]);
    assert_silent(&device);
}

#[test]
fn lines_are_drawn_where_they_project_and_fainter_behind_the_surface() {
    let Some(device) = device() else { return };
    let size = [64, 64];
    let bounds = Aabb { min: [-0.2, -0.2, -0.2].into(), max: [0.2, 1.2, 0.2].into() };
    let view = Camera::framing(&bounds, 1.0, 0.0, 0.0).view(1.0);
    let line = |z: f32| {
        let mut lines = Lines::default();
        lines.polyline(&[[-0.4, 0.5, z].into(), [0.4, 0.5, z].into()], [255, 0, 0, 255], 4.0, 0.0);
        let d = draw(&device, size, &[view], 2, &lines);
        let picture = d.targets.read(&device, 0).unwrap();
        let [_, v] = view.project([0.0, 0.5, z].into()).unwrap();
        let red = |x: u32| {
            let p = picture.get_pixel(x, (v * size[1] as f32) as u32).0;
            i32::from(p[0]) - i32::from(p[1])
        };
        let [u, _] = view.project([-0.35, 0.5, z].into()).unwrap();
        (red((u * size[0] as f32) as u32), red(size[0] / 2))
    };
    let (beside, before) = line(0.3);
    assert!(beside > 200 && before > 200, "{beside} {before}");
    let (beside, behind) = line(0.0);
    assert!(beside > 200 && behind > 40 && behind < 180, "{beside} {behind}");
    assert_silent(&device);
}
