//! Tests of the measure tool.

use super::*;
use crate::scene::{Evaluation, Measurement};
use crate::workbench::MeasureBy;

impl Table {
    /// Answers pending measurements from the bind shape, as a front end does.
    fn read(&mut self) {
        let character = self.bench.character().clone();
        let display = &character.display;
        let shape = Evaluation {
            positions: display.positions.clone(),
            normals: display.normals.clone(),
            ..Evaluation::default()
        };
        let measured: Vec<Measurement> =
            self.bench.measures().iter().map(|m| m.measurement.clone()).collect();
        let readings = measured.into_iter().map(|g| (g.clone(), g.read(&character, &shape))).collect();
        self.bench.receive_readings(readings);
    }

    fn texts(&self) -> Vec<String> {
        self.bench.measures().iter().map(|m| m.text().join(" ").trim().to_owned()).collect()
    }

    /// Clicks at a pixel of the picture.
    fn click(&mut self, at: [f32; 2]) {
        self.drag(PointerButton::Primary, &[at]);
    }
}

#[test]
fn two_clicks_measure_a_distance_which_stays_until_it_is_dismissed_and_is_no_edit() {
    let mut t = Table::new();
    let hash = t.hash();
    t.key(Key::K, Modifiers::NONE);
    assert_eq!(
        (t.bench.preferences().tool, t.bench.preferences().measure),
        (Tool::Measure, MeasureBy::Distance)
    );
    let [elbow, hand] = [ELBOW, HAND].map(|j| t.pixel(t.joint(j) + Vec3::new(0.004, 0.004, 0.022)));
    t.click(elbow);
    assert!(t.bench.measures().is_empty() && t.bench.chooses_measure());
    // Escape discards the first end of a distance. The view may change between both ends.
    t.key(Key::Escape, Modifiers::NONE);
    assert!(!t.bench.chooses_measure());
    t.click(elbow);
    t.key(Key::Num4, Modifiers::NONE);
    t.key(Key::Num6, Modifiers::NONE);
    t.click(hand);
    let [measure] = t.bench.measures() else { panic!("{} measures", t.bench.measures().len()) };
    assert!(measure.awaits_reading());
    // Until the front end has measured, the text shows the straight distance between the clicked points: 0.25 m from
    // elbow to hand.
    let told = |t: &Table| t.texts()[0].trim_end_matches(" m").parse::<f32>().unwrap();
    assert!((told(&t) - 0.25).abs() < 4e-3, "{:?}", t.texts());
    let lines = t.desk.output().lines.segments.len();
    t.read();
    t.frame();
    // Elbow and hand are on separate pieces of the skin, so there is no distance along the skin.
    assert!((told(&t) - 0.25).abs() < 4e-3 && t.bench.measures()[0].text()[1].is_empty());
    assert!(!t.bench.awaits_readings() && t.desk.output().lines.segments.len() >= lines);
    // On one piece, the distance along the skin is longer than the straight distance.
    let [front, side] = [Vec3::new(0.004, 0.004, 0.022), Vec3::new(-0.02, 0.004, 0.006)];
    t.click(t.pixel(t.joint(ELBOW) + front));
    t.click(t.pixel(t.joint(ELBOW) + side));
    t.read();
    let numbers: Vec<f32> = t.texts()[1].split(" m").filter_map(|n| n.trim().parse().ok()).collect();
    assert!(numbers.len() == 2 && numbers[1] > numbers[0] && numbers[1] < 0.06, "{:?}", t.texts());
    t.frames(10);
    assert!(!t.desk.output().dirty && t.desk.output().again.is_none(), "a measure keeps the window awake");
    // Other tools keep the measures; X removes the newest measure.
    t.key(Key::L, Modifiers::NONE);
    assert_eq!(t.bench.measures().len(), 2);
    t.key(Key::K, Modifiers::NONE);
    t.key(Key::X, Modifiers::NONE);
    assert_eq!(t.bench.measures().len(), 1);
    t.key(Key::X, Modifiers::NONE);
    assert!(t.bench.measures().is_empty());
    assert_eq!((t.hash(), t.bench.session().history()), (hash, (1, 1)));
}

#[test]
fn a_click_measures_a_thickness_or_an_angle_that_follows_the_pose() {
    let mut t = Table::new();
    t.key(Key::K, Modifiers::NONE);
    t.key(Key::K, Modifiers::SHIFT);
    assert_eq!(t.bench.preferences().measure, MeasureBy::Thickness);
    let elbow = t.joint(ELBOW);
    t.click(t.pixel(elbow + Vec3::new(0.002, 0.002, 0.026)));
    assert!(t.bench.awaits_readings());
    t.read();
    // The octahedron has 3 cm from centre to corner, so opposite faces are 6 cm / sqrt(3) apart.
    let [text] = &t.texts()[..] else { panic!("{:?}", t.texts()) };
    let thick: f32 = text.trim_end_matches(" m").parse().unwrap();
    assert!((0.03..0.06).contains(&thick), "{text}");
    t.click([400.0, 120.0]);
    assert_eq!(t.bench.measures().len(), 1);
    assert!(t.desk.facts.message.as_ref().is_some_and(|m| m.contains("skin")), "{:?}", t.desk.facts.message);

    t.key(Key::K, Modifiers::SHIFT);
    assert_eq!(t.bench.preferences().measure, MeasureBy::Angle);
    t.click(t.pixel(elbow));
    t.frame();
    assert_eq!(t.texts()[1], "180°");
    // A rotation of 0.5 rad is 29 degrees.
    t.bench.hold_joint(NodeId::from(ELBOW));
    t.bench.move_joint(crate::base::math::DQuat::from_rotation_z(0.5), crate::base::math::DVec3::ZERO);
    t.frame();
    assert_eq!(t.texts()[1], "151°");
    t.bench.let_joint_go();
    // The root joint has no angle, because no bone ends there.
    t.click(t.pixel(t.joint(0)));
    assert_eq!(t.bench.measures().len(), 2);
    assert!(t.bench.notice().is_some_and(|n| n.contains("two bones")), "{:?}", t.bench.notice());
}
