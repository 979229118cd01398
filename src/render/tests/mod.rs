//! Tests that render known scenes on a real device.

mod edge;
mod look;
mod outline;
mod panel;
mod phong;
mod shadow;

use super::*;
use crate::asset::{self, Asset, Material};
use crate::base::math::{Aabb, Vec2, Vec3, Vec4};
use crate::bind::Character;
use crate::geom::{DisplayMesh, Part};
use crate::gpu::Device;
use crate::gpu::constants::NONE;
use crate::gpu::testing::{assert_silent, device};
use std::sync::Arc;

pub(super) fn capsule() -> (Asset, DisplayMesh) {
    let shape = crate::bind::shapes::Shape {
        bones: 2,
        rings: 16,
        segments: 24,
        radius: 0.2,
        length: 1.0,
        blend: 0.5,
    };
    let asset = shape.capsule_asset();
    let display = Character::from_asset(&asset).unwrap().display;
    (asset, display)
}

/// Returns the pipelines and a mesh in its rest shape.
fn scene_of(device: &Arc<Device>, asset: &Asset, display: &DisplayMesh) -> (Renderer, Scene) {
    let surface = SurfaceBuffers::from_slices(device, &display.positions, &display.normals).unwrap();
    let scene = Scene::new(device, asset, display, &surface).unwrap();
    (Renderer::new(device).unwrap(), scene)
}

/// Renders the capsule.
pub(super) fn draw_capsule(
    device: &Arc<Device>,
    asset: &Asset,
    display: &DisplayMesh,
    size: [u32; 2],
    views: &[View],
    samples: u32,
    lines: &Lines,
) -> Targets {
    draw_in(device, (asset, display), size, (views, samples), (&Look::default(), lines))
}

/// Renders the G-buffer of the capsule.
fn gbuffer(device: &Arc<Device>, size: [u32; 2], views: &[View]) -> (GBuffer, DisplayMesh) {
    let (asset, display) = capsule();
    let (renderer, scene) = scene_of(device, &asset, &display);
    let gbuffer = GBuffer::new(device, size, views.len() as u32).unwrap();
    let bound = renderer.bind_gbuffer(&scene, &gbuffer).unwrap();
    device.run(|frame| renderer.record_gbuffer(frame, &scene, &gbuffer, &bound, views)).unwrap();
    (gbuffer, display)
}

pub(super) fn draw_in(
    device: &Arc<Device>,
    (asset, display): (&Asset, &DisplayMesh),
    size: [u32; 2],
    (views, samples): (&[View], u32),
    (look, lines): (&Look, &Lines),
) -> Targets {
    let (renderer, scene) = scene_of(device, asset, display);
    let targets = Targets::new(device, size, views.len() as u32, samples).unwrap();
    let mut bound = renderer.bind(&scene, &targets).unwrap();
    let shot = Shot { views, look, lines, hidden: None, ghosts: None };
    device.run(|frame| renderer.record(frame, &scene, &targets, &mut bound, &shot)).unwrap();
    targets
}

fn draw(device: &Arc<Device>, size: [u32; 2], views: &[View], samples: u32, lines: &Lines) -> Targets {
    let (asset, display) = capsule();
    draw_capsule(device, &asset, &display, size, views, samples, lines)
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
    let view = front(size);
    let (seen, display) = gbuffer(&device, size, &[view]);
    let ids: Vec<[u32; 2]> = device.read_image(&seen.ids, 0).unwrap();
    let positions: Vec<[f32; 4]> = device.read_image(&seen.position, 0).unwrap();
    let mut covered = 0;
    for (index, (id, p)) in ids.iter().zip(&positions).enumerate() {
        assert_eq!(id[1] == NONE, p[3] == 0.0);
        if id[1] == NONE {
            continue;
        }
        covered += 1;
        assert_eq!(id[1], 0);
        // The stored world position projects back to the pixel's centre.
        let [u, v] = view.project([p[0], p[1], p[2]].into()).unwrap();
        let (x, y) = (index % size[0] as usize, index / size[0] as usize);
        assert!((u * size[0] as f32 - x as f32 - 0.5).abs() < 0.02, "{u} {x}");
        assert!((v * size[1] as f32 - y as f32 - 0.5).abs() < 0.02, "{v} {y}");
        // The stored position lies on the plane of the triangle with the stored id.
        let t = display.triangles[id[0] as usize].map(|i| display.positions[i as usize]);
        let n = (t[1] - t[0]).cross(t[2] - t[0]).normalize();
        assert!((Vec3::new(p[0], p[1], p[2]) - t[0]).dot(n).abs() < 1e-5);
        assert!(n.dot(view.eye - t[0]) > 0.0, "a back face is seen");
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
    let (both_ids, _) = gbuffer(&device, size, &pair);
    let ids = |g: &GBuffer, layer| device.read_image::<[u32; 2]>(&g.ids, layer).unwrap();
    for samples in [1, device.samples(4)] {
        let both = draw(&device, size, &pair, samples, &Lines::default());
        let depth = |t: &Targets, layer| device.read_image::<f32>(&t.depth, layer).unwrap();
        let mut pictures = Vec::new();
        for (eye, view) in pair.iter().enumerate() {
            let layer = eye as u32;
            let (single_ids, _) = gbuffer(&device, size, &[*view]);
            assert_eq!(ids(&both_ids, layer), ids(&single_ids, 0));
            // The lights follow the first eye, so the second eye's colours differ between the stereo image and the
            // single image. The depths are equal bit for bit.
            let single = draw(&device, size, &[*view], samples, &Lines::default());
            assert_eq!(depth(&both, layer), depth(&single, 0));
            pictures.push(both.read(&device, layer).unwrap());
        }
        assert_ne!(pictures[0], pictures[1]);
    }
    assert_silent(&device);
}

/// CPU reference of `render/anaglyph.comp`: Dubois' matrices, stored by rows.
fn anaglyph(left: [u8; 4], right: [u8; 4]) -> [f32; 3] {
    const LEFT: [[f32; 3]; 3] = [[0.437, 0.449, 0.164], [-0.062, -0.062, -0.024], [-0.048, -0.050, -0.017]];
    const RIGHT: [[f32; 3]; 3] = [[-0.011, -0.032, -0.007], [0.377, 0.761, 0.009], [-0.026, -0.093, 1.234]];
    let linear = |c: u8| {
        let c = f32::from(c) / 255.0;
        if c > 0.04045 { ((c + 0.055) / 1.055).powf(2.4) } else { c / 12.92 }
    };
    let coded = |c: f32| if c > 0.003_130_8 { 1.055 * c.powf(1.0 / 2.4) - 0.055 } else { 12.92 * c };
    std::array::from_fn(|row| {
        let sum: f32 =
            (0..3).map(|i| LEFT[row][i] * linear(left[i]) + RIGHT[row][i] * linear(right[i])).sum();
        coded(sum.clamp(0.0, 1.0)) * 255.0
    })
}

#[test]
fn through_red_and_cyan_glasses_each_eye_has_its_own_picture() {
    let Some(device) = device() else { return };
    let (size, lines) = ([64, 48], Lines::default());
    let (asset, display) = capsule();
    let bounds = Aabb { min: [-0.2, -0.2, -0.2].into(), max: [0.2, 1.2, 0.2].into() };
    let pair = Camera::framing(&bounds, 4.0 / 3.0, 0.0, 0.0).stereo(4.0 / 3.0, 0.2);
    let draw = |look: &Look| draw_in(&device, (&asset, &display), size, (&pair, 1), (look, &lines));
    let plain = draw(&Look::default());
    let [left, right] = [0, 1].map(|eye| plain.read(&device, eye).unwrap());
    let glasses = draw(&Look { anaglyph: true, ..Look::default() });
    let both = glasses.read(&device, 0).unwrap();
    assert_eq!(glasses.read(&device, 1).unwrap(), right, "the right eye's own picture stays");
    let mut apart = 0;
    for (x, y, pixel) in both.enumerate_pixels() {
        let wanted = anaglyph(left.get_pixel(x, y).0, right.get_pixel(x, y).0);
        for i in 0..3 {
            assert!((f32::from(pixel.0[i]) - wanted[i]).abs() <= 1.5, "{pixel:?}, not {wanted:?} at {x} {y}");
        }
        // A pixel where only the left eye sees the body differs only in red.
        apart += u32::from(pixel.0[0].abs_diff(pixel.0[1]) > 20);
    }
    assert!(apart > 3, "{apart} pixels are seen otherwise by each eye");
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
        let d = draw(&device, size, &[view], device.samples(4), &lines);
        let picture = d.read(&device, 0).unwrap();
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

#[test]
fn short_bones_show_only_from_near_and_long_bones_keep_their_width() {
    let Some(device) = device() else { return };
    let size = [128, 128];
    // Number of pixels that a bone in front of the surface changes, seen in a square of this width.
    let changed = |length: f32, width: f32| {
        let (at, half) = (Vec3::new(0.0, 0.5, 0.4), Vec3::splat(0.5 * width));
        let view = Camera::framing(&Aabb { min: at - half, max: at + half }, 1.0, 0.0, 0.0).view(1.0);
        let mut lines = Lines::default();
        lines.bone(at, at + Vec3::X * length, 8.0);
        let picture = |lines: &Lines| draw(&device, size, &[view], 1, lines).read(&device, 0).unwrap();
        let (with, without) = (picture(&lines), picture(&Lines::default()));
        with.pixels().zip(without.pixels()).filter(|(a, b)| a != b).count()
    };
    assert_eq!(changed(0.004, 1.4), 0, "a bone of a lip, seen with the whole body");
    assert!(changed(0.004, 0.01) > 100, "the same bone from near");
    let (far, farther) = (changed(0.5, 1.4), changed(0.5, 2.8));
    assert!(far > 100 && farther > 50 && farther < far, "{far} {farther}");
    assert_silent(&device);
}

#[test]
fn a_probe_sees_what_the_gbuffer_sees() {
    let Some(device) = device() else { return };
    let (asset, display) = capsule();
    let (renderer, scene) = scene_of(&device, &asset, &display);
    let probe = Probe::new(&device, &scene, [PROBE_SIZE; 2], 2).unwrap();
    let gbuffer = GBuffer::new(&device, [PROBE_SIZE; 2], 2).unwrap();
    let bound = renderer.bind_gbuffer(&scene, &gbuffer).unwrap();
    // The first camera looks at a surface point from outside. The second camera is inside the model and sees only back
    // faces. The third camera looks away from the model.
    let look = |eye: [f32; 3], target: [f32; 3]| {
        Camera { eye: eye.into(), target: target.into(), up: Vec3::Y, fov_y: 0.3 }.view(1.0)
    };
    let spot = look([1.0, 0.6, 0.5], [0.1, 0.5, 0.0]);
    let inside = look([0.0, 0.5, 0.0], [1.0, 0.5, 0.0]);
    let away = look([1.0, 0.5, 0.0], [2.0, 0.5, 0.0]);
    for (views, covered) in [([spot, inside], [true, false]), ([away, spot], [false, true])] {
        device
            .run(|frame| {
                renderer.record_gbuffer(frame, &scene, &gbuffer, &bound, &views)?;
                probe.record(frame, &views)
            })
            .unwrap();
        for layer in 0..2 {
            let ids = |g: &GBuffer| device.read_image::<[u32; 2]>(&g.ids, layer).unwrap();
            assert_eq!(ids(&gbuffer), ids(&probe.gbuffer));
            let position = |g: &GBuffer| device.read_image::<[f32; 4]>(&g.position, layer).unwrap();
            for (a, b) in position(&gbuffer).iter().zip(position(&probe.gbuffer)) {
                assert!(Vec3::new(a[0] - b[0], a[1] - b[1], a[2] - b[2]).length() < 1e-5);
            }
            assert_eq!(ids(&gbuffer).iter().any(|id| id[1] != NONE), covered[layer as usize]);
        }
    }
    assert_silent(&device);
}

/// Creates a square that faces +Z, with the given material, corner colours and optional texture. The material is unlit,
/// so the image shows its colours without shading.
fn unlit_square(
    material: Material,
    colors: Vec<Vec4>,
    picture: Option<asset::Image>,
) -> (Asset, DisplayMesh) {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let display = DisplayMesh {
        positions: corners.map(|[x, y]| Vec3::new(x, y, 0.0)).to_vec(),
        normals: vec![Vec3::Z; 4],
        uvs: corners.map(|[x, y]| Vec2::new(0.5 + 0.5 * x, 0.5 - 0.5 * y)).to_vec(),
        uvs1: vec![Vec2::ZERO; 4],
        colors,
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        parts: vec![Part {
            node: 0.into(),
            mesh: 0.into(),
            primitive: 0,
            material: Some(0.into()),
            vertices: 0..4,
            triangles: 0..2,
            computed_normals: false,
        }],
        control_of: vec![0, 1, 2, 3],
        ..DisplayMesh::default()
    };
    let texture = asset::Texture { image: Some(0.into()), wrap: [asset::Wrap::Clamp; 2], nearest: true };
    let asset = Asset {
        materials: vec![material],
        textures: vec![texture],
        images: picture.into_iter().collect(),
        ..Asset::default()
    };
    (asset, display)
}

fn show(device: &Arc<Device>, asset: &Asset, display: &DisplayMesh) -> image::RgbaImage {
    let (renderer, scene) = scene_of(device, asset, display);
    let targets = Targets::new(device, [32, 32], 1, device.samples(4)).unwrap();
    let mut bound = renderer.bind(&scene, &targets).unwrap();
    let view = Camera { eye: Vec3::Z * 4.0, target: Vec3::ZERO, up: Vec3::Y, fov_y: 0.5 }.view(1.0);
    let (look, lines) = (Look { floor: false, ..Look::default() }, Lines::default());
    let shot = Shot { views: &[view], look: &look, lines: &lines, hidden: None, ghosts: None };
    device.run(|frame| renderer.record(frame, &scene, &targets, &mut bound, &shot)).unwrap();
    targets.read(device, 0).unwrap()
}

fn near(got: &image::Rgba<u8>, want: [u8; 3]) -> bool {
    got.0.iter().zip(want).all(|(&g, w)| g.abs_diff(w) <= 3)
}

#[test]
fn textures_are_upright_srgb_and_cut_out_where_clear() {
    let Some(device) = device() else { return };
    // A texture of 2 x 2 texels. Upper row: red, green. Lower row: blue, transparent.
    let rgba = [[120, 20, 20, 255], [20, 120, 20, 255], [20, 20, 120, 255], [0, 0, 0, 0]].concat();
    let picture = asset::Image { name: "four".into(), width: 2, height: 2, rgba };
    let texture = asset::TextureRef { texture: 0.into(), uv_set: 0 };
    let material = Material {
        base_color_texture: Some(texture),
        alpha: asset::Alpha::Mask(0.5),
        unlit: true,
        ..Material::default()
    };
    let (asset, display) = unlit_square(material, vec![Vec4::ONE; 4], Some(picture));
    let shown = show(&device, &asset, &display);
    // The tone curve lowers dark tones slightly, so the test compares the strongest channel exactly and its value with
    // a tolerance.
    let at = |x, y| shown.get_pixel(x, y).0;
    let strongest = |p: [u8; 4]| (0..3).max_by_key(|&i| p[i]).unwrap();
    assert_eq!([strongest(at(8, 8)), strongest(at(24, 8)), strongest(at(8, 24))], [0, 1, 2]);
    for (pixel, channel) in [(at(8, 8), 0), (at(24, 8), 1), (at(8, 24), 2)] {
        assert!(pixel[channel].abs_diff(120) < 12, "{pixel:?}");
    }
    let backdrop = shown.get_pixel(24, 24).0;
    assert!(backdrop[0].abs_diff(backdrop[1]) < 12 && backdrop[0] > 120, "{backdrop:?}");
    assert_silent(&device);
}

#[test]
fn vertex_colours_and_blending_reach_the_picture() {
    let Some(device) = device() else { return };
    let unlit = Material { unlit: true, ..Material::default() };
    let color = Vec4::new(0.3, 0.1, 0.1, 1.0);
    let (asset, display) = unlit_square(unlit.clone(), vec![color; 4], None);
    let opaque = *show(&device, &asset, &display).get_pixel(16, 16);
    assert!(opaque.0[0] > opaque.0[1] + 30, "{opaque:?}");
    let clear =
        Material { base_color: Vec4::new(1.0, 1.0, 1.0, 0.0), alpha: asset::Alpha::Blend, ..unlit.clone() };
    let (asset, display) = unlit_square(clear, vec![color; 4], None);
    let backdrop = *show(&device, &asset, &display).get_pixel(16, 16);
    let half = Material { base_color: Vec4::new(1.0, 1.0, 1.0, 0.5), alpha: asset::Alpha::Blend, ..unlit };
    let (asset, display) = unlit_square(half, vec![color; 4], None);
    let picture = show(&device, &asset, &display);
    // Blending is dithered: the mean over a patch is halfway between the square and the backdrop.
    for channel in 0..3 {
        let sum: u32 = (12..20)
            .flat_map(|x| (12..20).map(move |y| (x, y)))
            .map(|(x, y)| u32::from(picture.get_pixel(x, y).0[channel]))
            .sum();
        let middle = (u32::from(opaque.0[channel]) + u32::from(backdrop.0[channel])) / 2;
        assert!((sum / 64).abs_diff(middle) < 8, "{} {middle}", sum / 64);
    }
    assert!(!near(&backdrop, [opaque.0[0], opaque.0[1], opaque.0[2]]));
    assert_silent(&device);
}

#[test]
fn anchored_lines_lie_on_the_surface_wherever_they_say_they_are() {
    let Some(device) = device() else { return };
    let size = [192, 256];
    let view = front(size);
    let (_, display) = capsule();
    // Choose a triangle near the middle that faces the eye as directly as possible.
    let facing = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| display.positions[v as usize]);
        let centre = (a + b + c) / 3.0;
        let n = (b - a).cross(c - a).normalize_or_zero();
        n.dot((view.eye - centre).normalize()) - (centre.y - 0.5).abs()
    };
    let best = (0..display.triangles.len())
        .max_by(|&i, &j| facing(&display.triangles[i]).total_cmp(&facing(&display.triangles[j])))
        .unwrap();
    let places = [(best as u32, [1.0, 0.0, 0.0]), (best as u32, [0.0, 0.5, 0.5])];
    let mut lines = Lines::default();
    lines.polyline(&[Vec3::ZERO, Vec3::X * 0.01], [0, 255, 0, 255], 2.0, 0.0);
    lines.on_surface(&places, &[Vec3::splat(90.0); 2], [255, 0, 0, 255], 6.0, 0.002);
    let d = draw(&device, size, &[view], 1, &lines);
    let picture: Vec<[u8; 4]> = device.read_image(&d.picture, 0).unwrap();
    let [a, b, c] = display.triangles[best].map(|v| display.positions[v as usize]);
    for x in [a, (b + c) * 0.5, (a + (b + c) * 0.5) * 0.5] {
        let [u, v] = view.project(x).unwrap();
        let pixel = (v * size[1] as f32) as usize * size[0] as usize + (u * size[0] as f32) as usize;
        let [red, green, blue, _] = picture[pixel];
        assert!(red > 200 && green < 90 && blue < 90, "{:?} at {x}", picture[pixel]);
    }
    assert_silent(&device);
}
