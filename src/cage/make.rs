//! Makes a cage around any mesh.
//!
//! A grid samples the mesh with a margin as a solid ([`field`]), and the solid's surface becomes a closed mesh
//! ([`contour`]). A progressive hull reduces the vertices of this mesh without uncovering the skin ([`hull`]). Then the
//! vertices move towards the skin ([`tighten`]). [`check`] verifies the result.

mod contour;
mod field;
mod hull;
mod nearest;
mod tighten;

use super::CageMesh;
use super::check::check;
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, Progress, Result};
use contour::{contour, symmetric_contour};
use field::{Field, Shape};
use hull::{Hull, Symmetry};
use tighten::{Samples, tighten};

/// Smallest and largest number of vertices that a caller can ask for.
pub const WANTED: std::ops::RangeInclusive<usize> = 8..=500;
/// Accepted excess of vertices, as a fraction of the wanted number.
const EXCESS: f64 = 0.1;
/// Stages of the reduction. Each stage reduces the number of vertices to a multiple of the wanted number, then moves
/// the vertices towards the skin in a number of passes. The last numbers are the range of the progress. An early move
/// keeps a coarse cage from growing.
const STAGES: [(usize, usize, [f32; 2]); 3] = [(4, 2, [0.1, 0.8]), (2, 2, [0.8, 0.85]), (1, 6, [0.85, LATE])];
/// Progress after the first trial.
const LATE: f32 = 0.9;
/// Maximum number of trials, each with a coarser grid than the one before.
const TRIALS: usize = 5;
/// Largest number of vertices of the contour, unless the caller wants many vertices. The time grows with this number.
const CONTOUR: f64 = 18_000.0;
/// Maximum number of contours per trial in the search for a good number of vertices.
const ROUNDS: usize = 3;
/// Largest number of grid steps along the longest side.
const FINEST: f64 = 160.0;

/// Makes a cage of about `wanted` vertices (clamped to 8..=500) around a mesh, in the mesh's unit and space. The cage
/// is one closed part of triangles that does not cross itself, with every vertex of the mesh inside. Any mesh is
/// allowed: open, crossing or non-manifold, with several parts, without triangles. Bridges join parts of the mesh that
/// are apart. If a cage of `wanted` vertices would cross itself, the cage has the smallest number of vertices that was
/// found without a crossing. `mirror` is the axis across a plane of symmetry and the plane's coordinate on it; then the
/// cage is symmetric, too, unless that fails. The result depends only on the arguments. Reports `progress` from 0 to 1.
///
/// # Errors
/// [`Error::Input`] if there are no vertices, a position is not finite, an index is out of range, no cage can be
/// found, or `progress` was cancelled.
pub fn make_cage(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    wanted: usize,
    mirror: Option<(usize, f64)>,
    progress: &Progress,
) -> Result<CageMesh> {
    let wanted = wanted.clamp(*WANTED.start(), *WANTED.end());
    if positions.is_empty() {
        return Err(Error::input(
            "there are no vertices to put a cage around",
            "choose a character with a mesh",
        ));
    }
    if let Some(v) = positions.iter().position(|x| !x.is_finite()) {
        return Err(Error::input(format!("vertex {v} has a position that is not finite"), "repair the mesh"));
    }
    if let Some(t) = triangles.iter().position(|t| t.iter().any(|v| *v as usize >= positions.len())) {
        return Err(Error::input(
            format!("triangle {t} names a vertex that does not exist"),
            "repair the mesh",
        ));
    }
    let exact: Vec<DVec3> = positions.iter().map(|x| x.as_dvec3()).collect();
    let symmetric = mirror.map(|(axis, middle)| {
        let shape = Shape::new_symmetric(&exact, triangles, (axis, middle));
        reduced(&shape, Some((axis, middle)), (positions, wanted), progress)
    });
    let shape = Shape::new(exact, triangles);
    let cage = match symmetric.transpose()?.flatten() {
        Some(cage) => Some(cage),
        None => reduced(&shape, None, (positions, wanted), progress)?.or_else(|| boxed(&shape, positions)),
    };
    progress.report(1.0);
    cage.ok_or_else(|| {
        Error::input("no cage encloses this mesh", "make a cage in a modelling program and import it")
    })
}

/// Makes a cage by reducing the contour of a shape, which `mirror` makes symmetric. Returns `None` if the cage crosses
/// itself or does not enclose the positions.
fn reduced(
    shape: &Shape,
    mirror: Option<(usize, f64)>,
    (positions, wanted): (&[Vec3], usize),
    progress: &Progress,
) -> Result<Option<CageMesh>> {
    // Choose enough steps to separate limbs, and to give the contour several times the wanted number of vertices.
    let mut steps = (5.5 * (wanted as f64).sqrt()).clamp(24.0, 84.0);
    let mut best: Option<CageMesh> = None;
    for trial in 0..TRIALS {
        let (step, points, faces, partner) = surface(shape, mirror.map(|m| m.0), &mut steps, wanted);
        let symmetry = mirror.map(|(axis, _)| Symmetry { axis, partner, broken: false });
        let mut hull = Hull::new(points, faces, step, symmetry);
        let samples = Samples::new(shape, step);
        for (factor, passes, span) in STAGES {
            // Further trials are rare, so they do not advance the progress.
            let span = if trial == 0 { span } else { [LATE; 2] };
            let goes_on = hull.simplify(factor * wanted, span, progress)
                && tighten(&mut hull, &samples, passes, progress);
            if !goes_on {
                return Err(Error::input("making a cage was cancelled", "start it again to get a cage"));
            }
        }
        let (mut points, faces) = hull.finish();
        if let Some((axis, middle)) = mirror {
            points.iter_mut().for_each(|x| x[axis] += middle);
        }
        let cage = CageMesh { positions: points, faces: faces.iter().map(|f| f.to_vec()).collect() };
        let whole = hull.mirror.is_none_or(|m| !m.broken);
        let proven = whole
            && check(&cage, positions).is_ok_and(|report| report.outside.is_empty() && !report.turned_over);
        let fewer = best.as_ref().is_none_or(|b| cage.positions.len() < b.positions.len());
        if proven && fewer {
            best = Some(cage);
        }
        let most = wanted as f64 * (1.0 + EXCESS);
        if best.as_ref().is_some_and(|b| b.positions.len() as f64 <= most) {
            break;
        }
        // A coarser solid has fewer handles and less detail.
        steps *= 0.7;
    }
    Ok(best)
}

/// Returns the grid step, and the vertices, faces and partners of the contour; without `axis` across a plane of symmetry,
/// there are no partners. Changes the number of grid steps along the longest side so that the contour has neither too few
/// nor too many vertices.
fn surface(
    shape: &Shape,
    axis: Option<usize>,
    steps: &mut f64,
    wanted: usize,
) -> (f64, Vec<DVec3>, Vec<[u32; 3]>, Vec<u32>) {
    let (least, most) = (3.0 * wanted as f64, CONTOUR.max(8.0 * wanted as f64));
    let mut rounds = 0;
    loop {
        let step = shape.size() / *steps;
        let field = Field::new(shape, step, axis);
        let (points, faces, partner) = match axis {
            Some(axis) => symmetric_contour(&field, axis),
            None => {
                let (points, faces) = contour(&field, [0; 3]);
                (points, faces, Vec::new())
            }
        };
        let found = points.len() as f64;
        // The number of vertices grows with the square of the number of steps, but more slowly for thin shapes.
        let factor = if found < least { 1.2 * least / found } else { (0.9 * most / found).sqrt() };
        let next = (*steps * factor).min(FINEST);
        rounds += 1;
        if rounds == ROUNDS || (least..=most).contains(&found) || next == *steps {
            return (step, points, faces, partner);
        }
        *steps = next;
    }
}

/// Returns a box around a shape, as the last resort.
fn boxed(shape: &Shape, positions: &[Vec3]) -> Option<CageMesh> {
    let frame = DVec3::splat(0.05 * shape.size());
    let ends = [shape.low - frame, shape.high + frame];
    let corner = |n: usize| DVec3::new(ends[n & 1].x, ends[n >> 1 & 1].y, ends[n >> 2].z);
    let quads: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let faces = quads.iter().flat_map(|q| [vec![q[0], q[1], q[2]], vec![q[0], q[2], q[3]]]).collect();
    let cage = CageMesh { positions: (0..8).map(corner).collect(), faces };
    check(&cage, positions).is_ok_and(|report| report.outside.is_empty()).then_some(cage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Asset;
    use crate::bind::Character;
    use crate::cage::testing::{ball, shared};
    use crate::rig::Mirror;
    use std::path::Path;

    /// Makes a cage, checks it, and prints what it cost.
    fn made(name: &str, positions: &[Vec3], triangles: &[[u32; 3]], wanted: usize) -> CageMesh {
        let begin = std::time::Instant::now();
        let cage = make_cage(positions, triangles, wanted, None, &Progress::default()).unwrap();
        let took = begin.elapsed().as_secs_f64();
        let report = check(&cage, positions).unwrap();
        println!(
            "| {name} | {} | {wanted} | {} | {took:.2} s | {:.4} |",
            positions.len(),
            report.vertices,
            report.clearance
        );
        assert!(report.outside.is_empty() && !report.turned_over, "{name}");
        assert!(cage.faces.iter().all(|f| f.len() == 3));
        cage
    }

    #[test]
    fn characters_get_cages() {
        let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
        let mut files: Vec<std::path::PathBuf> =
            ["human.glb", "box.glb"].iter().map(|f| assets.join(f)).collect();
        let more = ["khronos/Fox/glTF/Fox.gltf", "khronos/CesiumMan/glTF/CesiumMan.gltf"];
        files.extend(more.iter().filter_map(|path| shared(path)));
        println!("| character | skin | wanted | made | time | clearance |");
        for path in &files {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let control = Character::from_asset(&Asset::load(path).unwrap()).unwrap().control;
            // Only the human gets small and large cages.
            let all = if name == "human" { &[50, 400][..] } else { &[150][..] };
            for &wanted in all {
                made(&name, &control.positions, &control.triangles, wanted);
            }
        }
    }

    #[test]
    fn a_symmetric_character_gets_a_symmetric_cage() {
        let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
        for (file, wanted) in [("human.glb", 60), ("chibi.glb", 120)] {
            let character = Character::from_asset(&Asset::load(assets.join(file)).unwrap()).unwrap();
            let control = &character.control;
            let mirror = Mirror::of_skin(&character.skeleton, &control.positions).unwrap();
            let plane = mirror.plane_of_skin(&control.positions).unwrap();
            let progress = Progress::default();
            let cage =
                make_cage(&control.positions, &control.triangles, wanted, Some(plane), &progress).unwrap();
            let report = check(&cage, &control.positions).unwrap();
            assert!(report.outside.is_empty() && !report.turned_over, "{file}");
            assert!(cage.positions.len() * 10 <= wanted * 11, "{file}: {} vertices", cage.positions.len());
            for x in &cage.positions {
                let there = mirror.reflect_bind(*x);
                let near = cage.positions.iter().map(|y| y.distance(there)).fold(f64::INFINITY, f64::min);
                assert!(near < 1e-9, "{file}: {x} has no partner within {near} m");
            }
            let found = |x: &DVec3| cage.positions.iter().position(|y| y.distance(*x) < 1e-9).unwrap();
            let partner: Vec<usize> =
                cage.positions.iter().map(|x| found(&mirror.reflect_bind(*x))).collect();
            let sorted = |face: &[u32], by: &dyn Fn(usize) -> usize| {
                let mut face: Vec<usize> = face.iter().map(|v| by(*v as usize)).collect();
                face.sort_unstable();
                face
            };
            let faces: Vec<Vec<usize>> = cage.faces.iter().map(|f| sorted(f, &|v| v)).collect();
            assert!(cage.faces.iter().all(|f| faces.contains(&sorted(f, &|v| partner[v]))), "{file}");
        }
    }

    #[test]
    fn odd_meshes_get_cages() {
        let point = [Vec3::new(3.0, 4.0, 5.0)];
        made("point", &point, &[], 8);
        made("triangle", &[Vec3::ZERO, Vec3::X, Vec3::Y], &[[0, 1, 2]], 30);
        made("degenerate", &[Vec3::ZERO, Vec3::X], &[[0, 1, 1], [0, 0, 0]], 8);
        let sphere = ball(20, 20);
        let positions: Vec<Vec3> = sphere.positions.iter().map(|x| x.as_vec3()).collect();
        let triangles: Vec<[u32; 3]> = sphere.triangles().collect();
        made("ball", &positions, &triangles, 500);
        let small = made("ball", &positions, &triangles, 8);
        assert_eq!(small, made("ball", &positions, &triangles, 8), "equal calls make equal cages");
        // Three separate balls become one cage.
        let shift = |offset: Vec3| positions.iter().map(move |x| *x + offset);
        let many: Vec<Vec3> =
            shift(Vec3::ZERO).chain(shift(4.0 * Vec3::X)).chain(shift(Vec3::new(2.0, 7.0, 1.0))).collect();
        let count = positions.len() as u32;
        let all: Vec<[u32; 3]> =
            (0..3).flat_map(|k| triangles.iter().map(move |t| t.map(|v| v + k * count))).collect();
        let cage = made("three balls", &many, &all, 100);
        let euler = cage.positions.len() as i64 - cage.edges().len() as i64 + cage.faces.len() as i64;
        assert_eq!(euler, 2, "one part without handles");
        // Balls that cross, and a stray vertex far away.
        let near: Vec<Vec3> =
            shift(Vec3::ZERO).chain(shift(0.7 * Vec3::X)).chain([Vec3::new(0.0, 0.0, 40.0)]).collect();
        let all: Vec<[u32; 3]> =
            (0..2).flat_map(|k| triangles.iter().map(move |t| t.map(|v| v + k * count))).collect();
        made("crossing and stray", &near, &all, 60);
        let tiny: Vec<Vec3> = positions.iter().map(|x| *x * 1e-4 + 1.0).collect();
        made("tiny", &tiny, &triangles, 40);
    }

    #[test]
    fn invalid_meshes_and_cancelling_are_errors() {
        let progress = Progress::default();
        assert!(make_cage(&[], &[], 50, None, &progress).is_err());
        assert!(
            make_cage(&[Vec3::NAN], &[], 50, None, &progress).unwrap_err().to_string().contains("vertex 0")
        );
        assert!(
            make_cage(&[Vec3::ZERO], &[[0, 0, 1]], 50, None, &progress)
                .unwrap_err()
                .to_string()
                .contains("triangle 0")
        );
        progress.cancel();
        let text = make_cage(&[Vec3::ZERO, Vec3::X], &[], 50, None, &progress).unwrap_err().to_string();
        assert!(text.contains("cancelled"), "{text}");
    }
}
