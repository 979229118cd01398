//! The sum of all sculpt layers of a character at one moment, per vertex.

use super::{BoundForm, BoundSculpt, Profile, SculptState, arc};
use crate::base::SculptId;
use crate::base::math::Vec3;

/// Layers with an amplitude below this contribute a proportional share of the stiffness: at amplitude 0 a
/// layer has no effect instead of pulling to the rest shape.
const FULL: f32 = 0.1;

/// The summed effect of all sculpt layers on a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offset {
    /// Sum of the offsets `D` in bind space, metres.
    pub offset: Vec3,
    /// Sum of the stiffnesses, in quarters of the vertex's number of neighbours.
    pub stiffness: f32,
    /// Share of the vertex's rest-shape forces that is released, 0..=1.
    pub give: f32,
}

/// A change to a sculpt layer that keeps its vertices.
#[derive(Clone, Copy, Debug)]
pub enum Reform<'a> {
    /// New offsets `D` at amplitude 1 of a drawn layer's kinematic vertices, bind space, metres.
    Offsets(&'a [[f32; 3]]),
    /// A new formula for a profile layer, along the same parameter.
    Profile(&'a Profile),
}

/// The vertices that sculpt layers move, and their offsets.
#[derive(Clone, Debug, Default)]
pub struct Field {
    sculpts: Vec<BoundSculpt>,
    /// Per sculpt and vertex: index into `vertices`.
    slots: Vec<Vec<u32>>,
    /// Control vertices that any sculpt layer moves, ascending.
    pub vertices: Vec<u32>,
    /// Offset of each vertex in `vertices`.
    pub offsets: Vec<Offset>,
    states: Vec<SculptState>,
    /// Whether a layer's form has changed since `offsets` were computed.
    stale: bool,
    /// Offsets of a drawn layer's kinematic vertices.
    scratch: Vec<Vec3>,
}

impl Field {
    /// The field of these sculpt layers, all of them off.
    pub fn new(sculpts: &[BoundSculpt]) -> Self {
        let mut vertices: Vec<u32> = sculpts.iter().flat_map(|s| &s.vertices).copied().collect();
        vertices.sort_unstable();
        vertices.dedup();
        let slot = |v: &u32| vertices.partition_point(|w| w < v) as u32;
        let slots = sculpts.iter().map(|s| s.vertices.iter().map(slot).collect()).collect();
        let most = sculpts.iter().map(|s| s.vertices.len()).max().unwrap_or(0);
        Self {
            slots,
            offsets: vec![Offset::default(); vertices.len()],
            states: Vec::with_capacity(sculpts.len()),
            stale: false,
            scratch: Vec::with_capacity(most),
            sculpts: sculpts.to_vec(),
            vertices,
        }
    }

    /// Whether no sculpt layer has a vertex.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Gives an edit another form, from the next [`Field::set`] on; false where it has no such edit or the form does not
    /// fit, and should be bound. Does not allocate: a hand that pulls does this in every frame.
    pub fn reform(&mut self, id: SculptId, to: Reform<'_>) -> bool {
        let Some(sculpt) = self.sculpts.iter_mut().find(|s| s.id == id) else { return false };
        match (&mut sculpt.form, to) {
            (BoundForm::Drawn { offsets, .. }, Reform::Offsets(new)) if offsets.len() == new.len() => {
                offsets.iter_mut().zip(new).for_each(|(d, new)| *d = Vec3::from(*new));
            }
            (BoundForm::Profile { profile, .. }, Reform::Profile(new)) if profile.along == new.along => {
                *profile = *new;
            }
            _ => return false,
        }
        self.stale = true;
        true
    }

    /// Sets the states of the sculpt layers; those without a state are off. Returns true if anything
    /// changed. Does not allocate for at most as many states as there are layers.
    pub fn set(&mut self, states: &[SculptState]) -> bool {
        if !std::mem::take(&mut self.stale) && self.states == states {
            return false;
        }
        self.states.clear();
        self.states.extend_from_slice(states);
        self.offsets.fill(Offset::default());
        for (sculpt, slots) in self.sculpts.iter().zip(&self.slots) {
            let Some(state) = states.iter().find(|s| s.id == sculpt.id) else { continue };
            let sane = |v: f32| if v.is_finite() { v } else { 0.0 };
            let (amplitude, stiffness) = (sane(state.amplitude), sane(state.stiffness).clamp(0.0, 1e6));
            if amplitude == 0.0 {
                continue;
            }
            let stiffness = stiffness * (amplitude.abs() / FULL).min(1.0);
            self.scratch.clear();
            if let BoundForm::Drawn { offsets, .. } = &sculpt.form {
                let kinematic = sculpt.scale_vectors.iter().zip(offsets);
                self.scratch.extend(kinematic.map(|(s, d)| arc(*s, *d, amplitude)));
            }
            for (i, (&slot, &falloff)) in slots.iter().zip(&sculpt.falloff).enumerate() {
                let offset = match &sculpt.form {
                    BoundForm::Drawn { offsets, sources } => match i.checked_sub(offsets.len()) {
                        None => self.scratch[i],
                        Some(p) => sources[p].iter().map(|&(k, w)| self.scratch[k as usize] * w).sum(),
                    },
                    BoundForm::Profile { profile, t } => {
                        let f = profile.curve.at(t[i], state.seconds);
                        // Beyond the bone the scale vector would invert.
                        sculpt.scale_vectors[i] * (amplitude * profile.amount * f).max(-1.0)
                    }
                };
                let out = &mut self.offsets[slot as usize];
                out.offset += offset * falloff;
                out.stiffness += stiffness * falloff;
                out.give = out.give.max(falloff * stiffness / (1.0 + stiffness));
            }
        }
        true
    }

    /// Vertices with their offsets.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Offset)> {
        self.vertices.iter().copied().zip(&self.offsets)
    }
}
