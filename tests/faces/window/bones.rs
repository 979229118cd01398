//! A bare mesh is rigged in the window: two strokes of the mouse, then a key.

use super::stage::{Session, keep, keys, shape};
use crate::desktop::Desktop;
use sinew::app::report::Event;
use sinew::asset::Asset;
use sinew::base::math::Vec3;
use sinew::bind::{BindOptions, Character};
use sinew::lab::rigging::{empty_joints, strip};
use sinew::rig::PosedRig;
use sinew::scene::Model;

#[test]
fn bones_drawn_with_the_mouse_lie_in_the_middle_and_rig_the_mesh() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = tempfile::Builder::new().prefix("sdesk").tempdir().unwrap();
    let asset = shape().capsule_asset();
    let bare = strip(&asset, &Character::from_asset(&asset).unwrap()).unwrap();
    std::fs::write(folder.path().join("bare.glb"), bare.glb).unwrap();
    let mut s = Session::open(&desktop, folder.path(), &["bare.glb", "--forget"]);
    s.look_from(&desktop, b'1');
    s.press(&desktop, &[u32::from(b'e')]);
    let line = |from: f32, to: f32| -> Vec<Vec3> {
        (0..=12).map(|i| Vec3::new(0.03, from + (to - from) * i as f32 / 12.0, 0.0)).collect()
    };
    // The second stroke begins near the end of the first, so its bone belongs to the first bone.
    for (steps, (from, to)) in [(2, (0.1, 0.9)), (3, (0.93, 1.7))] {
        s.draw(&desktop, &line(from, to));
        s.app.until("the bone", |t| t.history[0] == steps && t.idle);
    }
    keep(&desktop.screenshot(), "bones");
    // A joint is dragged by the joint tool, and undo takes it back.
    let drawn = s.app.hash();
    s.press(&desktop, &[u32::from(b'j')]);
    let pull = [Vec3::new(0.0, 1.7, 0.0), Vec3::new(0.03, 1.68, 0.0), Vec3::new(0.06, 1.65, 0.0)];
    s.draw(&desktop, &pull);
    s.app.until("the dragged joint", |t| t.history[0] == 4 && t.idle);
    assert_ne!(s.app.hash(), drawn);
    s.press(&desktop, &[keys::CONTROL, u32::from(b'z')]);
    assert_eq!(s.app.hash(), drawn);

    s.press_on(&desktop, &[keys::CONTROL, u32::from(b'p')]);
    let path = folder.path().join("bare.rigged.glb");
    s.app.event("the rigged character", |e| {
        matches!(e, Event::Loaded(p) if p.ends_with("bare.rigged.glb")).then_some(())
    });
    s.app.rest();
    // Every joint of the rigged character shows its weights as colours.
    s.press(&desktop, &[0xffe9, u32::from(b'v')]);
    keep(&desktop.screenshot(), "bones_weights");
    s.close(&desktop);
    let model = Model::load(&path, &BindOptions::default()).unwrap();
    let rig = PosedRig::new(model.skeleton(), &model.rest());
    assert_eq!(rig.bones.len(), 2);
    for (bone, height) in rig.bones.iter().zip([0.1, 0.9]) {
        let off = bone.head.x.hypot(bone.head.z);
        assert!(off < 0.02 && (bone.head.y - height).abs() < 0.05, "{}", bone.head);
    }
    assert_eq!(rig.bones[0].tail, rig.bones[1].head);
    let character = Character::from_asset(&Asset::load(&path).unwrap()).unwrap();
    assert_eq!(empty_joints(&character), 0);
    assert!(folder.path().join("bare.rigged.bones.json").exists());
}
