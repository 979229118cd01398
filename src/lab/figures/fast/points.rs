//! Bodies without a skeleton that a few points pose: figures 3 and 14 of the FAST paper.

use super::held::{Held, Move, bare, nearest};
use super::{WHOLE, framing};
use crate::base::Result;
use crate::base::math::{DMat3, DQuat, Quat, Vec3};
use crate::generate;
use crate::geom::fit_rotation;
use crate::lab::figures::easel::Easel;
use crate::render::Lines;
use crate::scene::{Cell, Model};
use std::f32::consts::{PI, TAU};
use std::sync::Arc;

/// The elephant's points: feet, rump, head, tip of the trunk.
const ELEPHANT: [Vec3; 7] = [
    Vec3::new(0.19, 0.0, 0.27),
    Vec3::new(-0.19, 0.0, 0.27),
    Vec3::new(0.19, 0.0, -0.28),
    Vec3::new(-0.19, 0.0, -0.28),
    Vec3::new(0.0, 1.02, -0.38),
    Vec3::new(0.0, 1.12, 0.62),
    Vec3::new(0.0, 0.13, 1.05),
];
/// The pseudo-edges between the elephant's points.
const EDGES: [[usize; 2]; 8] = [[0, 5], [1, 5], [2, 4], [3, 4], [4, 5], [5, 6], [0, 2], [1, 3]];

/// Returns the transforms of points that pseudo-edges determine (Jacobson et al. 2011, section 5): a point rotates as its
/// edges do.
fn by_edges(rest: &[Vec3], moves: &[Move]) -> Vec<Move> {
    let rotation = |k: usize| {
        let mut covariance = DMat3::ZERO;
        let mut only = Vec::new();
        for edge in EDGES.iter().filter(|e| e.contains(&k)) {
            let other = if edge[0] == k { edge[1] } else { edge[0] };
            let (a, b) = (rest[other] - rest[k], rest[other] + moves[other].by - rest[k] - moves[k].by);
            let (from, to) = (a.normalize().as_dvec3(), b.normalize().as_dvec3());
            covariance += DMat3::from_cols(from * to.x, from * to.y, from * to.z);
            only.push(Quat::from_rotation_arc(a.normalize(), b.normalize()));
        }
        match only[..] {
            [turn] => turn,
            _ => fit_rotation(covariance, DQuat::IDENTITY).as_quat(),
        }
    };
    (0..rest.len()).map(|k| Move::full(moves[k].by, rotation(k))).collect()
}

pub(super) fn elephant(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let (positions, triangles) = generate::elephant(12_000);
    let model = bare(positions, triangles)?;
    let grips = ELEPHANT.map(|p| nearest(&model, p));
    let view = ([58.0, 10.0], [440, 400]);
    let stay = Move::place(0.0, 0.0, 0.0);
    let mut trunk = [stay; 7];
    trunk[6] = Move::place(0.0, 0.50, -0.16);
    let mut body = [stay; 7];
    (0..2).for_each(|k| body[k] = Move::place(0.0, 0.0, -0.30));
    body[5] = Move::place(0.0, 0.0, -0.34);
    body[6] = Move::place(0.0, 0.0, -0.34);
    let mut both = body;
    both[6] = Move::place(0.0, 0.55, -0.45);
    let columns =
        [([stay; 7], "7 points"), (trunk, "trunk pushed in"), (body, "body pushed together"), (both, "both")];
    let mut rows = vec![Vec::new(), Vec::new()];
    for (row, (edges, label, extra)) in rows.iter_mut().zip([(true, "pseudo-edges", 0), (false, "FAST", 15)])
    {
        let mut held = Held::new(easel, &model, &grips, &[("extra", extra.into())], view)?;
        held.sitter.frame = Some(framing(Vec3::new(-0.4, 0.0, -0.65), Vec3::new(0.4, 1.35, 1.05)));
        let rest = held.centers();
        for (moves, caption) in &columns {
            let shape = held.pose(&if edges { by_edges(&rest, moves) } else { moves.to_vec() })?;
            let mut lines = Lines::default();
            let at = |k: usize| rest[k] + moves[k].by;
            for [a, b] in EDGES.iter().filter(|_| edges) {
                lines.polyline(&[at(*a), at(*b)], WHOLE, 3.0, 1.0);
            }
            held.dots(&shape, &mut lines);
            row.push(held.sitter.picture(&shape, &lines, &format!("{caption}\n{label}"))?);
        }
    }
    Ok(rows)
}

/// The balls of the bubble man on his left side and in the middle: centre and radius, metres.
const BALLS: [(f32, f32, f32); 11] = [
    (0.0, 1.52, 0.19),
    (0.0, 1.27, 0.09),
    (0.0, 1.05, 0.21),
    (0.0, 0.80, 0.18),
    (0.0, 0.60, 0.19),
    (0.25, 1.13, 0.11),
    (0.43, 1.11, 0.10),
    (0.60, 1.09, 0.11),
    (0.14, 0.42, 0.13),
    (0.18, 0.23, 0.11),
    (0.19, 0.07, 0.12),
];

/// Appends a ball to a mesh.
fn add_ball(center: Vec3, radius: f32, positions: &mut Vec<Vec3>, triangles: &mut Vec<[u32; 3]>) {
    let (rings, around) = (18u32, 32u32);
    let first = positions.len() as u32;
    positions.extend([center + Vec3::Y * radius, center - Vec3::Y * radius]);
    for i in 1..rings {
        let (sin, cos) = (PI * i as f32 / rings as f32).sin_cos();
        for j in 0..around {
            let (s, c) = (TAU * j as f32 / around as f32).sin_cos();
            positions.push(center + radius * Vec3::new(sin * s, cos, sin * c));
        }
    }
    let at = |i: u32, j: u32| match i {
        0 => first,
        i if i == rings => first + 1,
        i => first + 2 + (i - 1) * around + j % around,
    };
    for (i, j) in (0..rings).flat_map(|i| (0..around).map(move |j| (i, j))) {
        let quad = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        if i + 1 < rings {
            triangles.push([quad[0], quad[1], quad[2]]);
        }
        if i > 0 {
            triangles.push([quad[0], quad[2], quad[3]]);
        }
    }
}

/// Returns the centres and radii of all balls, metres.
fn balls() -> Vec<(Vec3, f32)> {
    let sides = |(x, y, radius): &(f32, f32, f32)| {
        let both = if *x > 0.0 { vec![*x, -x] } else { vec![0.0] };
        both.into_iter().map(|x| (Vec3::new(x, *y, 0.0), *radius)).collect::<Vec<_>>()
    };
    BALLS.iter().flat_map(sides).collect()
}

/// Builds the bubble man, and the points at his head, hands and feet.
fn bubble_man() -> Result<(Arc<Model>, [Vec<u32>; 5])> {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    balls().into_iter().for_each(|(x, radius)| add_ball(x, radius, &mut positions, &mut triangles));
    let model = bare(positions, triangles)?;
    let front = |k: usize, side: f32| {
        let (x, y, radius) = BALLS[k];
        nearest(&model, Vec3::new(side * x, y, radius))
    };
    let points = [front(0, 1.0), front(7, 1.0), front(7, -1.0), front(10, 1.0), front(10, -1.0)];
    Ok((model, points))
}

pub(super) fn bubbles(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let (model, grips) = bubble_man()?;
    let mut held = Held::new(easel, &model, &grips, &[], ([12.0, 6.0], [380, 480]))?;
    held.sitter.frame = Some(framing(Vec3::new(-0.75, -0.05, -0.2), Vec3::new(0.75, 1.75, 0.2)));
    let place = Move::place;
    let poses = [
        ("5 points, 17 balls", [place(0.0, 0.0, 0.0); 5]),
        (
            "leaning",
            [
                place(0.30, -0.12, 0.0),
                place(0.0, 0.45, 0.0),
                place(0.20, -0.50, 0.0),
                place(0.0, 0.0, 0.0),
                place(0.0, 0.0, 0.0),
            ],
        ),
        (
            "jumping",
            [
                place(0.0, 0.10, 0.0),
                place(-0.15, 0.55, 0.0),
                place(0.15, 0.55, 0.0),
                place(0.30, 0.22, 0.0),
                place(-0.30, 0.22, 0.0),
            ],
        ),
        (
            "running",
            [
                place(0.05, -0.05, 0.15),
                place(-0.30, -0.15, 0.40),
                place(0.30, -0.25, -0.40),
                place(0.0, 0.25, -0.35),
                place(0.0, 0.05, 0.40),
            ],
        ),
    ];
    let row: Result<Vec<Cell>> = poses.iter().map(|(caption, moves)| held.shot(moves, caption)).collect();
    Ok(vec![row?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{GripId, Progress};
    use crate::deform::fast::{Acceleration, Body, Constraint, GripShape, Grips, Params, Solver, Target};

    /// Figure 14 of the paper: the weights hold pieces together that no edge connects.
    #[test]
    fn seventeen_balls_pose_as_one_body() {
        let (model, points) = bubble_man().unwrap();
        let x = &model.bound.character.control.positions;
        let shape = |(k, v): (usize, &Vec<u32>)| GripShape { id: GripId::from(k), vertices: v.clone() };
        let grips = Grips::new(points.iter().enumerate().map(shape).collect());
        let params = Params { grips, ..Params::deformer() };
        let body = Body::gripped(None, &model.bound.character, &params, &Progress::default()).unwrap();
        let at = |k: usize| x[points[k][0] as usize];
        let moves = [[0.2, -0.1, 0.0], [0.0, 0.4, 0.0], [0.2, -0.4, 0.0], [0.0; 3], [0.0; 3]].map(Vec3::from);
        let constraints = (0..5).map(|k| Constraint::on_handle(k, at(k))).collect();
        let constrained = body.reduced.constrain(constraints).unwrap();
        let mut solver = Solver::new(&body.reduced, &constrained);
        let targets: Vec<_> = (0..5).map(|k| Target::Point((at(k) + moves[k]).as_dvec3())).collect();
        solver.set_targets(&body.reduced, &constrained, &targets);
        solver.solve(300, Acceleration::Anderson);
        let maps = solver.transforms(&body.reduced);
        let skinned = |v: usize| -> Vec3 {
            let of = body.reduced.weights.of(v);
            of.map(|(j, w)| maps[j].transform_point3(x[v]) * w as f32).sum()
        };
        for k in 0..5 {
            assert!(skinned(points[k][0] as usize).distance(at(k) + moves[k]) < 1e-3, "{k}");
        }
        let balls = balls();
        assert_eq!(balls.len(), 17);
        let center = |(c, radius): &(Vec3, f32)| {
            let own: Vec<Vec3> =
                (0..x.len()).filter(|&v| (x[v].distance(*c) - radius).abs() < 1e-4).map(skinned).collect();
            own.iter().sum::<Vec3>() / own.len() as f32
        };
        let posed: Vec<Vec3> = balls.iter().map(center).collect();
        let mut met = 0;
        for i in 0..balls.len() {
            for j in 0..i {
                let ((a, ra), (b, rb)) = (balls[i], balls[j]);
                if a.distance(b) < ra + rb {
                    met += 1;
                    let now = posed[i].distance(posed[j]);
                    assert!(now < 1.3 * (ra + rb), "balls {i} and {j}: {} m, now {now} m", a.distance(b));
                }
            }
        }
        assert!(met >= 16, "{met}");
    }
}
