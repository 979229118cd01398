//! Tests of firm and soft regions: the field in the cubes, the shape, the solver, the GPU, contact and dynamics.

use super::motion::{play, stop, sway, swinging};
use super::{assert_follows_placement_and_size, bent, farthest, few, folded, posed, posed_on_gpu};
use crate::base::math::{Aabb, DVec3, Quat, Vec3};
use crate::base::{FirmId, Random};
use crate::bind::VertexRuns;
use crate::deform::blend::Painted;
use crate::deform::testing::{RADIUS, cylinder, rest};
use crate::deform::volume::cells::Cells;
use crate::deform::volume::converge::Flesh;
use crate::deform::volume::firm::{FACTORS, Firm, FirmRegion};
use crate::deform::volume::gold::{Elements, Gold};
use crate::deform::volume::schedule::Stiffness;
use crate::deform::volume::solve::VolumeReference;
use crate::deform::volume::tissue::{LevelStiffness, Tissue};
use crate::deform::volume::*;
use crate::deform::{Bound, CpuGraph, Geometric, Graph, Kernels, Recipe, Streams};
use crate::gpu::testing::{assert_silent, device};
use crate::rig::{Pose, PosedRig};
use std::sync::Arc;

/// A region of the vertices for which `weight` is positive.
pub(super) fn region(bound: &Bound, id: u32, factor: f32, weight: impl Fn(Vec3) -> f32) -> FirmRegion {
    let positions = &bound.character.control.positions;
    let all = (0u32..).zip(positions).map(|(v, x)| (v, weight(*x))).filter(|w| w.1 > 0.0);
    let (vertices, weights): (Vec<u32>, Vec<f32>) = all.unzip();
    FirmRegion {
        id: FirmId(id),
        name: format!("Region {id}"),
        factor,
        vertices: VertexRuns::of(vertices),
        falloff: Painted::new(weights.into_iter()),
    }
}

fn with(params: Params, regions: Vec<FirmRegion>) -> Recipe {
    Recipe { firm: Firm::new(regions), ..Recipe::volume(params) }
}

/// Up to four balls of random factors, some with a falloff.
fn random_regions(bound: &Bound, random: &mut Random) -> Vec<FirmRegion> {
    let positions = &bound.character.control.positions;
    let count = 1 + random.below(4) as u32;
    let mut out: Vec<FirmRegion> = Vec::new();
    for id in 0..count {
        let (centre, radius) = (positions[random.below(positions.len())], 0.1 + 0.6 * random.unit());
        let factor = FACTORS[random.below(2)].powf(0.25 + 0.75 * random.unit());
        let hard = random.below(2) == 0;
        out.push(region(bound, id, factor, |x| {
            let inside = 1.0 - x.distance(centre) / radius;
            if hard { f32::from(u8::from(inside > 0.0)) } else { (2.0 * inside).clamp(0.0, 1.0) }
        }));
    }
    out.retain(|r| !r.vertices.is_empty());
    out
}

fn tissue(cells: &Arc<Cells>, regions: &[FirmRegion]) -> Tissue {
    let mut out = Tissue::new(cells);
    out.set(&Firm::new(regions.to_vec()));
    out
}

/// The nodes at the start of a solve.
fn starts(cells: &Cells, rig: &PosedRig) -> Vec<Vec3> {
    let mut start = Streams::default();
    Geometric::Dqs.bind(&cells.nodes).unwrap().reference(rig, &mut start);
    start.position
}

#[test]
fn the_flesh_is_as_firm_as_the_skin_above_it_down_to_the_bone() {
    let bound = cylinder(2, 24, 32);
    let cells = Arc::new(Cells::bind(&bound.character, 3000));
    let level = &cells.levels[0];
    let middle = |c: usize| -> Vec3 {
        let nodes = &cells.nodes.character.control.positions;
        level.cells[c].iter().map(|&n| nodes[n as usize]).sum::<Vec3>() / 8.0
    };
    let all = |regions: &[FirmRegion]| tissue(&cells, regions).levels[0].weight.clone();
    // Without regions, and with a factor of 1, everything keeps its bits.
    assert_eq!(all(&[region(&bound, 0, 1.0, |_| 1.0)]), vec![1.0; level.cells.len()]);
    // The upper half, then the whole skin.
    for (c, weight) in all(&[region(&bound, 0, 8.0, |x| f32::from(u8::from(x.y > 1.0)))]).iter().enumerate() {
        let (y, h) = (middle(c).y, level.size);
        assert!((0.999..8.001).contains(weight));
        if y > 1.0 + 3.0 * h {
            assert!(*weight > 7.99, "{weight} at {}", middle(c));
        } else if y < 1.0 - 3.0 * h {
            assert!(*weight < 1.001, "{weight} at {}", middle(c));
        }
    }
    assert!(all(&[region(&bound, 0, 0.1, |_| 1.0)]).iter().all(|w| (w / 0.1 - 1.0).abs() < 1e-5));
    // One side: the flesh of that side as far as the axis, not that of the other one.
    for (c, weight) in all(&[region(&bound, 0, 16.0, |x| f32::from(u8::from(x.x > 0.0)))]).iter().enumerate()
    {
        let (x, h) = (middle(c), level.size);
        if (3.0 * h..2.0 - 3.0 * h).contains(&x.y) && x.x.abs() > 2.0 * h {
            assert_eq!(*weight > 4.0, x.x > 0.0, "{weight} at {x}");
        }
    }
}

#[test]
fn coarser_cubes_and_all_nodes_sum_the_factors() {
    let bound = cylinder(3, 16, 24);
    let cells = Arc::new(Cells::bind(&bound.character, 900));
    let mut random = Random::new(4);
    let plain = Tissue::new(&cells);
    for _ in 0..5 {
        let own = tissue(&cells, &random_regions(&bound, &mut random));
        for (k, pair) in own.levels.windows(2).enumerate() {
            let sum = |l: &LevelStiffness| l.weight.iter().map(|w| f64::from(*w)).sum::<f64>();
            assert!((sum(&pair[1]) * 4.0 / sum(&pair[0]) - 1.0).abs() < 1e-5, "level {k}");
        }
        for ((own, plain), level) in own.levels.iter().zip(&plain.levels).zip(&cells.levels) {
            for (n, (node, before)) in own.nodes.iter().zip(&plain.nodes).enumerate() {
                let at = level.at_node.of(n).iter().map(|&c| own.weight[c as usize / 8]);
                let sum: f32 = if level.held[n] { 0.0 } else { at.sum() };
                assert!((node.cubes - sum).abs() <= 1e-5 * sum && node.mass == before.cubes, "{node:?}");
                let range = |v: f32, of: f32| v >= of * FACTORS[0] * 0.999 && v <= of * FACTORS[1] * 1.001;
                assert!(range(node.brace, before.brace) && range(node.core, before.core), "{node:?}");
            }
        }
    }
    // A factor for the whole skin multiplies everything but the mass, and its end restores every bit.
    let mut own = tissue(&cells, &[region(&bound, 0, 4.0, |_| 1.0)]);
    for (node, before) in
        own.levels.iter().flat_map(|l| &l.nodes).zip(plain.levels.iter().flat_map(|l| &l.nodes))
    {
        let four = |v: f32, of: f32| (v - 4.0 * of).abs() <= 1e-4 * of;
        assert!(
            four(node.cubes, before.cubes) && four(node.brace, before.brace) && four(node.core, before.core)
        );
    }
    assert!(own.set(&Firm::default()) && !own.set(&Firm::default()));
    assert_eq!(own.levels, plain.levels);
}

#[test]
fn rest_stays_rigid_motions_pass_and_size_does_not_matter() {
    let bound = cylinder(3, 16, 24);
    let control = &bound.character.control.positions;
    let mut random = Random::new(8);
    let plain = Recipe::volume(few());
    for round in 0..3 {
        let recipe = with(few(), random_regions(&bound, &mut random));
        let still = posed(&bound, &recipe, &rest(&bound));
        let off = farthest(&still, control);
        // A firm cube multiplies the rounding errors of its positions by its factor, which its stiffness divides.
        assert!(off < 2e-5, "{round}: {off}");
        assert!(farthest(&still, &posed(&bound, &plain, &rest(&bound))) < 1e-5);
        assert_follows_placement_and_size(&bound, &recipe, random.rotation());
    }
}

#[test]
fn a_factor_for_the_whole_skin_changes_no_shape() {
    let bound = cylinder(2, 16, 24);
    let pose = bent(&bound, Quat::from_rotation_x(1.6));
    let plain = posed(&bound, &Recipe::volume(few()), &pose);
    for factor in [1.0 / 16.0, 0.3, 1.0, 16.0] {
        let own = posed(&bound, &with(few(), vec![region(&bound, 0, factor, |_| 1.0)]), &pose);
        let off = farthest(&own, &plain);
        assert!(off < if factor == 1.0 { 1e-7 } else { 1e-4 } * RADIUS, "{factor}: {off}");
    }
}

/// Mean strain of the edges whose ends satisfy `inside`: the relative change of their lengths.
fn strain(bound: &Bound, x: &[Vec3], inside: impl Fn(Vec3) -> bool) -> f32 {
    let control = &bound.character.control;
    let edges = control.triangles.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]);
    let edges: Vec<[usize; 2]> = edges
        .map(|e| e.map(|v| v as usize))
        .filter(|e| e.iter().all(|&v| inside(control.positions[v])))
        .collect();
    assert!(edges.len() > 10);
    let of = |[a, b]: &[usize; 2]| {
        (x[*a].distance(x[*b]) / control.positions[*a].distance(control.positions[*b]) - 1.0).abs()
    };
    edges.iter().map(of).sum::<f32>() / edges.len() as f32
}

#[test]
fn in_a_bent_limb_a_firm_region_deforms_less_and_a_soft_one_more() {
    let bound = cylinder(2, 24, 48);
    let params = Params { cubes: 2000, ..Params::default() };
    // The outside of the bend, where the skin is stretched, then the inside.
    for (angle, name) in [(1.4, "outside"), (-1.4, "inside")] {
        let pose = bent(&bound, Quat::from_rotation_x(angle));
        let patch = |x: Vec3| x.z < -0.1 && (x.y - 1.0).abs() < 0.25;
        let weight = |x: Vec3| f32::from(u8::from(x.z < 0.0 && (x.y - 1.0).abs() < 0.35));
        let of = |factor: f32| {
            let regions = vec![region(&bound, 0, factor, weight)];
            strain(&bound, &posed(&bound, &with(params, regions), &pose), patch)
        };
        let [soft, plain, firm, firmest] = [0.125, 1.0, 8.0, 16.0].map(of);
        println!("{name}: strain {soft} soft, {plain}, {firm} firm, {firmest} firmest");
        assert!(soft > 1.1 * plain && firm < 0.8 * plain && firmest < firm, "{name}");
    }
}

/// The energy in a pose at the start and after these numbers of cycles, and that of the minimum. With the springs.
fn descent(
    bound: &Bound,
    cells: &Arc<Cells>,
    regions: &[FirmRegion],
    pose: &Pose,
    params: &Params,
) -> Vec<f64> {
    let rig = PosedRig::new(&bound.character.skeleton, pose);
    let stiffness = Stiffness::new(params);
    let start = starts(cells, &rig);
    let flesh = Flesh::new(&tissue(cells, regions), stiffness).unwrap().unwrap();
    let energy = |x: &[Vec3]| flesh.minimise(&mut x.to_vec(), &start, 0.0, 0).energy;
    let mut out = Vec::new();
    for cycles in [0, 1, 2, 3, 8, 16] {
        let params = Params { cycles, ..*params };
        let mut solver = VolumeReference::with(cells, &Geometric::Dqs, &params).unwrap();
        solver.set_firm(&Firm::new(regions.to_vec()));
        solver.solve(&rig, &mut bound.character.control.positions.clone(), |_| {});
        out.push(energy(solver.nodes()));
    }
    let mut gold = start.clone();
    out.push(flesh.minimise(&mut gold, &start, 1e-9, 2000).energy);
    out
}

#[test]
fn the_energy_falls_from_cycle_to_cycle_with_any_regions() {
    let bound = cylinder(2, 16, 24);
    let cells = Arc::new(Cells::bind(&bound.character, few().cubes));
    let mut random = Random::new(21);
    let turns = [Quat::from_rotation_x(1.5), Quat::from_rotation_y(2.6), Quat::from_rotation_z(-2.2)];
    for round in 0..9 {
        let turn = turns[round % 3];
        let regions = if round < 3 { Vec::new() } else { random_regions(&bound, &mut random) };
        let params = Params { volume: [0.0, 2.0 / 3.0, 1.0][round / 3], ..few() };
        let energies = descent(&bound, &cells, &regions, &bent(&bound, turn), &params);
        let over: Vec<f64> = energies.iter().map(|e| e / energies[6]).collect();
        println!("{round}: {} regions: {over:.3?}", regions.len());
        assert!(over.windows(2).all(|e| e[1] < e[0] * (1.0 + 1e-4)), "{round}: {over:?}");
        let most = if regions.is_empty() { [1.2, 1.05] } else { [2.0, 1.35] };
        assert!(over[3] < most[0] && over[5] < most[1], "{round}: {over:?}");
    }
}

#[test]
fn no_pose_and_no_regions_make_a_vertex_leave_the_body() {
    let bound = cylinder(4, 12, 24);
    let mut random = Random::new(12);
    for round in 0..24 {
        let mut pose = rest(&bound);
        for local in &mut pose.local {
            let axis = random.vector().normalize_or(Vec3::X);
            local.rotation = Quat::from_axis_angle(axis, std::f32::consts::PI).into();
        }
        let wild = Params {
            cubes: 300,
            firmness: [0.0, 0.3, 10.0][round % 3],
            volume: [0.0, 1.0, 0.6][round / 3 % 3],
            cycles: [1, 4, 64][round / 2 % 3],
            contact: [0, 3][round % 2],
            ..Params::default()
        };
        let regions = random_regions(&bound, &mut random);
        let x = posed(&bound, &with(wild, regions.clone()), &pose);
        let rig = PosedRig::new(&bound.character.skeleton, &pose);
        let mut bounds = Aabb::of(rig.bones.iter().flat_map(|b| [b.head, b.tail]));
        bounds.min -= Vec3::splat(RADIUS);
        bounds.max += Vec3::splat(RADIUS);
        let far = x.iter().map(|x| x.distance(bounds.center())).fold(0.0, f32::max);
        assert!(
            x.iter().all(|x| x.is_finite()) && far < bounds.diagonal(),
            "{round}: {far}, {wild:?} {regions:?}"
        );
    }
}

#[test]
fn many_cycles_end_at_the_gold_standard_and_that_at_the_independent_minimum() {
    let bound = cylinder(2, 16, 24);
    let cells = Arc::new(Cells::bind(&bound.character, 400));
    let regions = [
        region(&bound, 0, 12.0, |x| f32::from(u8::from(x.y > 1.1))),
        region(&bound, 1, 0.1, |x| f32::from(u8::from(x.y < 1.0 && x.x > 0.0))),
    ];
    let tissue = tissue(&cells, &regions);
    let rig = PosedRig::new(&bound.character.skeleton, &bent(&bound, Quat::from_rotation_x(1.2)));
    let start = starts(&cells, &rig);
    for volume in [0.0, 1.0] {
        let params = Params { volume, firmness: 0.0, cycles: 64, cubes: 400, ..Params::default() };
        let flesh = Flesh::new(&tissue, Stiffness::new(&params)).unwrap().unwrap();
        let mut gold = start.clone();
        let minimum = flesh.minimise(&mut gold, &start, 1e-10, 2000);
        assert!(minimum.converged, "{minimum:?}");
        assert!((minimum.energy / tissue.energy(&gold, params.lambda()) - 1.0).abs() < 1e-4);
        let mut solver = VolumeReference::with(&cells, &Geometric::Dqs, &params).unwrap();
        solver.set_firm(&Firm::new(regions.to_vec()));
        solver.solve(&rig, &mut bound.character.control.positions.clone(), |_| {});
        let off = farthest(solver.nodes(), &gold);
        println!("volume {volume}: {off} from the minimum, {minimum:?}");
        assert!(off < 0.02 * RADIUS, "{volume}: {off}");
        // Without pressure, the energy is energy A of the gold standard with the cubes' factors.
        if volume == 0.0 {
            let level = &cells.levels[0];
            let rest: Vec<DVec3> =
                cells.nodes.character.control.positions.iter().map(|x| x.as_dvec3()).collect();
            let held: Vec<u32> = (0..rest.len() as u32).filter(|&n| level.held[n as usize]).collect();
            let factors = tissue.levels[0].weight.iter().map(|w| f64::from(*w));
            let elements = Elements::cubes(&rest, &level.cells).unwrap().stiffened(factors);
            let mut other = Gold::new(elements, &held).unwrap();
            let mut x: Vec<DVec3> = start.iter().map(|x| x.as_dvec3()).collect();
            let found = other.minimise(&mut x, 1e-9, 5000);
            let both = [2.0 * minimum.energy * f64::from(level.size).powi(2), found.energy];
            assert!((both[0] / both[1] - 1.0).abs() < 2e-3, "{both:?}");
        }
    }
    // The exact graphs have the regions, too.
    for exact in [Exact::Gold, Exact::Tets] {
        let params = Params { cubes: 400, ..Params::default() };
        let shape = |firm: &Firm| {
            let mut graph = CpuGraph::exact(&bound, exact, &params, firm).unwrap();
            graph.evaluate(&rig, &[], &mut Default::default());
            graph.control().to_vec()
        };
        let off = farthest(&shape(&Firm::default()), &shape(&Firm::new(regions.to_vec())));
        assert!(off > 0.02 * RADIUS, "{exact:?}: {off}");
    }
}

#[test]
fn soft_flesh_swings_slower_because_its_mass_stays() {
    let bound = cylinder(2, 16, 16);
    let motion = stop(&bound, 2.5, 120.0);
    let period = |factor: f32| {
        let firm = Firm::new(vec![region(&bound, 0, factor, |_| 1.0)]);
        let x = sway(&bound, swinging(3.0, 0.1), &firm, &motion);
        let after = &x[61..];
        let falls = (1..after.len()).filter(|&k| after[k - 1] > 0.0 && after[k] <= 0.0);
        let falls: Vec<usize> = falls.take(2).collect();
        (falls[1] - falls[0]) as f32
    };
    let [plain, soft] = [1.0, 0.25].map(period);
    println!("periods: {plain} and {soft} frames");
    assert!((1.6..2.4).contains(&(soft / plain)), "{plain} {soft}");
    // The regions change between frames without a jump.
    let firm = Firm::new(vec![region(&bound, 0, 0.25, |_| 1.0)]);
    assert_ne!(play(&bound, swinging(3.0, 0.1), &firm, &motion[..70]), {
        play(&bound, swinging(3.0, 0.1), &Firm::default(), &motion[..70])
    });
}

#[test]
fn contact_parts_a_fold_between_firm_and_soft_flesh() {
    let (bound, pose) = folded();
    let control = &bound.character.control;
    let crossings = crate::geom::Crossings::new(control, &vec![RADIUS; control.positions.len()]);
    // Very firm flesh sinks into very soft flesh by more than contact resolves. Where coarse triangles of the two sides
    // touch, some still cross, but hardly by a depth.
    for (low, high) in [(16.0, 16.0), (1.0 / 16.0, 1.0 / 16.0), (4.0, 0.25)] {
        let regions = vec![
            region(&bound, 0, low, |x| f32::from(u8::from(x.y < 0.9))),
            region(&bound, 1, high, |x| f32::from(u8::from(x.y > 1.1))),
        ];
        let of = |contact| {
            let recipe = with(Params { contact, ..few() }, regions.clone());
            crossings.report(&posed(&bound, &recipe, &pose))
        };
        let [apart, touching] = [0, 5].map(of);
        println!("{low} on {high}: {apart:?}, with contact {touching:?}");
        assert!(apart.crossings > 40 && touching.crossings < apart.crossings, "{low} {high}");
        assert!(8.0 * touching.penetration < apart.penetration, "{low} {high}");
        assert!(4.0 * touching.fold_penetration < apart.fold_penetration, "{low} {high}");
    }
}

#[test]
fn the_gpu_equals_its_reference_and_changes_regions_without_a_new_binding() {
    let Some(device) = device() else { return };
    let (bound, fold) = folded();
    let kernels = Arc::new(Kernels::new(&device).unwrap());
    let mut random = Random::new(2);
    let pose = bent(&bound, Quat::from_rotation_x(1.7));
    let contact = Params { cubes: 800, ..Params::only_contact(3) };
    for (params, pose) in [(few(), &pose), (Params { contact: 3, ..few() }, &fold), (contact, &fold)] {
        let base = Recipe { volume: Some(params), ..Recipe::geometric(Geometric::Dqs) };
        let rig = PosedRig::new(&bound.character.skeleton, pose);
        let mut graph = Graph::new(&kernels, &bound, &base, false).unwrap();
        let mut shape = |firm: &Firm| {
            assert!(graph.adopt(&Recipe { firm: firm.clone(), ..base.clone() }));
            posed_on_gpu(&device, &mut graph, &rig, bound.character.control.positions.len())
        };
        let plain = shape(&Firm::default());
        for _ in 0..2 {
            let firm = Firm::new(random_regions(&bound, &mut random));
            let own = shape(&firm);
            let twin = posed(&bound, &Recipe { firm: firm.clone(), ..base.clone() }, pose);
            // Pairs in contact may change with the last bit of a distance.
            let far = own.iter().zip(&twin).filter(|(a, b)| a.distance(**b) > 0.01 * RADIUS).count();
            println!("{far} of {} differ, at most {}", twin.len(), farthest(&own, &twin));
            assert!(if params.contact > 0 { far * 50 < twin.len() } else { far == 0 }, "{params:?}: {far}");
            assert!(farthest(&own, &plain) > 1e-3 * RADIUS, "the regions act");
            // A graph that is bound with the regions gives the same bits as one that gets them later.
            let recipe = Recipe { firm: firm.clone(), ..base.clone() };
            let mut other = Graph::new(&kernels, &bound, &recipe, false).unwrap();
            device
                .run(|frame| {
                    other.record(frame, &rig);
                    Ok(())
                })
                .unwrap();
            let x: Vec<[f32; 4]> = device.read(other.control_positions(), own.len()).unwrap();
            assert!(x.iter().zip(&own).all(|(a, b)| [a[0], a[1], a[2]] == b.to_array()));
        }
        assert_eq!(shape(&Firm::default()), plain);
    }
    assert_silent(&device);
}
