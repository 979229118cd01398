//! Sculpt layers as stored in the document (thesis, chapter 5 and 7.4; docs/internals.md, *Sculpt layers*). A sculpt
//! layer consists of a region and a deformation. [`crate::deform::sculpt`] evaluates it.

use super::{Region, SurfaceStroke, Surroundings};
use crate::base::math::{Aabb, Quat, Vec3};
use crate::base::{Error, MAX_NAME, MarkId, Result, SculptId};
use crate::bind::{Attachments, Character};
use crate::deform::Bound;
use crate::deform::sculpt::cpu::rotation;
use crate::deform::sculpt::{
    About, Along, Around, BoundForm, BoundSculpt, Profile, Reform, SOURCES, SculptState, encode,
};
use crate::rig::{Mirror, PosedRig};
use serde::{Deserialize, Serialize};

/// Maximum number of sculpt layers in a document.
pub(crate) const MAX_SCULPTS: usize = 1024;
/// Maximum magnitude of an amplitude. Layers with larger amplitudes are rejected.
const MAX_AMPLITUDE: f32 = 100.0;
/// Maximum magnitude of an offset's component, metres. Layers with larger offsets are rejected.
const MAX_OFFSET: f32 = 1e9;
/// Maximum stiffness; larger values have no visible effect.
const MAX_STIFFNESS: f32 = 1e6;
/// Stiffness of a new sculpt layer: its vertices come within one percent of their targets.
pub const STIFFNESS: f32 = 32.0;

/// A sculpt layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sculpt {
    /// Id of the layer, unique in the document.
    pub id: SculptId,
    /// Display name.
    pub name: String,
    /// The mark that the layer was made from, if any. The mark may have been deleted; the layer keeps its region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<MarkId>,
    /// The vertices that the layer moves.
    pub region: Region,
    /// The displacement of these vertices.
    pub form: Form,
    /// Factor of the displacement; it may be negative. 1 gives the displacement of [`Sculpt::form`].
    pub amplitude: f32,
    /// Stiffness of the constraint in the solver, see [`SculptState::stiffness`].
    pub stiffness: f32,
    /// Whether the layer is active.
    pub enabled: bool,
    /// The displacement of the passive vertices of a drawn layer; `None`: they follow the nearest kinematic vertices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Surroundings>,
}

/// The displacement of a sculpt layer's vertices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Drawn by hand: one offset per kinematic vertex, in bind orientation (see [`encode`]), metres. The offset `e_i -
    /// s_i` is the target scale vector `e_i` minus the bind scale vector `s_i`. A scale vector points from the bone to
    /// the vertex. The offset does not depend on the choice of the bone.
    Drawn(Vec<[f32; 3]>),
    /// Given by a formula.
    Profile(Profile),
}

impl Form {
    /// Returns the update that changes an already bound layer from the form `from` to this form. Returns `None` if the
    /// layer must be bound again.
    pub fn reform(&self, from: &Self) -> Option<Reform<'_>> {
        match (self, from) {
            (Self::Drawn(to), Self::Drawn(from)) if to.len() == from.len() => Some(Reform::Offsets(to)),
            (Self::Profile(to), Self::Profile(from)) if to.along == from.along => Some(Reform::Profile(to)),
            _ => None,
        }
    }

    /// Copies another form into this one. It does not allocate if [`Form::reform`] returns an update.
    pub fn become_like(&mut self, other: &Self) {
        match (self, other) {
            (Self::Drawn(own), Self::Drawn(other)) => own.clone_from(other),
            (own, other) => own.clone_from(other),
        }
    }
}

impl Sculpt {
    /// Creates an active sculpt layer of amplitude 1 with a default name.
    pub fn new(id: SculptId, mark: Option<MarkId>, region: Region, form: Form) -> Self {
        let name = format!("Shape {}", id.0 + 1);
        Self {
            id,
            name,
            mark,
            region,
            form,
            amplitude: 1.0,
            stiffness: STIFFNESS,
            enabled: true,
            surroundings: None,
        }
    }

    /// Returns the layer's state; `None` if the layer is disabled. `seconds` is the time for travelling waves.
    pub fn state(&self, seconds: f64) -> Option<SculptState> {
        let state =
            SculptState { id: self.id, amplitude: self.amplitude, stiffness: self.stiffness, seconds };
        self.enabled.then_some(state)
    }

    /// Returns whether the offsets of the passive vertices are still to be computed by a classical tool.
    pub fn awaits_surroundings(&self) -> bool {
        let open = self.surroundings.as_ref().is_some_and(|s| s.offsets.is_empty());
        open && !self.region.passive.is_empty()
    }

    /// Returns the layer with the offsets of its passive vertices still to be computed, if it has surroundings.
    pub fn with_open_surroundings(mut self) -> Self {
        self.surroundings = self.surroundings.map(|s| Surroundings::new(s.method));
        self
    }

    /// Returns whether the layer is animated, i.e. is an active travelling wave.
    pub fn moves(&self) -> bool {
        self.enabled && matches!(&self.form, Form::Profile(profile) if profile.moves())
    }

    /// Binds the layer to a character for the deformers.
    ///
    /// # Errors
    /// The layer does not fit the character.
    pub fn bind(&self, character: &Character, attachments: &Attachments) -> Result<BoundSculpt> {
        self.validate(Some(character.control.positions.len()))?;
        let region = &self.region;
        let vertices: Vec<u32> = region.kinematic.iter().chain(&region.passive).copied().collect();
        let scale_vector = |&v: &u32| match region.round {
            // Other shells may be attached to other bones than the bone inside the ring.
            Some(round) => round.radial(character.control.positions[v as usize]),
            None => attachments.scale_vector[v as usize],
        };
        let axis = |&v: &u32| match region.round {
            Some(round) => round.axis.into(),
            None => {
                let bone = character.skeleton.bones.get(attachments.bone[v as usize].index());
                bone.map_or(Vec3::ZERO, |b| (b.tail - b.head).normalize_or_zero())
            }
        };
        let surroundings = self.surroundings.as_ref().filter(|s| !s.offsets.is_empty());
        let form = match (&self.form, surroundings) {
            (Form::Drawn(offsets), Some(surroundings)) => BoundForm::Drawn {
                offsets: offsets.iter().chain(&surroundings.offsets).map(|o| Vec3::from(*o)).collect(),
                sources: Vec::new(),
            },
            (Form::Drawn(offsets), None) => {
                // If the region is a ring on several shells, a passive vertex follows kinematic vertices of its own
                // shell.
                let shells = region.round.map(|_| character.control.adjacency.shells());
                let sources = |&v: &u32| sources(character, region, v, shells.as_deref());
                BoundForm::Drawn {
                    offsets: offsets.iter().map(|o| Vec3::from(*o)).collect(),
                    sources: region.passive.iter().map(sources).collect(),
                }
            }
            (Form::Profile(profile), _) => {
                let along_bone = |&v: &u32| attachments.t[v as usize];
                let t = match profile.along {
                    Along::Stroke => region.t.clone(),
                    Along::Bone => vertices.iter().map(along_bone).collect(),
                };
                let about = vertices.iter().map(|v| About::new(axis(v), scale_vector(v))).collect();
                BoundForm::Profile { profile: *profile, t, about }
            }
        };
        Ok(BoundSculpt {
            id: self.id,
            scale_vectors: vertices.iter().map(scale_vector).collect(),
            falloff: region
                .kinematic
                .iter()
                .map(|_| 1.0)
                .chain(region.falloff.iter().map(|f| if surroundings.is_some() { 1.0 } else { *f }))
                .collect(),
            vertices,
            form,
        })
    }

    /// Returns the layer on another course of its mark, with the same reach and softness. A drawn offset is carried
    /// along the mark: each vertex takes the offsets of the old vertices at its place along the mark, rotated with the
    /// normal of the skin.
    ///
    /// # Errors
    /// The mark does not lie on this character, or lies only on rigid props.
    pub fn on_mark(&self, character: &Character, mark: &SurfaceStroke) -> Result<Self> {
        self.validate(Some(character.control.positions.len()))?;
        let region = Region::from_mark(character, mark, self.region.reach)?;
        let region = region.softened(character, self.region.softness)?;
        let form = match &self.form {
            Form::Profile(profile) => Form::Profile(*profile),
            Form::Drawn(offsets) => Form::Drawn(carried(character, &self.region, offsets, &region)),
        };
        Ok(Self { region, form, ..self.clone() }.with_open_surroundings())
    }

    /// Checks that all values are valid. If `vertices` (number of control vertices) is given, also checks indices.
    pub(crate) fn validate(&self, vertices: Option<usize>) -> Result<()> {
        self.region.validate(vertices)?;
        let size = |v: f32, most: f32| v.is_finite() && v.abs() <= most;
        let form = match &self.form {
            Form::Drawn(offsets) => {
                offsets.len() == self.region.kinematic.len()
                    && offsets.iter().flatten().all(|v| size(*v, MAX_OFFSET))
            }
            Form::Profile(profile) => profile.is_sound(),
        };
        let surroundings = self.surroundings.as_ref().is_none_or(|s| {
            matches!(self.form, Form::Drawn(_))
                && [0, self.region.passive.len()].contains(&s.offsets.len())
                && s.offsets.iter().flatten().all(|v| size(*v, MAX_OFFSET))
        });
        let problem = if !(form && surroundings) {
            "has offsets that do not fit its region, or are not finite"
        } else if !size(self.amplitude, MAX_AMPLITUDE) {
            "has no valid amplitude"
        } else if !(size(self.stiffness, MAX_STIFFNESS) && self.stiffness >= 0.0) {
            "has no valid stiffness"
        } else if self.name.len() > MAX_NAME {
            "has too long a name"
        } else {
            return Ok(());
        };
        Err(Error::input(format!("shape {} {problem}", self.id.0 + 1), "make it again on this character"))
    }
}

/// Binds several sculpt layers to a character for the deformers.
///
/// # Errors
/// A layer does not fit the character.
pub fn bind_sculpts(sculpts: &[Sculpt], bound: &Bound) -> Result<Vec<BoundSculpt>> {
    sculpts.iter().map(|s| s.bind(&bound.character, &bound.attachments)).collect()
}

/// Returns the form that moves every kinematic vertex from `from`, its posed position without the layer, to `to`. Both
/// lists are in world space, metres, in the order of [`Region::kinematic`].
pub fn drawn(character: &Character, rig: &PosedRig, region: &Region, from: &[Vec3], to: &[Vec3]) -> Form {
    let places = region.kinematic.iter().zip(from.iter().zip(to));
    Form::Drawn(places.map(|(&v, (a, b))| encode(rotation(character, rig, v), *a, *b).to_array()).collect())
}

/// Returns, for each kinematic vertex, the rotation from bind space to the pose.
pub fn turns(character: &Character, rig: &PosedRig, region: &Region) -> Vec<Quat> {
    region.kinematic.iter().map(|&v| rotation(character, rig, v)).collect()
}

/// Weight of the distance in space, relative to the distance along the mark, in the choice of the old vertices whose
/// offsets a vertex takes.
const ASIDE: f32 = 0.1;

/// Carries the offsets of a region's kinematic vertices to the kinematic vertices of the region of a changed mark.
fn carried(character: &Character, old: &Region, offsets: &[[f32; 3]], new: &Region) -> Vec<[f32; 3]> {
    let control = &character.control;
    let normals = crate::geom::vertex_normals(&control.positions, &control.triangles);
    let at = |v: u32| control.positions[v as usize];
    // The extent of the old vertices stands for the length of the mark.
    let length = Aabb::of(old.kinematic.iter().map(|&v| at(v))).diagonal();
    let carry = |(&v, t): (&u32, &f32)| {
        let mut near = [(f32::INFINITY, 0usize); SOURCES];
        for (k, &u) in old.kinematic.iter().enumerate() {
            let apart = length * (old.t[k] - t);
            let d = apart * apart + ASIDE * ASIDE * at(u).distance_squared(at(v));
            if d < near[SOURCES - 1].0 {
                let place = near.partition_point(|n| n.0 <= d);
                near[place..].rotate_right(1);
                near[place] = (d, k);
            }
        }
        if near[0].0 == 0.0 {
            return offsets[near[0].1];
        }
        let (mut sum, mut weights) = (Vec3::ZERO, 0.0);
        for (d, k) in near.into_iter().filter(|n| n.0.is_finite()) {
            let turn = Quat::from_rotation_arc(normals[old.kinematic[k] as usize], normals[v as usize]);
            sum += turn * Vec3::from(offsets[k]) / d;
            weights += 1.0 / d;
        }
        (sum / weights).to_array()
    };
    new.kinematic.iter().zip(&new.t).map(carry).collect()
}

/// Returns indices into the kinematic vertices nearest to a passive vertex in bind space, with weights by inverse
/// squared distance. If `shells` is given and the passive vertex's shell has kinematic vertices, only these are used.
fn sources(
    character: &Character,
    region: &Region,
    vertex: u32,
    shells: Option<&[u32]>,
) -> [(u32, f32); SOURCES] {
    let positions = &character.control.positions;
    let x = positions[vertex as usize];
    let own = |v: u32| shells.is_some_and(|s| s[v as usize] == s[vertex as usize]);
    let some = region.kinematic.iter().any(|&v| own(v));
    let mut near = [(f32::INFINITY, 0u32); SOURCES];
    for (k, &v) in region.kinematic.iter().enumerate().filter(|(_, v)| !some || own(**v)) {
        let d = positions[v as usize].distance_squared(x);
        if d < near[SOURCES - 1].0 {
            let at = near.partition_point(|n| n.0 <= d);
            near[at..].rotate_right(1);
            near[at] = (d, k as u32);
        }
    }
    // Vertices may coincide. A fraction of the smallest non-zero distance is added, so that the weights stay finite.
    let least = near.iter().map(|n| n.0).find(|d| *d > 0.0 && d.is_finite()).unwrap_or(1.0) * 1e-3;
    let weight = |d: f32| if d.is_finite() { 1.0 / (d + least) } else { 0.0 };
    let sum: f32 = near.iter().map(|n| weight(n.0)).sum();
    near.map(|(d, k)| (k, weight(d) / sum))
}

/// Returns, for each kinematic vertex of the region `image`, the index of the kinematic vertex of `own` that is nearest to its
/// mirror image in the bind shape. `own` has kinematic vertices.
pub fn twins(
    positions: &[Vec3],
    mirror: &Mirror,
    own: &Region,
    image: &Region,
) -> impl Iterator<Item = usize> {
    image.kinematic.iter().map(|v| {
        let wanted = mirror.reflect_bind(positions[*v as usize].as_dvec3()).as_vec3();
        let away = |k: &usize| positions[own.kinematic[*k] as usize].distance_squared(wanted);
        (0..own.kinematic.len()).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap_or(0)
    })
}

/// Returns the mirror image of an offset in bind space, metres.
pub fn mirrored_offset(mirror: &Mirror, offset: [f32; 3]) -> [f32; 3] {
    let origin = mirror.reflect_bind(Vec3::ZERO.as_dvec3());
    (mirror.reflect_bind(Vec3::from(offset).as_dvec3()) - origin).as_vec3().to_array()
}

/// Returns the mirror image of a sculpt layer, on `image`, the mirror image of the layer's mark.
///
/// # Errors
/// The mark or the layer does not fit the character.
pub fn mirrored_sculpt(
    character: &Character,
    mirror: &Mirror,
    sculpt: &Sculpt,
    image: &SurfaceStroke,
) -> Result<Sculpt> {
    sculpt.validate(Some(character.control.positions.len()))?;
    let region = Region::from_mark(character, image, sculpt.region.reach)?;
    let region = region.softened(character, sculpt.region.softness)?;
    let positions = &character.control.positions;
    let form = match &sculpt.form {
        // The front of a bone is its mirror image on the other side, so angles change their sign.
        Form::Profile(profile) => Form::Profile(Profile {
            around: profile.around.map(|a| Around { facing: -a.facing, ..a }),
            ..*profile
        }),
        Form::Drawn(offsets) => {
            let twins = twins(positions, mirror, &sculpt.region, &region);
            Form::Drawn(twins.map(|twin| mirrored_offset(mirror, offsets[twin])).collect())
        }
    };
    let other = Sculpt { mark: Some(image.id), region, form, ..sculpt.clone() };
    Ok(other.with_open_surroundings())
}

#[cfg(test)]
mod tests;
