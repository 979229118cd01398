//! Unit tests of sculpt layers: arcs, sums and encoding.

use super::*;
use crate::base::math::Quat;

fn drawn(id: u32, vertices: &[u32], offset: Vec3) -> BoundSculpt {
    let n = vertices.len();
    // The last vertex is passive and copies the first one.
    let mut falloff = vec![1.0; n];
    falloff[n - 1] = 0.5;
    BoundSculpt {
        id: SculptId(id),
        vertices: vertices.to_vec(),
        scale_vectors: vec![Vec3::Z; n],
        falloff,
        form: BoundForm::Drawn {
            offsets: vec![offset; n - 1],
            sources: vec![[(0, 1.0), (0, 0.0), (0, 0.0), (0, 0.0)]],
        },
    }
}

fn state(id: u32, amplitude: f32) -> SculptState {
    SculptState { id: SculptId(id), amplitude, stiffness: 3.0, seconds: 0.0 }
}

#[test]
fn half_way_is_on_the_arc_not_on_the_chord() {
    let (s, e) = (Vec3::X * 2.0, Vec3::Y * 4.0);
    let half = s + arc(s, e - s, 0.5);
    assert!((half.length() - 3.0).abs() < 1e-5);
    assert!(half.distance(Vec3::new(1.0, 1.0, 0.0).normalize() * 3.0) < 1e-5);
    assert_eq!(arc(s, e - s, 1.0), e - s);
    assert!(arc(s, e - s, 0.0).length() < 1e-6);
    assert!(
        (s + arc(s, e - s, -0.5)).distance(Vec3::new(1.0, -1.0, 0.0).normalize()) < 1e-5,
        "the other way"
    );
    // Offsets straight outwards, through the bone, and from a zero scale vector: the arc is a straight line.
    assert!(arc(s, Vec3::X, 0.5).distance(Vec3::X * 0.5) < 1e-6);
    assert!(arc(s, Vec3::X * -3.0, 0.5).distance(Vec3::X * -1.5) < 1e-6);
    assert!(arc(Vec3::ZERO, Vec3::Y, 0.25).distance(Vec3::Y * 0.25) < 1e-6);
    assert!((s + arc(s, Vec3::X * -1.0, 5.0)).length() < 1e-6, "no further in than the bone");
}

#[test]
fn edits_of_a_vertex_add_up_and_no_amplitude_is_no_edit() {
    let sculpts = [drawn(0, &[4, 7], Vec3::Z), drawn(1, &[7, 9], Vec3::Z * 2.0)];
    let mut field = Field::new(&sculpts);
    assert_eq!(field.vertices, [4, 7, 9]);
    assert!(field.set(&[state(0, 1.0), state(1, 1.0)]));
    assert!(!field.set(&[state(0, 1.0), state(1, 1.0)]), "nothing has changed");
    let z: Vec<f32> = field.offsets.iter().map(|o| o.offset.z).collect();
    assert_eq!(z, [1.0, 0.5 + 2.0, 1.0]);
    let k: Vec<f32> = field.offsets.iter().map(|o| o.stiffness).collect();
    assert_eq!(k, [3.0, 1.5 + 3.0, 1.5]);
    assert_eq!(field.offsets[0].give, 0.75);
    assert!(field.set(&[state(1, 0.05)]));
    assert_eq!(field.offsets[0], Offset::default());
    assert!((field.offsets[1].stiffness - 1.5).abs() < 1e-6, "the pull fades in");
    assert!(field.set(&[state(0, 0.0), state(1, f32::NAN)]));
    assert!(field.offsets.iter().all(|o| *o == Offset::default()));
}

#[test]
fn what_is_encoded_in_any_pose_is_decoded_in_any_other() {
    let turn = |k: f32| Quat::from_scaled_axis(Vec3::new(0.3 * k, -1.1, 0.7 * k));
    let offset = Vec3::new(0.02, -0.5, 0.1);
    for k in 0..12 {
        let (q, x) = (turn(k as f32), Vec3::new(k as f32, 1.0, -2.0));
        let posed = decode(q, x, offset);
        assert!(encode(q, x, posed).distance(offset) < 2e-6);
        assert_eq!(encode(q, x, x), Vec3::ZERO, "an offset on its baseline changes nothing");
    }
}
