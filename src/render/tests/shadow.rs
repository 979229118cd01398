//! The shadow map is drawn for a new shape and a new light alone.

use super::*;
use crate::base::Version;

#[test]
fn a_shadow_is_drawn_again_for_a_new_shape_a_hidden_part_and_a_new_light_and_not_else() {
    let Some(device) = device() else { return };
    let (asset, display) = capsule();
    let (renderer, mut scene) = scene_of(&device, &asset, &display);
    let targets = Targets::new(&device, [96, 96], 1, device.samples(4)).unwrap();
    let mut bound = renderer.bind(&scene, &targets).unwrap();
    let (view, lines) = (front([96, 96]), Lines::default());
    let moved: Vec<Vec3> = display.positions.iter().map(|p| *p + Vec3::X * (0.3 * p.y)).collect();

    // Draws a frame and returns whether it drew the shadow map, and its picture.
    let mut draw = |scene: &Scene, look: &Look, positions: Option<&[Vec3]>, again: bool| {
        let shot = Shot { views: &[view], look, lines: &lines, hidden: None, ghosts: None };
        if again {
            bound = renderer.bind(scene, &targets).unwrap();
        }
        let timings = device
            .run(|frame| {
                if let Some(positions) = positions {
                    frame.phase("upload");
                    scene.surface.upload(frame, positions, &display.normals);
                }
                renderer.record(frame, scene, &targets, &mut bound, &shot)
            })
            .unwrap();
        let shadow = timings.iter().any(|(name, _)| *name == "shadow");
        (shadow, targets.read(&device, 0).unwrap().into_raw())
    };
    let look = Look::default();
    // Without a version, every frame draws the shadow.
    assert!(draw(&scene, &look, None, false).0);
    let (drawn, at_rest) = draw(&scene, &look, None, false);
    assert!(drawn);

    scene.shape = Version::new();
    assert!(draw(&scene, &look, None, false).0);
    assert_eq!(draw(&scene, &look, None, false), (false, at_rest.clone()));
    scene.shape = Version::new();
    let (drawn, leaning) = draw(&scene, &look, Some(&moved), false);
    assert!(drawn && leaning != at_rest);
    assert_eq!(draw(&scene, &look, None, false), (false, leaning.clone()));
    // New bindings have a shadow map of their own.
    assert_eq!(draw(&scene, &look, None, true), (true, leaning.clone()));
    // Without its only part, the scene casts no shadow.
    assert!(scene.hide(&[0]));
    let (drawn, empty) = draw(&scene, &look, None, false);
    assert!(drawn && empty != leaning);
    assert!(scene.hide(&[]));
    assert_eq!(draw(&scene, &look, None, false), (true, leaning.clone()));
    // The light's projection follows the bounds.
    scene.bounds.max.y += 1.0;
    assert!(draw(&scene, &look, None, false).0);
    // A frame without shadows leaves the map as it is.
    let none = Look { shadows: false, ..look };
    assert!(!draw(&scene, &none, None, false).0);
    assert!(!draw(&scene, &look, None, false).0);
    assert_silent(&device);
}
