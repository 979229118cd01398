//! `sinew-lab roi`: runs LSE or ARAP on a region of any mesh, for comparison with other programs.

use super::silsketch::Solver;
use crate::app::context::folder_of;
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, Result};
use crate::deform::classic::{Arap, ArapOptions, Energy, Lists, Lse, LseOptions};
use crate::export::write_atomically;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What to solve, how, and into which file.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// JSON file with the positions and triangles, the lists of kinematic, passive and fixed vertices, and the targets
    /// of the kinematic vertices. Optional: `start`, the initial positions of the passive vertices
    problem: PathBuf,
    #[arg(long, value_enum, default_value_t = Solver::Arap)]
    method: Solver,
    /// Maximum number of ARAP iterations; number of LSE refinements
    #[arg(long, default_value_t = 10)]
    iterations: u32,
    /// JSON file to write: positions, iterations and energy
    #[arg(long)]
    out: PathBuf,
}

/// Content of the problem file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Problem {
    positions: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
    kinematic: Vec<u32>,
    #[serde(default)]
    passive: Vec<u32>,
    #[serde(default)]
    fixed: Vec<u32>,
    targets: Vec<[f64; 3]>,
    #[serde(default)]
    start: Option<Vec<[f64; 3]>>,
}

/// Content of the result file.
#[derive(Serialize)]
struct Solution {
    positions: Vec<[f64; 3]>,
    iterations: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    energy: Vec<f64>,
}

/// Solves the problem, writes the result and returns a summary line.
///
/// # Errors
/// An error if the problem cannot be read or solved, or if the result cannot be written.
pub fn run(args: &Args) -> Result<String> {
    let problem = read(&args.problem)?;
    let rest: Vec<Vec3> = problem.positions.iter().map(|p| Vec3::from(*p)).collect();
    let lists = Lists { kinematic: &problem.kinematic, passive: &problem.passive, fixed: &problem.fixed };
    let mut shape: Vec<DVec3> = match &problem.start {
        Some(start) => start.iter().map(|p| DVec3::from(*p)).collect(),
        None => rest.iter().map(|p| p.as_dvec3()).collect(),
    };
    for (&v, target) in problem.kinematic.iter().zip(&problem.targets) {
        if let Some(x) = shape.get_mut(v as usize) {
            *x = DVec3::from(*target);
        }
    }
    let arap = |energy, shape: &mut [DVec3]| {
        let options = ArapOptions { energy, iterations: args.iterations, tolerance: 0.0 };
        Arap::new(&rest, &problem.triangles, &lists, options)?.solve(shape)
    };
    let solved = match args.method {
        Solver::Arap => arap(Energy::SpokesAndRims, &mut shape)?,
        Solver::ArapSpokes => arap(Energy::Spokes, &mut shape)?,
        Solver::Lse => {
            let options = LseOptions { rounds: args.iterations };
            Lse::new(&rest, &problem.triangles, &lists, options)?.solve(&mut shape)?;
            Default::default()
        }
        Solver::ArapScale => {
            let remedy = "use sinew-lab silsketch on a character, or another method";
            return Err(Error::input("scale vectors need a skeleton, which a mesh alone has not", remedy));
        }
    };
    let energy = solved.energy.last().copied();
    let solution = Solution {
        positions: shape.iter().map(|p| p.to_array()).collect(),
        iterations: solved.iterations,
        energy: solved.energy,
    };
    let text = serde_json::to_vec(&solution)
        .map_err(|e| Error::input(format!("the result is not JSON: {e}"), "report it as a bug"))?;
    folder_of(&args.out)?;
    write_atomically(&args.out, &text)?;
    let energy = energy.map_or(String::new(), |e| format!(", energy {e:.6e}"));
    Ok(format!("{} vertices, {} passive{energy}", rest.len(), problem.passive.len()))
}

fn read(path: &Path) -> Result<Problem> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
    let wrong = |problem: String| Error::broken(path, "problem", problem, "see sinew-lab roi --help");
    let problem: Problem = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    if problem.targets.len() != problem.kinematic.len() {
        let (targets, kinematic) = (problem.targets.len(), problem.kinematic.len());
        return Err(wrong(format!("has {targets} targets for {kinematic} kinematic vertices")));
    }
    Ok(problem)
}
