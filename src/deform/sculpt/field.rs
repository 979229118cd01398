//! The sum of all sculpt layers of a character in one frame, per vertex.

use super::{BoundForm, BoundSculpt, Profile, SculptState, arc};
use crate::base::SculptId;
use crate::base::math::Vec3;

/// Below this amplitude a layer's stiffness is proportional to its amplitude. At amplitude 0 the layer then has no
/// effect, instead of pulling to the rest shape.
const FULL: f32 = 0.1;

/// The summed effect of all sculpt layers on a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offset {
    /// Sum of the offsets `D` in bind space, metres.
    pub offset: Vec3,
    /// Sum of the layers' stiffnesses, in quarters of the vertex's number of neighbours.
    pub stiffness: f32,
    /// Fraction by which the vertex's rest-shape forces are reduced, 0..=1.
    pub give: f32,
}

/// A change to the offsets of a sculpt layer that keeps its vertices.
#[derive(Clone, Copy, Debug)]
pub enum Reform<'a> {
    /// New offsets `D` of a drawn layer's kinematic vertices at amplitude 1, bind space, metres.
    Offsets(&'a [[f32; 3]]),
    /// A new formula for a profile layer; [`Profile::along`] must not change.
    Profile(&'a Profile),
}

/// The vertices moved by sculpt layers, and their current offsets.
#[derive(Clone, Debug, Default)]
pub struct Field {
    sculpts: Vec<BoundSculpt>,
    /// Index into `vertices` per layer and vertex of the layer.
    slots: Vec<Vec<u32>>,
    /// Control vertices moved by any sculpt layer, ascending.
    pub vertices: Vec<u32>,
    /// Summed effect of the layers per vertex in `vertices`.
    pub offsets: Vec<Offset>,
    states: Vec<SculptState>,
    /// Whether a layer's offsets have changed since `offsets` was computed.
    stale: bool,
    /// Offsets of a drawn layer's kinematic vertices at the current amplitude.
    scratch: Vec<Vec3>,
}

impl Field {
    /// Creates the field of these sculpt layers, with all layers off.
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

    /// Returns whether the layers move no vertices.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Replaces the offsets of a sculpt layer from the next [`Field::set`] on, without allocation. Returns false if
    /// the layer does not exist or the offsets do not fit it; the layer must then be bound again.
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

    /// Sets the states of the sculpt layers; layers without a state are off. Returns true if anything changed. Does
    /// not allocate for at most as many states as there are layers.
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
                    BoundForm::Profile { profile, t, about } => {
                        let s = sculpt.scale_vectors[i];
                        profile.offset(s, t[i], &about[i], amplitude, state.seconds)
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

    /// Iterates over the moved vertices and their offsets.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Offset)> {
        self.vertices.iter().copied().zip(&self.offsets)
    }
}
