//! Pulling at a mark: the skin under it goes with the hand and what lies around it gives way (thesis 7.4). What comes of
//! it is one sculpt layer, which another pull changes.
//!
//! An open mark bends as a string does, most where it is held; a ring grows or shrinks evenly by how far the hand goes
//! away from its bone, and shifts by the rest. Round a limb of several shells it grows in proportion to the distance from
//! the bone, so that all of them get thicker by the same share.

use super::EditContext;
use crate::base::math::{Quat, Vec3};
use crate::document::Edit;
use crate::surface::{Form, Reach, Region, Sculpt, SurfacePoint, turns};

/// How far along an open mark a pull goes, in shares of its length.
const WIDTH: f32 = 0.6;
/// The region goes as far as the brush, but these many edges at least.
const EDGES: f32 = 4.0;

/// A mark in the hand.
pub struct Pull {
    sculpt: Sculpt,
    /// Whether the document has it.
    known: bool,
    /// Offsets before.
    before: Vec<Vec3>,
    /// `Q` of the kinematic vertices.
    turns: Vec<Quat>,
    /// Their ways per metre that the ring grows, world: directions from the bone, zero where they have none; where it goes
    /// round several shells longer the farther from the bone they are.
    out: Vec<Vec3>,
    /// How much each goes along.
    share: Vec<f32>,
    closed: bool,
    /// The direction from the bone where it is held.
    held: Vec3,
    start: Vec3,
    moved: bool,
}

impl Pull {
    /// Takes hold of the mark nearest to `tip`, within `reach` metres; `radius` is the brush's.
    pub fn begin(context: &EditContext, tip: Vec3, reach: f32, radius: f32) -> Option<Self> {
        let document = context.session.document();
        let mut best: Option<(f32, usize, &SurfacePoint)> = None;
        for (m, mark) in document.marks().iter().enumerate() {
            for point in &mark.points {
                let Some(x) = context.body.skinned_position(&context.character, &context.rig, point) else {
                    continue;
                };
                let distance = x.distance(tip);
                if distance <= reach && best.is_none_or(|b| distance < b.0) {
                    best = Some((distance, m, point));
                }
            }
        }
        let (_, mark, place) = best?;
        let mark = &document.marks()[mark];
        let old = document.sculpts().iter().find(|s| s.mark == Some(mark.id));
        let sculpt = match old {
            Some(old) if matches!(old.form, Form::Drawn(_)) => old.clone(),
            _ => {
                let reach = Reach::Along(radius.max(EDGES * context.body.edge));
                let region = Region::from_mark(&context.character, mark, reach).ok()?;
                let form = Form::Drawn(vec![[0.0; 3]; region.kinematic.len()]);
                Sculpt::new(document.unused_sculpt_id(), Some(mark.id), region, form)
            }
        };
        let known = document.sculpt(sculpt.id).is_ok();
        let Form::Drawn(offsets) = &sculpt.form else { return None };
        let before: Vec<Vec3> = offsets.iter().map(|o| Vec3::from(*o)).collect();
        let turns = turns(&context.character, &context.rig, &sculpt.region);
        let bones = &context.character.skeleton.bones;
        let positions = &context.character.control.positions;
        // From the axis of the bone that is nearest to the mark's middle: the document knows no attachment.
        let region = &sculpt.region;
        let middle =
            region.kinematic.iter().map(|&v| positions[v as usize]).sum::<Vec3>() / before.len() as f32;
        let away = |b: &&crate::rig::Bone| super::body::distance_to_segment(middle, b.head, b.tail);
        let bone =
            bones.iter().filter(|b| b.head.distance(b.tail) > 0.0).min_by(|a, b| away(a).total_cmp(&away(b)));
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
        // Held at the kinematic vertex nearest to the tip, by linear blend skinning.
        let posed = |v: u32| {
            let x = positions[v as usize];
            let of = context.character.control.influences.of(v as usize);
            of.map(|(j, w)| context.rig.skinning[usize::from(j)].transform_point3(x) * w).sum::<Vec3>()
        };
        let nearest = (0..before.len()).min_by(|&a, &b| {
            let d = |k: usize| posed(region.kinematic[k]).distance_squared(tip);
            d(a).total_cmp(&d(b))
        })?;
        let at = region.t[nearest];
        let share = |t: &f32| {
            let u = ((t - at) / WIDTH).clamp(-1.0, 1.0);
            if mark.closed { 1.0 } else { (1.0 - u * u) * (1.0 - u * u) }
        };
        let share = region.t[..before.len()].iter().map(share).collect();
        // Not that of the vertex, which on a box may lie round the corner.
        let place = context.body.bind_position(&context.character, place)?;
        let (held, closed) = ((turns[nearest] * radial(place)).normalize_or_zero(), mark.closed);
        Some(Self { sculpt, known, before, turns, out, share, closed, held, start: tip, moved: false })
    }

    /// The edit as it is now.
    pub fn sculpt(&self) -> &Sculpt {
        &self.sculpt
    }

    /// Goes to a place of the hand.
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

    /// Lets go: what the document is to do, and the offsets before, none of a new edit; nothing where nothing was moved.
    pub fn end(self) -> Option<(Edit, Option<Vec<[f32; 3]>>)> {
        let sculpt = Box::new(self.sculpt);
        let edit = if self.known { Edit::SetSculpt(sculpt) } else { Edit::AddSculpt { index: None, sculpt } };
        let before = self.known.then(|| self.before.iter().map(|o| o.to_array()).collect());
        self.moved.then_some((edit, before))
    }
}
