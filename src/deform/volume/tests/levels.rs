//! Tests of the levels of cubes.

use super::{bent, farthest, posed};
use crate::base::math::{Quat, Vec3};
use crate::deform::testing::{RADIUS, cylinder};
use crate::deform::volume::Params;
use crate::deform::volume::cells::Cells;
use crate::deform::volume::levels::{Level, Lists, Share};
use crate::deform::volume::schedule::depth;
use crate::deform::volume::tissue::LevelStiffness;
use crate::deform::{Geometric, Graph, Kernels, Recipe};
use crate::gpu::testing::{assert_silent, device};
use crate::rig::PosedRig;
use std::sync::Arc;

/// Adds a box of grid cubes from `from` to `to`. It shares no nodes with other boxes.
fn block(from: [i32; 3], to: [i32; 3], cells: &mut Vec<[u32; 8]>, grid: &mut Vec<[i32; 3]>) {
    let first = grid.len() as u32;
    let count: [i32; 3] = std::array::from_fn(|k| to[k] - from[k] + 1);
    let index = |x: [i32; 3]| first + (x[0] + count[0] * (x[1] + count[1] * x[2])) as u32;
    for z in 0..count[2] {
        for y in 0..count[1] {
            for x in 0..count[0] {
                grid.push([from[0] + x, from[1] + y, from[2] + z]);
                if x + 1 < count[0] && y + 1 < count[1] && z + 1 < count[2] {
                    cells.push(std::array::from_fn(|c| {
                        index([x + (c & 1) as i32, y + (c >> 1 & 1) as i32, z + (c >> 2 & 1) as i32])
                    }));
                }
            }
        }
    }
}

#[test]
fn coarser_cubes_keep_bodies_apart_and_interpolate_linear_functions() {
    let (mut cells, mut grid) = (Vec::new(), Vec::new());
    // Two boxes that touch without shared nodes. The first starts at an odd grid position, so coarse cubes contain
    // cubes of both.
    block([1, 0, 0], [3, 3, 12], &mut cells, &mut grid);
    let second = grid.len();
    block([3, 0, 0], [6, 3, 12], &mut cells, &mut grid);
    let count = grid.len();
    let mut held = vec![false; count];
    held[5] = true;
    let fine = Level::finest(0.5, cells, grid.clone(), held, vec![false; count]);
    let levels = fine.hierarchy([40; 2]);
    let stiffness = LevelStiffness::of(&levels);
    assert_eq!(levels.len(), 3);
    let (fine, coarse) = (&levels[0], &levels[1]);
    let weight: f32 = stiffness[1].weight.iter().sum();
    assert!((weight - 0.25 * fine.cells.len() as f32).abs() < 1e-3, "{weight}");
    assert!((coarse.size - 1.0).abs() < 1e-6);
    assert!(fine.prolong.of(5).is_empty() && stiffness[0].nodes[5].cubes == 0.0);
    assert!(stiffness[1].nodes.iter().any(|n| n.brace > 0.0));
    // The position of a coarse node follows from any fine node that only this coarse node moves.
    let mut place = vec![None; coarse.nodes()];
    let mut moved = vec![[false; 2]; coarse.nodes()];
    for n in (0..count).filter(|&n| n != 5) {
        let shares = fine.prolong.of(n);
        let sum: f32 = shares.iter().map(|s| s.weight).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{n}: {sum}");
        shares.iter().for_each(|s| moved[s.node as usize][usize::from(n >= second)] = true);
        if let [only] = shares {
            place[only.node as usize] = Some(grid[n].map(|v| v as f32 * 0.5));
        }
    }
    assert!(moved.iter().all(|m| m[0] != m[1]), "a coarse node moves both bodies");
    let mut checked = 0;
    for n in (0..count).filter(|&n| n != 5) {
        let shares = fine.prolong.of(n);
        let places: Option<Vec<_>> = shares.iter().map(|s| place[s.node as usize]).collect();
        let Some(places) = places else { continue };
        let at: [f32; 3] =
            std::array::from_fn(|k| shares.iter().zip(&places).map(|(s, p)| s.weight * p[k]).sum());
        assert!((0..3).all(|k| (at[k] - 0.5 * grid[n][k] as f32).abs() < 1e-5), "{n}: {at:?}");
        checked += usize::from(shares.len() > 1);
    }
    assert!(checked > 50, "{checked}");
    // Restriction is the transpose of prolongation.
    for n in 0..coarse.nodes() {
        for s in coarse.restrict.of(n) {
            let back = fine.prolong.of(s.node as usize).iter().find(|b| b.node as usize == n).unwrap();
            assert_eq!(back.weight, s.weight);
        }
    }
}

#[test]
fn lists_become_groups_of_four_with_padding_and_shares_become_numbers() {
    let lists = Lists::new(3, &[(0, 7u32), (2, 1), (2, 2), (2, 3), (2, 4), (2, 5)]);
    let expected = vec![[7, 9, 9, 9], [9; 4], [9; 4], [9; 4], [1, 2, 3, 4], [5, 9, 9, 9]];
    assert_eq!(lists.quads(|&v| v, 9), (expected, 2));
    assert_eq!(Lists::<u32>::new(2, &[]).quads(|&v| v, 9), (Vec::new(), 0));
    for (weight, halvings) in [(1.0, 0), (0.5, 1), (0.25, 2), (0.125, 3)] {
        assert_eq!(Share { node: 5, weight }.packed(), 5 + (halvings << 30));
    }
}

#[test]
fn every_number_of_levels_gives_the_shape_of_the_reference_on_the_gpu() {
    let Some(device) = device() else { return };
    let bound = cylinder(2, 16, 16);
    let kernels = Arc::new(Kernels::new(&device).unwrap());
    let pose = bent(&bound, Quat::from_rotation_x(1.3) * Quat::from_rotation_y(0.8));
    let rig = PosedRig::new(&bound.character.skeleton, &pose);
    for (levels, touching, cubes) in [(2, 2, 800), (2, 3, 6000), (3, 3, 30_000)] {
        let all = Cells::bind(&bound.character, cubes).levels;
        let free = Params { cubes, ..Params::default() };
        let contact = Params { cubes, ..Params::only_contact(2) };
        assert_eq!([depth(&free, &all), depth(&contact, &all)], [levels, touching], "{cubes} cubes");
        for params in [free, contact, Params { contact: 2, ..free }] {
            let recipe = Recipe { volume: Some(params), ..Recipe::geometric(Geometric::Dqs) };
            let mut graph = Graph::new(&kernels, &bound, &recipe, false).unwrap();
            let recorded = device.run(|frame| {
                graph.record(frame, &rig);
                Ok(())
            });
            recorded.unwrap();
            let reference = posed(&bound, &recipe, &pose);
            let x: Vec<[f32; 4]> = device.read(graph.control_positions(), reference.len()).unwrap();
            let x: Vec<Vec3> = x.iter().map(|x| Vec3::new(x[0], x[1], x[2])).collect();
            let off = farthest(&x, &reference);
            assert!(off < 2e-4 * RADIUS, "{levels} levels: {off}, {params:?}");
        }
    }
    assert_silent(&device);
}
