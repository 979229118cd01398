use super::*;
use crate::bind::weights::testing::{bar, block, check_bar, grid, node};

fn weights(cubes: &Cubes, handles: &[Vec<u32>], steps: usize) -> Vec<Vec<f64>> {
    quasi_harmonic_weights(cubes, handles, steps, &|_| true).unwrap().unwrap()
}

fn energy(cubes: &Cubes, weights: &[Vec<f64>]) -> f64 {
    let energy = Energy::new(cubes);
    weights.iter().map(|w| energy.value(w)).sum()
}

#[test]
fn weights_are_symmetric_and_smoother_than_harmonic_ones_and_sum_to_1() {
    let (cubes, handles) = bar();
    let [harmonic, ten, forty] = [0, 10, 40].map(|steps| weights(&cubes, &handles, steps));
    for all in [&harmonic, &ten, &forty] {
        check_bar(&cubes, &handles, all);
        for node in 0..cubes.nodes.len() {
            assert!((all.iter().map(|w| w[node]).sum::<f64>() - 1.0).abs() < 1e-9);
        }
        // The maximum principle: a weight that is neither 0 nor 1 lies between the weights of neighbouring nodes.
        for w in all {
            for (node, p) in cubes.nodes.iter().enumerate().filter(|(i, _)| (1e-6..0.999999).contains(&w[*i]))
            {
                let near = |q: &DVec3| q.distance(*p) < 1.5;
                let around: Vec<f64> =
                    (0..w.len()).filter(|&i| i != node && near(&cubes.nodes[i])).map(|i| w[i]).collect();
                assert!(
                    around.iter().any(|v| *v > w[node] - 1e-12)
                        && around.iter().any(|v| *v < w[node] + 1e-12)
                );
            }
        }
    }
    let [harmonic, ten, forty] = [harmonic, ten, forty].map(|all| energy(&cubes, &all));
    assert!(ten < 0.2 * harmonic && forty < 0.98 * ten, "{harmonic} {ten} {forty}");
}

#[test]
fn harmonic_weights_are_linear_along_a_rod() {
    let cubes = grid(0.5, block([8, 1, 1]));
    let ends = [0.0, 4.0]
        .map(|x| (0..cubes.nodes.len() as u32).filter(|&i| cubes.nodes[i as usize].x == x).collect());
    for (p, w) in cubes.nodes.iter().zip(&weights(&cubes, &ends, 0)[1]) {
        assert!((w - p.x / 4.0).abs() < 1e-12, "{p}: {w}");
    }
    let [harmonic, best] = [0, 20].map(|steps| energy(&cubes, &weights(&cubes, &ends, steps)));
    assert!(best <= harmonic);
}

#[test]
fn the_gradient_is_that_of_differences() {
    let (cubes, handles) = bar();
    let problem = Problem::new(&cubes, &handles).unwrap();
    let mut logs = start(&cubes, &handles);
    let gradient = problem.gradient(&problem.solve(&logs).unwrap(), &logs);
    for (cube, axis) in [(0, 0), (37, 1), (100, 2), (130, 0)] {
        let mut at = |step: f64| {
            let old = std::mem::replace(&mut logs[cube][axis], step);
            logs[cube][axis] += old;
            let energy = problem.solve(&logs).unwrap().energy;
            logs[cube][axis] = old;
            energy
        };
        let wanted = (at(1e-4) - at(-1e-4)) / 2e-4;
        let error = (gradient[cube][axis] - wanted).abs();
        assert!(error < 1e-5 * wanted.abs() + 1e-9, "{} {wanted}", gradient[cube][axis]);
    }
}

#[test]
fn weights_are_the_same_on_any_number_of_cores() {
    let (cubes, _) = bar();
    let handles: Vec<Vec<u32>> = (0..20).map(|k| vec![20 * k]).collect();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(weights(&cubes, &handles, 3), one.install(|| weights(&cubes, &handles, 3)));
}

#[test]
fn unusual_requests_get_weights_or_an_error() {
    let (cubes, mut handles) = bar();
    assert!(weights(&cubes, &[], 5).is_empty());
    assert_eq!(weights(&Cubes::default(), &[vec![], vec![]], 5), [[0.0; 0]; 2]);
    assert!(weights(&cubes, &handles[..1], 5)[0].iter().all(|w| *w == 1.0));
    handles.push(handles[1].clone());
    assert!(weights(&cubes, &handles, 5)[3].iter().all(|w| *w == 0.0));
    assert!(quasi_harmonic_weights(&cubes, &handles, 5, &|done| done < 0.4).unwrap().is_none());
    let error = quasi_harmonic_weights(&cubes, &[vec![9999]], 5, &|_| true).err().unwrap().to_string();
    assert!(error.contains("node 9999"), "{error}");
    let two = grid(1.0, block([5, 1, 1]).chain(block([2, 1, 1]).map(|[x, y, z]| [x + 7, y, z])));
    let ends = [0.0, 5.0].map(|x| vec![node(&two, x, 0.0, 0.0)]);
    for (i, p) in two.nodes.iter().enumerate() {
        let sum: f64 = weights(&two, &ends, 5).iter().map(|w| w[i]).sum();
        assert!((sum - f64::from(p.x < 6.0)).abs() < 1e-9, "{p}: {sum}");
    }
}
