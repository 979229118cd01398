//! Tests that compare painted panels with known colours, on a real device.

use super::*;
use crate::base::math::{Aabb, Vec3};
use crate::gpu::testing::{assert_silent, device};
use crate::gpu::{Device, Image};
use egui::{Align2, Color32, FontId, Rect, pos2, vec2};
use std::sync::Arc;

/// Runs egui once on `content` and returns what it draws.
fn paint(
    context: &egui::Context,
    size: [u32; 2],
    ratio: f32,
    content: impl FnMut(&mut egui::Ui),
) -> PanelPaint {
    let points = vec2(size[0] as f32, size[1] as f32) / ratio;
    let mut input = egui::RawInput {
        screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), points)),
        max_texture_side: Some(1024),
        time: Some(0.0),
        ..Default::default()
    };
    input.viewports.entry(egui::ViewportId::ROOT).or_default().native_pixels_per_point = Some(ratio);
    let mut out = context.run_ui(input, content);
    let deltas = std::mem::take(&mut out.textures_delta.set).into_iter();
    let textures = deltas.flat_map(|(id, list)| list.into_iter().map(move |d| (id, d))).collect();
    let shapes = std::mem::take(&mut out.shapes);
    out.drop_without_applying_deltas();
    PanelPaint {
        primitives: context.tessellate(shapes, ratio),
        textures,
        freed: Vec::new(),
        pixels_per_point: ratio,
    }
}

fn show(
    device: &Arc<Device>,
    painter: &PanelPainter,
    panel: &mut PanelImage,
    paint: &PanelPaint,
) -> Vec<[u8; 4]> {
    device
        .run(|frame| {
            painter.upload(frame, panel, paint)?;
            frame.barrier();
            painter.draw(frame, panel);
            Ok(())
        })
        .unwrap();
    device.read_image(&panel.image, 0).unwrap()
}

fn near(a: [u8; 4], b: [u8; 4], tolerance: u8) -> bool {
    a.iter().zip(b).all(|(&x, y)| x.abs_diff(y) <= tolerance)
}

fn rect(x: f32, y: f32, w: f32, h: f32) -> Rect {
    Rect::from_min_size(pos2(x, y), vec2(w, h))
}

#[test]
fn a_known_panel_shows_its_colours_its_text_and_nothing_outside_its_clips() {
    let Some(device) = device() else { return };
    let (size, painter) = ([200, 120], PanelPainter::new(&device).unwrap());
    let mut panel = painter.image("test panel", size).unwrap();
    let context = egui::Context::default();
    let red = Color32::from_rgb(200, 40, 30);
    let half_white = Color32::from_rgba_unmultiplied(255, 255, 255, 128);
    // There are 2 pixels per point: drawing coordinates are points, and tested pixels are at twice these coordinates.
    let first = paint(&context, size, 2.0, |ui| {
        let p = ui.painter();
        p.rect_filled(rect(5.0, 5.0, 40.0, 20.0), 0.0, red);
        p.rect_filled(rect(25.0, 5.0, 40.0, 20.0), 0.0, half_white);
        p.with_clip_rect(rect(70.0, 5.0, 10.0, 20.0)).rect_filled(
            rect(60.0, 0.0, 40.0, 30.0),
            0.0,
            Color32::GREEN,
        );
        p.text(pos2(5.0, 30.0), Align2::LEFT_TOP, "Stroke", FontId::proportional(16.0), Color32::WHITE);
    });
    let pixels = show(&device, &painter, &mut panel, &first);
    let at = |pixels: &[[u8; 4]], x: usize, y: usize| pixels[y * size[0] as usize + x];
    assert!(near(at(&pixels, 20, 30), [200, 40, 30, 255], 1), "{:?}", at(&pixels, 20, 30));
    // Blending uses encoded values. Each channel is the mean of 255 and the red rectangle's 200, 40 or 30.
    assert!(near(at(&pixels, 70, 30), [228, 148, 143, 255], 2), "{:?}", at(&pixels, 70, 30));
    // Half-transparent white stays premultiplied over the transparent background.
    assert!(near(at(&pixels, 110, 30), [128, 128, 128, 128], 2), "{:?}", at(&pixels, 110, 30));
    assert_eq!(at(&pixels, 150, 30), [0, 255, 0, 255]);
    for (x, y) in [(136, 30), (163, 30), (150, 8), (150, 54), (190, 110), (0, 0)] {
        assert_eq!(at(&pixels, x, y), [0; 4], "{x} {y}");
    }
    let ink = |pixels: &[[u8; 4]], rows: std::ops::Range<usize>| {
        let all = rows.flat_map(|y| (0..size[0] as usize).map(move |x| (x, y)));
        all.filter(|&(x, y)| at(pixels, x, y)[3] > 128).count()
    };
    let text = ink(&pixels, 60..100);
    assert!((150..900).contains(&text), "{text} pixels of text");

    // The next frame adds glyphs to the font atlas. It also has more triangles than fit into the buffers, so the
    // buffers grow.
    let before = panel.image.size();
    let second = paint(&context, size, 2.0, |ui| {
        for i in 0..3000 {
            let corner = pos2((i % 100) as f32, (i / 100) as f32);
            ui.painter().rect_filled(Rect::from_min_size(corner, vec2(1.0, 1.0)), 0.0, Color32::BLUE);
        }
        let font = FontId::proportional(16.0);
        ui.painter().text(pos2(5.0, 32.0), Align2::LEFT_TOP, "Wgpqy 0987", font, Color32::YELLOW);
    });
    assert!(second.textures.iter().all(|(_, d)| d.pos.is_some()), "glyphs come as a part of the atlas");
    let pixels = show(&device, &painter, &mut panel, &second);
    assert!(near(at(&pixels, 100, 30), [0, 0, 255, 255], 1), "{:?}", at(&pixels, 100, 30));
    let text = ink(&pixels, 64..104);
    assert!((200..1500).contains(&text), "{text} pixels of text");
    assert_eq!(panel.image.size(), before);
    assert_silent(&device);
}

#[test]
fn a_texture_that_was_never_given_is_an_error() {
    let Some(device) = device() else { return };
    let painter = PanelPainter::new(&device).unwrap();
    let mut panel = painter.image("test panel", [64, 64]).unwrap();
    let mut lost = paint(&egui::Context::default(), [64, 64], 1.0, |ui| {
        ui.painter().rect_filled(rect(5.0, 5.0, 40.0, 20.0), 0.0, Color32::RED);
    });
    lost.textures.clear();
    let error = device.run(|frame| painter.upload(frame, &mut panel, &lost)).unwrap_err().to_string();
    assert!(error.contains("texture"), "{error}");
}

/// Paints an image of one colour with a transparent right half.
fn sign(device: &Arc<Device>) -> Image {
    let painter = PanelPainter::new(device).unwrap();
    let mut panel = painter.image("sign", [64, 32]).unwrap();
    let shown = paint(&egui::Context::default(), [64, 32], 1.0, |ui| {
        ui.painter().rect_filled(rect(0.0, 0.0, 32.0, 32.0), 0.0, Color32::from_rgb(20, 200, 90));
    });
    show(device, &painter, &mut panel, &shown);
    panel.image
}

#[test]
fn quads_stand_in_the_world_before_and_behind_the_surface_in_both_eyes() {
    let Some(device) = device() else { return };
    let size = [128, 128];
    let bounds = Aabb { min: [-0.2, -0.2, -0.2].into(), max: [0.2, 1.2, 0.2].into() };
    let views = Camera::framing(&bounds, 1.0, 0.0, 0.0).stereo(1.0, 0.1);
    let picture = sign(&device);
    let painter = QuadPainter::new(&device).unwrap();
    let (asset, display) = capsule();
    for (z, hidden, shown) in [(0.5, 0.0, true), (-0.5, 0.0, false), (-0.5, 1.0, true)] {
        let drawn =
            draw_capsule(&device, &asset, &display, size, &views, device.samples(4), &Lines::default());
        let plain = [0, 1].map(|eye| drawn.read(&device, eye).unwrap());
        let bound = painter.bind(&drawn, &[&picture]).unwrap();
        let quad = Quad {
            corner: Vec3::new(-0.5, 0.7, z),
            right: Vec3::new(1.0, 0.0, 0.0),
            down: Vec3::new(0.0, -0.4, 0.0),
            hidden,
        };
        device
            .run(|frame| {
                painter.record(frame, &drawn, &bound, [(0, quad), (7, quad)].into_iter());
                Ok(())
            })
            .unwrap();
        for (eye, view) in views.iter().enumerate() {
            let after = drawn.read(&device, eye as u32).unwrap();
            let pixel = |x: f32, y: f32| {
                let [u, v] = view.project(Vec3::new(x, y, z)).unwrap();
                ((u * size[0] as f32) as u32, (v * size[1] as f32) as u32)
            };
            let color = |x, y| {
                let (x, y) = pixel(x, y);
                after.get_pixel(x, y).0
            };
            let green = [20, 200, 90, 255];
            assert!(near(color(-0.4, 0.5), green, 1), "beside the body: {:?}", color(-0.4, 0.5));
            assert_eq!(near(color(-0.06, 0.5), green, 1), shown, "{z} {hidden}: {:?}", color(-0.06, 0.5));
            for (x, y) in [(0.25, 0.5), (-0.4, 0.75), (-0.4, 0.25)] {
                let (x, y) = pixel(x, y);
                assert_eq!(after.get_pixel(x, y), plain[eye].get_pixel(x, y), "clear or outside");
            }
        }
    }
    assert_silent(&device);
}
