//! Tests of the checks of cages.

use super::*;
use crate::cage::read::read_obj;
use crate::cage::testing::{ball, cube, shared, vertices};

/// Returns the message of the error.
fn refused(mesh: &CageMesh, skin: &[Vec3]) -> String {
    let text = check(mesh, skin).unwrap_err().to_string();
    println!("{text}");
    assert!(text.contains("; "), "{text}: no remedy");
    text
}

fn add(mesh: &mut CageMesh, other: &CageMesh, offset: DVec3) {
    let first = mesh.positions.len() as u32;
    mesh.positions.extend(other.positions.iter().map(|x| *x + offset));
    mesh.faces.extend(other.faces.iter().map(|f| f.iter().map(|v| v + first).collect::<Vec<_>>()));
}

#[test]
fn a_cube_around_a_point_is_accepted() {
    let report = check(&cube(-1.0, 1.0), &[Vec3::ZERO, Vec3::splat(0.5)]).unwrap();
    assert_eq!((report.vertices, report.faces, report.turned_over), (8, 6, false));
    assert!(report.outside.is_empty() && report.warning().is_none());
    assert!((report.clearance - 0.5 / 12f64.sqrt()).abs() < 1e-12, "{report:?}");
    // Points on faces, edges and corners count as inside.
    let on = [Vec3::X, Vec3::ONE, Vec3::new(1.0, 1.0, 0.0), Vec3::Z, -Vec3::Z, Vec3::new(1.0, -1.0, -1.0)];
    let report = check(&cube(-1.0, 1.0), &on).unwrap();
    assert!(report.outside.is_empty() && report.clearance == 0.0, "{report:?}");
    assert_eq!(check(&cube(-1.0, 1.0), &[]).unwrap().clearance, 0.0);
}

#[test]
fn the_number_of_vertices_has_limits() {
    let ten = ball(2, 4);
    assert_eq!(ten.positions.len(), 10);
    assert!(check(&ten, &[Vec3::ZERO]).is_ok());
    let tetrahedron = CageMesh {
        positions: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
        faces: vec![vec![0, 2, 1], vec![0, 1, 3], vec![0, 3, 2], vec![1, 2, 3]],
    };
    assert!(check(&tetrahedron, &[Vec3::splat(0.1)]).is_ok());
    let many = ball(99, 101);
    assert!(many.positions.len() > 10_000);
    let text = refused(&many, &[Vec3::ZERO]);
    assert!(text.contains("500") && text.contains("8 to a few hundred"), "{text}");
    let mut few = cube(0.0, 1.0);
    few.positions.truncate(3);
    assert!(refused(&few, &[]).contains("3 vertices"));
    assert!(refused(&CageMesh::default(), &[]).contains("0 vertices"));
    assert!(check(&ball(20, 24), &[Vec3::ZERO]).is_ok(), "482 vertices");
}

#[test]
fn invalid_faces_are_named() {
    let with = |face: Vec<u32>| {
        let mut mesh = cube(-1.0, 1.0);
        mesh.faces[3] = face;
        mesh
    };
    assert!(refused(&with(vec![2, 6, 9, 3]), &[]).contains("face 3 names vertex 9"));
    assert!(refused(&with(vec![2, 6, 7, 6]), &[]).contains("face 3 has vertex 6 twice"));
    assert!(refused(&with(vec![2, 6]), &[]).contains("face 3 has 2 corners"));
    assert!(refused(&with(vec![2, 6, 7, 3, 1]), &[]).contains("face 3 has 5 corners"));
    let mut mesh = cube(-1.0, 1.0);
    mesh.positions[6].y = f64::NAN;
    assert!(refused(&mesh, &[]).contains("vertex 6"));
    mesh.positions[6].y = f64::INFINITY;
    assert!(refused(&mesh, &[]).contains("vertex 6"));
    let mut mesh = cube(-1.0, 1.0);
    mesh.positions.push(DVec3::ZERO);
    assert!(refused(&mesh, &[]).contains("vertex 8 belongs to no face"));
    let mut mesh = cube(-1.0, 1.0);
    mesh.positions[2] = DVec3::new(0.0, 0.0, -1.0);
    assert!(refused(&mesh, &[]).contains("in a line"));
    mesh.faces.clear();
    assert!(refused(&mesh, &[]).contains("belongs to no face"));
}

#[test]
fn open_and_inconsistent_cages_are_refused() {
    let mut open = cube(-1.0, 1.0);
    open.faces.remove(5);
    let text = refused(&open, &[]);
    assert!(text.contains("vertices 1 and 3") && text.contains("1 face"), "{text}");
    let mut mixed = cube(-1.0, 1.0);
    mixed.faces[0].reverse();
    assert!(refused(&mixed, &[]).contains("different sides"));
    let mut wall = cube(-1.0, 1.0);
    wall.faces.push(vec![0, 1, 7, 6]);
    assert!(refused(&wall, &[]).contains("3 faces"));
}

#[test]
fn doubled_vertices_are_named() {
    let mut mesh = cube(-1.0, 1.0);
    let other = cube(1.0, 2.0);
    add(&mut mesh, &other, DVec3::ZERO);
    // Corner 7 of the first cube and corner 0 of the second one.
    assert!(refused(&mesh, &[]).contains("vertices 7 and 8"));
    let mut mesh = cube(0.0, 1.0);
    mesh.positions[3] = mesh.positions[7];
    assert!(refused(&mesh, &[]).contains("vertices 3 and 7"));
    let mut mesh = cube(0.0, 1.0);
    mesh.positions[1] = DVec3::new(-0.0, 0.0, 0.0);
    assert!(refused(&mesh, &[]).contains("vertices 0 and 1"), "a negative zero");
}

#[test]
fn an_inside_out_cage_is_turned_over() {
    let mut mesh = cube(-1.0, 1.0);
    mesh.faces.iter_mut().for_each(|face| face.reverse());
    let report = check(&mesh, &[Vec3::ZERO]).unwrap();
    assert!(report.turned_over && report.outside.is_empty());
    assert!(report.warning().unwrap().contains("inside out"));
    let (turned, told) = oriented(&mesh);
    assert!(told && !oriented(&turned).1);
    assert!(!check(&turned, &[Vec3::ZERO]).unwrap().turned_over);
    // Parts that disagree cannot be repaired.
    add(&mut mesh, &cube(-1.0, 1.0), 5.0 * DVec3::X);
    assert!(refused(&mesh, &[]).contains("point to opposite sides"));
}

#[test]
fn crossings_touches_and_folds_are_refused() {
    let mut mesh = cube(-1.0, 1.0);
    add(&mut mesh, &cube(-1.0, 1.0), DVec3::new(1.5, 0.3, 0.2));
    assert!(refused(&mesh, &[]).contains("cross or touch"));
    // A corner that touches a face.
    let mut mesh = cube(-1.0, 1.0);
    let tip = CageMesh {
        positions: vec![
            DVec3::X,
            DVec3::new(2.0, 0.0, 0.0),
            DVec3::new(2.0, 1.0, 0.0),
            DVec3::new(2.0, 0.0, 1.0),
        ],
        faces: vec![vec![0, 2, 1], vec![0, 1, 3], vec![0, 3, 2], vec![1, 2, 3]],
    };
    add(&mut mesh, &tip, DVec3::ZERO);
    assert!(refused(&mesh, &[]).contains("cross or touch"));
    // A corner passes through the opposite face. Some of the faces that cross share a vertex, others share none.
    let mut mesh = cube(-1.0, 1.0);
    mesh.positions[7] = DVec3::new(-0.5, -0.6, -1.5);
    assert!(refused(&mesh, &[]).contains("cross or touch"));
    // An apex in the plane of the base folds two triangles over each other.
    let mut mesh = CageMesh {
        positions: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(0.2, 0.2, -1.0)],
        faces: [[0, 1, 3], [1, 2, 3], [2, 0, 3], [1, 0, 4], [2, 1, 4], [0, 2, 4]]
            .map(|t| t.to_vec())
            .to_vec(),
    };
    assert!(check(&mesh, &[]).is_ok());
    mesh.positions[4] = DVec3::new(1.0, 1.0, -1.0);
    mesh.positions[3] = DVec3::new(2.0, 2.0, -2.0);
    assert!(refused(&mesh, &[]).contains("cross or touch"), "a triangle lies on another one");
    // A flat pillow has no volume.
    let flat = CageMesh {
        positions: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(1.0, 1.0, 0.0)],
        faces: vec![vec![0, 1, 3], vec![0, 3, 2], vec![0, 3, 1], vec![0, 2, 3]],
    };
    assert!(check(&flat, &[]).is_err());
    let mut flat = ball(1, 4);
    flat.positions.iter_mut().for_each(|x| x.y *= 1e-10);
    assert!(refused(&flat, &[]).contains("no volume"));
}

#[test]
fn some_of_the_skin_may_be_outside() {
    let skin = |outside: usize| -> Vec<Vec3> {
        (0..100)
            .map(|v| if v < outside { Vec3::new(1.0 + 0.1 * v as f32 + 0.1, 0.0, 0.0) } else { Vec3::ZERO })
            .collect()
    };
    let report = check(&cube(-1.0, 1.0), &skin(5)).unwrap();
    assert_eq!(report.outside, [0, 1, 2, 3, 4]);
    assert!((report.farthest - 0.5 / 12f64.sqrt()).abs() < 1e-6, "{report:?}");
    assert!(report.warning().unwrap().contains("5 skin vertices"));
    let text = refused(&cube(-1.0, 1.0), &skin(6));
    assert!(text.contains("6 of 100") && text.contains("skin vertex 5"), "{text}");
    assert!(refused(&cube(5.0, 6.0), &skin(0)).contains("100 of 100"));
    // Another part of the cage may hold the rest of the skin.
    let mut two = cube(-1.0, 1.0);
    add(&mut two, &cube(-1.0, 1.0), 5.0 * DVec3::X);
    assert!(check(&two, &[Vec3::ZERO, 5.0 * Vec3::X]).unwrap().outside.is_empty());
}

#[test]
fn winding_numbers_agree_with_solid_angles() {
    let mut mesh = ball(7, 9);
    mesh.positions.iter_mut().enumerate().for_each(|(v, x)| *x *= 1.0 + 0.3 * (v as f64 * 1.3).sin());
    let surface = Surface::new(&mesh);
    // The solid angle of a triangle after Van Oosterom, Strackee, 1983.
    let angle = |x: DVec3| -> f64 {
        let of = |t: [u32; 3]| {
            let [a, b, c] = t.map(|v| mesh.positions[v as usize] - x);
            let [la, lb, lc] = [a, b, c].map(|v| v.length());
            let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
            2.0 * a.dot(b.cross(c)).atan2(below)
        };
        mesh.triangles().map(of).sum::<f64>() / (4.0 * std::f64::consts::PI)
    };
    for k in 0..2000 {
        let k = f64::from(k);
        let x = 1.3 * DVec3::new((k * 0.71).sin(), (k * 1.13).sin(), (k * 1.97).sin());
        assert_eq!(surface.winding(x), angle(x).round() as i32, "{x}");
        let brute = (0..surface.triangles.len()).map(|t| distance_squared(x, surface.corners(t)).sqrt());
        assert_eq!(surface.distance(x, f64::INFINITY), brute.fold(f64::INFINITY, f64::min));
    }
}

#[test]
fn published_cages_are_accepted() {
    let files = [
        ("cages/supercages_arm/arm_cage.obj", "cages/supercages_arm/arm.obj", 58),
        ("cages/cagelab_armadillo/armadillo_cage.obj", "cages/cagelab_armadillo/armadillo.obj", 110),
        ("cages/qmvc_beast/Beast_Cage.obj", "cages/qmvc_beast/Beast.obj", 152),
    ];
    for (cage, skin, count) in files {
        let (Some(cage), Some(skin)) = (shared(cage), shared(skin)) else { return };
        let (mesh, skin) = (read_obj(&cage).unwrap(), vertices(&skin));
        let begin = std::time::Instant::now();
        let report = check(&mesh, &skin).unwrap();
        println!(
            "{}: {} vertices, {} faces, {} of {} outside, farthest {:.4}, clearance {:.5}, turned over {}, {:?}",
            cage.display(),
            report.vertices,
            report.faces,
            report.outside.len(),
            skin.len(),
            report.farthest,
            report.clearance,
            report.turned_over,
            begin.elapsed()
        );
        assert_eq!(report.vertices, count);
    }
}
