mod firm;
mod levels;
mod motion;
mod substeps;

use super::cells::Cells;
use super::levels::{FEWEST, Level};
use super::place::Place;
use super::solve::{VolumeReference, turn};
use super::tissue::Tissue;
use super::*;
use crate::base::math::{DVec3, Mat3, Quat, Vec3};
use crate::base::{JointId, Random};
use crate::deform::testing::{RADIUS, bound, cylinder, rest, scaled};
use crate::deform::{Bound, CpuGraph, Geometric, Graph, Kernels, Recipe, surface::Display};
use crate::gpu::Device;
use crate::gpu::testing::{assert_silent, device};
use crate::rig::{Bone, Pose, PosedRig};
use std::sync::Arc;

pub(super) fn few() -> Params {
    Params { cubes: 800, ..Params::default() }
}

/// The control vertices in a pose.
pub(super) fn posed(bound: &Bound, recipe: &Recipe, pose: &Pose) -> Vec<Vec3> {
    let mut graph = CpuGraph::new(bound, recipe).unwrap();
    graph.evaluate(&PosedRig::new(&bound.character.skeleton, pose), &[], &mut Display::default());
    graph.control().to_vec()
}

pub(super) fn bent(bound: &Bound, turn: Quat) -> Pose {
    let mut pose = rest(bound);
    pose.local[1].rotation = turn.into();
    pose
}

pub(super) fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

/// Asserts that a rigid motion of the whole body moves its shape, and that a body a hundred times as large bends alike.
pub(super) fn assert_follows_placement_and_size(bound: &Bound, recipe: &Recipe, turn: Quat) {
    let control = &bound.character.control.positions;
    let mut pose = rest(bound);
    pose.local[0].rotation = turn.into();
    pose.local[0].translation = [0.5, -1.0, 2.0];
    let moved: Vec<Vec3> = control.iter().map(|x| turn * *x + Vec3::new(0.5, -1.0, 2.0)).collect();
    assert!(farthest(&posed(bound, recipe, &pose), &moved) < 1e-4);
    let pose = bent(bound, Quat::from_rotation_x(1.3));
    let (large, mut large_pose) = (scaled(bound, 100.0), pose.clone());
    large_pose.local.iter_mut().for_each(|l| l.translation = l.translation.map(|t| 100.0 * t));
    let (small, large) = (posed(bound, recipe, &pose), posed(&large, recipe, &large_pose));
    let large: Vec<Vec3> = large.iter().map(|x| *x * 0.01).collect();
    assert!(farthest(&small, &large) < 2e-4, "{}", farthest(&small, &large));
}

/// The control vertices of a rig that a graph on the GPU poses.
pub(super) fn posed_on_gpu(
    device: &Arc<Device>,
    graph: &mut Graph,
    rig: &PosedRig,
    count: usize,
) -> Vec<Vec3> {
    let recorded = device.run(|frame| {
        graph.record(frame, rig);
        Ok(())
    });
    recorded.unwrap();
    let x: Vec<[f32; 4]> = device.read(graph.control_positions(), count).unwrap();
    x.iter().map(|x| Vec3::new(x[0], x[1], x[2])).collect()
}

#[test]
fn joints_of_one_node_count_as_one_joint() {
    let bound = cylinder(2, 16, 16);
    let cells = Cells::bind(&bound.character, 800);
    // Two skins: the joints of the second one have the nodes of the first one's, and odd vertices follow them.
    let mut character = (*bound.character).clone();
    let count = character.skeleton.joints.len();
    let own = character.skeleton.joints.clone();
    character.skeleton.joints.extend(own);
    let twin = |j: JointId| JointId::from(j.index() + count);
    let bones = character.skeleton.bones.clone();
    let twins = bones.iter().map(|b| Bone { parent: twin(b.parent), child: b.child.map(twin), ..b.clone() });
    character.skeleton.bones.extend(twins);
    let influences = &mut character.control.influences;
    for v in (1..influences.len()).step_by(2) {
        let entries = influences.offset[v] as usize..influences.offset[v + 1] as usize;
        influences.joint[entries].iter_mut().for_each(|j| *j += count as u16);
    }
    let shared = Cells::bind(&character, 800);
    assert!(cells.held.iter().filter(|held| **held).count() > 20);
    assert_eq!(shared.held, cells.held);
}

#[test]
fn one_update_finds_a_scaled_rotation_and_a_few_find_the_nearest_one() {
    let mut random = Random::new(3);
    for _ in 0..200 {
        let axis = random.vector().normalize_or(Vec3::Y);
        let angle = 2.6 * random.unit();
        let wanted = Quat::from_axis_angle(axis, angle);
        let found = turn(Quat::IDENTITY, &(Mat3::from_quat(wanted) * 0.03));
        assert!(found.dot(wanted).abs() > 1.0 - 1e-5, "{angle} about {axis}");
        // With stretch and shear, the updates must find the polar rotation, computed by the eigenvalue method.
        let stretch = Mat3::from_diagonal(Vec3::new(1.4, 0.6, 1.0 + 0.3 * (2.0 * random.unit() - 1.0)));
        let skew = Quat::from_axis_angle(Vec3::new(1.0, -0.4, 0.2).normalize(), random.unit());
        let skew = Mat3::from_quat(skew);
        let m = Mat3::from_quat(wanted) * skew * stretch * skew.transpose();
        let exact = crate::geom::fit_rotation(m.as_dmat3().transpose(), wanted.as_dquat()).as_quat();
        let found = (0..8).fold(Quat::IDENTITY, |q, _| turn(q, &m));
        assert!(found.dot(exact).abs() > 1.0 - 1e-4 || angle > 2.0, "{angle}: {found} {exact}");
    }
    // A matrix of zeros or NaN leaves the rotation unchanged.
    let q = Quat::from_rotation_x(0.4);
    assert!(turn(q, &Mat3::ZERO).dot(q) > 1.0 - 1e-6 && turn(q, &Mat3::NAN) == q);
}

#[test]
fn rest_stays_a_rigid_motion_passes_through_and_size_does_not_matter() {
    let bound = cylinder(3, 16, 24);
    let recipe = Recipe::volume(few());
    let control = &bound.character.control.positions;
    assert!(farthest(&posed(&bound, &recipe, &rest(&bound)), control) < 2e-5);
    let turn = Quat::from_euler(glam::EulerRot::XYZ, 0.4, 2.0, -0.7);
    for substeps in [1, 3] {
        assert_follows_placement_and_size(&bound, &Recipe::volume(Params { substeps, ..few() }), turn);
    }
}

#[test]
fn a_body_that_its_joints_scale_is_the_scaled_body() {
    let bound = cylinder(2, 24, 32);
    let pose = bent(&bound, Quat::from_rotation_x(1.2));
    let recipe = Recipe::volume(few());
    let full = posed(&bound, &recipe, &pose);
    for scale in [0.01, 0.5, 30.0] {
        let mut scaled = pose.clone();
        scaled.local[0].scale = [scale; 3];
        let origin = Vec3::from(pose.local[0].translation);
        let wanted: Vec<Vec3> = full.iter().map(|x| origin + (*x - origin) * scale).collect();
        let off = farthest(&posed(&bound, &recipe, &scaled), &wanted);
        assert!(off < 2e-3 * RADIUS * scale, "{scale}: {off}");
    }
}

#[test]
fn the_energy_falls_from_cycle_to_cycle_to_below_that_of_the_start() {
    let bound = cylinder(2, 24, 32);
    for turn in [Quat::from_rotation_x(1.5), Quat::from_rotation_y(2.6), Quat::from_rotation_z(-2.2)] {
        for (volume, firmness) in [(0.0, 0.5), (2.0 / 3.0, 0.0), (1.0, 0.5)] {
            let rig = PosedRig::new(&bound.character.skeleton, &bent(&bound, turn));
            let params = Params { volume, firmness, ..few() };
            let cells = Arc::new(Cells::bind(&bound.character, params.cubes));
            let mut energies = Vec::new();
            for cycles in [0, 1, 2, 4, 16] {
                let params = Params { cycles, ..params };
                let mut solver = VolumeReference::with(&cells, &Geometric::Dqs, &params).unwrap();
                let mut skin = bound.character.control.positions.clone();
                solver.solve(&rig, &mut skin, |_| {});
                energies.push(Tissue::new(&cells).energy(solver.nodes(), params.lambda()));
            }
            assert!(energies.windows(2).all(|e| e[1] < e[0]), "{turn} {volume} {firmness}: {energies:?}");
            assert!(energies[4] < 0.7 * energies[0], "{turn} {volume} {firmness}: {energies:?}");
        }
    }
}

#[test]
fn a_bend_keeps_volume_and_lengths_better_than_linear_skinning() {
    let bound = cylinder(2, 24, 48);
    let measure = crate::geom::Measure::new(&bound.character.control);
    let pose = bent(&bound, Quat::from_rotation_x(1.9));
    let of = |recipe: &Recipe| {
        let x = posed(&bound, recipe, &pose);
        ((measure.volume(&x) / measure.bind_volume() - 1.0).abs(), measure.stretch(&x).0)
    };
    let lbs = of(&Recipe::geometric(Geometric::Lbs));
    let volume = of(&Recipe::volume(few()));
    assert!(volume.0 < 0.5 * lbs.0 && volume.1 < 0.8 * lbs.1, "{volume:?} {lbs:?}");
}

#[test]
fn no_pose_and_no_setting_makes_a_vertex_leave_the_body() {
    let bound = cylinder(4, 12, 24);
    let mut random = Random::new(11);
    for round in 0..12 {
        let mut pose = rest(&bound);
        for local in &mut pose.local {
            let axis = random.vector().normalize_or(Vec3::X);
            local.rotation = Quat::from_axis_angle(axis, std::f32::consts::PI).into();
        }
        let wild = Params {
            cubes: 300,
            firmness: [0.0, 0.3, 10.0, f32::NAN][round % 4],
            volume: [0.0, 1.0, 0.6][round % 3],
            cycles: [1, 4, 64][round % 3],
            contact: [0, 3, 16][round % 3],
            substeps: [1, 1, 1, 2, 5, 16][round % 6],
            ..Params::default()
        };
        let x = posed(&bound, &Recipe::volume(wild), &pose);
        let rig = PosedRig::new(&bound.character.skeleton, &pose);
        let mut bounds = crate::base::math::Aabb::of(rig.bones.iter().flat_map(|b| [b.head, b.tail]));
        bounds.min -= Vec3::splat(RADIUS);
        bounds.max += Vec3::splat(RADIUS);
        let (middle, reach) = (bounds.center(), bounds.diagonal());
        let far = x.iter().map(|x| x.distance(middle)).fold(0.0, f32::max);
        assert!(x.iter().all(|x| x.is_finite()) && far < reach, "{round}: {far} of {reach}, {wild:?}");
    }
}

#[test]
fn characters_without_an_inside_stay_where_the_start_puts_them() {
    let full = cylinder(2, 8, 8);
    let control = &full.character.control;
    let sheet: Vec<[u32; 3]> = control.triangles.iter().copied().take(20).collect();
    let skeleton = full.character.skeleton.clone();
    let open = bound(skeleton, control.positions.clone(), sheet, control.influences.clone());
    let pose = bent(&open, Quat::from_rotation_x(1.0));
    let start = posed(&open, &Recipe::geometric(Geometric::Dqs), &pose);
    assert_eq!(posed(&open, &Recipe::volume(few()), &pose), start);
    let cells = Cells::bind(&open.character, 500);
    assert!(cells.levels.is_empty() && cells.embedding.iter().all(Option::is_none));
}

#[test]
fn every_vertex_of_a_closed_body_has_a_place_that_gives_it_back() {
    let bound = cylinder(3, 16, 24);
    let cells = Cells::bind(&bound.character, 700);
    let nodes = &cells.nodes.character.control.positions;
    for (v, x) in bound.character.control.positions.iter().enumerate() {
        let place = cells.embedding[v].unwrap();
        let at = place.position(&cells.levels[0].cells[place.cell as usize], nodes);
        assert!(at.distance(*x) < 1e-5, "{v}: {at} {x}");
    }
    let volume: f64 = f64::from(cells.levels[0].size).powi(3) * cells.levels[0].cells.len() as f64;
    assert!(volume > 0.5 && volume < 1.5, "{volume}");
    assert!(cells.held.iter().filter(|h| **h).count() > 8);
    // Bit k of a corner's index is its side along axis k.
    for cell in &cells.levels[0].cells {
        let at = |c: usize| nodes[cell[c] as usize].as_dvec3();
        for (k, axis) in DVec3::AXES.into_iter().enumerate() {
            assert!((at(1 << k) - at(0)).normalize().dot(axis) > 0.999);
        }
    }
}

#[test]
fn vertices_far_from_their_cube_move_with_it_but_do_not_magnify_its_strain() {
    // A stretched and rotated cube (`nodes`), and the positions that the geometric method gives its nodes (`starts`).
    let cell = [0, 1, 2, 3, 4, 5, 6, 7];
    let corner = |k: usize| Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32);
    let starts: Vec<Vec3> = (0..8).map(|k| corner(k) + Vec3::Y).collect();
    let turn = Quat::from_rotation_z(1.0);
    let nodes: Vec<Vec3> = (0..8).map(|k| turn * (corner(k) * Vec3::new(3.0, 0.5, 0.5))).collect();
    let moved = (0..8).map(|k| nodes[k].distance(starts[k])).fold(0.0, f32::max);
    let start = Vec3::new(7.0, 8.0, 9.0);
    let at = |x: f32| Place::new(0, Vec3::new(x, 0.4, 0.6));
    for x in [-30.0, -2.0, 3.0, 30.0] {
        assert!(at(x).skin(&cell, &nodes, &starts, start).distance(start) <= moved, "{x}");
    }
    for x in [-0.4, 0.0, 0.3, 1.4] {
        let inside = at(x);
        assert_eq!(inside.skin(&cell, &nodes, &starts, start), inside.position(&cell, &nodes), "{x}");
    }
    // The position changes continuously with the distance from the cube.
    let path = |k: i32| at(k as f32 * 0.01).skin(&cell, &nodes, &starts, starts[0]);
    let jump = (-400..400).map(|k| path(k).distance(path(k + 1))).fold(0.0, f32::max);
    assert!(jump < 0.1, "{jump}");
}

#[test]
fn many_cycles_end_at_the_gold_standard() {
    use super::converge::Flesh;
    use super::schedule::Stiffness;
    let bound = cylinder(2, 24, 32);
    for (volume, firmness) in [(0.0, 0.3), (1.0, 0.0)] {
        let rig = PosedRig::new(&bound.character.skeleton, &bent(&bound, Quat::from_rotation_x(1.2)));
        let params = Params { volume, firmness, cycles: 64, cubes: 400, ..Params::default() };
        let cells = Arc::new(Cells::bind(&bound.character, params.cubes));
        let mut start = crate::deform::Streams::default();
        Geometric::Dqs.bind(&cells.nodes).unwrap().reference(&rig, &mut start);
        let flesh = Flesh::new(&Tissue::new(&cells), Stiffness::new(&params)).unwrap().unwrap();
        let mut gold = start.position.clone();
        let minimum = flesh.minimise(&mut gold, &start.position, 1e-10, 2000);
        assert!(minimum.converged && minimum.steps < 500, "{minimum:?}");
        let mut solver = VolumeReference::with(&cells, &Geometric::Dqs, &params).unwrap();
        solver.solve(&rig, &mut bound.character.control.positions.clone(), |_| {});
        let off = farthest(solver.nodes(), &gold);
        assert!(off < 5e-3, "{volume} {firmness}: {off} {minimum:?}");
        let tissue = Tissue::new(&cells);
        let energies = [solver.nodes(), &gold].map(|x| tissue.energy(x, params.lambda()));
        assert!((energies[0] / energies[1] - 1.0).abs() < 1e-3 || firmness > 0.0, "{energies:?}");
        if firmness == 0.0 {
            assert!((minimum.energy / energies[1] - 1.0).abs() < 1e-4, "{minimum:?} {energies:?}");
        }
        // With λ = 0 the energy equals energy A of the gold standard, which supports held nodes but no springs.
        if volume == 0.0 {
            let params = Params { firmness: 0.0, ..params };
            let level = &cells.levels[0];
            let rest: Vec<DVec3> =
                cells.nodes.character.control.positions.iter().map(|x| x.as_dvec3()).collect();
            let held: Vec<u32> = (0..rest.len() as u32).filter(|&n| level.held[n as usize]).collect();
            let elements = gold::Elements::cubes(&rest, &level.cells).unwrap();
            let mut other = gold::Gold::new(elements, &held).unwrap();
            let mut x: Vec<DVec3> = start.position.iter().map(|x| x.as_dvec3()).collect();
            let local_global = other.minimise(&mut x, 1e-9, 5000);
            let flesh = Flesh::new(&Tissue::new(&cells), Stiffness::new(&params)).unwrap().unwrap();
            let mut minimum = start.position.clone();
            let own = flesh.minimise(&mut minimum, &start.position, 1e-10, 2000);
            // Energy A has the factor ½, the volume's energy ¼.
            let h = f64::from(level.size);
            let both = [2.0 * own.energy * h * h, local_global.energy];
            assert!((both[0] / both[1] - 1.0).abs() < 1e-3, "{both:?}");
        }
    }
}

/// Returns a long cylinder of two bones, bent so far that its two halves pass through each other if contact is off.
pub(super) fn folded() -> (Bound, Pose) {
    let bound = cylinder(2, 24, 64);
    let pose = bent(&bound, Quat::from_rotation_x(2.5));
    (bound, pose)
}

#[test]
fn contact_parts_a_fold_and_leaves_the_bind_pose() {
    let (bound, pose) = folded();
    let control = &bound.character.control;
    let crossings = crate::geom::Crossings::new(control, &vec![RADIUS; control.positions.len()]);
    let with = |contact| Recipe::volume(Params { contact, ..few() });
    let [apart, touching] = [0, 5].map(|c| crossings.report(&posed(&bound, &with(c), &pose)));
    assert!(apart.crossings > 60, "{apart:?}");
    println!("{apart:?} {touching:?}");
    assert!(4 * touching.crossings < apart.crossings, "{touching:?} {apart:?}");
    // Nothing is in contact in the bind pose, nor in a small bend.
    for pose in [rest(&bound), bent(&bound, Quat::from_rotation_x(0.4))] {
        let params = Params { contact: 3, ..few() };
        let mut volume = VolumeReference::new(&bound, &Geometric::Dqs, &params).unwrap();
        let mut skin = control.positions.clone();
        volume.solve(&PosedRig::new(&bound.character.skeleton, &pose), &mut skin, |_| {});
        assert_eq!(volume.touching(), 0);
    }
}

#[test]
fn contact_parts_the_folds_of_every_method_and_moves_nothing_else() {
    let (bound, pose) = folded();
    let control = &bound.character.control;
    let crossings = crate::geom::Crossings::new(control, &vec![RADIUS; control.positions.len()]);
    for method in ["lbs", "dqs", "stb", "springs"] {
        let without = Recipe::from_name(method).unwrap();
        let with =
            Recipe { volume: Some(Params { cubes: 800, ..Params::only_contact(5) }), ..without.clone() };
        let [apart, touching] =
            [&without, &with].map(|recipe| crossings.report(&posed(&bound, recipe, &pose)));
        println!("{method}: {apart:?}, with contact {touching:?}");
        // Methods that collapse a joint leave no opposing sides that contact could separate.
        if ["dqs", "springs"].contains(&method) {
            assert!(apart.crossings > 60 && 3 * touching.crossings < apart.crossings, "{method}");
            assert!(2.0 * touching.fold_penetration < apart.fold_penetration, "{method}");
        }
        let turn = Quat::from_rotation_x;
        for pose in [rest(&bound), bent(&bound, turn(0.4))] {
            let off = farthest(&posed(&bound, &without, &pose), &posed(&bound, &with, &pose));
            assert!(off < 1e-5 * RADIUS, "{method}: {off} where nothing touches");
        }
    }
}

#[test]
fn contact_after_a_method_is_the_same_on_the_gpu_and_with_other_cycles_without_a_new_binding() {
    let Some(device) = device() else { return };
    let (bound, pose) = folded();
    let rig = PosedRig::new(&bound.character.skeleton, &pose);
    let kernels = Arc::new(Kernels::new(&device).unwrap());
    let recipe = |method: &str, cycles| {
        let volume = Some(Params { cubes: 800, ..Params::only_contact(cycles) });
        Recipe { volume, ..Recipe::from_name(method).unwrap() }
    };
    for method in ["dqs", "springs"] {
        let mut graph = Graph::new(&kernels, &bound, &recipe(method, 1), false).unwrap();
        let mut shape = |cycles| {
            assert!(graph.adopt(&recipe(method, cycles)));
            posed_on_gpu(&device, &mut graph, &rig, bound.character.control.positions.len())
        };
        let [one, three, again] = [1, 3, 1].map(&mut shape);
        assert!(one == again && farthest(&one, &three) > 0.01 * RADIUS, "{method}");
        // Pairs may change with the last bit of a distance.
        let twin = posed(&bound, &recipe(method, 3), &pose);
        let far = three.iter().zip(&twin).filter(|(a, b)| a.distance(**b) > 0.02 * RADIUS).count();
        println!("{method}: {far} of {} vertices differ, by at most {}", twin.len(), farthest(&three, &twin));
        assert!(far * 50 < twin.len(), "{method}: {far} of {}", twin.len());
    }
    assert_silent(&device);
}

#[test]
fn contact_moves_rigidly_with_the_body_and_scales_with_it() {
    let (bound, pose) = folded();
    let recipe = Recipe::volume(Params { contact: 5, ..few() });
    let first = posed(&bound, &recipe, &pose);
    let turn = Quat::from_axis_angle(Vec3::new(0.3, 1.0, -0.4).normalize(), 1.1);
    let mut moved = pose.clone();
    moved.local[0].rotation = (turn * Quat::from_array(moved.local[0].rotation)).into();
    moved.local[0].translation = (turn * Vec3::from(pose.local[0].translation) + Vec3::X).into();
    let second: Vec<Vec3> = posed(&bound, &recipe, &moved);
    let back: Vec<Vec3> = second.iter().map(|x| turn.inverse() * (*x - Vec3::X)).collect();
    let crossings = |x: &[Vec3]| {
        let control = &bound.character.control;
        crate::geom::Crossings::new(control, &vec![RADIUS; control.positions.len()]).report(x).crossings
    };
    // Rounding errors can change pairs, so a few vertices may differ by a fraction of a cube.
    let far = first.iter().zip(&back).filter(|(a, b)| a.distance(**b) > 0.02 * RADIUS).count();
    assert!(far * 50 < first.len(), "{far} of {}", first.len());
    assert!(farthest(&first, &back) < 0.2 * RADIUS);
    let both = [crossings(&first), crossings(&back)];
    assert!(both[1].abs_diff(both[0]) < 20 && both[1] < 60, "{both:?}");
}

/// `known/cyl`: the minimum of energy B on tetrahedra with the surface held beyond 1.5 radii from the joint, made by
/// independent code. The chain of two bones stands for the file's bones: along +y instead of +z, a quarter of the size.
#[test]
fn a_bent_and_a_twisted_cylinder_come_near_to_the_known_elastic_shape() {
    let Some(folder) = crate::base::testing::shared("known") else { return };
    let text = std::fs::read_to_string(folder.join("cyl_rest.obj")).unwrap();
    let rows = |kind: &'static str| {
        let lines = text.lines().filter_map(move |l| l.strip_prefix(kind));
        lines.map(|l| {
            l.split_whitespace().map(|n| n.split('/').next().unwrap().to_owned()).collect::<Vec<_>>()
        })
    };
    let to_chain = |p: Vec3| Vec3::new(p.x, p.z, -p.y) * 0.25 + Vec3::Y;
    let number = |n: &String| n.parse::<f32>().unwrap();
    let positions: Vec<Vec3> =
        rows("v ").map(|r| to_chain(Vec3::new(number(&r[0]), number(&r[1]), number(&r[2])))).collect();
    let triangles: Vec<[u32; 3]> =
        rows("f ").map(|r| [0, 1, 2].map(|k| r[k].parse::<u32>().unwrap() - 1)).collect();
    assert_eq!(positions.len(), 2082);
    let numbers = |name: &str| {
        let bytes = std::fs::read(folder.join("cyl").join(name)).unwrap();
        bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect::<Vec<f64>>()
    };
    let weights = numbers("weights.f64");
    let mut influences = crate::asset::Influences::default();
    for w in weights.as_chunks::<2>().0 {
        influences.push((0u16..).zip(w.map(|w| w as f32)).filter(|e| e.1 > 0.0));
    }
    let bound = bound(crate::deform::testing::chain(2), positions.clone(), triangles, influences);
    let cells = Cells::bind(&bound.character, 3000);
    // As in the reference, all nodes beyond 1.5 radii are held, instead of the nodes on bones.
    let nodes = &cells.nodes.character.control.positions;
    let size = cells.levels[0].size;
    let low = nodes.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let grid = nodes.iter().map(|x| ((*x - low) / size).round().to_array().map(|v| v as i32)).collect();
    let held: Vec<bool> = nodes.iter().map(|x| (x.y - 1.0).abs() > 1.5 * RADIUS).collect();
    let finest = Level::finest(size, cells.levels[0].cells.clone(), grid, held, vec![false; nodes.len()]);
    let cells = Arc::new(Cells { levels: finest.hierarchy(FEWEST), ..cells });
    for name in ["bend90", "twist135"] {
        let m = numbers(&format!("{name}/bones.f64"));
        let axis = |k: usize| DVec3::new(m[12 + k], m[16 + k], m[20 + k]).as_vec3();
        let turn = Quat::from_mat3(&Mat3::from_cols(axis(0), axis(1), axis(2)));
        let upright = Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2);
        let pose = bent(&bound, upright * turn * upright.inverse());
        let bytes = std::fs::read(folder.join("cyl").join(name).join("arap_tets.f32")).unwrap();
        let floats: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        let known: Vec<Vec3> =
            floats.as_chunks::<3>().0.iter().map(|v| to_chain(Vec3::from_array(*v))).collect();
        let away = |x: &[Vec3]| {
            4.0 * x.iter().zip(&known).map(|(a, b)| a.distance(*b)).sum::<f32>() / known.len() as f32
        };
        let rig = PosedRig::new(&bound.character.skeleton, &pose);
        let params = Params { volume: 0.0, firmness: 0.0, cycles: 32, ..few() };
        let mut solver = VolumeReference::with(&cells, &Geometric::Dqs, &params).unwrap();
        let mut skin = positions.clone();
        solver.solve(&rig, &mut skin, |_| {});
        let own = away(&skin);
        let best = ["lbs", "dqs", "blend", "irs", "cor", "stb"]
            .map(|m| away(&posed(&bound, &Recipe::from_name(m).unwrap(), &pose)));
        let best = best.into_iter().fold(f32::INFINITY, f32::min);
        println!("{name}: {own} radii, the best geometric method {best}");
        assert!(own < 0.5 * best, "{name}: {own} radii, the best geometric method {best}");
    }
}
