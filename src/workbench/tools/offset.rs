//! The offset stroke of a mark: the user draws where the skin under the mark should go
//! ([`crate::surface::OffsetCurve`], thesis 7.4). The result is one sculpt layer, like that of a pull
//! ([`super::pull`]).

use super::{EditContext, Moment, pen};
use crate::base::MarkId;
use crate::base::math::{Quat, Vec3};
use crate::deform::classic::Method;
use crate::deform::sculpt::cpu::rotation;
use crate::deform::sculpt::{decode, encode};
use crate::surface::{
    Form, OffsetCurve, Reach, Region, Sculpt, SurfacePoint, SurfaceStroke, Surroundings, turns,
};

/// Maximum number of samples of an offset stroke; further samples are ignored.
const MOST: usize = 4096;

/// Differences between a drawn mark as the user saw it and the mark after linear blend skinning, per point, in bind
/// orientation, metres. Other deformers, and layers under the mark, move the skin away from linear blend skinning.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    mark: Option<MarkId>,
    apart: Vec<Vec3>,
}

impl Seen {
    /// Compares a mark with the positions at which some of its points were measured. Interpolates the difference
    /// between measured points.
    pub fn new(context: &EditContext, mark: &SurfaceStroke, measured: &[(SurfacePoint, Vec3)]) -> Self {
        let mut rest = measured.iter();
        let known: Vec<Option<Vec3>> = mark
            .points
            .iter()
            .map(|point| {
                let same = |m: &&(SurfacePoint, Vec3)| {
                    (m.0.triangle, m.0.barycentrics) == (point.triangle, point.barycentrics)
                };
                let mut ahead = rest.clone();
                let (_, seen) = *ahead.find(same)?;
                rest = ahead;
                let (x, turn) = skinned(context, point)?;
                Some(encode(turn, x, seen))
            })
            .collect();
        let places: Vec<usize> = (0..known.len()).filter(|i| known[*i].is_some()).collect();
        let between = |i: usize| {
            let after = places.partition_point(|k| *k < i);
            let after = places.get(after).or(places.last()).copied()?;
            let before = places.get(places.partition_point(|k| *k <= i).wrapping_sub(1)).copied();
            let before = before.unwrap_or(after);
            let s = if after > before { (i - before) as f32 / (after - before) as f32 } else { 0.0 };
            Some(known[before]?.lerp(known[after]?, s))
        };
        let apart = (0..known.len()).map(|i| between(i).unwrap_or(Vec3::ZERO)).collect();
        Self { mark: Some(mark.id), apart }
    }
}

/// Position of a mark's point after linear blend skinning, world space, and the rotation from bind space to the pose.
fn skinned(context: &EditContext, point: &SurfacePoint) -> Option<(Vec3, Quat)> {
    let x = context.body.skinned_position(&context.character, &context.rig, point)?;
    let corners = context.body.walk.corners(point.triangle)?;
    let b = point.barycentrics;
    let main = (1..3).fold(0, |most, k| if b[k] > b[most] { k } else { most });
    Some((x, rotation(&context.character, &context.rig, corners[main])))
}

/// Positions of a mark's points in the displayed pose, as the user sees them, world space, metres.
pub fn mark_positions(context: &EditContext, mark: &SurfaceStroke, seen: &Seen) -> Option<Vec<Vec3>> {
    let fits = seen.mark == Some(mark.id) && seen.apart.len() == mark.points.len();
    let place = |(i, point)| {
        let (x, turn) = skinned(context, point)?;
        Some(if fits { decode(turn, x, seen.apart[i]) } else { x })
    };
    mark.points.iter().enumerate().map(place).collect()
}

/// An offset stroke in progress.
pub struct Offset {
    sculpt: Sculpt,
    /// Offsets of the layer before the stroke; `None` for a new layer.
    before: Option<Vec<[f32; 3]>>,
    /// Rotation of each kinematic vertex from bind space to the pose.
    turns: Vec<Quat>,
    curve: OffsetCurve,
    /// The stroke, world space, metres.
    pub points: Vec<Vec3>,
}

impl Offset {
    /// Starts the offset stroke of a mark. If the stroke makes a new sculpt layer, this layer gets the given reach and
    /// the given classical tool for its surroundings. Returns `None` if the mark is gone, or lies only on rigid props.
    pub fn begin(
        context: &EditContext,
        mark: MarkId,
        seen: &Seen,
        (reach, method): (Reach, Option<Method>),
    ) -> Option<Self> {
        let document = context.session.document();
        let mark = document.marks().iter().find(|m| m.id == mark)?;
        let posed = mark_positions(context, mark, seen)?;
        let curve = OffsetCurve::new(&context.character, mark, &posed)?;
        let old = document.sculpts().iter().find(|s| s.mark == Some(mark.id));
        let (sculpt, before) = match old.map(|old| (old, &old.form)) {
            Some((old, Form::Drawn(offsets))) => {
                (old.clone().with_open_surroundings(), Some(offsets.clone()))
            }
            _ => {
                let region = Region::from_mark(&context.character, mark, reach).ok()?;
                let form = Form::Drawn(vec![[0.0; 3]; region.kinematic.len()]);
                let new = Sculpt::new(document.unused_sculpt_id(), Some(mark.id), region, form);
                (Sculpt { surroundings: method.map(Surroundings::new), ..new }, None)
            }
        };
        let turns = turns(&context.character, &context.rig, &sculpt.region);
        Some(Self { sculpt, before, turns, curve, points: Vec::with_capacity(MOST) })
    }

    /// The sculpt layer in its current state.
    pub fn sculpt(&self) -> &Sculpt {
        &self.sculpt
    }

    /// Continues the stroke to the hand.
    pub fn draw(&mut self, moment: &Moment) {
        if pen::draw(&mut self.points, moment, MOST) {
            self.update(false);
        }
    }

    fn update(&mut self, finished: bool) {
        self.curve.set(&self.points, finished);
        let Form::Drawn(offsets) = &mut self.sculpt.form else { return };
        for ((offset, turn), t) in offsets.iter_mut().zip(&self.turns).zip(&self.sculpt.region.t) {
            *offset = encode(*turn, Vec3::ZERO, self.curve.displacement(*t)).to_array();
        }
    }

    /// Ends the stroke. Returns the layer and its old offsets (`None` for a new layer), or `None` if the stroke is only a
    /// click.
    pub fn end(mut self, moment: &Moment) -> Option<(Sculpt, Option<Vec<[f32; 3]>>)> {
        pen::end(&mut self.points, moment, MOST);
        if self.points.len() < 2 {
            return None;
        }
        self.update(true);
        Some((self.sculpt, self.before))
    }
}
