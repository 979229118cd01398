//! Tests of characters and attachments with known results.

use super::shapes::{Shape, asset_from_parts, bar, capsule};
use super::*;
use crate::asset::{Asset, Influences, Morph};
use crate::base::math::{Quat, Trs};
use crate::base::{JointId, NodeId};
use crate::geom::{Adjacency, mean_edge_span};

fn bound(character: &Character, method: Binding, smooth: u32) -> (Attachments, BindReport) {
    bind_attachments(character, &BindOptions { method, smooth, ..Default::default() }).unwrap()
}

const METHODS: [Binding; 3] = [Binding::Direct, Binding::Weights, Binding::Planar];

/// Returns two triangles over the same three points. `first` and `second` are the weights of joint 1 at the first
/// corner of each triangle.
fn two_triangles(first: f32, second: f32) -> Asset {
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let mut influences = Influences::default();
    for weight in [first, second] {
        influences.push(if weight > 0.0 { vec![(0, 1.0 - weight), (1, weight)] } else { vec![(0, 1.0)] });
        influences.push([(0, 1.0)]);
        influences.push([(0, 1.0)]);
    }
    let joints = [(Vec3::ZERO, None), (Vec3::Y, Some(0))];
    asset_from_parts([corners, corners].concat(), vec![[0, 1, 2], [3, 4, 5]], &joints, influences)
}

#[test]
fn seams_weld_and_other_weights_do_not() {
    let c = Character::from_asset(&two_triangles(0.300, 0.305)).unwrap();
    assert_eq!((c.control.positions.len(), c.display.positions.len()), (3, 6));
    assert_eq!(c.display.control_of[..3], c.display.control_of[3..]);
    assert_eq!(c.control.triangles.len(), 2);
    assert_eq!(c.control.adjacency, Adjacency::of_triangles(3, &c.control.triangles));
    let apart = Character::from_asset(&two_triangles(0.3, 0.4)).unwrap();
    assert_eq!(apart.control.positions.len(), 4);
}

#[test]
fn lips_that_open_by_a_morph_target_do_not_weld() {
    let mut asset = two_triangles(0.0, 0.0);
    let mut open = vec![Vec3::ZERO; 6];
    (open[0], open[3], open[1], open[4]) = (Vec3::Z, -Vec3::Z, Vec3::Y, Vec3::Y);
    let morph = Morph { name: "open".into(), positions: open, normals: vec![] };
    asset.meshes[0].primitives[0].morphs.push(morph);
    let c = Character::from_asset(&asset).unwrap();
    // The first corner splits, the second has equal displacements and stays welded, and the third does not move.
    assert_eq!(c.control.positions.len(), 4);
    assert_ne!(c.display.control_of[0], c.display.control_of[3]);
    assert_eq!(c.display.control_of[1], c.display.control_of[4]);
}

#[test]
fn a_mesh_drawn_twice_has_two_parts() {
    let mut asset = two_triangles(0.0, 0.0);
    let mut copy = asset.nodes[2].clone();
    (copy.skin, copy.rest) = (None, Trs::new(Vec3::Z * 3.0, Quat::IDENTITY, Vec3::ONE));
    asset.nodes.push(copy);
    asset.roots.push(NodeId(3));
    let c = Character::from_asset(&asset).unwrap();
    let nodes: Vec<u32> = c.display.parts.iter().map(|p| p.node.0).collect();
    assert_eq!(nodes, [2, 3]);
    assert_eq!((c.display.parts[1].vertices.clone(), c.display.parts[1].triangles.clone()), (6..12, 2..4));
    assert_eq!(c.display.positions[7], Vec3::X + Vec3::Z * 3.0);
    assert_eq!((c.control.positions.len(), c.control.rigid.iter().filter(|r| **r).count()), (6, 3));
}

#[test]
fn control_vertices_are_numbered_for_locality() {
    let c = capsule(2, 64, 24, 0.1, 2.0);
    // A ring has 24 vertices, so neighbours along the capsule are about 24 indices apart.
    let span = mean_edge_span(&c.control.adjacency);
    assert!(span < 30.0, "mean span {span}");
}

#[test]
fn direct_binding_on_a_straight_capsule_is_the_height() {
    let c = capsule(2, 20, 16, 0.1, 1.0);
    for method in METHODS {
        let (a, report) = bound(&c, method, 0);
        for (v, x) in c.control.positions.iter().enumerate() {
            let y = x.y.clamp(0.0, 1.1);
            assert!((a.point(&c.skeleton, v) - Vec3::Y * y).length() < 1e-5, "{method:?} {x}");
            assert!((a.point(&c.skeleton, v) + a.scale_vector[v] - *x).length() < 1e-6);
        }
        assert!((report.max_length - 0.1).abs() < 1e-5);
        assert!((report.after.max - 1.0).abs() < 1e-4, "{:?}", report.after);
        assert_eq!(report.vertices_per_bone.iter().sum::<u32>() as usize, c.control.positions.len());
    }
}

#[test]
fn ties_go_to_the_larger_weight() {
    // For a point beside the outer side of an elbow, the nearest point of both bones is the joint.
    let joints = [(Vec3::ZERO, None), (Vec3::Y, Some(0)), (Vec3::new(1.0, 1.0, 0.0), Some(1))];
    for (weights, bone) in [([(1, 0.7), (0, 0.3)], 1), ([(0, 0.7), (1, 0.3)], 0)] {
        let mut influences = Influences::default();
        influences.push(weights);
        let c = Character::from_parts(vec![Vec3::new(-0.1, 1.2, 0.0)], vec![], &joints, influences).unwrap();
        assert_eq!(bound(&c, Binding::Direct, 0).0.bone[0].0, bone);
        assert_eq!(bound(&c, Binding::Weights, 0).0.bone[0].0, bone);
    }
}

#[test]
fn smoothing_closes_the_gap_inside_an_elbow() {
    // A bent mesh; adjacent vertices on the inner side of the bend are attached to different bones.
    let shape = Shape { bones: 2, rings: 24, segments: 16, radius: 0.2, length: 2.0, blend: 0.5 };
    let mut asset = shape.bar_asset();
    let bend = |p: Vec3| {
        let over = (p.y - 1.0).max(0.0);
        Vec3::new(p.x + over, p.y.min(1.0 - 0.5 * p.x) + 0.2 * over, p.z)
    };
    asset.meshes[0].primitives[0].positions.iter_mut().for_each(|p| *p = bend(*p));
    let c = Character::from_asset(&asset).unwrap();
    for method in METHODS {
        let mut last = f32::INFINITY;
        for smooth in [0, 1, 6, MAX_SMOOTH] {
            let (a, report) = bound(&c, method, smooth);
            assert!(report.after.max <= last * 1.0002, "{method:?}: {} after {smooth}", report.after.max);
            assert_eq!(report.after, Gap::of(&c, &a));
            last = report.after.max;
        }
        let (_, report) = bound(&c, method, 6);
        assert!(report.after.max < 0.85 * report.before.max, "{method:?}: {report:?}");
    }
}

#[test]
fn binding_does_not_depend_on_scale() {
    let reference = bar(3, 12, 2, 0.3, 3.0);
    for scale in [1e-2f32, 1e3] {
        let scaled = bar(3, 12, 2, 0.3 * scale, 3.0 * scale);
        assert_eq!(scaled.display.control_of, reference.display.control_of);
        // Rounding may change which vertices smoothing holds back; their points then differ by a fraction of an edge.
        let rounds = [(0, 1e-5f32), (6, 3e-3)];
        for (method, (smooth, tolerance)) in METHODS.into_iter().flat_map(|m| rounds.map(|r| (m, r))) {
            let ((a, ra), (b, rb)) = (bound(&reference, method, smooth), bound(&scaled, method, smooth));
            for v in 0..a.t.len() {
                let (p, q) = (a.point(&reference.skeleton, v), b.point(&scaled.skeleton, v) / scale);
                assert!(p.distance(q) < tolerance, "{method:?} at {scale}: {p} {q}");
            }
            assert!((ra.after.max - rb.after.max).abs() < 1e-3);
        }
    }
}

#[test]
fn a_region_attached_by_hand_changes_only_its_vertices() {
    let c = capsule(3, 24, 8, 0.1, 1.5);
    let low = |v: &u32| c.control.positions[*v as usize].y < 0.3;
    let region: Vec<u32> = (0..c.control.positions.len() as u32).filter(low).collect();
    for method in METHODS {
        let plain = bound(&c, method, 6).0;
        let bind = |joint: Option<u32>, t: Option<f32>| {
            let joint = joint.map(JointId);
            let reattached =
                vec![Reattached { name: String::new(), vertices: VertexRuns::of(region.clone()), joint, t }];
            bind_attachments(&c, &BindOptions { method, reattached, ..Default::default() })
        };
        for (joint, t) in [(Some(1), None), (None, Some(0.25)), (Some(1), Some(0.5))] {
            let (now, report) = bind(joint, t).unwrap();
            assert_eq!(report.reattached, 1);
            for v in 0..c.control.positions.len() {
                let x = c.control.positions[v];
                if !region.contains(&(v as u32)) {
                    let same = |a: &Attachments| (a.bone[v], a.t[v], a.scale_vector[v]);
                    assert_eq!(same(&now), same(&plain));
                    continue;
                }
                let bone = joint.map_or(plain.bone[v], BoneId);
                // The head of the other bone is its point nearest to these vertices.
                let place = t.unwrap_or(0.0);
                assert_eq!((now.bone[v], now.t[v]), (bone, place), "{method:?}");
                let point = point_on(&c.skeleton.bones[bone.index()], place);
                assert_eq!(now.scale_vector[v], x - point);
            }
        }
        assert!(bind(Some(9), None).unwrap_err().to_string().contains("joint 9"));
        assert!(bind(None, Some(f32::NAN)).is_err() && bind(None, Some(1.5)).is_err());
    }
}

#[test]
fn settings_of_a_binding_are_checked_changed_and_read_back() {
    let c = capsule(2, 8, 8, 0.1, 1.0);
    let count = c.control.positions.len() as u32;
    let with = |vertices: &[u32]| {
        let mut options = BindOptions::default();
        options.region("a", VertexRuns::of(vertices.iter().copied())).t = Some(1.0);
        options
    };
    assert_eq!(serde_json::to_string(&with(&[5, 3, 4, 9]).reattached[0].vertices).unwrap(), "[[3,3],[9,1]]");
    assert!(with(&[0, count - 1]).fits(&c).is_ok());
    assert!(with(&[0, count]).fits(&c).unwrap_err().to_string().contains("does not have"));
    let wrong = [
        BindOptions { smooth: MAX_SMOOTH + 1, ..Default::default() },
        BindOptions { planes: [(JointId(9), [0.0; 3])].into(), ..Default::default() },
        BindOptions { planes: [(JointId(0), [0.0, f32::NAN, 0.0])].into(), ..Default::default() },
        BindOptions { planes: [(JointId(0), [0.0, 0.0, 181.0])].into(), ..Default::default() },
        with(&[]),
        serde_json::from_str(
            r#"{"method":"direct","smooth":1,"reattached":[{"vertices":[[4,4294967295]],"t":0.5}]}"#,
        )
        .unwrap(),
    ];
    for options in wrong {
        assert!(bind_attachments(&c, &options).is_err(), "{options:?}");
    }
    let (a, b) = (VertexRuns::of([1, 2]), VertexRuns::of([2, 3]));
    let mut options = BindOptions::default();
    options.region("a", a.clone()).joint = Some(JointId(1));
    options.region("b", b).joint = Some(JointId(0));
    options.region("c", a).t = Some(0.5);
    let read: BindOptions = serde_json::from_value(serde_json::to_value(&options).unwrap()).unwrap();
    assert_eq!((read == options, options.reattached.len()), (true, 2));
    assert_eq!((options.reattached[0].joint, options.reattached[0].t), (Some(JointId(1)), Some(0.5)));
    assert_eq!(options.reattached[0].name, "a");
    // The later region counts where two overlap.
    let (bound, _) = bind_attachments(&c, &options).unwrap();
    assert_eq!([1, 2, 3].map(|v| bound.bone[v].0), [1, 0, 0]);
}

#[test]
fn plain_smoothing_projects_the_mean_on_the_nearest_bone() {
    let c = Shape { bones: 3, rings: 20, segments: 8, radius: 0.1, length: 1.5, blend: 0.5 };
    let c = Character::from_asset(&c.capsule_asset()).unwrap();
    let plain = |smooth| {
        let options = BindOptions { smooth, smoothing: Smoothing::Plain, ..Default::default() };
        bind_attachments(&c, &options).unwrap().0
    };
    let (before, after) = (bound(&c, Binding::Weights, 0).0, plain(1));
    assert_eq!(before.t, plain(0).t);
    for v in 0..c.control.positions.len() {
        let ring = c.control.adjacency.of(v);
        let sum: Vec3 = ring.iter().map(|&n| before.point(&c.skeleton, n as usize)).sum();
        let mean = (sum + before.point(&c.skeleton, v)) / (ring.len() + 1) as f32;
        // All bones lie on the y axis, from 0 to 1.5, and the tip's bone ends with the mesh.
        let got = after.point(&c.skeleton, v);
        assert!((got - Vec3::Y * mean.y.max(0.0)).length() < 1e-5, "{v}: {got} {mean}");
    }
    assert_ne!(plain(3).t, bound(&c, Binding::Weights, 3).0.t);
}

#[test]
fn an_empty_character_binds() {
    for method in METHODS {
        let (a, report) = bound(&Character::default(), method, 6);
        assert_eq!((a.bone.len(), report.after), (0, Gap::default()));
    }
}

mod soups {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

    type Soup = (Vec<Vec3>, Vec<[u32; 3]>, Vec<(Vec3, Option<usize>)>, Vec<(u16, f32)>);

    /// Generates points on a coarse lattice (some coincide), random triangles and joints, and two weights per point.
    fn soup() -> impl Strategy<Value = (Soup, f32)> {
        let lattice =
            || (0..4i8, 0..4i8, -2..2i8).prop_map(|(x, y, z)| Vec3::new(x.into(), y.into(), z.into()));
        let sizes = (1..40usize, 1..8usize);
        let soup = sizes.prop_flat_map(move |(vertices, joints)| {
            let n = vertices as u32;
            let corner = (0..n, 0..n, 0..n).prop_map(|(a, b, c)| [a, b, c]);
            let parent = (lattice(), any::<Option<u8>>());
            let weight = (0..joints as u16, 0.0..1.0f32);
            (
                prop::collection::vec(lattice(), vertices),
                prop::collection::vec(corner, 0..80),
                prop::collection::vec(parent, joints).prop_map(|tree| {
                    let up = |k: usize, p: Option<u8>| p.filter(|_| k > 0).map(|p| usize::from(p) % k.max(1));
                    tree.into_iter().enumerate().map(|(k, (at, p))| (at, up(k, p))).collect()
                }),
                prop::collection::vec(weight, vertices),
            )
        });
        (soup, prop::sample::select(vec![1e-6f32, 1.0, 1e6]))
    }

    #[test]
    fn any_soup_binds_to_finite_attachments() {
        let config = Config { cases: 96, failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
        let run = |((positions, triangles, joints, weights), scale): (Soup, f32)| {
            let mut influences = Influences::default();
            for &(joint, weight) in &weights {
                let entries = [(joint, weight), (0, 1.0 - weight)];
                let mut entries: Vec<_> = entries.into_iter().filter(|e| e.1 > 0.0).collect();
                if joint == 0 {
                    entries = vec![(0, 1.0)];
                }
                entries.sort_by(|a, b| b.1.total_cmp(&a.1));
                influences.push(entries);
            }
            let positions: Vec<Vec3> = positions.iter().map(|p| *p * scale).collect();
            let joints: Vec<_> = joints.iter().map(|j| (j.0 * scale, j.1)).collect();
            let c = Character::from_parts(positions.clone(), triangles, &joints, influences).unwrap();
            let n = c.control.positions.len();
            for (v, x) in positions.iter().enumerate() {
                prop_assert!(
                    c.control.positions[c.display.control_of[v] as usize].distance(*x) <= 1e-5 * scale
                );
            }
            for (a, b) in c.control.adjacency.edges() {
                prop_assert!(a != b && c.control.adjacency.of(b as usize).contains(&a));
            }
            for method in METHODS {
                let (a, report) = bound(&c, method, 6);
                prop_assert_eq!([a.bone.len(), a.t.len(), a.scale_vector.len()], [n; 3]);
                prop_assert!(a.bone.iter().all(|b| b.index() < c.skeleton.bones.len()));
                prop_assert!(a.t.iter().all(|t| (0.0..=1.0).contains(t)));
                prop_assert!(a.scale_vector.iter().all(|s| s.is_finite() && s.length() < 20.0 * scale));
                prop_assert!(report.after.max.is_finite() && report.mean_length.is_finite());
                prop_assert!(report.after.max <= report.before.max * 1.0002, "{:?}", report);
            }
            Ok(())
        };
        TestRunner::new_with_rng(config, rng).run(&soup(), run).unwrap();
    }
}
