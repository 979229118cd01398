use super::*;
use crate::bind::weights::testing::{bar, block, check_bar, grid, node};

fn program(cubes: &Cubes, handles: &[Vec<u32>]) -> Program {
    let energy = Energy::new(cubes);
    let handles = Handles::new(&energy.edges, cubes.nodes.len(), handles).unwrap();
    Program { matrix: energy.matrix(), energy, handles }
}

fn weights(cubes: &Cubes, handles: &[Vec<u32>]) -> Vec<Vec<f64>> {
    biharmonic_weights(cubes, handles, &|_| true).unwrap().unwrap()
}

/// Returns the largest difference of two lists of weights.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Checks the optimality conditions: the sign of the gradient at a bound, and gradient 0 elsewhere.
fn check_optimal(program: &Program, w: &[f64]) {
    let gradient = program.energy.gradient(w);
    for node in (0..w.len()).filter(|&node| program.handles.free[node]) {
        let slope = gradient[node] / program.diagonal(node);
        assert!(slope > -1e-8 || w[node] == 1.0, "{node}: {} {slope}", w[node]);
        assert!(slope < 1e-8 || w[node] == 0.0, "{node}: {} {slope}", w[node]);
    }
}

#[test]
fn weights_are_symmetric_optimal_and_the_same_as_from_the_interior_point_solver() {
    let (cubes, handles) = bar();
    let program = program(&cubes, &handles);
    let all = weights(&cubes, &handles);
    check_bar(&cubes, &handles, &all);
    for (k, w) in all.iter().enumerate() {
        check_optimal(&program, w);
        let other = program.interior_point(k, Some(1e-13)).unwrap();
        assert!(apart(w, &other) < 1e-6, "{k}: {}", apart(w, &other));
        let (least, own) = (program.energy.value(w), program.energy.value(&other));
        assert!(least <= own * (1.0 + 1e-9) && (biharmonic_energy(&cubes, w) - least).abs() < 1e-15);
    }
    assert!(all[0].contains(&0.0));
}

#[test]
fn weights_are_the_same_on_any_number_of_cores() {
    let (cubes, handles) = bar();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(weights(&cubes, &handles), one.install(|| weights(&cubes, &handles)));
}

#[test]
fn unusual_requests_get_weights_or_an_error() {
    let (cubes, mut handles) = bar();
    assert!(weights(&cubes, &[]).is_empty());
    assert_eq!(weights(&Cubes::default(), &[vec![], vec![]]), [[0.0; 0]; 2]);
    assert!(weights(&cubes, &handles[..1])[0].iter().all(|w| *w == 1.0));
    handles.push(handles[1].clone());
    let all = weights(&cubes, &handles);
    assert!(all[3].iter().all(|w| *w == 0.0) && all[..3] == weights(&cubes, &handles[..3]));
    assert!(biharmonic_weights(&cubes, &handles, &|_| false).unwrap().is_none());
    let started = AtomicUsize::new(0);
    let stop = |_| started.fetch_add(1, Relaxed) < 3;
    assert!(biharmonic_weights(&cubes, &handles, &stop).unwrap().is_none());
    let error = biharmonic_weights(&cubes, &[vec![9999]], &|_| true).err().unwrap().to_string();
    assert!(error.contains("node 9999"), "{error}");
}

#[test]
fn other_components_of_the_grid_get_weight_0() {
    let cubes = grid(1.0, block([5, 1, 1]).chain(block([2, 1, 1]).map(|[x, y, z]| [x + 7, y, z])));
    let handles = [0.0, 5.0].map(|x| vec![node(&cubes, x, 0.0, 0.0)]).to_vec();
    for w in weights(&cubes, &handles) {
        assert!(
            cubes.nodes.iter().zip(&w).all(|(p, w)| (p.x > 6.0) == (*w == 0.0) || p.x.min(5.0 - p.x) < 1.0)
        );
    }
}

#[test]
fn sets_that_do_not_settle_are_an_error() {
    let (cubes, handles) = bar();
    let program = program(&cubes, &handles);
    let start = &program.unbounded(handles.len()).unwrap()[0];
    assert!(program.active_set(start, 1, &|| true).unwrap().is_none());
    let error = program.all(handles.len(), 1, &|_| true).err().unwrap().to_string();
    assert!(error.contains("do not settle") && error.contains("quasi-harmonic"), "{error}");
}

#[test]
fn weights_of_a_cylinder_are_those_of_another_implementation() {
    let Some(known) = crate::bind::weights::known::cylinder() else { return };
    assert_eq!((known.cubes.nodes.len(), known.cubes.cells.len()), (2277, 1664));
    let bone = |rotates: bool| -> Vec<u32> {
        (0..known.side.len() as u32).filter(|&n| known.side[n as usize] == Some(rotates)).collect()
    };
    let handles = [bone(true), bone(false)];
    let all = weights(&known.cubes, &handles);
    // The known weights come from an interior-point solver, whose weights stay away from the bounds by 1e-5.
    assert!(apart(&all[0], &known.biharmonic) < 2e-5, "{}", apart(&all[0], &known.biharmonic));
    check_optimal(&program(&known.cubes, &handles), &all[0]);
}
