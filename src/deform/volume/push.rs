//! Push constants of the stages on the GPU.

use super::motion::Step;
use super::schedule::Stiffness;
use crate::shared_with_shaders;

shared_with_shaders! {
    /// Push constants of all stages.
    #[derive(Debug, Default)]
    pub struct VolumePush as "VolumePush" {
        /// Number of nodes, cubes or vertices.
        pub count: u32,
        /// Number of updates of each cube's rotation.
        pub turns: u32,
        /// 1 on a coarser level, whose cubes store their mean edges at zero displacement.
        pub has_base: u32,
        /// Edge length of a cube, metres.
        pub size: f32,
        /// `λ/μ`.
        pub lambda: f32,
        /// Stiffness of the springs on nodes around bones.
        pub firmness: f32,
        /// Factor of the previous move.
        pub keep: f32,
        /// Factor of the force, or of a coarser level's displacement.
        pub step: f32,
        /// Stiffness of one contact spring; 0 without contact.
        pub contact: f32,
        /// Stiffness of the springs to the targets of the dynamics, per unit of [`super::tissue::Node::mass`].
        pub inertia: f32,
        /// 1 if a cube's rotation is updated from the rotation of its joint, 0 if from the cube's last rotation.
        pub from_joint: u32,
        /// Groups of four in each node's list of cube corners.
        pub corner_quads: u32,
        /// Groups of four in each node's list of finer nodes.
        pub share_quads: u32,
    }

    /// Push constants of a frame that continues the last one; see [`Step`].
    #[derive(Debug, Default)]
    pub struct VolumeStep as "VolumeStep" {
        /// Number of nodes.
        pub count: u32,
        /// 1 if some node has more than four influences, otherwise 0.
        pub has_tail: u32,
        /// `λ/μ`.
        pub lambda: f32,
        /// Stiffness of the springs on nodes around bones.
        pub firmness: f32,
        /// As [`Step::inertia`].
        pub inertia: f32,
        /// As [`Step::a`].
        pub a: f32,
        /// As [`Step::b`].
        pub b: f32,
        /// As [`Step::span`].
        pub span: f32,
        /// As [`Step::last_span`].
        pub last_span: f32,
        /// As [`Step::seconds`].
        pub seconds: f32,
        /// As [`Step::drag`].
        pub drag: f32,
        /// As [`Step::reach`].
        pub reach: f32,
        /// As [`Step::anchor`].
        pub anchor: f32,
    }
}

impl VolumeStep {
    /// Collects the constants of a frame.
    pub fn new(count: u32, stiffness: &Stiffness, step: &Step) -> Self {
        let Step { inertia, a, b, span, last_span, seconds, drag, reach, anchor } = *step;
        let Stiffness { lambda, firmness, .. } = *stiffness;
        Self {
            count,
            has_tail: 0,
            lambda,
            firmness,
            inertia,
            a,
            b,
            span,
            last_span,
            seconds,
            drag,
            reach,
            anchor,
        }
    }
}
