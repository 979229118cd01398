//! Tests of the tour.

use super::*;

#[test]
fn each_instruction_goes_when_its_work_is_done_and_the_document_is_that_of_the_work() {
    let mut s = Script::biped();
    let mut plain = Script::biped();
    assert_eq!(s.bench.tour(), None);
    s.bench.run_command(Command::Tour(true));
    let number = |s: &Script| s.bench.tour().map(|t| t.0);
    let on_skin = |s: &mut Script| {
        s.bench.run_command(Command::Tool(Tool::Line));
    };
    assert_eq!(number(&s), Some(1));
    for script in [&mut s, &mut plain] {
        script.step();
        script.draw(RIGHT, &arm(0.0));
    }
    assert_eq!(number(&s), Some(2));
    // The times of strokes are part of the document.
    s.step();
    plain.step();
    assert_eq!(number(&s), Some(2), "an instruction stays until its work is done");
    for script in [&mut s, &mut plain] {
        script.draw(RIGHT, &arm(0.6));
        script.step();
    }
    assert_eq!(number(&s), Some(3));
    for script in [&mut s, &mut plain] {
        for foot in [12, 15] {
            script.bench.toggle_pin_of(NodeId(foot));
            script.step();
        }
    }
    assert_eq!(number(&s), Some(4));
    let held = Vec3::new(-0.77, 1.5, 0.0);
    for script in [&mut s, &mut plain] {
        script.pull(0, &line(held, held + Vec3::new(0.1, 0.2, 0.1), 12));
        script.step();
        on_skin(script);
    }
    assert_eq!(number(&s), Some(5));
    assert_eq!(s.hash(), plain.hash(), "the tour changed the document");
    let (headset, window) = (s.bench.tour().unwrap().2, {
        s.input.window = Some(Default::default());
        s.step();
        s.bench.tour().unwrap().2
    });
    assert_ne!(headset, window, "the mouse draws in another way");
    s.bench.run_command(Command::Tour(false));
    assert_eq!(s.bench.tour(), None);
    s.bench.run_command(Command::Tour(true));
    // What is done already is not asked for again.
    for _ in 0..3 {
        s.step();
    }
    assert_eq!(number(&s), Some(4));
}
