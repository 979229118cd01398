//! Completes a pulled sculpt layer. Computes the layer's surroundings by a classical tool ([`surroundings`]). Then
//! corrects the layer's offsets, so that the surface that the springs solve matches the pull and the surroundings.
//!
//! The springs pull the surface back, so it does not reach the offsets of a layer. The softer the layer, the farther
//! the surface stays behind. Let the residual `r = x* - x` be the difference between the target and the solved
//! positions of the kinematic vertices. A round changes the offsets by `Q^-1 r / g`. `Q` is the rotation of a vertex
//! from bind space to the pose. The gain `g` is the fraction of the previous change of offsets by which the surface
//! moved: a secant step with one number for all vertices. Offsets are bounded, because some targets cannot be reached.

use super::{Evaluator, Model, Where, surroundings};
use crate::base::math::{Quat, Vec3};
use crate::base::{Error, Result, SculptId};
use crate::deform::Recipe;
use crate::deform::sculpt::cpu::rotation;
use crate::deform::sculpt::{Reform, SculptState};
use crate::document::Document;
use crate::rig::{Pose, PosedRig};
use crate::surface::{Form, Sculpt, drawn, turns};

/// Maximum number of rounds. The two evaluations of the surface before and after the pull do not count.
const ROUNDS: u32 = 6;
/// Residual that counts as converged, as a fraction of the longest pull.
const NOTHING: f32 = 1e-3;
/// Lower bound of the gain.
const LEAST_GAIN: f32 = 0.15;
/// Maximum change of an offset, as a multiple of the longest pull.
const MOST: f32 = 2.0;

/// A sculpt layer after a finished pull, and the pose for which the refit compensates the springs.
#[derive(Clone, Debug, PartialEq)]
pub struct Refit {
    /// The sculpt layer after the pull.
    pub sculpt: Sculpt,
    /// Whether a hand has pulled the layer. Otherwise only its surroundings are computed.
    pub pulled: bool,
    /// Offsets before the pull; `None` if the pull created the layer.
    pub before: Option<Vec<[f32; 3]>>,
    /// Displayed pose during the pull.
    pub pose: Pose,
    /// States of the sculpt layers during the pull.
    pub states: Vec<SculptState>,
    /// Deformer during the pull.
    pub recipe: Recipe,
}

impl Refit {
    /// Returns the sculpt layer whose solved surface is as near as possible to the pulled shape. Returns `None` if
    /// the document no longer has the layer, or no improvement is possible. Takes up to a few seconds for a large
    /// character; changes nothing.
    ///
    /// # Errors
    /// If the sculpt layer does not fit the character.
    pub fn solve(&self, model: &Model, document: &Document) -> Result<Option<Sculpt>> {
        let Form::Drawn(after) = &self.sculpt.form else { return Ok(None) };
        if document.sculpt(self.sculpt.id).is_err() {
            return Ok(None);
        }
        let mut evaluator = Evaluator::new(&Where::Cpu, model, &self.recipe)?;
        evaluator.set_layers(model, document)?;
        let others: Vec<SculptState> =
            self.states.iter().filter(|s| s.id != self.sculpt.id).copied().collect();
        let method = self.sculpt.surroundings.as_ref().map(|s| s.method);
        if let Some(method) = method.filter(|_| !self.pulled || self.recipe.springs.is_none()) {
            evaluator.set_sculpt_states(&others);
            let shape = evaluator.evaluate(model, &self.pose)?;
            let found = surroundings(model, &self.pose, &shape.control, &self.sculpt, method)?;
            return Ok(Some(Sculpt { surroundings: Some(found), ..self.sculpt.clone() }));
        }
        let mut states = self.states.clone();
        // Offsets are defined for amplitude 1.
        states.iter_mut().filter(|s| s.id == self.sculpt.id).for_each(|s| s.amplitude = 1.0);
        let mut evaluate = |offsets: &[[f32; 3]], states: &[SculptState]| -> Result<Vec<Vec3>> {
            reshaped(&mut evaluator, self.sculpt.id, offsets)?;
            evaluator.set_sculpt_states(states);
            Ok(evaluator.evaluate(model, &self.pose)?.control)
        };
        let region = &self.sculpt.region;
        let rig = PosedRig::new(model.skeleton(), &self.pose);
        let mut turns = turns(&model.bound.character, &rig, region);
        // If the pull created the layer, the surface before the pull is evaluated without this layer. A layer of zero
        // offsets would hold the surface in its rest shape.
        let before = self.before.clone().unwrap_or_else(|| vec![[0.0; 3]; after.len()]);
        let from = evaluate(&before, if self.before.is_some() { &states } else { &others })?;
        let mut pulls: Vec<Vec3> =
            after.iter().zip(&before).map(|(a, b)| Vec3::from(*a) - Vec3::from(*b)).collect();
        let places = region.kinematic.iter().zip(turns.iter().zip(&pulls));
        let mut wanted: Vec<Vec3> = places.map(|(&v, (q, d))| from[v as usize] + *q * *d).collect();
        let mut layer = self.sculpt.clone();
        let mut start = after.clone();
        let mut vertices = region.kinematic.clone();
        if let Some(method) = method {
            // The classical tool leads the passive vertices to the wanted places of the kinematic ones.
            let plain = evaluate(&before, &others)?;
            let form = drawn(&model.bound.character, &rig, region, &at(&plain, &vertices), &wanted);
            let goal = Sculpt { form, ..layer.clone() };
            let found = surroundings(model, &self.pose, &plain, &goal, method)?;
            for (&v, offset) in region.passive.iter().zip(&found.offsets) {
                let (turn, offset) = (rotation(&model.bound.character, &rig, v), Vec3::from(*offset));
                wanted.push(plain[v as usize] + turn * offset);
                turns.push(turn);
                pulls.push(offset);
            }
            vertices.extend(&region.passive);
            start.extend(&found.offsets);
            layer.surroundings = Some(found);
            let own = |s: &Sculpt| if s.id == layer.id { layer.clone() } else { s.clone() };
            evaluator.set_sculpts(model, &document.sculpts().iter().map(own).collect::<Vec<_>>())?;
        }
        let shape = |offsets: &[[f32; 3]]| -> Result<Vec<Vec3>> {
            reshaped(&mut evaluator, self.sculpt.id, offsets)?;
            evaluator.set_sculpt_states(&states);
            Ok(at(&evaluator.evaluate(model, &self.pose)?.control, &vertices))
        };
        let found = solve(&turns, &pulls, &start, &wanted, shape)?;
        if found.is_none() && method.is_none() {
            return Ok(None);
        }
        let mut offsets = found.unwrap_or(start);
        let passive = offsets.split_off(after.len());
        layer.form = Form::Drawn(offsets);
        layer.surroundings.iter_mut().for_each(|s| s.offsets.clone_from(&passive));
        Ok(Some(layer))
    }
}

fn at(positions: &[Vec3], vertices: &[u32]) -> Vec<Vec3> {
    vertices.iter().map(|&v| positions[v as usize]).collect()
}

/// Gives a layer of the evaluator new offsets.
fn reshaped(evaluator: &mut Evaluator, id: SculptId, offsets: &[[f32; 3]]) -> Result<()> {
    if evaluator.reform(id, Reform::Offsets(offsets)) {
        return Ok(());
    }
    Err(Error::input("a pulled shape has other vertices", "pull it again"))
}

/// Searches for offsets whose surface is nearer to `wanted` than that of the offsets `start`.
fn solve(
    turns: &[Quat],
    pulls: &[Vec3],
    start: &[[f32; 3]],
    wanted: &[Vec3],
    mut shape: impl FnMut(&[[f32; 3]]) -> Result<Vec<Vec3>>,
) -> Result<Option<Vec<[f32; 3]>>> {
    let longest = pulls.iter().map(|d| d.length()).fold(0.0, f32::max);
    let off = |x: &[Vec3]| x.iter().zip(wanted).map(|(x, w)| x.distance(*w)).fold(0.0, f32::max);
    let (mut best, mut now, mut gain) = (None, shape(start)?, 1.0);
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
    use crate::deform::classic::Method;
    use crate::document::Edit;
    use crate::rig::{Axis, rotate_joint};
    use crate::surface::{Reach, Region, Surroundings, ring_mark};
    use std::time::Duration;

    /// Maximum error of the pulled vertices and of the surroundings, as a fraction of the pull, before and after the refit.
    fn settled(stiffness: f32, method: Option<Method>) -> [f32; 2] {
        let asset = Asset::from_slice(&crate::generate::tube(900).unwrap(), "tube").unwrap();
        let model = Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap();
        let (character, attachments) = (&model.bound.character, &model.bound.attachments);
        let mark = ring_mark(character, attachments, MarkId(0), BoneId(1), 0.5).unwrap();
        let region = Region::from_mark(character, &mark, Reach::Edges(4)).unwrap();
        let pull = Vec3::new(0.02, 0.01, -0.01);
        let form = Form::Drawn(vec![pull.to_array(); region.kinematic.len()]);
        let new = Sculpt::new(SculptId(0), Some(mark.id), region, form);
        let sculpt = Sculpt { stiffness, surroundings: method.map(Surroundings::new), ..new };
        let mut session = model.start(None).unwrap();
        session.apply(Edit::AddSculpt { index: None, sculpt: Box::new(sculpt.clone()) }).unwrap();
        let mut pose = model.rest();
        rotate_joint(model.skeleton(), &mut pose, model.skeleton().joints[1].node, &[(Axis::Z, 50.0)])
            .unwrap();
        let states = session.document().sculpt_states(0.0);
        let recipe = Recipe::default();
        let refit =
            Refit { sculpt, pulled: true, before: None, pose: pose.clone(), states, recipe: recipe.clone() };
        let new = refit.solve(&model, session.document()).unwrap().unwrap();
        let rig = PosedRig::new(model.skeleton(), &pose);
        let mut evaluator = Evaluator::new(&Where::Cpu, &model, &recipe).unwrap();
        let plain = evaluator.evaluate(&model, &pose).unwrap().control;
        let mut drawn = refit.sculpt.clone();
        let mut goal: Vec<(u32, Vec3)> = new.region.kinematic.iter().map(|&v| (v, pull)).collect();
        if let Some(method) = method {
            let found = surroundings(&model, &pose, &plain, &drawn, method).unwrap();
            let offsets = found.offsets.iter().map(|o| Vec3::from(*o));
            goal.extend(new.region.passive.iter().copied().zip(offsets));
            drawn.surroundings = Some(found);
        }
        [&drawn, &new].map(|sculpt| {
            evaluator.set_sculpts(&model, std::slice::from_ref(sculpt)).unwrap();
            evaluator.set_sculpt_states(&refit.states);
            let x = evaluator.evaluate(&model, &pose).unwrap().control;
            let off = goal.iter().map(|&(v, offset)| {
                let wanted = plain[v as usize] + rotation(character, &rig, v) * offset;
                wanted.distance(x[v as usize]) / pull.length()
            });
            off.fold(0.0, f32::max)
        })
    }

    #[test]
    fn the_springs_result_is_what_the_hand_drew() {
        let [drawn, new] = settled(crate::surface::STIFFNESS, None);
        println!("{drawn} of the pull was left, {new} is");
        assert!(drawn > 5e-3 && new < 2e-3, "{drawn} {new}");
        // A soft layer falls short by more than bounded offsets can correct, but the refit reduces the error.
        let [drawn, new] = settled(0.5, None);
        println!("soft: {drawn} of the pull was left, {new} is");
        assert!(drawn > 0.1 && new < 0.5 * drawn, "{drawn} {new}");
        // The surroundings of a classical tool are reached too.
        for stiffness in [crate::surface::STIFFNESS, 0.5] {
            let [drawn, new] = settled(stiffness, Some(Method::Lse));
            println!("with surroundings, stiffness {stiffness}: {drawn} of the pull was left, {new} is");
            assert!(new < 0.5 * drawn, "{drawn} {new}");
        }
    }

    #[test]
    fn what_cannot_follow_stays_bounded() {
        let (turns, pulls) = ([Quat::IDENTITY], [Vec3::X]);
        let wanted = [Vec3::X * 2.0];
        // No offset moves the vertex beyond 1.2, as if there were a wall.
        let wall = |offsets: &[[f32; 3]]| Ok(vec![Vec3::X * (1.0 + 0.5 * offsets[0][0]).min(1.2)]);
        let start = [[0.1, 0.0, 0.0]];
        let found = solve(&turns, &pulls, &start, &wanted, wall).unwrap().unwrap();
        assert!(found[0][0] <= 0.1 + MOST && found[0][0] > 0.1, "{found:?}");
        let worse = |_: &[[f32; 3]]| Ok(vec![Vec3::ZERO]);
        assert_eq!(solve(&turns, &pulls, &start, &wanted, worse).unwrap(), None);
    }
}
