//! What springs leave of a pull, drawn again: the edit's offsets become those whose result is where the hand went.
//!
//! The springs yield a little to every edit, more to a soft one. With the residual `r = x* - x` between where the kinematic
//! vertices are to go and where they are, offsets change by `Q^-1 r / g`, where the gain `g` is how much of the change
//! before has arrived (a secant step with one number for all vertices). Where springs cannot follow, offsets stay bounded.

use super::{Evaluator, Model, Where};
use crate::base::math::{Quat, Vec3};
use crate::base::{Error, Result};
use crate::deform::Recipe;
use crate::deform::sculpt::{Reform, SculptState};
use crate::document::Document;
use crate::rig::{Pose, PosedRig};
use crate::surface::{Form, Sculpt, turns};

/// Evaluations at most beside those before and after the pull.
const ROUNDS: u32 = 6;
/// A residual of this share of the longest pull is none.
const NOTHING: f32 = 1e-3;
/// What a change brings is taken for at least this share of it.
const LEAST_GAIN: f32 = 0.15;
/// Offsets grow by at most so many times the longest pull.
const MOST: f32 = 2.0;

/// A pull that was let go.
#[derive(Clone, Debug, PartialEq)]
pub struct Refit {
    /// The edit, as the document has it.
    pub sculpt: Sculpt,
    /// Its offsets before the pull; `None` if the pull has made it.
    pub before: Option<Vec<[f32; 3]>>,
    /// The pose that was seen.
    pub pose: Pose,
    /// The edits' states then.
    pub states: Vec<SculptState>,
    /// The deformer then.
    pub recipe: Recipe,
}

impl Refit {
    /// The edit whose result in the springs is what the hand has drawn, as near as they let it; `None` if the document
    /// has the edit no more, or there is nothing to gain. Takes up to a few seconds for a large character; nothing is
    /// changed.
    ///
    /// # Errors
    /// The edit does not fit the character.
    pub fn solve(&self, model: &Model, document: &Document) -> Result<Option<Sculpt>> {
        let Form::Drawn(after) = &self.sculpt.form else { return Ok(None) };
        if document.sculpt(self.sculpt.id).is_err() {
            return Ok(None);
        }
        let mut evaluator = Evaluator::new(&Where::Cpu, model, &self.recipe)?;
        evaluator.set_sculpts(model, document.sculpts())?;
        let mut states = self.states.clone();
        // Offsets are those of amplitude 1.
        states.iter_mut().filter(|s| s.id == self.sculpt.id).for_each(|s| s.amplitude = 1.0);
        let kinematic = &self.sculpt.region.kinematic;
        let mut evaluate = |offsets: &[[f32; 3]], states: &[SculptState]| -> Result<Vec<Vec3>> {
            if !evaluator.reform(self.sculpt.id, Reform::Offsets(offsets)) {
                return Err(Error::input("a pulled shape has other vertices", "pull it again"));
            }
            evaluator.set_sculpt_states(states);
            let control = evaluator.evaluate(model, &self.pose)?.control;
            Ok(kinematic.iter().map(|&v| control[v as usize]).collect())
        };
        let rig = PosedRig::new(model.skeleton(), &self.pose);
        let turns = turns(&model.bound.character, &rig, &self.sculpt.region);
        // A new one was not there before: no offset is not the same, that would hold the surface at rest.
        let before = self.before.clone().unwrap_or_else(|| vec![[0.0; 3]; after.len()]);
        let others: Vec<SculptState> = states.iter().filter(|s| s.id != self.sculpt.id).copied().collect();
        let from = evaluate(&before, if self.before.is_some() { &states } else { &others })?;
        let mut shape = |offsets: &[[f32; 3]]| evaluate(offsets, &states);
        let pulls: Vec<Vec3> =
            after.iter().zip(&before).map(|(a, b)| Vec3::from(*a) - Vec3::from(*b)).collect();
        let wanted: Vec<Vec3> = from.iter().zip(&turns).zip(&pulls).map(|((x, q), d)| *x + *q * *d).collect();
        let first = shape(after)?;
        let found = solve(&turns, &pulls, after, &wanted, first, shape)?;
        Ok(found.map(|offsets| Sculpt { form: Form::Drawn(offsets), ..self.sculpt.clone() }))
    }
}

/// Offsets from `start` on whose shape is nearer to `wanted` than `now`, that of `start`; `None` if there is none.
fn solve(
    turns: &[Quat],
    pulls: &[Vec3],
    start: &[[f32; 3]],
    wanted: &[Vec3],
    now: Vec<Vec3>,
    mut shape: impl FnMut(&[[f32; 3]]) -> Result<Vec<Vec3>>,
) -> Result<Option<Vec<[f32; 3]>>> {
    let longest = pulls.iter().map(|d| d.length()).fold(0.0, f32::max);
    let off = |x: &[Vec3]| x.iter().zip(wanted).map(|(x, w)| x.distance(*w)).fold(0.0, f32::max);
    let (mut best, mut now, mut gain) = (None, now, 1.0);
    let mut offsets = start.to_vec();
    for _ in 0..ROUNDS {
        let worst = off(&now);
        if worst <= NOTHING * longest {
            break;
        }
        let change = |k: usize| {
            let step = turns[k].conjugate() * (wanted[k] - now[k]) / gain;
            let more = Vec3::from(offsets[k]) + step - Vec3::from(start[k]);
            Vec3::from(start[k]) + more.clamp_length_max(MOST * longest)
        };
        let new: Vec<[f32; 3]> = (0..turns.len()).map(|k| change(k).to_array()).collect();
        let x = shape(&new)?;
        if off(&x) >= worst {
            break;
        }
        let (mut along, mut square) = (0.0, 0.0);
        for k in 0..turns.len() {
            let asked = turns[k] * (Vec3::from(new[k]) - Vec3::from(offsets[k]));
            along += (x[k] - now[k]).dot(asked);
            square += asked.length_squared();
        }
        gain = if square > 0.0 { (along / square).clamp(LEAST_GAIN, 1.0) } else { 1.0 };
        (offsets, now) = (new, x);
        best = Some(offsets.clone());
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Asset;
    use crate::base::{BoneId, MarkId, SculptId};
    use crate::bind::BindOptions;
    use crate::document::Edit;
    use crate::rig::{Axis, rotate_joint};
    use crate::surface::{Reach, Region, ring_mark};
    use std::time::Duration;

    /// How far the pulled vertices are from where the hand left them, in shares of the pull, as drawn and settled.
    fn settled(stiffness: f32) -> [f32; 2] {
        let asset = Asset::from_slice(&crate::generate::tube(900).unwrap(), "tube").unwrap();
        let model = Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap();
        let (character, attachments) = (&model.bound.character, &model.bound.attachments);
        let mark = ring_mark(character, attachments, MarkId(0), BoneId(1), 0.5).unwrap();
        let region = Region::from_mark(character, &mark, Reach::Edges(4)).unwrap();
        let pull = Vec3::new(0.02, 0.01, -0.01);
        let form = Form::Drawn(vec![pull.to_array(); region.kinematic.len()]);
        let sculpt = Sculpt { stiffness, ..Sculpt::new(SculptId(0), Some(mark.id), region, form) };
        let mut session = model.start(None).unwrap();
        session.apply(Edit::AddSculpt { index: None, sculpt: Box::new(sculpt.clone()) }).unwrap();
        let mut pose = model.rest();
        rotate_joint(model.skeleton(), &mut pose, model.skeleton().joints[1].node, &[(Axis::Z, 50.0)])
            .unwrap();
        let states = session.document().sculpt_states(0.0);
        let recipe = Recipe::default();
        let settle = Refit { sculpt, before: None, pose: pose.clone(), states, recipe: recipe.clone() };
        let new = settle.solve(&model, session.document()).unwrap().unwrap();
        let rig = PosedRig::new(model.skeleton(), &pose);
        let turns = turns(character, &rig, &new.region);
        let mut evaluator = Evaluator::new(&Where::Cpu, &model, &recipe).unwrap();
        let plain = evaluator.evaluate(&model, &pose).unwrap().control;
        [&settle.sculpt, &new].map(|sculpt| {
            evaluator.set_sculpts(&model, std::slice::from_ref(sculpt)).unwrap();
            evaluator.set_sculpt_states(&settle.states);
            let x = evaluator.evaluate(&model, &pose).unwrap().control;
            let off = sculpt.region.kinematic.iter().zip(&turns).map(|(&v, q)| {
                let wanted = plain[v as usize] + *q * pull;
                wanted.distance(x[v as usize]) / pull.length()
            });
            off.fold(0.0, f32::max)
        })
    }

    #[test]
    fn the_springs_result_is_what_the_hand_drew() {
        let [drawn, new] = settled(crate::surface::STIFFNESS);
        println!("{drawn} of the pull was left, {new} is");
        assert!(drawn > 5e-3 && new < 2e-3, "{drawn} {new}");
        // A soft edit yields more than it can be asked for: bounded, and nearer than before.
        let [drawn, new] = settled(0.5);
        println!("soft: {drawn} of the pull was left, {new} is");
        assert!(drawn > 0.1 && new < 0.5 * drawn, "{drawn} {new}");
    }

    #[test]
    fn what_cannot_follow_stays_bounded() {
        let (turns, pulls) = ([Quat::IDENTITY], [Vec3::X]);
        let wanted = [Vec3::X * 2.0];
        // A wall at 1.2.
        let wall = |offsets: &[[f32; 3]]| Ok(vec![Vec3::X * (1.0 + 0.5 * offsets[0][0]).min(1.2)]);
        let start = [[0.1, 0.0, 0.0]];
        let found = solve(&turns, &pulls, &start, &wanted, wall(&start).unwrap(), wall).unwrap().unwrap();
        assert!(found[0][0] <= 0.1 + MOST && found[0][0] > 0.1, "{found:?}");
        let worse = |_: &[[f32; 3]]| Ok(vec![Vec3::ZERO]);
        assert_eq!(solve(&turns, &pulls, &start, &wanted, vec![Vec3::X], worse).unwrap(), None);
    }
}
