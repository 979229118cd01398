//! Tests of the commands of firm and soft regions: marks, loops and rings, the slider, mirror, undo, refused commands.

use super::*;
use crate::base::{BoneId, FirmId, MarkId, SculptId};
use crate::bind::{BindOptions, Character, bind_attachments};
use crate::deform::volume::{Firm, FirmRegion};
use crate::surface::{Form, Reach, Region, Sculpt, SurfacePoint, SurfaceStroke, ring_mark};
use crate::workbench::{FirmChange, SkinPart};

fn firm(s: &Script) -> Firm {
    s.bench.session().document().firm().clone()
}

fn change(s: &mut Script, change: FirmChange, continues: bool) {
    s.bench.run_command(Command::Firm(change, continues));
}

fn tube() -> Arc<Character> {
    Arc::new(capsule(3, 36, 24, 0.15, 1.5))
}

/// The middle of the triangle nearest to a place, as a point of a mark.
fn point(character: &Character, to: Vec3) -> SurfacePoint {
    let control = &character.control;
    let middle = |t: &[u32; 3]| t.iter().map(|&v| control.positions[v as usize]).sum::<Vec3>() / 3.0;
    let away = |t: &usize| middle(&control.triangles[*t]).distance(to);
    let nearest = (0..control.triangles.len()).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap();
    let third = 1.0 / 3.0;
    let barycentrics = [third, third, 1.0 - 2.0 * third];
    SurfacePoint { triangle: nearest as u32, barycentrics, pressure: 1.0, time: 0.0, lifted: false }
}

fn mark(s: &mut Script, character: &Character, id: u32, places: &[Vec3]) -> SkinPart {
    let points = places.iter().map(|x| point(character, *x)).collect();
    let name = format!("Mark {}", id + 1);
    let mark = SurfaceStroke { id: MarkId(id), name, points, closed: false, radius: 0.02 };
    s.bench.apply(Edit::AddMark { index: None, mark: Box::new(mark) }, false);
    SkinPart::Mark { id: MarkId(id), rings: 2 }
}

/// A loop on the front of the tube around the height 0.75.
fn circle() -> Vec<Vec3> {
    let at = |k: usize| std::f32::consts::TAU * k as f32 / 24.0;
    (0..24).map(|k| Vec3::new(0.1 * at(k).cos(), 0.75 + 0.2 * at(k).sin(), 0.15)).collect()
}

fn weight(region: &FirmRegion, v: u32) -> f32 {
    let place = region.vertices.iter().position(|own| own == v);
    place.map_or(0.0, |k| region.falloff.get(k).unwrap_or(1.0))
}

#[test]
fn marks_loops_rings_and_sculpt_layers_make_regions_and_a_slide_is_one_step() {
    let character = tube();
    let mut s = Script::new(&character);
    s.step();
    let (hash, first) = (s.hash(), s.bench.session().history().0);
    let line = mark(&mut s, &character, 0, &[Vec3::new(0.0, 0.5, 0.15), Vec3::new(0.0, 1.0, 0.15)]);
    let marked = s.hash();
    change(&mut s, FirmChange::Add(line, 100.0), false);
    let regions = firm(&s);
    assert_eq!((regions.len(), regions[0].factor, &*regions[0].name), (1, 16.0, "Mark 1"));
    // The factor fades around the line.
    let positions = &character.control.positions;
    let at = |to: Vec3| {
        let away = |v: &usize| positions[*v].distance(to);
        (0..positions.len()).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap() as u32
    };
    assert_eq!(weight(&regions[0], at(Vec3::new(0.0, 0.75, 0.15))), 1.0);
    assert_eq!(weight(&regions[0], at(Vec3::new(0.0, 0.75, -0.15))), 0.0);
    assert!(regions[0].falloff.len() == regions[0].vertices.count());
    let fades = |r: &FirmRegion| r.vertices.iter().any(|v| (0.05..0.95).contains(&weight(r, v)));
    assert!(fades(&regions[0]));
    // The same part again is refused; a drag of the slider is one step.
    let before = s.hash();
    change(&mut s, FirmChange::Add(line, 0.5), false);
    assert!(s.bench.notice().unwrap().contains("already") && s.hash() == before);
    s.bench.forget_notice();
    let steps = s.bench.session().history().0;
    for (factor, continues) in [(3.0, false), (5.0, true), (f32::NAN, true), (-7.0, true)] {
        change(&mut s, FirmChange::Factor(FirmId(0), factor), continues);
    }
    assert_eq!((firm(&s)[0].factor, s.bench.session().history().0), (1.0 / 16.0, steps + 1));
    change(&mut s, FirmChange::Factor(FirmId(0), 0.0), false);
    assert_eq!(s.bench.session().history().0, steps + 1, "no change is no step");
    s.bench.run_command(Command::Undo);
    assert_eq!((firm(&s)[0].factor, s.hash()), (16.0, before));
    s.bench.run_command(Command::Redo);
    // The recipe at once has the regions; it needs no request and no new binding.
    assert_eq!(s.bench.recipe().firm, firm(&s));
    assert!(s.step().requests.is_empty());
    // A closed stroke includes the inside.
    let inside = mark(&mut s, &character, 1, &circle());
    change(&mut s, FirmChange::Add(inside, 4.0), false);
    let regions = firm(&s);
    assert_eq!(weight(&regions[1], at(Vec3::new(0.0, 0.75, 0.15))), 1.0);
    assert_eq!(weight(&regions[1], at(Vec3::new(0.0, 0.75, -0.15))), 0.0);
    // A ring is a band round the limb: neither end of it belongs to the region.
    let (attachments, _) = bind_attachments(&character, &BindOptions::default()).unwrap();
    let ring = ring_mark(&character, &attachments, MarkId(2), BoneId(1), 0.5).unwrap();
    let band = Region::from_mark(&character, &ring, Reach::Edges(3)).unwrap();
    s.bench.apply(Edit::AddMark { index: None, mark: Box::new(ring) }, false);
    change(&mut s, FirmChange::Add(SkinPart::Mark { id: MarkId(2), rings: 2 }, 8.0), false);
    let own: Vec<u32> = firm(&s)[2].vertices.iter().collect();
    assert_eq!(own, band.weights().iter().map(|w| w.0).collect::<Vec<_>>());
    assert!(own.len() < positions.len() / 2);
    // A sculpt layer has other vertices, and a region of its own.
    let wide =
        Region::from_mark(&character, &s.bench.session().document().marks()[2].clone(), Reach::Edges(6));
    let wide = wide.unwrap();
    let form = Form::Drawn(vec![[0.0; 3]; wide.kinematic.len()]);
    let sculpt = Sculpt::new(SculptId(0), Some(MarkId(2)), wide.clone(), form);
    s.bench.apply(Edit::AddSculpt { index: None, sculpt: Box::new(sculpt) }, false);
    change(&mut s, FirmChange::Add(SkinPart::Shape(SculptId(0)), 2.0), false);
    assert_eq!(firm(&s)[3].vertices.count(), wide.weights().len());
    // Regions stay without their marks, and a document that is read back is the same.
    s.bench.apply(Edit::RemoveMark(MarkId(1)), false);
    assert_eq!(firm(&s).len(), 4);
    let text = serde_json::to_string(s.bench.session().document()).unwrap();
    let back: crate::document::Document = serde_json::from_str(&text).unwrap();
    assert_eq!((&back, back.hash()), (s.bench.session().document(), s.hash()));
    back.fits(&character).unwrap();
    assert!(back.fits(&biped()).is_err());
    change(&mut s, FirmChange::Remove(FirmId(1)), false);
    let ids: Vec<u32> = firm(&s).iter().map(|r| r.id.0).collect();
    assert_eq!(ids, [0, 2, 3]);
    for wrong in [
        FirmChange::Add(SkinPart::Mark { id: MarkId(1), rings: 2 }, 2.0),
        FirmChange::Add(SkinPart::Shape(SculptId(7)), 2.0),
        FirmChange::Factor(FirmId(1), 2.0),
        FirmChange::Remove(FirmId(9)),
    ] {
        let hash = s.hash();
        change(&mut s, wrong, false);
        assert!(s.bench.notice().is_some() && s.hash() == hash, "{wrong:?}");
        s.bench.forget_notice();
    }
    while s.bench.session().history().0 > first {
        s.bench.run_command(Command::Undo);
    }
    assert_eq!((firm(&s).len(), s.hash()), (0, hash));
    s.bench.run_command(Command::Redo);
    assert_eq!(s.hash(), marked);
}

#[test]
fn with_mirror_a_region_has_both_sides() {
    let character = biped();
    let mut s = Script::biped();
    s.step();
    let (high, low) = (Vec3::new(0.76, 1.51, 0.01), Vec3::new(0.76, 1.49, 0.01));
    let part = mark(&mut s, &character, 0, &[high, low]);
    for mirror in [false, true] {
        s.bench.run_command(Command::Mirror(mirror));
        change(&mut s, FirmChange::Add(part, 3.0), false);
        let own: Vec<u32> = firm(&s)[0].vertices.iter().collect();
        let x = |v: &u32| character.control.positions[*v as usize].x;
        let sides = [1.0, -1.0].map(|side| own.iter().filter(|v| side * x(v) > 0.7).count());
        assert!(sides[0] >= 4 && sides[1] == if mirror { sides[0] } else { 0 }, "{mirror}: {sides:?}");
        assert_eq!(own.len(), sides[0] + sides[1]);
        s.bench.run_command(Command::Undo);
        assert!(firm(&s).is_empty());
    }
    // The part of a sculpt layer without a mark has one side.
    let kinematic: Vec<u32> = (6 * HAND as u32..6 * HAND as u32 + 3).collect();
    let region = Region { t: vec![0.5; 3], softness: 1.0, kinematic, ..Region::default() };
    let sculpt = Sculpt::new(SculptId(0), None, region, Form::Drawn(vec![[0.0; 3]; 3]));
    s.bench.apply(Edit::AddSculpt { index: None, sculpt: Box::new(sculpt) }, false);
    change(&mut s, FirmChange::Add(SkinPart::Shape(SculptId(0)), 3.0), false);
    let region = &firm(&s)[0];
    assert_eq!((region.vertices.count(), region.falloff.is_empty()), (3, true));
}
