//! Pulling a mark: the skin under the mark follows the hand, and the surrounding skin follows smoothly (thesis 7.4).
//! The result is one sculpt layer; later pulls at the mark change that layer.
//!
//! An open mark bends like a string, most at the held point. If the hand pulls a ring away from the bone, the ring
//! grows evenly; towards the bone, it shrinks. The remaining motion of the hand shifts the ring. Around a limb of
//! several shells, growth is proportional to the distance from the bone, so that all shells thicken by the same factor.

use super::EditContext;
use super::skin::Touch;
use crate::base::SculptId;
use crate::base::math::{Quat, Vec3, distance_to_segment};
use crate::deform::classic::Method;
use crate::surface::{Form, Reach, Region, Sculpt, SurfacePoint, SurfaceStroke, Surroundings, turns};

/// Half-width of a pull along an open mark, as a fraction of the mark's length.
const WIDTH: f32 = 0.6;

/// The pulled sculpt layer and its previous offsets; `None` for a new layer.
pub type Pulled = (SculptId, Option<Vec<[f32; 3]>>);

/// A pull in progress.
pub struct Pull {
    sculpt: Sculpt,
    /// Whether the document contains the sculpt layer.
    known: bool,
    /// Offsets at the start of the pull.
    before: Vec<Vec3>,
    /// Rotation of each kinematic vertex from bind space to the pose.
    turns: Vec<Quat>,
    /// Displacement of each kinematic vertex per metre of ring growth, world space. It is the unit direction away from
    /// the bone, or zero where that direction is undefined. Around several shells, its length is proportional to the
    /// distance from the bone.
    out: Vec<Vec3>,
    /// Weight of the pull at each kinematic vertex, 0..=1.
    share: Vec<f32>,
    closed: bool,
    /// Direction from the bone at the held point.
    held: Vec3,
    start: Vec3,
    moved: bool,
}

/// Returns the mark nearest to a touch, within `grasp` metres, and its nearest point.
pub fn nearest<'a>(
    context: &'a EditContext,
    touch: &Touch,
    grasp: f32,
) -> Option<(&'a SurfaceStroke, &'a SurfacePoint)> {
    let mut best: Option<(f32, &SurfaceStroke, &SurfacePoint)> = None;
    for mark in context.session.document().marks() {
        for point in &mark.points {
            let Some(distance) = touch.distance(context, point) else { continue };
            if distance <= grasp && best.is_none_or(|b| distance < b.0) {
                best = Some((distance, mark, point));
            }
        }
    }
    best.map(|(_, mark, point)| (mark, point))
}

impl Pull {
    /// Starts a pull of a mark at one of its points. If the pull makes a new sculpt layer, this layer gets the given
    /// reach and the given classical tool for its surroundings.
    pub fn begin(
        context: &EditContext,
        touch: &Touch,
        (mark, place): (&SurfaceStroke, &SurfacePoint),
        (reach, method): (Reach, Option<Method>),
    ) -> Option<Self> {
        let document = context.session.document();
        let old = document.sculpts().iter().find(|s| s.mark == Some(mark.id));
        let sculpt = match old {
            Some(old) if matches!(old.form, Form::Drawn(_)) => old.clone().with_open_surroundings(),
            _ => {
                let region = Region::from_mark(&context.character, mark, reach).ok()?;
                let form = Form::Drawn(vec![[0.0; 3]; region.kinematic.len()]);
                let new = Sculpt::new(document.unused_sculpt_id(), Some(mark.id), region, form);
                Sculpt { surroundings: method.map(Surroundings::new), ..new }
            }
        };
        let known = document.sculpt(sculpt.id).is_ok();
        let Form::Drawn(offsets) = &sculpt.form else { return None };
        let before: Vec<Vec3> = offsets.iter().map(|o| Vec3::from(*o)).collect();
        let turns = turns(&context.character, &context.rig, &sculpt.region);
        let bones = &context.character.skeleton.bones;
        let positions = &context.character.control.positions;
        // The document does not store attachments, so the bone nearest to the region's middle gives the axis.
        let region = &sculpt.region;
        let middle =
            region.kinematic.iter().map(|&v| positions[v as usize]).sum::<Vec3>() / before.len() as f32;
        let off = |b: &&crate::rig::Bone| distance_to_segment(middle, b.head, b.tail);
        let bone =
            bones.iter().filter(|b| b.head.distance(b.tail) > 0.0).min_by(|a, b| off(a).total_cmp(&off(b)));
        let radial = |x: Vec3| {
            if let Some(round) = region.round {
                return round.radial(x) / round.radius;
            }
            let Some(bone) = bone else { return Vec3::ZERO };
            let axis = (bone.tail - bone.head).normalize_or_zero();
            let from = x - bone.head;
            (from - axis * axis.dot(from)).normalize_or_zero()
        };
        let placed = region.kinematic.iter().zip(&turns);
        let out: Vec<Vec3> = placed.map(|(&v, q)| *q * radial(positions[v as usize])).collect();
        // The held point is the kinematic vertex nearest to the touched skin point. Without that point, it is the
        // vertex nearest to the tip after linear blend skinning.
        let posed = |v: u32| {
            let x = positions[v as usize];
            let of = context.character.control.influences.of(v as usize);
            of.map(|(j, w)| context.rig.skinning[usize::from(j)].transform_point3(x) * w).sum::<Vec3>()
        };
        let away = |k: usize| match (touch.skin, region.kinematic[k]) {
            (Some(skin), v) => positions[v as usize].distance_squared(skin),
            (None, v) => posed(v).distance_squared(touch.tip),
        };
        let nearest = (0..before.len()).min_by(|&a, &b| away(a).total_cmp(&away(b)))?;
        let at = region.t[nearest];
        let share = |t: &f32| {
            let u = ((t - at) / WIDTH).clamp(-1.0, 1.0);
            if mark.closed { 1.0 } else { (1.0 - u * u) * (1.0 - u * u) }
        };
        let share = region.t[..before.len()].iter().map(share).collect();
        // Uses the radial direction at the mark's point, not at the vertex: on a box, the vertex may lie around a
        // corner.
        let place = context.body.bind_position(&context.character, place)?;
        let (held, closed) = ((turns[nearest] * radial(place)).normalize_or_zero(), mark.closed);
        Some(Self { sculpt, known, before, turns, out, share, closed, held, start: touch.tip, moved: false })
    }

    /// The sculpt layer in its current state.
    pub fn sculpt(&self) -> &Sculpt {
        &self.sculpt
    }

    /// Moves the pull to a hand position.
    pub fn to(&mut self, tip: Vec3) {
        let way = tip - self.start;
        if !way.is_finite() {
            return;
        }
        let grown = if self.closed { way.dot(self.held) } else { 0.0 };
        let shifted = way - self.held * grown;
        let Form::Drawn(offsets) = &mut self.sculpt.form else { return };
        for (k, (offset, before)) in offsets.iter_mut().zip(&self.before).enumerate() {
            let world = (self.out[k] * grown + shifted) * self.share[k];
            *offset = (*before + self.turns[k].conjugate() * world).to_array();
        }
        self.moved |= way != Vec3::ZERO;
    }

    /// Ends the pull. Returns the layer and its old offsets (`None` for a new layer), or `None` without motion.
    pub fn end(self) -> Option<(Sculpt, Option<Vec<[f32; 3]>>)> {
        let before = self.known.then(|| self.before.iter().map(|o| o.to_array()).collect());
        self.moved.then_some((self.sculpt, before))
    }
}
