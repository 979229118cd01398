//! Tests of the commands of the binding: undo steps, regions, refused commands, and the request to bind again.

use super::*;
use crate::base::{JointId, MarkId, SculptId};
use crate::bind::{BindOptions, Binding, Smoothing};
use crate::surface::{Form, Reach, Region, Sculpt, ring_mark};
use crate::workbench::{BindChange, SkinPart};

fn binding(s: &Script) -> BindOptions {
    s.bench.session().document().binding().clone()
}

fn bind(s: &mut Script, change: BindChange, continues: bool) {
    s.bench.run_command(Command::Bind(change, continues));
}

/// Number of requests to bind in the next frame.
fn asked(s: &mut Script) -> usize {
    s.step().requests.iter().filter(|r| **r == Request::Bind).count()
}

#[test]
fn settings_are_undo_steps_and_a_drag_is_one() {
    let mut s = Script::biped();
    s.step();
    let (hash, first) = (s.hash(), s.bench.session().history().0);
    bind(&mut s, BindChange::Method(Binding::Weights), false);
    assert_eq!((s.hash(), asked(&mut s)), (hash.clone(), 0));
    bind(&mut s, BindChange::Method(Binding::Planar), false);
    assert_eq!(asked(&mut s), 1);
    for (rounds, continues) in [(3, false), (9, true), (40, true)] {
        bind(&mut s, BindChange::Rounds(rounds), continues);
    }
    bind(&mut s, BindChange::Smoothing(Smoothing::Plain), false);
    assert_eq!((binding(&s).smooth, s.bench.session().history().0), (10, first + 3));
    s.bench.select(None);
    bind(&mut s, BindChange::Turn([0.0, 0.0, 10.0]), false);
    assert!(s.bench.notice().unwrap().contains("no joint is selected"));
    s.bench.select(Some(NodeId(ARM as u32)));
    for (angle, continues) in [(10.0, false), (f32::NAN, true), (200.0, true)] {
        bind(&mut s, BindChange::Turn([0.0, 5.0, angle]), continues);
    }
    assert_eq!(binding(&s).planes, [(JointId(ARM as u32), [0.0, 5.0, 180.0])].into());
    assert_eq!(s.bench.session().history().0, first + 4);
    bind(&mut s, BindChange::Turn([0.0; 3]), false);
    assert!(binding(&s).planes.is_empty());
    s.bench.run_command(Command::Undo);
    // After an undo, a change that continues a drag is a step of its own.
    bind(&mut s, BindChange::Turn([1.0, 0.0, 0.0]), true);
    assert_eq!(s.bench.session().history().0, first + 5);
    assert!(asked(&mut s) > 0);
    bind(&mut s, BindChange::Reset, false);
    assert_eq!((binding(&s), s.hash()), (BindOptions::default(), hash.clone()));
    while s.bench.session().history().0 > first {
        s.bench.run_command(Command::Undo);
    }
    assert_eq!(s.hash(), hash);
}

#[test]
fn marks_and_sculpt_layers_make_regions() {
    let character = Arc::new(capsule(3, 24, 12, 0.15, 1.5));
    let mut s = Script::new(&character);
    s.step();
    assert_eq!(s.bench.skin_parts(2), [None, None]);
    let (attachments, _) = crate::bind::bind_attachments(&character, &BindOptions::default()).unwrap();
    let mark = ring_mark(&character, &attachments, MarkId(0), crate::base::BoneId(1), 0.5).unwrap();
    let region = Region::from_mark(&character, &mark, Reach::Edges(3)).unwrap();
    let band: Vec<u32> = {
        let mut all = [&region.kinematic[..], &region.passive].concat();
        all.sort_unstable();
        all
    };
    let form = Form::Drawn(vec![[0.0; 3]; region.kinematic.len()]);
    let sculpt = Sculpt::new(SculptId(0), Some(mark.id), region.clone(), form);
    s.bench.apply(Edit::AddMark { index: None, mark: Box::new(mark) }, false);
    s.bench.apply(Edit::AddSculpt { index: None, sculpt: Box::new(sculpt) }, false);
    let [Some((_, mark)), Some((_, shape))] = s.bench.skin_parts(2) else { panic!() };
    s.bench.select(None);
    bind(&mut s, BindChange::Attach(mark), false);
    assert!(s.bench.notice().unwrap().contains("no joint is selected") && binding(&s).reattached.is_empty());
    s.bench.select(Some(NodeId(2)));
    bind(&mut s, BindChange::Attach(mark), false);
    assert_eq!(asked(&mut s), 1);
    let now = binding(&s);
    assert_eq!(now.reattached[0].vertices.iter().collect::<Vec<_>>(), band);
    assert_eq!((now.reattached[0].joint, now.reattached[0].t), (Some(JointId(2)), None));
    // The sculpt layer has the same vertices, so it is the same region.
    bind(&mut s, BindChange::Place(shape), false);
    for (t, continues) in [(0.4, false), (0.3, true), (2.0, true)] {
        bind(&mut s, BindChange::PlaceAt(0, Some(t)), continues);
    }
    let now = binding(&s);
    assert_eq!((now.reattached.len(), now.reattached[0].t), (1, Some(1.0)));
    // Fewer rings are another region.
    let SkinPart::Mark { id, .. } = mark else { panic!() };
    bind(&mut s, BindChange::Place(SkinPart::Mark { id, rings: 0 }), false);
    let now = binding(&s);
    assert_eq!(now.reattached[1].vertices.iter().collect::<Vec<_>>(), region.kinematic);
    assert_eq!((now.reattached[1].joint, now.reattached[1].t), (None, Some(0.5)));
    now.fits(&character).unwrap();
    // A region without effect disappears.
    bind(&mut s, BindChange::PlaceAt(1, None), false);
    bind(&mut s, BindChange::PlaceAt(0, None), false);
    assert_eq!((binding(&s).reattached.len(), binding(&s).reattached[0].t), (1, None));
    for change in [BindChange::PlaceAt(7, None), BindChange::Remove(7)] {
        let hash = s.hash();
        bind(&mut s, change, false);
        assert!(s.bench.notice().unwrap().contains("no region 8") && s.hash() == hash);
        s.bench.forget_notice();
    }
    bind(&mut s, BindChange::Remove(0), false);
    assert_eq!(binding(&s), BindOptions::default());
    s.bench.apply(Edit::RemoveMark(id), false);
    bind(&mut s, BindChange::Attach(mark), false);
    assert!(s.bench.notice().unwrap().contains("that mark is gone"));
}
