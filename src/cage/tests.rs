//! Tests of the coupling: the authors' arm with known answers, and a tube with random poses and edits.

use super::coupling::{Coupling, Reverse, Workspace};
use super::joints::{JointInput, joint_rows};
use super::max_vol::max_volume_rows;
use super::mean_value::mean_value;
use super::mesh::CageMesh;
use crate::asset::Influences;
use crate::base::math::{Affine3A, DMat3, DQuat, DVec3, Trs};
use crate::base::testing::shared;
use crate::base::{JointId, NodeId, Progress, Random};
use crate::bind::Character;
use crate::geom::ControlMesh;
use crate::rig::{Bone, Joint, RigNode, Skeleton};
use std::path::Path;
use std::time::Instant;

/// Reads the vertices and triangles of an OBJ file.
pub fn obj(path: &Path) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let text = std::fs::read_to_string(path).unwrap();
    let of = |key: &'static str| text.lines().filter_map(move |l| l.strip_prefix(key));
    let numbers = |l: &str| l.split_whitespace().map(|w| w.parse().unwrap()).collect::<Vec<f64>>();
    let index = |w: &str| w.split('/').next().unwrap().parse::<u32>().unwrap() - 1;
    let corners = |l: &str| l.split_whitespace().map(index).collect::<Vec<_>>().try_into().unwrap();
    (of("v ").map(|l| DVec3::from_slice(&numbers(l))).collect(), of("f ").map(corners).collect())
}

/// Reads a file of little-endian numbers.
pub fn f64s(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).unwrap();
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

/// Builds a character from a skin and from joints with their parents, parents first.
fn character(
    joints: &[(DVec3, Option<usize>)],
    positions: &[DVec3],
    triangles: &[[u32; 3]],
    influences: Influences,
) -> Character {
    let mut skeleton = Skeleton::default();
    for (j, &(x, parent)) in joints.iter().enumerate() {
        let from = parent.map_or(DVec3::ZERO, |f| joints[f].0);
        let mut rest = Trs::IDENTITY;
        rest.translation = (x - from).as_vec3().into();
        skeleton.nodes.push(RigNode {
            name: format!("joint {j}"),
            parent: parent.map(NodeId::from),
            rest,
            remainder: None,
            weights: Vec::new(),
            targets: Vec::new(),
            joint: Some(JointId::from(j)),
        });
        skeleton.order.push(NodeId::from(j));
        let bind = Affine3A::from_translation(x.as_vec3());
        skeleton.joints.push(Joint {
            node: NodeId::from(j),
            joint_from_bind: bind.inverse(),
            bind_from_joint: bind,
            parent: parent.map(JointId::from),
            skinned: true,
        });
        let child = joints.iter().position(|c| c.1 == Some(j));
        skeleton.bones.push(Bone {
            parent: JointId::from(j),
            child: child.map(JointId::from),
            head: x.as_vec3(),
            tail: child.map_or(x + DVec3::Y * 0.1, |c| joints[c].0).as_vec3(),
        });
    }
    let control = ControlMesh {
        positions: positions.iter().map(|p| p.as_vec3()).collect(),
        triangles: triangles.to_vec(),
        influences,
        rigid: vec![false; positions.len()],
        ..ControlMesh::default()
    };
    Character { skeleton, control, ..Character::default() }
}

/// Creates the surface of a prism around the y axis, from `low` to `high`, with caps. The centres of the caps are the
/// last two vertices.
fn prism(sides: usize, rings: usize, radius: f64, low: f64, high: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for (r, k) in (0..=rings).flat_map(|r| (0..sides).map(move |k| (r, k))) {
        let (sin, cos) = (std::f64::consts::TAU * k as f64 / sides as f64 + 0.1).sin_cos();
        positions.push(DVec3::new(radius * cos, low + (high - low) * r as f64 / rings as f64, radius * sin));
    }
    let at = |r: usize, k: usize| (r * sides + k % sides) as u32;
    for (r, k) in (0..rings).flat_map(|r| (0..sides).map(move |k| (r, k))) {
        triangles.push([at(r, k), at(r + 1, k), at(r + 1, k + 1)]);
        triangles.push([at(r, k), at(r + 1, k + 1), at(r, k + 1)]);
    }
    let first = positions.len() as u32;
    positions.extend([DVec3::Y * low, DVec3::Y * high]);
    for k in 0..sides {
        triangles.push([first, at(0, k), at(0, k + 1)]);
        triangles.push([first + 1, at(rings, k + 1), at(rings, k)]);
    }
    (positions, triangles)
}

/// Creates a tube of height 4 with five joints and a cage around it. The last joint has no weight.
pub fn tube() -> (Character, CageMesh) {
    let (positions, triangles) = prism(12, 24, 0.4, 0.0, 4.0);
    let joints: Vec<_> = [0.1, 1.0, 2.0, 3.0, 3.5]
        .iter()
        .enumerate()
        .map(|(j, &y)| (DVec3::new(0.02 * j as f64, y, 0.0), j.checked_sub(1)))
        .collect();
    let mut influences = Influences::default();
    for p in &positions {
        let along = p.y.clamp(0.0, 2.999);
        let part = (along.fract() * 2.0 - 0.5).clamp(0.0, 1.0) as f32;
        let joint = along as u16;
        let mut list = vec![(joint, 1.0 - part), (joint + 1, part)];
        list.retain(|e| e.1 > 0.0);
        list.sort_by(|a, b| b.1.total_cmp(&a.1));
        influences.push(list);
    }
    let (corners, faces) = prism(5, 4, 0.7, -0.3, 4.3);
    let cage = CageMesh { positions: corners, faces: faces.iter().map(|f| f.to_vec()).collect() };
    (character(&joints, &positions, &triangles, influences), cage)
}

/// Coordinates of a vertex in the cage, and its joints with their weights.
type Row = (Vec<f64>, Vec<(usize, f64)>);

/// The rig of a test, skinned by exact linear blend skinning in f64.
struct Rig {
    coupling: Coupling,
    /// Coordinates of the selected vertices, and their weights.
    rows: Vec<Row>,
    parents: Vec<Option<usize>>,
    workspace: Workspace,
}

/// A pose: for each joint, the linear part of its transform relative to its parent, and a displacement in the frame of
/// its parent.
type LocalPose = Vec<(DMat3, DVec3)>;

impl Rig {
    fn new(character: &Character, cage: &CageMesh) -> Self {
        let coupling = Coupling::bind(character, cage, None, &Progress::default()).unwrap();
        let triangles: Vec<_> = cage.triangles().collect();
        let rows = coupling.rows().iter().map(|&v| {
            let x = character.control.positions[v as usize].as_dvec3();
            let entries: Vec<_> = character.control.influences.of(v as usize).collect();
            let sum: f64 = entries.iter().map(|e| f64::from(e.1)).sum();
            let weights = entries.iter().map(|&(j, w)| (usize::from(j), f64::from(w) / sum)).collect();
            (mean_value(&cage.positions, &triangles, &[x]), weights)
        });
        let parents = character.skeleton.joints.iter().map(|j| j.parent.map(|p| p.index())).collect();
        Self { rows: rows.collect(), coupling, parents, workspace: Workspace::default() }
    }

    fn of(coordinates: &[f64], cage: &[DVec3]) -> DVec3 {
        coordinates.iter().zip(cage).map(|(&w, &c)| c * w).sum()
    }

    /// Returns the linear part of each joint's transform, and of the map that carries the joint's offset from its
    /// parent.
    fn linear(&self, pose: &LocalPose) -> (Vec<DMat3>, Vec<DMat3>) {
        let mut linear: Vec<DMat3> = Vec::new();
        for (j, local) in pose.iter().enumerate() {
            linear.push(self.parents[j].map_or(DMat3::IDENTITY, |f| linear[f]) * local.0);
        }
        let carrier = self.parents.iter().map(|f| f.map_or(DMat3::IDENTITY, |f| linear[f])).collect();
        (linear, carrier)
    }

    /// Computes the current cage from the rest cage and a pose, by SkelUp, the chain of joints, skinning and CageUp.
    fn current(&mut self, rest: &[DVec3], pose: &LocalPose) -> Vec<DVec3> {
        let columns = rest.len();
        let joints: Vec<DVec3> = self.coupling.psi().chunks(columns).map(|row| Self::of(row, rest)).collect();
        let (linear, carrier) = self.linear(pose);
        let mut posed: Vec<DVec3> = Vec::new();
        for (j, &x) in joints.iter().enumerate() {
            posed.push(match self.parents[j] {
                Some(f) => posed[f] + carrier[j] * (x - joints[f] + pose[j].1),
                None => x + pose[j].1,
            });
        }
        let skinned = self.rows.iter().map(|(phi, weights)| {
            let x = Self::of(phi, rest);
            weights.iter().map(|&(j, w)| (linear[j] * (x - joints[j]) + posed[j]) * w).sum()
        });
        let skinned: Vec<DVec3> = skinned.collect();
        let mut out = Vec::new();
        self.coupling.cage_up(&skinned, &mut self.workspace, &mut out);
        out
    }
}

fn random_pose(random: &mut Random, joints: usize, strength: f32) -> LocalPose {
    let mut pose: LocalPose = (0..joints)
        .map(|_| {
            let turn = DQuat::from_scaled_axis((random.vector() * strength).as_dvec3());
            (DMat3::from_quat(turn), DVec3::ZERO)
        })
        .collect();
    let (scaled, moved) = (random.below(joints), random.below(joints));
    pose[scaled].0 *= DMat3::from_diagonal(DVec3::new(1.3, 0.8, 1.1));
    pose[moved].1 = random.vector().as_dvec3() * 0.3;
    pose
}

fn random_offsets(random: &mut Random, count: usize, size: f64) -> Vec<DVec3> {
    (0..count).map(|_| random.vector().as_dvec3() * size).collect()
}

fn added(a: &[DVec3], b: &[DVec3]) -> Vec<DVec3> {
    a.iter().zip(b).map(|(a, b)| *a + *b).collect()
}

fn worst(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

fn check_reverse(character: &Character, cage: &CageMesh, size: f64, strength: f32) -> f64 {
    let mut rig = Rig::new(character, cage);
    let (columns, joints) = (cage.positions.len(), rig.parents.len());
    let mut random = Random::new(11);
    let mut largest: f64 = 0.0;
    for _ in 0..40 {
        let pose = random_pose(&mut random, joints, strength);
        let (linear, carrier) = rig.linear(&pose);
        let reverse = Reverse::new(&rig.coupling, &linear, &carrier).unwrap();
        let before = rig.current(&cage.positions, &pose);
        let edit = random_offsets(&mut random, columns, 0.1 * size);
        let (mut rest, mut back) = (Vec::new(), Vec::new());
        reverse.rest_offsets(&edit, &mut rest);
        reverse.current_offsets(&rest, &mut back);
        let after = rig.current(&added(&cage.positions, &rest), &pose);
        largest = largest.max(worst(&after, &added(&before, &edit)) / size).max(worst(&back, &edit) / size);
    }
    let identity = vec![DMat3::IDENTITY; joints];
    let reverse = Reverse::new(&rig.coupling, &identity, &identity).unwrap();
    let edit = random_offsets(&mut random, columns, size);
    let mut rest = Vec::new();
    reverse.rest_offsets(&edit, &mut rest);
    assert!(worst(&rest, &edit) < 1e-12 * size, "{:e}", worst(&rest, &edit));
    let still = rig.current(&cage.positions, &vec![(DMat3::IDENTITY, DVec3::ZERO); joints]);
    assert!(worst(&still, &cage.positions) < 1e-11 * size, "{:e}", worst(&still, &cage.positions));
    largest
}

#[test]
fn the_cage_after_reverse_deformation_is_the_edited_cage() {
    let (character, cage) = tube();
    let largest = check_reverse(&character, &cage, 4.6, 1.0);
    println!("tube: {largest:.1e} of the cage's size");
    assert!(largest < 1e-9);
}

#[test]
fn two_hundred_alternating_edits_stay_consistent() {
    let (character, cage) = tube();
    let mut rig = Rig::new(&character, &cage);
    let (columns, joints) = (cage.positions.len(), rig.parents.len());
    let mut random = Random::new(23);
    let mut rest = cage.positions.clone();
    let mut pose = random_pose(&mut random, joints, 0.5);
    let mut largest: f64 = 0.0;
    for step in 0..200 {
        match step % 3 {
            0 => pose = random_pose(&mut random, joints, 0.7),
            1 => rest = added(&cage.positions, &random_offsets(&mut random, columns, 0.1)),
            _ => {
                let before = rig.current(&rest, &pose);
                let (linear, carrier) = rig.linear(&pose);
                let reverse = Reverse::new(&rig.coupling, &linear, &carrier).unwrap();
                let edit = random_offsets(&mut random, columns, 0.05);
                let mut offsets = Vec::new();
                reverse.rest_offsets(&edit, &mut offsets);
                rest = added(&rest, &offsets);
                let wanted = added(&before, &edit);
                largest = largest.max(worst(&rig.current(&rest, &pose), &wanted));
            }
        }
    }
    println!("after 200 edits: {largest:.1e}");
    assert!(largest < 1e-9);
}

#[test]
fn skin_and_joints_follow_the_rest_cage() {
    let (character, cage) = tube();
    let coupling = Coupling::bind(&character, &cage, None, &Progress::default()).unwrap();
    let map = DMat3::from_rotation_z(0.3) * DMat3::from_diagonal(DVec3::new(1.2, 0.7, 1.0));
    let shift = DVec3::new(0.3, 0.1, -0.2);
    let offsets: Vec<DVec3> = cage.positions.iter().map(|&c| map * c + shift - c).collect();
    let mut skin = vec![DVec3::ONE; 3];
    coupling.skin_offsets(&offsets, &mut skin);
    let wanted = character.control.positions.iter().map(|p| map * p.as_dvec3() + shift - p.as_dvec3());
    assert!(worst(&skin, &wanted.collect::<Vec<_>>()) < 2e-6);
    let columns = coupling.cage_vertices();
    for (bone, tip) in character.skeleton.bones.iter().zip(coupling.tips().chunks(columns)) {
        assert!(Rig::of(tip, &cage.positions).distance(bone.tail.as_dvec3()) < 1e-12 * 5.0, "{bone:?}");
        if let Some(child) = bone.child {
            assert_eq!(tip, &coupling.psi()[child.index() * columns..][..columns]);
        }
    }
    let report = coupling.report();
    assert!(report.skin_precision < 1e-13 && report.joint_precision < 1e-12, "{report:?}");
    assert_eq!((report.negative, report.lowest), (0, 0.0));
}

#[test]
fn unsuitable_cages_and_poses_are_refused_with_a_remedy() {
    let (character, cage) = tube();
    let bind = |cage: &CageMesh, skin: Option<Vec<f64>>| {
        Coupling::bind(&character, cage, skin, &Progress::default()).map(|_| ()).unwrap_err().to_string()
    };
    assert!(bind(&CageMesh::default(), None).contains("the cage has no size"));
    let mut open = cage.clone();
    open.faces.pop();
    assert!(bind(&open, None).contains("close the cage's holes"), "{}", bind(&open, None));
    open.faces.push(vec![0, 1, 99]);
    assert!(bind(&open, None).contains("missing vertex"));
    assert!(bind(&cage, Some(vec![0.5; 7])).contains("have 7 numbers"));
    let zeros = vec![0.0; character.control.positions.len() * cage.positions.len()];
    assert!(bind(&cage, Some(zeros)).contains("of vertex 0 do not sum to one"));
    let (corners, faces) = prism(40, 20, 0.7, -0.3, 4.3);
    let fine = CageMesh { positions: corners, faces: faces.iter().map(|f| f.to_vec()).collect() };
    assert!(bind(&fine, None).contains("fewer vertices"), "{}", bind(&fine, None));
    let stopped = Progress::default();
    stopped.cancel();
    assert!(Coupling::bind(&character, &cage, None, &stopped).is_err());
    let coupling = Coupling::bind(&character, &cage, None, &Progress::default()).unwrap();
    let text = |linear: &[DMat3]| Reverse::new(&coupling, linear, linear).err().unwrap().to_string();
    assert!(text(&[DMat3::ZERO; 5]).contains("flattens the skin"));
    assert!(text(&[DMat3::IDENTITY; 2]).contains("2 joints, the skeleton 5"));
}

#[test]
fn the_authors_arm_has_the_known_coordinates() {
    let (Some(files), Some(known)) = (shared("cages/supercages_arm"), shared("known/cage_arm")) else {
        return;
    };
    let (positions, triangles) = obj(&files.join("arm.obj"));
    let (corners, faces) = obj(&files.join("arm_cage.obj"));
    let columns = corners.len();
    let cage = CageMesh { positions: corners, faces: faces.iter().map(|f| f.to_vec()).collect() };
    let words = |name: &str| {
        let text = std::fs::read_to_string(files.join(name)).unwrap();
        text.lines().map(|l| l.split_whitespace().map(str::to_owned).collect()).collect::<Vec<Vec<String>>>()
    };
    let mut joints: Vec<(DVec3, Option<usize>)> = Vec::new();
    for w in words("arm.skt").iter().filter(|w| w.first().is_some_and(|k| k == "j")) {
        let x: Vec<f64> = w[4..].iter().map(|n| n.parse().unwrap()).collect();
        joints.push((DVec3::from_slice(&x), w[3].parse().ok()));
    }
    let mut lists: Vec<Vec<(u16, f32)>> = vec![Vec::new(); positions.len()];
    for w in words("arm.skw").iter().filter(|w| w.len() == 3) {
        lists[w[1].parse::<usize>().unwrap()].push((w[0].parse().unwrap(), w[2].parse().unwrap()));
    }
    let mut influences = Influences::default();
    for mut list in lists {
        list.sort_by(|a, b| b.1.total_cmp(&a.1));
        influences.push(list);
    }
    let started = Instant::now();
    let face_list: Vec<_> = cage.triangles().collect();
    let phi = mean_value(&cage.positions, &face_list, &positions);
    println!("mean value coordinates in {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    let bytes = std::fs::read(known.join("phi.f32")).unwrap();
    let wanted = bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()));
    let difference = phi.iter().zip(wanted).map(|(a, b)| (a - f64::from(b)).abs()).fold(0.0, f64::max);
    assert!(difference < 1e-6, "phi: {difference:e}");
    let (places, parents): (Vec<DVec3>, Vec<Option<usize>>) = joints.iter().copied().unzip();
    let input = JointInput {
        joints: &places,
        parents: &parents,
        positions: &positions,
        triangles: &triangles,
        influences: &influences,
        skin: &phi,
        cage: &cage,
    };
    let started = Instant::now();
    let psi = joint_rows(&input, &Progress::default()).unwrap();
    println!("joint coordinates in {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    let wanted = f64s(&known.join("psi.f64"));
    let difference = psi.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let miss = |(row, x): (&[f64], &DVec3)| Rig::of(row, &cage.positions).distance(*x);
    let precision = psi.chunks(columns).zip(&places).map(miss).fold(0.0, f64::max);
    println!("psi: {difference:.1e} from the known, linear precision {precision:.1e}");
    assert!(difference < 1e-8 && precision < 1e-9 && psi.len() == wanted.len());
    let rows = max_volume_rows(&phi, columns, |_| true).unwrap();
    let square = faer::Mat::from_fn(columns, columns, |i, j| phi[rows[i] as usize * columns + j]);
    let factor = faer::linalg::solvers::PartialPivLu::new(square.as_ref());
    let volume: f64 = (0..columns).map(|k| factor.U()[(k, k)].abs().ln()).sum();
    println!("logarithm of the volume: {volume:.3}");
    assert!(volume >= -49.57);
    let character = character(&joints, &positions, &triangles, influences);
    let largest = check_reverse(&character, &cage, 60.0, 0.5);
    println!("arm: {largest:.1e} of the cage's size");
    assert!(largest < 1e-9);
    let report = Coupling::bind(&character, &cage, None, &Progress::default()).unwrap().report();
    println!("{report:?}");
    assert!(report.skin_precision < 1e-13 && report.joint_precision < 1e-12 && report.lowest < -0.1);
}

/// The authors' recorded keys give global rotations, in degrees, and global positions of all joints. Their rest joints
/// come from coordinates without linear precision, so the positions differ from those of the file's own rest skeleton.
#[test]
fn the_authors_keys_have_our_joints_within_their_own_error() {
    let Some(files) = shared("cages/supercages_arm") else { return };
    let read = |name: &str| std::fs::read_to_string(files.join(name)).unwrap();
    let numbers =
        |words: &[&str]| DVec3::from_slice(&words.iter().map(|w| w.parse().unwrap()).collect::<Vec<f64>>());
    let mut joints: Vec<(DVec3, Option<usize>)> = Vec::new();
    let (skeleton, keys) = (read("arm.skt"), read("arm_skelAnim.txt"));
    for line in skeleton.lines().filter(|l| l.starts_with("j ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        joints.push((numbers(&words[4..7]), words[3].parse().ok()));
    }
    let mut recorded: Vec<Vec<(DMat3, DVec3)>> = Vec::new();
    for line in keys.lines().filter(|l| l.starts_with("s ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let key: usize = words[1].parse().unwrap();
        recorded.resize(recorded.len().max(key + 1), Vec::new());
        let degrees = numbers(&words[2..5]);
        let [x, y, z] = degrees.to_array().map(f64::to_radians);
        let rotation = DMat3::from_rotation_z(z) * DMat3::from_rotation_y(y) * DMat3::from_rotation_x(x);
        recorded[key].push((rotation, numbers(&words[5..8])));
    }
    assert_eq!((joints.len(), recorded.len()), (25, 5));
    for (key, frame) in recorded.iter().enumerate() {
        assert_eq!(frame.len(), joints.len());
        let mut ours: Vec<DVec3> = Vec::new();
        for (x, parent) in &joints {
            ours.push(parent.map_or(*x, |p| ours[p] + frame[p].0 * (*x - joints[p].0)));
        }
        let off: Vec<f64> = ours.iter().zip(frame).map(|(x, f)| x.distance(f.1)).collect();
        let (largest, sum) = off[3..].iter().fold((0.0, 0.0), |(m, s), d| (f64::max(m, *d), s + d));
        let mean = sum / off[3..].len() as f64;
        println!(
            "key {key}: joints 0 to 2 {:.2?}, others largest {largest:.3}, mean {mean:.3} units",
            &off[..3]
        );
        // The joints span 62 units. A wrong order or unit of the angles gives tens of units.
        assert!(largest < 0.35 && mean < 0.2, "key {key}: {largest} {mean}");
    }
}
