//! The validated attachment of each control vertex: to a bone, or rigidly to a joint if the vertex belongs to a prop.
//!
//! An attachment point is the point on the bone where the vertex's scale vector starts. All geometric nodes share the
//! attachments. Each node must pass the posed attachment points `a'` to the next nodes.

use super::Bound;
use super::rig_data::RigData;
use crate::base::math::Vec3;
use crate::base::{Error, Result};
use crate::shared_with_shaders;
use rayon::prelude::*;

crate::shared_constants! {
    "types/rig.glsl" {
        /// Bit in [`Anchors::target`]. If set, the remaining bits are the index of a joint, otherwise of a bone.
        pub const ON_JOINT: u32 = 1 << 31;
    }
}

shared_with_shaders! {
    /// The attachment of a control vertex, in the layout of `glsl/types/rig.glsl`.
    #[derive(Debug, Default, PartialEq)]
    pub struct Anchor as "Anchor" {
        /// Scale vector `s = x - a` in bind space, metres. For a vertex on a joint, its bind position.
        pub scale_vector: [f32; 3],
        /// Position of the attachment point along the bone: 0 at the head, 1 at the tail.
        pub t: f32,
    }
}

/// Attachments of all control vertices.
#[derive(Clone, Debug, Default)]
pub struct Anchors {
    /// The attachment point per control vertex.
    pub anchors: Vec<Anchor>,
    /// Bone index per control vertex. For vertices of rigid props, a joint index with the bit [`ON_JOINT`] set.
    pub target: Vec<u32>,
}

impl Anchors {
    /// Reads and validates the attachments of a bound character. Errors if a vertex has no valid bone or joint.
    pub fn new(bound: &Bound) -> Result<Self> {
        let (character, attach) = (&*bound.character, &*bound.attachments);
        let (control, skeleton) = (&character.control, &character.skeleton);
        let vertices = control.positions.len();
        if [attach.bone.len(), attach.t.len(), attach.scale_vector.len()] != [vertices; 3]
            || control.influences.len() != vertices
            || control.rigid.len() != vertices
        {
            return Err(Error::input(
                format!("attachments cover {} of {vertices} control vertices", attach.bone.len()),
                "bind the character again",
            ));
        }
        let mut out = Self::default();
        for i in 0..vertices {
            // No bone belongs to a node that only carries props, so the vertices of props follow the joint.
            let (anchor, target) = if control.rigid[i] {
                let joint = control.influences.of(i).next().map(|(j, _)| u32::from(j));
                let joint = joint.filter(|&j| (j as usize) < skeleton.joints.len());
                let Some(joint) = joint else { return Err(unusable(i, "joint")) };
                (Anchor { scale_vector: control.positions[i].into(), t: 0.0 }, joint | ON_JOINT)
            } else {
                let bone = attach.bone[i].0;
                if bone as usize >= skeleton.bones.len() {
                    return Err(unusable(i, "bone"));
                }
                (Anchor { scale_vector: attach.scale_vector[i].into(), t: attach.t[i] }, bone)
            };
            out.anchors.push(anchor);
            out.target.push(target);
        }
        Ok(out)
    }

    /// Takes the scale vectors of the same character in another rest shape.
    pub fn set_scale_vectors(&mut self, bound: &Bound) {
        let (positions, vectors) = (&bound.character.control.positions, &bound.attachments.scale_vector);
        for (v, (anchor, target)) in self.anchors.iter_mut().zip(&self.target).enumerate() {
            let of_joint = target & ON_JOINT != 0;
            anchor.scale_vector = if of_joint { positions[v] } else { vectors[v] }.into();
        }
    }

    /// Returns the bone of a vertex, or `None` for a vertex of a prop.
    pub fn bone(&self, vertex: usize) -> Option<usize> {
        let target = self.target[vertex];
        (target & ON_JOINT == 0).then_some(target as usize)
    }

    /// Returns the scale vector `s` of a vertex in bind space, metres.
    pub fn scale_vector(&self, vertex: usize) -> Vec3 {
        self.anchors[vertex].scale_vector.into()
    }

    /// Computes the posed attachment points `a' = p' + t (c' - p')`. For vertices of props, writes the posed vertex.
    pub fn attachment_points(&self, rig: &RigData, out: &mut Vec<Vec3>) {
        out.resize(self.anchors.len(), Vec3::ZERO);
        out.par_iter_mut().zip(&self.anchors).zip(&self.target).for_each(|((out, anchor), &target)| {
            *out = if target & ON_JOINT == 0 {
                let bone = &rig.bones[target as usize];
                Vec3::from(bone.head) + anchor.t * Vec3::from(bone.span)
            } else {
                let joint = (target & !ON_JOINT) as usize;
                rig.skinning[joint].affine().transform_point3(anchor.scale_vector.into())
            };
        });
    }
}

fn unusable(vertex: usize, what: &str) -> Error {
    Error::input(format!("control vertex {vertex} is attached to no {what}"), "bind the character again")
}
