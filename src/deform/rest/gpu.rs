//! The rest stream on the GPU. It runs in frames in which the rest shape changes.

use super::SkinCage;
use crate::base::Result;
use crate::base::math::Vec3;
use crate::deform::Bound;
use crate::deform::attach::Anchors;
use crate::deform::rig_buffers::{ControlBuffers, RigBuffers, padded};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame};
use crate::rig::{Bone, RestShift};
use crate::shared_with_shaders;
use crate::spv;
use std::sync::Arc;

shared_with_shaders! {
    /// A bone of the changed rest shape.
    #[derive(Debug, Default, PartialEq)]
    struct RestBone as "RestBone" {
        /// Offset of the head, metres.
        head_offset: [f32; 3],
        pad0: f32,
        /// Offset of the tail, metres.
        tail_offset: [f32; 3],
        pad1: f32,
        /// Head, bind space, metres.
        head: [f32; 3],
        pad2: f32,
        /// Tail minus head, metres.
        span: [f32; 3],
        pad3: f32,
    }

    struct Push as "Push" {
        count: u32,
        cage: u32,
    }

    struct CarryPush as "Push" {
        count: u32,
        has_tail: u32,
        cage: u32,
    }
}

/// The compute pipelines of the rest stream, created once per device.
pub struct RestPipelines {
    skin: Compute,
    points: Compute,
    distances: Compute,
    carry: Compute,
}

/// A character's coordinates in a cage, with the buffers of its rest shape.
pub struct RestState {
    skin: Bindings,
    /// Other points that are linear in the rest positions, such as centres of rotation.
    points: Option<Bindings>,
    /// Distances of the vertices from their bones: the bindings that compute them, the result, and the distances in the
    /// file's rest shape.
    distances: Option<(Bindings, Buffer, Buffer)>,
    carry: Bindings,
    count: u32,
    has_tail: bool,
    cage: Buffer,
    file_anchors: Buffer,
    bones: Buffer,
    rest: Vec<Bone>,
    padded: Vec<[f32; 4]>,
    host: Vec<RestBone>,
    /// The rest shape in the buffers.
    shown: RestShift,
}

/// Data of a geometric method that change with the rest shape.
pub enum Followers {
    /// The method reads the rest positions and anchors only.
    Nothing,
    /// Points that are linear in the rest positions.
    Points {
        /// The buffer that the method's shader reads, `vec4`.
        buffer: Buffer,
        /// Positions in the file's rest shape, bind space, metres.
        base: Vec<Vec3>,
        /// Coordinates of the points in the cage.
        coordinates: SkinCage,
    },
    /// Distances of the vertices from their bones, with the other buffers of incremental rotation skinning that give
    /// them.
    Distances {
        /// `BoneReach` per bone.
        reaches: Buffer,
        /// The lists of near bones.
        near: Buffer,
        /// Distance per vertex.
        distances: Buffer,
        /// Distance per vertex in the file's rest shape.
        file: Buffer,
    },
}

impl RestState {
    /// Whether the rest shape differs from the file's.
    pub fn is_shifted(&self) -> bool {
        !self.shown.is_empty()
    }

    /// Records the upload of a rest shape.
    fn upload(&mut self, rest: &RestShift, frame: &mut Frame) {
        self.shown.copy_from(rest);
        let offset = |list: &[Vec3], i: usize| list.get(i).copied().unwrap_or(Vec3::ZERO);
        for (k, out) in self.padded.iter_mut().enumerate() {
            let v = offset(&rest.cage, k);
            *out = [v.x, v.y, v.z, 0.0];
        }
        for (b, (out, bone)) in self.host.iter_mut().zip(&self.rest).enumerate() {
            let (head, tail) = (offset(&rest.joints, bone.parent.index()), offset(&rest.tails, b));
            *out = RestBone {
                head_offset: head.into(),
                tail_offset: tail.into(),
                head: (bone.head + head).into(),
                span: (bone.tail + tail - bone.head - head).into(),
                ..RestBone::default()
            };
        }
        frame.upload(&self.cage, 0, &self.padded);
        frame.upload(&self.bones, 0, &self.host);
    }

    /// The anchors in the file's rest shape, `Anchor` per vertex.
    pub fn file_anchors(&self) -> &Buffer {
        &self.file_anchors
    }

    /// The bones of the changed rest shape, `RestBone` per bone.
    pub fn bones(&self) -> &Buffer {
        &self.bones
    }
}

impl RestPipelines {
    /// Creates the pipelines. Errors if the structs of shader and Rust differ.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let skin = Compute::new(device, spv!("deform/rest/skin.comp"), &[])?;
        skin.reflection().check::<RestBone>()?;
        let points = Compute::new(device, spv!("deform/rest/points.comp"), &[])?;
        let distances = Compute::new(device, spv!("deform/rest/distances.comp"), &[])?;
        Ok(Self {
            skin,
            points,
            distances,
            carry: Compute::new(device, spv!("deform/rest/carry.comp"), &[])?,
        })
    }

    /// Uploads the coordinates of a character's skin, and binds the method's data that change with the rest shape.
    ///
    /// # Errors
    /// If memory is short, or the attachments do not match the character.
    pub fn bind(
        &self,
        device: &Arc<Device>,
        bound: &Bound,
        skin: &SkinCage,
        control: &ControlBuffers,
        (rig, positions): (&RigBuffers, &Buffer),
        followers: &Followers,
    ) -> Result<RestState> {
        let character = &bound.character;
        let bones = character.skeleton.bones.len();
        let cage = Buffer::zeroed::<[f32; 4]>(device, "cage offsets", skin.cage)?;
        let rest_bones = Buffer::zeroed::<RestBone>(device, "rest bones", bones)?;
        let coordinates = Buffer::from_slice(device, "cage coordinates", &skin.columns())?;
        let mut carry = control.influences().to_vec();
        carry.extend([
            ("coordinates", &coordinates),
            ("cage", &cage),
            ("dual", &rig.dual),
            ("positions", positions),
        ]);
        let base = padded(&character.control.positions);
        let base = Buffer::from_slice(device, "file's rest positions", &base)?;
        let anchors = Buffer::from_slice(device, "file's anchors", &Anchors::new(bound)?.anchors)?;
        let (mut points, mut lengths) = (None, None);
        match followers {
            Followers::Nothing => {}
            Followers::Points { buffer, base, coordinates } => {
                let coordinates =
                    Buffer::from_slice(device, "cage coordinates of points", &coordinates.columns())?;
                let base = Buffer::from_slice(device, "file's points", &padded(base))?;
                points = Some(self.points.bind(&[
                    ("coordinates", &coordinates),
                    ("cage", &cage),
                    ("base_points", &base),
                    ("points", buffer),
                ])?);
            }
            Followers::Distances { reaches, near, distances, file } => {
                let bindings = self.distances.bind(&[
                    ("rest_bones", &rest_bones),
                    ("targets", &control.targets),
                    ("bind_positions", &control.bind_positions),
                    ("reaches", reaches),
                    ("near", near),
                    ("distances", distances),
                ])?;
                lengths = Some((bindings, distances.clone(), file.clone()));
            }
        }
        Ok(RestState {
            skin: self.skin.bind(&[
                ("coordinates", &coordinates),
                ("cage", &cage),
                ("rest_bones", &rest_bones),
                ("targets", &control.targets),
                ("base_positions", &base),
                ("base_anchors", &anchors),
                ("bind_positions", &control.bind_positions),
                ("rest_anchors", &control.rest_anchors),
                ("anchors", &control.anchors),
            ])?,
            points,
            distances: lengths,
            carry: self.carry.bind(&carry)?,
            has_tail: control.has_tail,
            count: control.vertices,
            cage,
            file_anchors: anchors,
            bones: rest_bones,
            rest: character.skeleton.bones.clone(),
            padded: vec![[0.0; 4]; skin.cage],
            host: vec![RestBone::default(); bones],
            shown: RestShift::default(),
        })
    }

    /// Records the change to a rest shape: uploads, a barrier and the dispatches. Returns false and records nothing if
    /// the buffers already hold this rest shape. Does not allocate after the first shape. The caller adds a phase or a
    /// barrier afterwards.
    pub fn record(&self, state: &mut RestState, rest: &RestShift, frame: &mut Frame) -> bool {
        if state.shown == *rest {
            return false;
        }
        state.upload(rest, frame);
        frame.barrier();
        let push = Push { count: state.count, cage: state.padded.len() as u32 };
        frame.dispatch(&self.skin, &state.skin, &push, state.count);
        if let Some(points) = &state.points {
            frame.dispatch(&self.points, points, &push, state.count);
        }
        match &state.distances {
            // A GPU's roots differ from the processor's in the last bits.
            Some((_, distances, file)) if rest.is_empty() => frame.copy(file, distances, file.bytes()),
            Some((bindings, ..)) => {
                frame.barrier();
                frame.dispatch(&self.distances, bindings, &push, state.count);
            }
            None => {}
        }
        true
    }

    /// Records the upload of a rest shape that [`RestPipelines::carry`] adds to the posed skin.
    pub fn upload(&self, state: &mut RestState, rest: &RestShift, frame: &mut Frame) {
        if state.shown != *rest {
            state.upload(rest, frame);
        }
    }

    /// Records a barrier, and a dispatch that adds the change of the rest shape to the posed skin. This is for methods
    /// that pose the file's rest shape. The caller adds a phase or a barrier afterwards.
    pub fn carry(&self, state: &RestState, frame: &mut Frame) {
        frame.barrier();
        let (count, cage) = (state.count, state.padded.len() as u32);
        let push = CarryPush { count, has_tail: state.has_tail.into(), cage };
        frame.dispatch(&self.carry, &state.carry, &push, count);
    }
}
