//! A character's control mesh and posed skeleton on the GPU, in the layouts of `glsl/types/rig.glsl`.

use super::Bound;
use super::attach::Anchors;
use super::lbs::PackedInfluences;
use super::rig_data::RigData;
use crate::base::Result;
use crate::base::math::Vec3;
use crate::gpu::{Buffer, Device, Frame};
use crate::rig::{PosedRig, Skeleton};
use crate::shared_with_shaders;
use std::sync::Arc;

shared_with_shaders! {
    /// Push constants of the geometric methods' shaders.
    #[derive(Debug, Default)]
    pub struct GeometricPush as "GeometricPush" {
        /// Number of control vertices.
        pub count: u32,
        /// 1 if some vertex has more than four influences, otherwise 0.
        pub has_tail: u32,
        /// 1 if some joint has a scale part (for IRS: if lengths are corrected), otherwise 0.
        pub flag: u32,
        /// Distance from the bone below which a vertex has no defined direction from it, metres (IRS).
        pub on_bone: f32,
    }
}

/// Converts positions to the GPU's layout: 16 bytes each, the fourth component zero.
pub fn padded(points: &[Vec3]) -> Vec<[f32; 4]> {
    points.iter().map(|p| [p.x, p.y, p.z, 0.0]).collect()
}

/// Buffers of the posed skeleton: small arrays, uploaded once per frame.
pub struct RigBuffers {
    data: RigData,
    /// Skinning transform, `Rows` per joint.
    pub skinning: Buffer,
    /// Rigid part of the skinning transform, `DualQuat` per joint.
    pub dual: Buffer,
    /// Scale part of the skinning transform, `Rows` per joint. Up to date only if [`RigBuffers::scaled`] is true.
    pub scale: Buffer,
    /// Local rotation per joint, `vec4`.
    pub local: Buffer,
    /// Posed bone, `BoneFrame` per bone.
    pub bones: Buffer,
    /// Stretch and twist, `Strain` per bone.
    pub strain: Buffer,
}

impl RigBuffers {
    /// Creates buffers for a skeleton. Errors if memory is short.
    pub fn new(device: &Arc<Device>, skeleton: &Skeleton) -> Result<Self> {
        let data = RigData::new(skeleton);
        Ok(Self {
            skinning: Buffer::from_slice(device, "skinning", &data.skinning)?,
            dual: Buffer::from_slice(device, "dual", &data.dual)?,
            scale: Buffer::from_slice(device, "scale", &data.scale)?,
            local: Buffer::from_slice(device, "local rotations", &data.local)?,
            bones: Buffer::from_slice(device, "bones", &data.bones)?,
            strain: Buffer::from_slice(device, "bone strains", &data.strain)?,
            data,
        })
    }

    /// Uploads a pose of the skeleton through the frame's staging memory, without allocating. The upload is a copy
    /// command: put a barrier or a phase before the first dispatch that reads the buffers.
    pub fn update(&mut self, frame: &mut Frame, rig: &PosedRig) {
        self.data.update(rig);
        frame.upload(&self.skinning, 0, &self.data.skinning);
        frame.upload(&self.dual, 0, &self.data.dual);
        if self.data.scaled {
            frame.upload(&self.scale, 0, &self.data.scale);
        }
        frame.upload(&self.local, 0, &self.data.local);
        frame.upload(&self.bones, 0, &self.data.bones);
        frame.upload(&self.strain, 0, &self.data.strain);
    }

    /// Returns all buffers with their names in shaders.
    pub fn named(&self) -> [(&'static str, &Buffer); 6] {
        [
            ("skinning", &self.skinning),
            ("dual", &self.dual),
            ("scale", &self.scale),
            ("local", &self.local),
            ("bones", &self.bones),
            ("strains", &self.strain),
        ]
    }

    /// Whether some joint of the current pose has a scale part.
    pub fn scaled(&self) -> bool {
        self.data.scaled
    }

    /// Returns the arrays of the current pose in CPU memory.
    pub fn data(&self) -> &RigData {
        &self.data
    }
}

/// Buffers of a bound character's control mesh, written at binding. [`super::rest`] rewrites positions and anchors when the
/// rest shape changes.
pub struct ControlBuffers {
    /// Number of control vertices.
    pub vertices: u32,
    /// Bind positions, `vec4`.
    pub bind_positions: Buffer,
    /// Four 16-bit joints per vertex, `uvec2`.
    pub influence_joints: Buffer,
    /// Weights of the four influence joints per vertex, `vec4`.
    pub influence_weights: Buffer,
    /// CSR offsets into `tail` per vertex, `uint`.
    pub tail_offset: Buffer,
    /// Influences beyond the first four per vertex, `TailEntry`.
    pub tail: Buffer,
    /// Whether some vertex has more than four influences.
    pub has_tail: bool,
    /// Attachment point, `Anchor` per vertex, with the sculpt layers of methods that rotate scale vectors.
    pub anchors: Buffer,
    /// Attachment point without sculpt layers, `Anchor` per vertex.
    pub rest_anchors: Buffer,
    /// Bone index per vertex, or joint index with the bit [`super::attach::ON_JOINT`].
    pub targets: Buffer,
}

impl ControlBuffers {
    /// Uploads a character. Errors if memory is short or if the attachments do not match the character.
    pub fn new(device: &Arc<Device>, bound: &Bound) -> Result<Self> {
        let control = &bound.character.control;
        let packed = PackedInfluences::new(&control.influences);
        let anchors = Anchors::new(bound)?;
        Ok(Self {
            vertices: control.positions.len() as u32,
            bind_positions: Buffer::from_slice(device, "bind positions", &padded(&control.positions))?,
            influence_joints: Buffer::from_slice(device, "influence joints", &packed.joints)?,
            influence_weights: Buffer::from_slice(device, "influence weights", &packed.weights)?,
            tail_offset: Buffer::from_slice(device, "influence tail offsets", &packed.tail_offset)?,
            tail: Buffer::from_slice(device, "influence tail", &packed.tail)?,
            has_tail: packed.has_tail(),
            anchors: Buffer::from_slice(device, "anchors", &anchors.anchors)?,
            rest_anchors: Buffer::from_slice(device, "rest anchors", &anchors.anchors)?,
            targets: Buffer::from_slice(device, "anchor targets", &anchors.target)?,
        })
    }

    /// Returns all buffers with their names in shaders.
    pub fn named(&self) -> [(&'static str, &Buffer); 7] {
        let [joints, weights, offset, tail] = self.influences();
        let bind = ("bind_positions", &self.bind_positions);
        [joints, weights, offset, tail, bind, ("anchors", &self.anchors), ("targets", &self.targets)]
    }

    /// Returns the buffers that `glsl/deform/influences.glsl` binds.
    pub fn influences(&self) -> [(&'static str, &Buffer); 4] {
        [
            ("influence_joints", &self.influence_joints),
            ("influence_weights", &self.influence_weights),
            ("tail_offset", &self.tail_offset),
            ("tail", &self.tail),
        ]
    }

    /// Returns push constants that cover all control vertices.
    pub fn push(&self) -> GeometricPush {
        GeometricPush { count: self.vertices, has_tail: self.has_tail.into(), flag: 0, on_bone: 0.0 }
    }
}

/// Per-control-vertex streams on the GPU, `vec4` each. [`super::Streams::attachment`] has no GPU buffer, because the
/// springs compute their own attachment points and no other stage reads it.
pub struct StreamBuffers {
    /// World positions, see [`super::Streams::position`].
    pub position: Buffer,
}

impl StreamBuffers {
    /// Creates streams filled with zeros. Errors if memory is short.
    pub fn new(device: &Arc<Device>, vertices: usize) -> Result<Self> {
        Ok(Self { position: Buffer::zeroed::<[f32; 4]>(device, "positions", vertices)? })
    }
}
