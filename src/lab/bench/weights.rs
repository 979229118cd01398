//! The times of skin weights that are computed inside the body.

use super::Source;
use crate::app::context::stage;
use crate::base::Result;
use crate::bind::weights::{Flesh, NodeWeights, WeightMethod, biharmonic_weights, quasi_harmonic_weights};
use crate::scene::Model;
use std::time::Instant;

/// Approximate numbers of nodes: two rows of the table in *Elasticity-Inspired Deformers for Character Articulation*.
const NODES: [usize; 2] = [20_000, 40_000];
/// Time of swing and twist weights per joint in these rows, seconds.
const PAPER: [f64; 2] = [12.0, 23.0];

/// Times of one mesh, seconds.
#[derive(Clone, Debug, serde::Serialize)]
pub struct WeightTimes {
    /// Name of the generated mesh or of the file.
    pub mesh: String,
    /// Number of joints with bones in the flesh.
    pub joints: usize,
    /// Swing and twist weights of all joints, per number of nodes.
    pub elastic: Vec<ElasticTimes>,
    /// Number of nodes for the quasi-harmonic weights.
    pub quasi_harmonic_nodes: usize,
    /// Quasi-harmonic weights of all joints.
    pub quasi_harmonic: f64,
    /// Number of nodes for the bounded biharmonic weights.
    pub biharmonic_nodes: usize,
    /// Bounded biharmonic weights of all joints.
    pub biharmonic: f64,
    /// Bounded biharmonic weights of one joint by the general solver Clarabel, mean of a few joints; only with the
    /// Cargo feature `clarabel`.
    pub clarabel: Option<f64>,
}

/// Times of the computation of swing and twist weights, seconds.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ElasticTimes {
    /// Number of nodes.
    pub nodes: usize,
    /// Time of enclosing the mesh.
    pub enclose: f64,
    /// Time of the weights of all joints.
    pub weights: f64,
    /// The paper's time per joint, divided by Sinew's time per joint.
    pub paper_over_joint: f64,
}

/// Measures each mesh once.
pub(super) fn measure(sources: &[Source]) -> Result<Vec<WeightTimes>> {
    let mut out = Vec::new();
    for source in sources {
        let (model, _) = source.prepare(&super::ONCE)?;
        out.extend(stage(&format!("{}: weights", source.name()), || mesh(source.name(), &model, NODES))?.0);
    }
    Ok(out)
}

/// Measures one mesh with about `wanted` nodes; `None` if it has no bones.
fn mesh(mesh: String, model: &Model, wanted: [usize; 2]) -> Result<Option<WeightTimes>> {
    let character = &model.bound.character;
    let go_on = |_: f32| true;
    let mut elastic = Vec::new();
    for (wanted, paper) in wanted.into_iter().zip(PAPER) {
        // A few corrections of the number of cubes, so that the number of nodes is about the wanted one.
        let mut cubes = wanted / 2;
        let (mut flesh, mut enclose) = (None, 0.0);
        for _ in 0..3 {
            let start = Instant::now();
            let Some(trial) = Flesh::of(character, cubes) else { return Ok(None) };
            enclose = start.elapsed().as_secs_f64();
            cubes = cubes * wanted / trial.claims.len().max(1);
            flesh = Some(trial);
        }
        let Some(flesh) = flesh else { return Ok(None) };
        let start = Instant::now();
        NodeWeights::of(&flesh, &go_on)?;
        let weights = start.elapsed().as_secs_f64();
        let paper_over_joint = paper * flesh.joints.len() as f64 / weights;
        elastic.push(ElasticTimes { nodes: flesh.claims.len(), enclose, weights, paper_over_joint });
    }
    let timed = |method: WeightMethod, cubes: usize| -> Result<Option<(usize, usize, f64)>> {
        let Some(flesh) = Flesh::of(character, cubes) else { return Ok(None) };
        let (cubes, handles) = (&flesh.enclosure.cubes, flesh.handles(&flesh.claims));
        let start = Instant::now();
        match method {
            WeightMethod::Biharmonic => biharmonic_weights(cubes, &handles, &go_on)?,
            _ => quasi_harmonic_weights(cubes, &handles, 20, &go_on)?,
        };
        Ok(Some((flesh.joints.len(), cubes.nodes.len(), start.elapsed().as_secs_f64())))
    };
    let [quasi, bounded] = [WeightMethod::QuasiHarmonic, WeightMethod::Biharmonic];
    let Some((joints, quasi_harmonic_nodes, quasi_harmonic)) = timed(quasi, quasi.cubes())? else {
        return Ok(None);
    };
    let Some((_, biharmonic_nodes, biharmonic)) = timed(bounded, bounded.cubes())? else { return Ok(None) };
    let clarabel = clarabel(character, bounded.cubes())?;
    Ok(Some(WeightTimes {
        mesh,
        joints,
        elastic,
        quasi_harmonic_nodes,
        quasi_harmonic,
        biharmonic_nodes,
        biharmonic,
        clarabel,
    }))
}

/// Returns the mean time of Clarabel for the weights of three joints, seconds.
#[cfg(feature = "clarabel")]
fn clarabel(character: &crate::bind::Character, cubes: usize) -> Result<Option<f64>> {
    use crate::bind::weights::biharmonic_weight_by_clarabel;
    let Some(flesh) = Flesh::of(character, cubes) else { return Ok(None) };
    let (cubes, handles) = (&flesh.enclosure.cubes, flesh.handles(&flesh.claims));
    let joints = [0, handles.len() / 2, handles.len() - 1];
    let mut sum = 0.0;
    for k in joints {
        let start = Instant::now();
        std::hint::black_box(biharmonic_weight_by_clarabel(cubes, &handles, k)?);
        sum += start.elapsed().as_secs_f64();
    }
    Ok(Some(sum / joints.len() as f64))
}

#[cfg(not(feature = "clarabel"))]
fn clarabel(_: &crate::bind::Character, _: usize) -> Result<Option<f64>> {
    Ok(None)
}

/// Formats the table.
pub(super) fn text(rows: &[WeightTimes]) -> String {
    let mut out = String::new();
    let title = "Weights inside the body, all joints, seconds; /: the time per joint in Elasticity-Inspired Deformers over the time per joint here";
    let head = [
        "mesh",
        "joints",
        "nodes",
        "enclose",
        "swing and twist",
        "/",
        "nodes",
        "enclose",
        "swing and twist",
        "/",
        "nodes",
        "quasi-harmonic",
        "nodes",
        "biharmonic",
        "Clarabel, one joint",
        "/ a joint",
    ];
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|r| {
            let mut row = vec![r.mesh.clone(), r.joints.to_string()];
            for e in &r.elastic {
                row.push(e.nodes.to_string());
                row.extend([e.enclose, e.weights].map(|v| format!("{v:.2}")));
                row.push(format!("{:.0}", e.paper_over_joint));
            }
            row.extend([r.quasi_harmonic_nodes.to_string(), format!("{:.2}", r.quasi_harmonic)]);
            row.extend([r.biharmonic_nodes.to_string(), format!("{:.2}", r.biharmonic)]);
            let ratio = |clarabel: f64| format!("{:.0}", clarabel * r.joints as f64 / r.biharmonic);
            row.push(r.clarabel.map_or("-".to_owned(), |t| format!("{t:.2}")));
            row.push(r.clarabel.map_or("-".to_owned(), ratio));
            row
        })
        .collect();
    super::text::table(&mut out, title, &head, &rows);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{self, Kind};

    #[test]
    fn a_box_is_measured_with_about_the_wanted_nodes() {
        let source = Source::Memory("box".to_owned(), generate::glb(Kind::Box).unwrap());
        let (model, _) = source.prepare(&super::super::ONCE).unwrap();
        let row = mesh("box".to_owned(), &model, [600, 1200]).unwrap().unwrap();
        for (e, wanted) in row.elastic.iter().zip([600.0, 1200.0]) {
            assert!((0.6..1.5).contains(&(e.nodes as f64 / wanted)) && e.paper_over_joint > 1.0, "{row:?}");
        }
        assert!(row.joints > 2 && row.quasi_harmonic > 0.0 && row.biharmonic > 0.0, "{row:?}");
        assert!(text(&[row]).contains("box"));
    }
}
