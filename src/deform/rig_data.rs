//! The data that geometric nodes read from a posed skeleton, in the layout of `glsl/types/rig.glsl`.
//!
//! The arrays are computed once per frame from a [`PosedRig`], without allocating. The CPU reference reads the arrays
//! that the GPU reads, so a joint's decomposition into rigid and scale part is defined only here.

use crate::base::math::{Affine3A, Mat3, Quat, Vec3};
use crate::rig::{Bone, PosedRig, RestShift, Skeleton};
use crate::shared_with_shaders;

shared_with_shaders! {
    /// An affine transform, stored as the first three rows of its matrix: `x' = rows * (x, 1)`.
    #[derive(Debug, Default, PartialEq)]
    pub struct Rows as "Rows" {
        /// Row-major 3x4 matrix.
        pub rows: [[f32; 4]; 3],
    }
}

impl From<&Affine3A> for Rows {
    fn from(map: &Affine3A) -> Self {
        let [x, y, z, w] = [map.matrix3.x_axis, map.matrix3.y_axis, map.matrix3.z_axis, map.translation];
        Self { rows: std::array::from_fn(|r| [x[r], y[r], z[r], w[r]]) }
    }
}

impl Rows {
    /// Converts the rows to an affine transform.
    pub fn affine(&self) -> Affine3A {
        let column = |c: usize| Vec3::new(self.rows[0][c], self.rows[1][c], self.rows[2][c]);
        Affine3A::from_mat3_translation(Mat3::from_cols(column(0), column(1), column(2)), column(3))
    }
}

shared_with_shaders! {
    /// A rigid motion as a unit dual quaternion `real + ε dual`, each `(x, y, z, w)`.
    #[derive(Debug, Default, PartialEq)]
    pub struct DualQuat as "DualQuat" {
        /// The rotation.
        pub real: [f32; 4],
        /// Half the product of the translation and the rotation.
        pub dual: [f32; 4],
    }
}

impl DualQuat {
    /// Creates the motion `x' = rotation x + translation`.
    pub fn new(rotation: Quat, translation: Vec3) -> Self {
        let dual = Quat::from_xyzw(translation.x, translation.y, translation.z, 0.0) * rotation * 0.5;
        Self { real: rotation.into(), dual: dual.into() }
    }
}

shared_with_shaders! {
    /// A posed bone.
    #[derive(Debug, Default, PartialEq)]
    pub struct BoneFrame as "BoneFrame" {
        /// Head `p'` in world space, metres.
        pub head: [f32; 3],
        /// Padding, zero.
        pub pad0: f32,
        /// Vector from head to tail `c' - p'`, metres.
        pub span: [f32; 3],
        /// Padding, zero.
        pub pad1: f32,
        /// Rotation from bind space to world, `(x, y, z, w)`.
        pub rotation: [f32; 4],
    }

    /// Stretch and twist of a posed bone.
    #[derive(Debug, Default, PartialEq)]
    pub struct Strain as "Strain" {
        /// `c' - T_j c`, metres: the posed tail minus the tail as the bone's own joint `j` would transform it.
        pub stretch: [f32; 3],
        /// Angle of the child joint's local rotation about the bone, radians in -π..=π. 0 for a bone without child.
        pub twist: f32,
    }
}

/// Per-frame arrays of a skeleton; their lengths never change.
#[derive(Clone, Debug, Default)]
pub struct RigData {
    /// Skinning transform `T_j` per joint.
    pub skinning: Vec<Rows>,
    /// Rigid part of `T_j` per joint; [`RigData::update`] defines it.
    pub dual: Vec<DualQuat>,
    /// Scale part of `T_j` per joint, an affine transform of bind space.
    pub scale: Vec<Rows>,
    /// Local rotation per joint relative to its parent, expressed in world space, `w >= 0`; the identity for roots.
    pub local: Vec<[f32; 4]>,
    /// Posed bone, per bone.
    pub bones: Vec<BoneFrame>,
    /// Stretch and twist per bone.
    pub strain: Vec<Strain>,
    /// Whether any scale part differs from the identity by more than rounding.
    pub scaled: bool,
    /// Change of the rest shape.
    pub rest_shift: RestShift,
    pivot: Vec<Vec3>,
    parent: Vec<Option<usize>>,
    rest: Vec<Bone>,
}

/// Scale parts closer to the identity than this are rounding errors (f32 has a machine epsilon of 1.2e-7).
const UNSCALED: f32 = 1e-6;

impl RigData {
    /// Creates arrays for a skeleton, filled with zeros.
    pub fn new(skeleton: &Skeleton) -> Self {
        let joints = skeleton.joints.len();
        Self {
            skinning: vec![Rows::default(); joints],
            dual: vec![DualQuat::default(); joints],
            scale: vec![Rows::default(); joints],
            local: vec![[0.0, 0.0, 0.0, 1.0]; joints],
            bones: vec![BoneFrame::default(); skeleton.bones.len()],
            strain: vec![Strain::default(); skeleton.bones.len()],
            rest: skeleton.bones.clone(),
            scaled: false,
            rest_shift: RestShift::default(),
            pivot: skeleton.joints.iter().map(|j| j.bind_from_joint.translation.into()).collect(),
            parent: skeleton.joints.iter().map(|j| j.parent.map(|p| p.index())).collect(),
        }
    }

    /// Computes the arrays of one pose.
    pub fn of(skeleton: &Skeleton, rig: &PosedRig) -> Self {
        let mut data = Self::new(skeleton);
        data.update(rig);
        data
    }

    /// Fills the arrays from a pose of the skeleton that was given to [`RigData::new`]. The skinning transform is split
    /// into `T_j = D_j P_j`. Here `b_j` is the joint's bind position, `A_j` the linear part of `T_j`, `R_j` the joint's
    /// rotation and `s` the [`PosedRig::scale`]. The scale part `P_j x = s b_j + R_j^-1 A_j (x - b_j)` scales the whole
    /// shape by `s`. The remaining stretch has the joint as its fixed point. Hence the rigid part `D_j x = T_j b_j +
    /// R_j (x - s b_j)` keeps the joint's own screw axis. A stretch about the origin would also displace the joint, and
    /// this displacement would change the screw axis.
    pub fn update(&mut self, rig: &PosedRig) {
        self.scaled = false;
        self.rest_shift.copy_from(&rig.rest);
        let offset = |list: &[Vec3], i: usize| list.get(i).copied().unwrap_or(Vec3::ZERO);
        for (j, (map, &rotation)) in rig.skinning.iter().zip(&rig.rotation).enumerate() {
            let pivot = self.pivot[j] + offset(&rig.rest.joints, j);
            self.skinning[j] = map.into();
            let moved = map.transform_point3(pivot);
            let scaled_pivot = pivot * rig.scale;
            self.dual[j] = DualQuat::new(rotation, moved - rotation * scaled_pivot);
            let stretch = Mat3::from_quat(rotation.conjugate()) * Mat3::from(map.matrix3);
            let off = (stretch - Mat3::IDENTITY).to_cols_array().iter().fold(0.0, |m: f32, v| m.max(v.abs()));
            self.scaled |= off > UNSCALED;
            self.scale[j] =
                (&Affine3A::from_mat3_translation(stretch, scaled_pivot - stretch * pivot)).into();
            let local = match self.parent[j] {
                Some(p) => rotation * rig.rotation[p].conjugate(),
                None => Quat::IDENTITY,
            };
            self.local[j] = if local.w < 0.0 { (-local).into() } else { local.into() };
        }
        for (out, bone) in self.bones.iter_mut().zip(&rig.bones) {
            *out = BoneFrame {
                head: bone.head.into(),
                span: (bone.tail - bone.head).into(),
                rotation: bone.rotation.into(),
                ..BoneFrame::default()
            };
        }
        for (b, ((out, rest), bone)) in self.strain.iter_mut().zip(&self.rest).zip(&rig.bones).enumerate() {
            let head = rest.head + offset(&rig.rest.joints, rest.parent.index());
            let tail = rest.tail + offset(&rig.rest.tails, b);
            let carried = rig.skinning[rest.parent.index()].transform_point3(tail);
            let axis = bone.rotation * (tail - head).normalize_or_zero();
            let twist = rest.child.map_or(0.0, |child| {
                // Swing-twist decomposition: the twist is the part of the quaternion along the axis.
                let local = Quat::from_array(self.local[child.index()]);
                2.0 * local.xyz().dot(axis).atan2(local.w)
            });
            *out = Strain { stretch: (bone.tail - carried).into(), twist };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::testing;

    #[test]
    fn rigid_times_scale_part_is_the_skinning_transform() {
        let bound = testing::cylinder(3, 8, 12);
        let mut pose = testing::rest(&bound);
        // Most joints are scaled by 0.5.
        pose.local[0].scale = [0.5; 3];
        pose.local[1].scale = [1.5, 0.7, 2.0];
        pose.local[1].rotation = Quat::from_rotation_z(0.8).into();
        let rig = PosedRig::new(&bound.character.skeleton, &pose);
        let data = RigData::of(&bound.character.skeleton, &rig);
        assert!(data.scaled);
        for (j, map) in rig.skinning.iter().enumerate() {
            let (q, d) = (Quat::from_array(data.dual[j].real), Quat::from_array(data.dual[j].dual));
            let moved = d * q.conjugate() * 2.0;
            for x in [Vec3::new(0.3, 1.0, -0.2), Vec3::new(-2.0, 0.1, 0.4)] {
                let rigid = q * data.scale[j].affine().transform_point3(x) + moved.xyz();
                assert!(rigid.distance(map.transform_point3(x)) < 2e-6, "joint {j}");
            }
        }
    }
}
