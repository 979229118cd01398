//! The binding: a change binds the character in the background, the picture follows, and the project has the binding.

use super::stage::{Session, changed, cut, difference, folder, keep, keys};
use crate::desktop::Desktop;
use sinew::app::report::Ask;
use sinew::bind::{BindOptions, VertexRuns};
use sinew::document::{DeformerSettings, Edit};
use sinew::rig::Axis;
use sinew::scene::Model;
use sinew::workbench::{BindChange, Command};

#[test]
fn a_change_of_the_binding_shows_and_is_saved() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    let mut s = Session::open(&desktop, folder.path(), &["capsule.glb", "--forget"]);
    s.look_from(&desktop, b'1');
    let model = Model::load(&folder.path().join("capsule.glb"), &BindOptions::default()).unwrap();
    let joints = &model.skeleton().joints;
    let edit = |s: &mut Session, edit: Edit, step: usize| {
        s.app.ask(&Ask::Command(Command::Change(Box::new(edit), false)));
        s.app.until("the edit", |t| t.history[0] == step);
        s.app.rest();
    };
    edit(&mut s, Edit::SetDeformer(DeformerSettings::of("rigid")), 2);
    let upright = desktop.screenshot();
    let turns = vec![(Axis::Z, 60.0)];
    edit(&mut s, Edit::RotateJoint { node: joints[2].node, turns }, 3);
    let before = changed(&desktop, &s, &upright, 0.01);
    keep(&before, "binding-before");
    // The lower half of the capsule follows the bent joint.
    let positions = &model.bound.character.control.positions;
    let low = (0..positions.len() as u32).filter(|&v| positions[v as usize].y < 0.5);
    let mut binding = BindOptions { smooth: 2, ..BindOptions::default() };
    binding.region("low", VertexRuns::of(low)).joint = Some(2.into());
    edit(&mut s, Edit::SetBinding(Box::new(binding.clone())), 4);
    let after = changed(&desktop, &s, &before, 0.01);
    keep(&after, "binding-after");
    let hash = s.app.hash();
    s.press(&desktop, &[keys::CONTROL, u32::from(b'z')]);
    s.app.until("the step undone", |t| t.history[0] == 3);
    s.app.rest();
    desktop.screenshot_when("the binding of before", |now| {
        difference(&cut(&before, &s, &desktop), &cut(now, &s, &desktop)) < 0.001
    });
    s.press(&desktop, &[keys::CONTROL, keys::SHIFT, u32::from(b'z')]);
    s.app.until("the step done again", |t| t.history[0] == 4);
    s.app.rest();
    assert_eq!(s.app.hash(), hash);
    // A drag of the panel's slider is one step.
    for (rounds, continues) in [(5, false), (9, true)] {
        s.app.ask(&Ask::Command(Command::Bind(BindChange::Rounds(rounds), continues)));
    }
    s.app.until("the slider's step", |t| t.history[0] == 5 && t.idle);
    s.save(&desktop);
    s.close(&desktop);
    let saved = Model::load(&folder.path().join("capsule.project.glb"), &BindOptions::default()).unwrap();
    assert_eq!(*saved.binding(), BindOptions { smooth: 9, ..binding });
}
