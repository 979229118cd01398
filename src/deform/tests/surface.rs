use super::*;
use crate::asset::Influences;
use crate::base::math::Affine3A;
use crate::base::{MeshId, NodeId};
use crate::bind::Character;
use crate::deform::surface::{Crease, Display, bind};
use crate::deform::{CpuGraph, Graph, Kernels, Recipe, testing};
use crate::geom::Part;
use crate::gpu::testing::device;
use std::sync::Arc;

fn display(character: &Arc<Character>, crease: Crease, rig: &PosedRig, control: &[Vec3]) -> Display {
    let mut out = Display::default();
    bind(character, crease).reference(rig, control, &[], &mut out);
    out
}

/// Creates a unit cube of 8 control vertices: `split` into 24 display vertices with face normals, or 8 smooth ones.
fn cube(split: bool) -> Bound {
    let skeleton = cylinder(2, 4, 4).character.skeleton.clone();
    let corners: Vec<Vec3> =
        (0..8).map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32)).collect();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles: Vec<[u32; 3]> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let mut influences = Influences::default();
    corners.iter().for_each(|_| influences.push([(0, 1.0)]));
    let bound = testing::bound(skeleton, corners.clone(), triangles, influences);
    if !split {
        return bound;
    }
    let mut character = (*bound.character).clone();
    let mesh = &mut character.display;
    (mesh.positions, mesh.normals, mesh.control_of, mesh.triangles) = Default::default();
    for quad in quads {
        let [a, b, c, _] = quad.map(|v| corners[v as usize]);
        let first = mesh.positions.len() as u32;
        for v in quad {
            mesh.positions.push(corners[v as usize]);
            mesh.normals.push((b - a).cross(c - a).normalize());
            mesh.control_of.push(v);
        }
        mesh.triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
    }
    bound.with(character.into(), bound.attachments.clone())
}

fn at_rest(bound: &Bound) -> PosedRig {
    PosedRig::new(&bound.character.skeleton, &rest(bound))
}

#[test]
fn hard_edges_stay_hard_and_turn_with_the_mesh() {
    let bound = cube(true);
    let character = &bound.character;
    let turn = Affine3A::from_rotation_translation(Quat::from_rotation_x(1.1), Vec3::ONE);
    let moved: Vec<Vec3> = character.control.positions.iter().map(|p| turn.transform_point3(*p)).collect();
    let out = display(character, Crease::Source, &at_rest(&bound), &moved);
    for (n, source) in out.normals.iter().zip(&character.display.normals) {
        assert!(n.distance(turn.transform_vector3(*source)) < 1e-5, "{n} {source}");
    }
}

#[test]
fn crease_angle_decides_where_normals_are_continuous() {
    let bound = cube(true);
    let character = &bound.character;
    let rig = at_rest(&bound);
    let positions = &character.control.positions;
    let hard = display(character, Crease::Angle(1.0), &rig, positions);
    for (n, source) in hard.normals.iter().zip(&character.display.normals) {
        assert!(n.distance(*source) < 1e-5);
    }
    let smooth = display(character, Crease::Angle(2.0), &rig, positions);
    for (d, n) in smooth.normals.iter().enumerate() {
        let twin = character.display.control_of.iter().position(|c| *c == character.display.control_of[d]);
        assert!(n.distance(smooth.normals[twin.unwrap()]) < 1e-6);
        assert!(n.dot(character.display.normals[d]) < 0.95);
    }
}

#[test]
fn without_source_normals_sharp_edges_are_hard() {
    let bound = cube(true);
    let mut character = (*bound.character).clone();
    let smooth = Vec3::ONE.normalize();
    character.display.normals.fill(smooth);
    let mut part = |computed_normals| {
        character.display.parts = vec![Part {
            node: NodeId(0),
            mesh: MeshId(0),
            primitive: 0,
            material: None,
            vertices: 0..24,
            triangles: 0..12,
            computed_normals,
        }];
        let character = Arc::new(character.clone());
        display(&character, Crease::Source, &at_rest(&bound), &character.control.positions).normals
    };
    assert!(part(false).iter().all(|n| n.distance(smooth) < 1e-5));
    for (n, face) in part(true).iter().zip(&bound.character.display.normals) {
        assert!(n.distance(*face) < 1e-5, "{n} {face}");
    }
}

#[test]
fn texture_seams_stay_smooth() {
    let bound = cylinder(2, 16, 16);
    let mut character = (*bound.character).clone();
    // The split: the second half of the triangles gets its own vertices with unchanged normals.
    let count = character.display.positions.len() as u32;
    let half = character.display.triangles.len() / 2;
    let mesh = &mut character.display;
    mesh.triangles[half..].iter_mut().for_each(|t| *t = t.map(|v| v + count));
    mesh.positions.extend_from_within(..);
    mesh.normals.extend_from_within(..);
    mesh.control_of.extend_from_within(..);
    let split = bound.with(character.into(), bound.attachments.clone());
    let pose = bent(&bound, Quat::from_rotation_z(1.0));
    let rig = PosedRig::new(&bound.character.skeleton, &pose);
    let posed = deform(&Geometric::Lbs, &bound, &pose).position;
    let whole = display(&bound.character, Crease::Source, &rig, &posed);
    let parts = display(&split.character, Crease::Source, &rig, &posed);
    for t in &split.character.display.triangles {
        for &v in t {
            assert!(parts.normals[v as usize].distance(whole.normals[(v % count) as usize]) < 1e-6);
        }
    }
}

#[test]
fn authored_normals_are_kept_and_turn_with_the_surface() {
    let bound = cylinder(2, 16, 16);
    let mut character = (*bound.character).clone();
    for (k, n) in character.display.normals.iter_mut().enumerate() {
        *n = (*n + 0.6 * Vec3::new((k as f32).sin(), (k as f32).cos(), 0.3)).normalize();
    }
    let bound = bound.with(character.into(), bound.attachments.clone());
    let motion = Quat::from_rotation_y(0.7) * Quat::from_rotation_x(-2.0);
    let mut pose = rest(&bound);
    for (turn, tolerance) in [(Quat::IDENTITY, 2e-6), (motion, 2e-6)] {
        pose.local[0].rotation = turn.into();
        let rig = PosedRig::new(&bound.character.skeleton, &pose);
        let posed = deform(&Geometric::Lbs, &bound, &pose).position;
        let out = display(&bound.character, Crease::Source, &rig, &posed);
        for (n, source) in out.normals.iter().zip(&bound.character.display.normals) {
            assert!(n.distance(turn * *source) < 10.0 * tolerance, "{n} {source}");
        }
    }
}

#[test]
fn morphs_are_carried_by_the_skinning() {
    let bound = cylinder(2, 16, 16);
    let pose = contorted(&bound);
    let rig = PosedRig::new(&bound.character.skeleton, &pose);
    let morph: Vec<Vec3> = (0..bound.character.display.positions.len())
        .map(|k| 0.1 * Vec3::new((k as f32).sin(), 0.5, 0.2))
        .collect();
    // LBS of a character whose bind positions are already morphed must give the same result.
    let mut morphed = (*bound.character).clone();
    morphed.control.positions.iter_mut().zip(&morph).for_each(|(p, d)| *p += *d);
    let morphed = bound.with(morphed.into(), bound.attachments.clone());
    let expected = deform(&Geometric::Lbs, &morphed, &pose).position;
    let posed = deform(&Geometric::Lbs, &bound, &pose).position;
    let mut out = Display::default();
    bind(&bound.character, Crease::Source).reference(&rig, &posed, &morph, &mut out);
    for (a, b) in out.positions.iter().zip(&expected) {
        assert!(a.distance(*b) < 2e-6);
    }
}

#[test]
fn degenerate_and_isolated_vertices_get_unit_normals() {
    let bound = cube(false);
    let mut character = (*bound.character).clone();
    character.display.triangles.extend([[3, 3, 3], [0, 1, 0]]);
    character.control.triangles.extend([[3, 3, 3], [0, 1, 0]]);
    character.display.positions.push(Vec3::ZERO);
    character.display.normals.push(Vec3::ZERO);
    character.display.control_of.push(0);
    let bound = bound.with(character.into(), bound.attachments.clone());
    for control in [bound.character.control.positions.clone(), vec![Vec3::ZERO; 8]] {
        for crease in [Crease::Source, Crease::Angle(1.0), Crease::Angle(f32::NAN)] {
            let out = display(&bound.character, crease, &at_rest(&bound), &control);
            assert!(out.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-5), "{crease:?}");
        }
    }
}

#[test]
fn a_recipe_carries_the_crease_angle_to_every_method() {
    let bound = cube(true);
    let rig = at_rest(&bound);
    for method in ["lbs", "dqs", "springs"] {
        let settings = [("crease".to_owned(), serde_json::json!(100))];
        let smooth = Recipe::from_settings(method, settings.iter().map(|(n, v)| (n, v))).unwrap();
        let hard = Recipe::from_name(method).unwrap();
        assert_eq!(smooth, Recipe { crease: Crease::Angle(100f32.to_radians()), ..hard.clone() });
        assert!(!hard.can_become(&smooth), "other normals need another binding");
        assert!(!CpuGraph::new(&bound, &hard).unwrap().adopt(&smooth));
        if let Some(device) = device() {
            let kernels = Arc::new(Kernels::new(&device).unwrap());
            assert!(!Graph::new(&kernels, &bound, &hard, false).unwrap().adopt(&smooth));
        }
        let normals = |recipe: &Recipe| {
            let mut out = Display::default();
            CpuGraph::new(&bound, recipe).unwrap().evaluate(&rig, &[], &mut out);
            out.normals
        };
        let control = &bound.character.control.positions;
        assert_eq!(normals(&smooth), display(&bound.character, smooth.crease, &rig, control).normals);
        assert!(normals(&smooth).iter().zip(normals(&hard)).all(|(a, b)| a.dot(b) < 0.95));
        let text = serde_json::to_string(&smooth).unwrap();
        assert_eq!(serde_json::from_str::<Recipe>(&text).unwrap(), smooth);
        assert!(!serde_json::to_string(&hard).unwrap().contains("crease"));
    }
}
