//! Bones drawn in a bare capsule: strokes, removal, dragged joints, and what is refused.

use super::*;
use crate::bind::shapes::Shape;
use crate::scene::DrawnBones;
use crate::workbench::{Command, Request, Tool};

fn bare() -> Script {
    let shape = Shape { bones: 1, rings: 24, segments: 12, radius: 0.15, length: 1.8, blend: 0.3 };
    let character = Arc::new(Character::from_asset(&shape.bare_asset()).unwrap());
    let mut s = Script::new(&character);
    s.bench.run_command(Command::Tool(Tool::Bone));
    s
}

/// Draws a stroke and returns the sketch that the front end must complete.
fn sketched(s: &mut Script, places: &[Vec3]) -> Option<crate::scene::BoneSketch> {
    s.draw(RIGHT, places);
    let requests = s.bench.output().requests.iter();
    requests.cloned().find_map(|r| if let Request::Bones(sketch) = r { Some(*sketch) } else { None })
}

fn joints(s: &Script) -> Vec<Vec<[f32; 3]>> {
    s.bench.session().document().bones().iter().map(|c| c.joints.clone()).collect()
}

#[test]
fn strokes_become_bones_that_can_be_removed_and_dragged() {
    let mut s = bare();
    let line: Vec<Vec3> = (0..10).map(|i| Vec3::new(0.05, 0.1 * i as f32, 0.0)).collect();
    let sketch = sketched(&mut s, &line).unwrap();
    assert!(sketch.stroke.len() >= 9 && sketch.eye.is_none() && sketch.bones == 0, "{sketch:?}");
    assert!(joints(&s).is_empty(), "the bones come from a background job");
    let plane = Some([Vec3::ZERO, Vec3::X]);
    let drawn = |joints: &[[f32; 3]]| DrawnBones {
        joints: joints.iter().map(|j| Vec3::from(*j)).collect(),
        reach: 0.03,
        mirror: true,
        plane,
    };
    s.bench.receive_bones(drawn(&[[0.0, 0.0, 0.0], [0.0, 0.9, 0.0]]));
    s.bench.receive_bones(drawn(&[[0.0, 0.9, 0.0], [0.1, 1.3, 0.0], [0.1, 1.7, 0.0]]));
    s.step();
    let all = joints(&s);
    assert_eq!(all.len(), 3, "a spine, and a limb on both sides: {all:?}");
    // Undo removes one stroke with its mirror image.
    s.bench.run_command(Command::Undo);
    assert_eq!(joints(&s).len(), 1);
    s.bench.run_command(Command::Redo);
    // The joint tool drags a joint; the joint on the other side follows, and joints at one place stay together.
    s.bench.run_command(Command::Tool(Tool::Joint));
    s.draw(RIGHT, &[Vec3::new(0.1, 1.3, 0.0), Vec3::new(0.15, 1.35, 0.02)]);
    let moved = joints(&s);
    assert!(Vec3::from(moved[1][1]).distance(Vec3::new(0.15, 1.35, 0.02)) < 1e-5, "{moved:?}");
    assert!(Vec3::from(moved[2][1]).distance(Vec3::new(-0.15, 1.35, 0.02)) < 1e-5, "{moved:?}");
    s.draw(RIGHT, &[Vec3::new(0.0, 0.9, 0.0), Vec3::new(0.0, 0.95, 0.0)]);
    let moved = joints(&s);
    assert!([moved[0][1], moved[1][0], moved[2][0]].iter().all(|j| (j[1] - 0.95).abs() < 1e-5), "{moved:?}");
    s.bench.run_command(Command::Undo);
    s.bench.run_command(Command::Undo);
    assert_eq!(joints(&s), all);
    // A cancelled drag leaves no trace.
    let steps = s.bench.session().history();
    s.at(RIGHT, Vec3::new(0.1, 1.3, 0.0));
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    for x in [0.1, 0.15, 0.2] {
        s.at(RIGHT, Vec3::new(x, 1.3, 0.0));
        s.step();
    }
    assert_ne!(joints(&s), all);
    s.bench.run_command(Command::Cancel);
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    assert_eq!((joints(&s), s.bench.session().history()), (all.clone(), steps));
    s.bench.run_command(Command::Tool(Tool::Bone));
    s.bench.run_command(Command::RemoveStroke);
    assert_eq!(joints(&s).len(), 1, "both sides of the newest stroke are removed");
    s.bench.run_command(Command::Rig(true));
    assert!(s.step().requests.contains(&Request::Rig(true)));
}

#[test]
fn rigged_characters_and_moved_meshes_get_no_bones() {
    let line: Vec<Vec3> = (0..10).map(|i| Vec3::new(0.0, 0.1 * i as f32, 0.0)).collect();
    let mut rigged = Script::biped();
    rigged.bench.run_command(Command::Tool(Tool::Bone));
    assert_eq!(sketched(&mut rigged, &line), None);
    assert!(rigged.bench.notice().is_some_and(|n| n.contains("has bones")), "{:?}", rigged.bench.notice());
    rigged.bench.run_command(Command::Rig(true));
    assert!(rigged.bench.notice().is_some_and(|n| n.contains("there are no bones")));
    assert!(!rigged.step().requests.contains(&Request::Rig(true)));

    let mut moved = bare();
    let node = NodeId(0);
    let local = Trs { translation: [1.0, 0.0, 0.0], ..Trs::IDENTITY };
    moved.bench.apply(Edit::SetLocal { node, local }, false);
    assert_eq!(sketched(&mut moved, &line), None);
    assert!(moved.bench.notice().is_some_and(|n| n.contains("rest pose")), "{:?}", moved.bench.notice());
}

#[test]
fn a_line_of_action_on_a_bare_mesh_is_refused_with_the_reason() {
    let mut s = bare();
    s.bench.run_command(Command::Tool(Tool::Line));
    let line: Vec<Vec3> = (0..10).map(|i| Vec3::new(1.0, 0.1 * i as f32, 0.0)).collect();
    s.draw(RIGHT, &line);
    assert!(s.bench.session().document().strokes().is_empty());
    assert!(s.bench.notice().is_some_and(|n| n.contains("no bones")), "{:?}", s.bench.notice());
}
