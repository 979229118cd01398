//! Attaches every control vertex to a point on a bone (thesis, chapter 3; docs/internals.md, *Attachment binding*).

use super::planar::Dividers;
use super::report::BindReport;
use super::smooth::{smooth, smooth_plainly};
use super::{Attachments, BindOptions, Binding, Character, Reattached, Smoothing};
use crate::base::math::Vec3;
use crate::base::{BoneId, Error, JointId, Result};
use crate::rig::{Bone, Skeleton};
use rayon::prelude::*;

/// Two squared distances are a tie if their relative difference is at most this value, e.g. at a joint that two bones
/// share.
const TIE: f32 = 1e-5;

/// Attaches every control vertex to a bone.
///
/// Vertices of rigid props are attached at the head of their node's bone (`t = 0`) and never smoothed.
///
/// # Errors
/// [`Error::Input`] for a character without bones; as [`BindOptions::fits`].
pub fn bind_attachments(character: &Character, options: &BindOptions) -> Result<(Attachments, BindReport)> {
    options.fits(character)?;
    let skeleton = &character.skeleton;
    let control = &character.control;
    if skeleton.bones.is_empty() && !control.positions.is_empty() {
        return Err(Error::input("the character has no bones", "give the file a skeleton"));
    }
    let topology = BoneTopology::new(skeleton);
    let at_joint: Vec<Vec<BoneId>> =
        (0..skeleton.joints.len()).map(|j| topology.at_joint(JointId::from(j))).collect();
    let at_heaviest =
        |v: usize| control.influences.of(v).next().map_or(&[][..], |(j, _)| &at_joint[usize::from(j)]);
    let mut attachments = match options.method {
        Binding::Direct => bind_each(character, &topology, |_| &topology.skinned),
        Binding::Weights | Binding::Planar => bind_each(character, &topology, at_heaviest),
    };
    if options.method == Binding::Planar {
        // This first binding only chooses the bone from which the search for the region starts.
        let dividers = Dividers::new(skeleton, &topology, &options.planes);
        let bind = |v: usize| match control.rigid[v] {
            true => (attachments.bone[v], attachments.t[v]),
            false => dividers.bind(skeleton, attachments.bone[v], control.positions[v]),
        };
        let bound: Vec<(BoneId, f32)> = (0..control.positions.len()).into_par_iter().map(bind).collect();
        attachments = Attachments::new(character, &bound);
    }
    let before = attachments.clone();
    match options.smoothing {
        Smoothing::Bounded => smooth(character, &topology, &mut attachments, options.smooth),
        Smoothing::Plain => smooth_plainly(character, &topology, &mut attachments, options.smooth),
    }
    for region in &options.reattached {
        attachments.reattach(character, &topology, region)?;
    }
    let report = BindReport::new(character, options, &before, &attachments);
    Ok((attachments, report))
}

/// Attaches each skin vertex to the nearest of its candidate bones, and each prop vertex to the bone of its node.
fn bind_each<'a>(
    character: &Character,
    topology: &BoneTopology,
    candidates: impl Fn(usize) -> &'a [BoneId] + Sync,
) -> Attachments {
    let (skeleton, control) = (&character.skeleton, &character.control);
    let bind = |v: usize| {
        let weight = |b: BoneId| weight_of(character, v, skeleton.bones[b.index()].parent);
        let candidates = if control.rigid[v] { &[] } else { candidates(v) };
        nearest_bone(skeleton, candidates.iter().copied(), control.positions[v], weight)
            .unwrap_or_else(|| (topology.node_bone(character, v), 0.0))
    };
    let bound: Vec<(BoneId, f32)> = (0..control.positions.len()).into_par_iter().map(bind).collect();
    Attachments::new(character, &bound)
}

fn weight_of(character: &Character, vertex: usize, joint: JointId) -> f32 {
    character.control.influences.of(vertex).find(|e| usize::from(e.0) == joint.index()).map_or(0.0, |e| e.1)
}

/// Returns the candidate bone nearest to `x` and the parameter on it. Ties go to the bone with the larger weight,
/// then to the earlier candidate.
pub(super) fn nearest_bone(
    skeleton: &Skeleton,
    candidates: impl IntoIterator<Item = BoneId>,
    x: Vec3,
    weight: impl Fn(BoneId) -> f32,
) -> Option<(BoneId, f32)> {
    let mut best: Option<(BoneId, f32, f32)> = None;
    for id in candidates {
        let bone = &skeleton.bones[id.index()];
        let t = project(bone, x);
        let distance = point_on(bone, t).distance_squared(x);
        let better = best.is_none_or(|(other, _, least)| {
            let tie = (distance - least).abs() <= TIE * least.max(distance);
            if tie { weight(id) > weight(other) } else { distance < least }
        });
        if better {
            best = Some((id, t, distance));
        }
    }
    best.map(|(id, t, _)| (id, t))
}

/// Returns the parameter of a bone's point nearest to `x` (thesis, eq. 12, with squared length); 0 for zero length.
pub fn project(bone: &Bone, x: Vec3) -> f32 {
    let along = bone.tail - bone.head;
    let length_squared = along.length_squared();
    if length_squared <= f32::MIN_POSITIVE {
        return 0.0;
    }
    ((x - bone.head).dot(along) / length_squared).clamp(0.0, 1.0)
}

/// Returns the point `a = p + t (c - p)` of a bone, bind space, metres.
pub fn point_on(bone: &Bone, t: f32) -> Vec3 {
    bone.head + t * (bone.tail - bone.head)
}

impl Attachments {
    /// Creates attachments from a bone and a parameter per control vertex.
    fn new(character: &Character, bound: &[(BoneId, f32)]) -> Self {
        let bones = &character.skeleton.bones;
        let scale_vector = |(x, (bone, t)): (&Vec3, &(BoneId, f32))| *x - point_on(&bones[bone.index()], *t);
        Self {
            bone: bound.iter().map(|b| b.0).collect(),
            t: bound.iter().map(|b| b.1).collect(),
            scale_vector: character.control.positions.iter().zip(bound).map(scale_vector).collect(),
        }
    }

    pub(super) fn set(&mut self, skeleton: &Skeleton, vertex: usize, x: Vec3, bone: BoneId, t: f32) {
        self.bone[vertex] = bone;
        self.t[vertex] = t;
        self.scale_vector[vertex] = x - point_on(&skeleton.bones[bone.index()], t);
    }

    /// Returns the attachment point of a vertex, bind space, metres.
    pub fn point(&self, skeleton: &Skeleton, vertex: usize) -> Vec3 {
        point_on(&skeleton.bones[self.bone[vertex].index()], self.t[vertex])
    }

    /// Attaches a region by hand. Vertices of rigid props stay.
    fn reattach(
        &mut self,
        character: &Character,
        topology: &BoneTopology,
        region: &Reattached,
    ) -> Result<()> {
        let control = &character.control;
        let vertices: Vec<u32> = region.vertices.iter().filter(|&v| !control.rigid[v as usize]).collect();
        if let Some(joint) = region.joint {
            let bones: Vec<BoneId> = topology.owned(joint).collect();
            for v in vertices.iter().map(|&v| v as usize) {
                let x = control.positions[v];
                let nearest = nearest_bone(&character.skeleton, bones.iter().copied(), x, |_| 0.0);
                if let Some((bone, t)) = nearest {
                    self.set(&character.skeleton, v, x, bone, t);
                }
            }
        }
        region.t.map_or(Ok(()), |t| self.set_t(character, &vertices, t))
    }

    /// Moves the attachment points of vertices along their bones to `t`, which is clamped to 0..=1.
    ///
    /// # Errors
    /// [`Error::Input`] if `t` is NaN or a vertex does not exist; the attachments are then unchanged.
    pub fn set_t(&mut self, character: &Character, vertices: &[u32], t: f32) -> Result<()> {
        if t.is_nan() {
            return Err(Error::input("the bone parameter is not a number", "give one in 0..=1"));
        }
        self.check(vertices)?;
        for v in vertices.iter().map(|&v| v as usize) {
            self.set(&character.skeleton, v, character.control.positions[v], self.bone[v], t.clamp(0.0, 1.0));
        }
        Ok(())
    }

    fn check(&self, vertices: &[u32]) -> Result<()> {
        match vertices.iter().find(|&&v| v as usize >= self.bone.len()) {
            Some(v) => {
                let count = self.bone.len();
                Err(Error::input(
                    format!("there is no control vertex {v}"),
                    format!("name one below {count}"),
                ))
            }
            None => Ok(()),
        }
    }
}

/// The bones that meet at each joint.
pub(super) struct BoneTopology {
    /// Bones of skin joints, which are the candidates for skin vertices.
    pub skinned: Vec<BoneId>,
    /// Index of the first bone of each joint, plus the number of bones at the end.
    first_of_joint: Vec<u32>,
    /// Bones whose tail is at each joint.
    into_joint: Vec<Vec<BoneId>>,
}

impl BoneTopology {
    pub fn new(skeleton: &Skeleton) -> Self {
        let joints = skeleton.joints.len();
        let mut first_of_joint = vec![0u32; joints + 1];
        let mut into_joint = vec![Vec::new(); joints];
        let mut skinned = Vec::new();
        for (i, bone) in skeleton.bones.iter().enumerate() {
            first_of_joint[bone.parent.index() + 1] += 1;
            if let Some(child) = bone.child {
                into_joint[child.index()].push(BoneId::from(i));
            }
            if skeleton.joints[bone.parent.index()].skinned {
                skinned.push(BoneId::from(i));
            }
        }
        for j in 0..joints {
            first_of_joint[j + 1] += first_of_joint[j];
        }
        Self { skinned, first_of_joint, into_joint }
    }

    /// Returns the bones whose head is at a joint.
    pub fn owned(&self, joint: JointId) -> impl Iterator<Item = BoneId> + use<> {
        (self.first_of_joint[joint.index()]..self.first_of_joint[joint.index() + 1]).map(BoneId)
    }

    /// Returns the bones at a joint: first the bones with their head there, then the bones with their tail there.
    pub fn at_joint(&self, joint: JointId) -> Vec<BoneId> {
        self.owned(joint).chain(self.into_joint[joint.index()].iter().copied()).collect()
    }

    /// Returns the first bone of a vertex's heaviest joint, for props and for vertices without candidate bones.
    fn node_bone(&self, character: &Character, vertex: usize) -> BoneId {
        let joint = character.control.influences.of(vertex).next().map_or(0, |e| e.0);
        BoneId(self.first_of_joint[usize::from(joint)])
    }
}
