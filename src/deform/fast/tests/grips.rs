//! Tests of points and regions of a surface as handles.

use super::*;

/// Returns a tube without weights, and the vertex nearest to each point.
fn bare(points: &[Vec3]) -> (Made, Vec<Vec<u32>>) {
    let mut made = cylinder(4);
    made.weights = Influences::default();
    made.handles.clear();
    let grips = points.iter().map(|p| vec![nearest(&made, *p)]).collect();
    (made, grips)
}

fn nearest(made: &Made, p: Vec3) -> u32 {
    let away = |v: &u32| made.positions[*v as usize].distance(p);
    (0..made.positions.len() as u32).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap()
}

fn bound(made: &Made, grips: &[Vec<u32>], extra: u32) -> Reduced {
    let params = Params { extra, ..Params::default() };
    bind_grips(&made.positions, &made.triangles, grips, &params, &|_| true).unwrap().unwrap()
}

/// Solves for the skin with every grip's pivot at a place, except grips without one, which are free.
fn solved(made: &Made, reduced: &Reduced, places: &[Option<DVec3>]) -> (Vec<DVec3>, f64) {
    let pivot = |k: usize| (reduced.pivots[k] * reduced.size + reduced.center).as_vec3();
    let held: Vec<(usize, DVec3)> = places.iter().enumerate().filter_map(|(k, x)| Some((k, (*x)?))).collect();
    let set = held.iter().map(|(k, _)| Constraint::on_handle(*k, pivot(*k))).collect();
    let constrained = reduced.constrain(set).unwrap();
    let mut solver = Solver::new(reduced, &constrained);
    solver.set_targets(reduced, &constrained, &held.iter().map(|h| Target::Point(h.1)).collect::<Vec<_>>());
    for _ in 0..20 {
        solver.solve(50, Acceleration::Anderson);
    }
    (made.skinned(reduced, &solver.exact(reduced)), solver.energy(reduced))
}

#[test]
fn six_points_on_a_bare_mesh_pose_it() {
    let heights = [0.0, 0.8, 1.6, 2.4, 3.2, 4.0];
    let sides = [0.25, -0.25, 0.25, -0.25, 0.25, -0.25];
    let points: Vec<Vec3> = heights.iter().zip(sides).map(|(y, x)| Vec3::new(x, *y, 0.0)).collect();
    let (made, grips) = bare(&points);
    let reduced = bound(&made, &grips, 8);
    assert_eq!((reduced.given, reduced.handles), (6, 14));
    let rest: Vec<DVec3> = grips.iter().map(|g| made.positions[g[0] as usize].as_dvec3()).collect();
    let (same, energy) = solved(&made, &reduced, &rest.iter().map(|x| Some(*x)).collect::<Vec<_>>());
    assert!(energy.abs() < 1e-6 * reduced.offset, "{energy}");
    assert!(same.iter().zip(&made.positions).all(|(a, b)| a.distance(b.as_dvec3()) < 1e-4));
    // The tube becomes an arc of one radian.
    let bent = |x: &DVec3| {
        let (angle, radius) = (x.y / 4.0, 4.0);
        let (sin, cos) = angle.sin_cos();
        DVec3::new(radius - (radius - x.x) * cos, (radius - x.x) * sin, x.z)
    };
    let all: Vec<Option<DVec3>> = rest.iter().map(|x| Some(bent(x))).collect();
    let (skin, _) = solved(&made, &reduced, &all);
    let off = |skin: &[DVec3]| {
        let far = skin.iter().zip(&made.positions).map(|(a, b)| a.distance(bent(&b.as_dvec3())));
        far.fold(0.0, f64::max)
    };
    for (grip, x) in grips.iter().zip(&all) {
        assert!(skin[grip[0] as usize].distance(x.unwrap()) < 1e-4);
    }
    // The arc is near the least energy, so the skin between the points is near the arc too.
    assert!(off(&skin) < 0.15, "{}", off(&skin));
    // Points that are not held follow the others.
    let three: Vec<Option<DVec3>> = all.iter().enumerate().map(|(k, x)| x.filter(|_| k % 2 == 1)).collect();
    let (skin, _) = solved(&made, &reduced, &three);
    assert!(off(&skin) < 0.6, "{}", off(&skin));
    assert!(skin[grips[4][0] as usize].distance(rest[4]) > 0.5);
}

#[test]
fn regions_follow_their_transforms_and_abstract_handles_lower_the_energy() {
    let (made, _) = bare(&[]);
    let end = |top: bool| -> Vec<u32> {
        let inside = |v: &u32| {
            if top { made.positions[*v as usize].y > 3.6 } else { made.positions[*v as usize].y < 0.4 }
        };
        (0..made.positions.len() as u32).filter(inside).collect()
    };
    let grips = [end(false), end(true)];
    let energy = [0, 15].map(|extra| {
        let reduced = bound(&made, &grips, extra);
        let set = (0..2).map(|handle| Constraint::Full { handle }).collect();
        let constrained = reduced.constrain(set).unwrap();
        let mut solver = Solver::new(&reduced, &constrained);
        let maps = [DAffine3::IDENTITY, turned(-1.2, DVec3::Y * 2.0)];
        solver.set_targets(&reduced, &constrained, &maps.map(Target::Map));
        solver.solve(200, Acceleration::Anderson);
        let skin = made.skinned(&reduced, &solver.exact(&reduced));
        for (grip, map) in grips.iter().zip(maps) {
            for &v in grip {
                let x = map.transform_point3(made.positions[v as usize].as_dvec3());
                assert!(skin[v as usize].distance(x) < 1e-4, "{v}");
            }
        }
        solver.energy(&reduced)
    });
    assert!(energy[1] < 0.8 * energy[0], "{energy:?}");
}

#[test]
fn grips_that_cannot_work_are_refused_by_name() {
    let (made, grips) = bare(&[Vec3::ZERO, Vec3::Y * 4.0]);
    let refused = |grips: &[Vec<u32>]| {
        let made = bind_grips(&made.positions, &made.triangles, grips, &Params::default(), &|_| true);
        made.unwrap_err().to_string()
    };
    assert!(refused(&[]).contains("no vertex"));
    assert!(refused(&[vec![1_000_000]]).contains("no vertex"));
    assert!(refused(&[grips[0].clone(), Vec::new()]).contains("grip 2"));
    assert!(refused(&[grips[0].clone(), grips[1].clone(), grips[0].clone()]).contains("grips 1 and 3"));
    let bare = bind_grips(&made.positions, &[], &grips, &Params::default(), &|_| true);
    assert!(bare.unwrap_err().to_string().contains("no triangles"));
    let cancelled = bind_grips(&made.positions, &made.triangles, &grips, &Params::default(), &|_| false);
    assert!(cancelled.unwrap().is_none());
}
