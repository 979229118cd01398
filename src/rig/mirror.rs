//! A character's left-right symmetry: the plane of symmetry in bind space and the mirrored partner of each node.
//! A mesh without mirrored joints has only a plane.

use super::chains::symmetry;
use super::posable;
use super::world64::nearest;
use crate::base::NodeId;
use crate::base::math::{Aabb, DAffine3, DMat3, DQuat, DVec3, Vec3};
use crate::rig::{PosedRig, Skeleton};
use std::collections::HashSet;

/// Number of cells along the diagonal of a mesh whose symmetry is examined.
const CELLS: f64 = 48.0;
/// A plane counts as a plane of symmetry if it mirrors at least this fraction of the cells near to others.
const SYMMETRIC: f64 = 0.88;
/// A plane mirrors a whole skin if it mirrors at least this fraction of the cells.
const WHOLE: f64 = 0.97;

/// A character's symmetry.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror {
    /// Unit normal of the plane of symmetry, bind space.
    normal: DVec3,
    /// Distance of the plane from the origin along `normal`, metres.
    middle: f64,
    partner: Vec<Option<NodeId>>,
    /// Index of the joint that moves the plane: the topmost joint in the plane.
    pivot: usize,
}

impl Mirror {
    /// Finds the symmetry; `None` for a character without mirrored sides.
    ///
    /// Partners have mirrored positions in bind space. If names state the sides (`.L`, `Left`), nodes whose names
    /// differ only in the side are paired first.
    pub fn new(skeleton: &Skeleton) -> Option<Self> {
        let (axis, middle, close) = symmetry(skeleton)?;
        let mut normal = DVec3::ZERO;
        normal[axis] = 1.0;
        let nodes = posable(skeleton);
        let joint_of = |n: NodeId| skeleton.joints.iter().position(|j| j.node == n);
        let at = |n: NodeId| {
            let joint = joint_of(n)?;
            Some(skeleton.joints[joint].bind_from_joint.translation.as_dvec3())
        };
        let mut mirror =
            Self { normal, middle: f64::from(middle), partner: vec![None; skeleton.nodes.len()], pivot: 0 };
        let close = f64::from(close);
        let central = |n: NodeId| at(n).is_some_and(|p| (p[axis] - f64::from(middle)).abs() <= close);
        let topmost = skeleton.order.iter().copied().find(|n| nodes.contains(n) && central(*n))?;
        mirror.pivot = joint_of(topmost)?;
        for by_name in [true, false] {
            for (k, &a) in nodes.iter().enumerate() {
                if mirror.partner[a.index()].is_some() || central(a) {
                    continue;
                }
                let Some(wanted) = at(a).map(|p| mirror.reflect_bind(p)) else { continue };
                let other = by_name.then(|| other_side(&skeleton.nodes[a.index()].name));
                let best = nodes[k + 1..]
                    .iter()
                    .copied()
                    .filter(|b| mirror.partner[b.index()].is_none() && !central(*b))
                    .filter(|b| !is_above(skeleton, a, *b) && !is_above(skeleton, *b, a))
                    .filter(|b| {
                        other.as_ref().is_none_or(|o| o.as_ref() == Some(&skeleton.nodes[b.index()].name))
                    })
                    .filter_map(|b| Some((at(b)?.distance(wanted), b)))
                    .filter(|(distance, _)| *distance <= if by_name { 3.0 * close } else { close })
                    .min_by(|x, y| x.0.total_cmp(&y.0));
                if let Some((_, b)) = best {
                    mirror.partner[a.index()] = Some(b);
                    mirror.partner[b.index()] = Some(a);
                }
            }
        }
        mirror.partner.iter().any(Option::is_some).then_some(mirror)
    }

    /// Finds the symmetry of the joints, else of the skin: its bind positions, metres. The plane of the skin is normal to
    /// X, or to Z if that is clearly better, and moves with the topmost joint. `None` for a skin without symmetry.
    pub fn of_skin(skeleton: &Skeleton, positions: &[Vec3]) -> Option<Self> {
        if let Some(mirror) = Self::new(skeleton) {
            return Some(mirror);
        }
        let bounds = Aabb::of(positions.iter().copied());
        let (low, high) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
        let middle = 0.5 * (low + high);
        let share = |axis: usize| mirrored_share(positions, low.distance(high), middle, axis);
        let found = [0, 2].map(|axis| (share(axis), axis)).into_iter().filter(|f| f.0 >= SYMMETRIC);
        // The second axis wins only if its fraction is larger by 0.05.
        let (_, axis) = found.reduce(|a, b| if b.0 > a.0 + 0.05 { b } else { a })?;
        let mut normal = DVec3::ZERO;
        normal[axis] = 1.0;
        let joint_of = |n: &NodeId| skeleton.joints.iter().position(|j| j.node == *n);
        let pivot = skeleton.order.iter().find_map(joint_of).unwrap_or(0);
        Some(Self { normal, middle: middle[axis], partner: Vec::new(), pivot })
    }

    /// Returns the axis across the plane of symmetry and the plane's coordinate on it, bind space, metres; `None` if the
    /// plane does not mirror the skin, because of a sword in one hand for example.
    pub fn plane_of_skin(&self, positions: &[Vec3]) -> Option<(usize, f64)> {
        let axis = (0..3).find(|axis| self.normal[*axis] == 1.0)?;
        let bounds = Aabb::of(positions.iter().copied());
        let size = bounds.min.as_dvec3().distance(bounds.max.as_dvec3());
        let mut origin = bounds.center().as_dvec3();
        origin[axis] = self.middle;
        (mirrored_share(positions, size, origin, axis) >= WHOLE).then_some((axis, self.middle))
    }

    /// Returns the mirrored partner of a node; `None` for a node in the plane or without a partner.
    pub fn partner(&self, node: NodeId) -> Option<NodeId> {
        self.partner.get(node.index()).copied().flatten()
    }

    /// Mirrors a point in bind space.
    pub fn reflect_bind(&self, point: DVec3) -> DVec3 {
        point - self.normal * (2.0 * (self.normal.dot(point) - self.middle))
    }

    /// Returns the plane of symmetry in world space, moved with the posed character.
    pub fn plane(&self, rig: &PosedRig) -> Plane {
        let Some(skinning) = rig.skinning.get(self.pivot) else {
            return Plane { normal: self.normal, point: self.normal * self.middle };
        };
        let world_from_bind = DAffine3::from_mat3_translation(
            DMat3::from_quat(rig.rotation[self.pivot].as_dquat()),
            DVec3::ZERO,
        );
        let point = skinning.transform_point3((self.normal * self.middle).as_vec3()).as_dvec3();
        Plane { normal: world_from_bind.transform_vector3(self.normal).normalize_or(self.normal), point }
    }
}

/// A mirror plane in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    normal: DVec3,
    point: DVec3,
}

impl Plane {
    /// Mirrors a point.
    pub fn point(&self, p: DVec3) -> DVec3 {
        p - self.normal * (2.0 * self.normal.dot(p - self.point))
    }

    /// Mirrors a direction.
    pub fn direction(&self, d: DVec3) -> DVec3 {
        d - self.normal * (2.0 * self.normal.dot(d))
    }

    /// Mirrors a rotation: `M R M`, where `M` is the reflection.
    pub fn turn(&self, q: DQuat) -> DQuat {
        // The axis is a pseudovector: mirroring reverses the sense of rotation.
        let axis = -self.direction(q.xyz());
        DQuat::from_xyzw(axis.x, axis.y, axis.z, q.w)
    }

    /// Mirrors a device's orientation: reflects its -Z and +Y, and derives +X from them.
    pub fn orientation(&self, q: DQuat) -> DQuat {
        let (y, z) = (self.direction(q * DVec3::Y), self.direction(q * DVec3::Z));
        nearest(DMat3::from_cols(y.cross(z), y, z))
    }
}

/// Returns the share of the cells of a mesh of this size that lie near to mirrored cells; the plane goes through `origin`.
fn mirrored_share(positions: &[Vec3], size: f64, origin: DVec3, axis: usize) -> f64 {
    let side = size / CELLS;
    let finite = side.is_finite() && side > 0.0;
    // The cells are counted from the plane, so that mirrored cells are cells.
    let cell = |x: &Vec3| ((x.as_dvec3() - origin) / side).round().as_ivec3().to_array();
    let cells: HashSet<[i32; 3]> = positions.iter().filter(|_| finite).map(cell).collect();
    let near = |[x, y, z]: [i32; 3]| {
        (0..27).any(|k| cells.contains(&[x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1]))
    };
    let mirrored = |c: &&[i32; 3]| {
        let mut there = **c;
        there[axis] = -there[axis];
        near(there)
    };
    cells.iter().filter(mirrored).count() as f64 / cells.len().max(1) as f64
}

/// Returns whether a node is an ancestor of another. A node and its ancestor cannot be mirrored partners.
fn is_above(skeleton: &Skeleton, above: NodeId, below: NodeId) -> bool {
    std::iter::successors(skeleton.nodes[below.index()].parent, |n| skeleton.nodes[n.index()].parent)
        .any(|n| n == above)
}

/// Returns the name with its side swapped; `None` if the name states no side.
fn other_side(name: &str) -> Option<String> {
    for (a, b) in [("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT")] {
        for (from, to) in [(a, b), (b, a)] {
            if let Some(i) = name.find(from) {
                return Some(format!("{}{to}{}", &name[..i], &name[i + from.len()..]));
            }
        }
    }
    // Finds an `L` or `R`, in either case, without adjacent letters: `arm.L`, `L_arm`, `hand_l_01`.
    let bytes = name.as_bytes();
    let alone = |i: usize| {
        let letter = |k: usize| bytes.get(k).is_some_and(u8::is_ascii_alphabetic);
        !letter(i + 1) && (i == 0 || !letter(i - 1))
    };
    let i = (0..bytes.len()).rev().find(|&i| b"LRlr".contains(&bytes[i]) && alone(i))?;
    let swapped = match bytes[i] {
        b'L' => 'R',
        b'R' => 'L',
        b'l' => 'r',
        _ => 'l',
    };
    Some(format!("{}{swapped}{}", &name[..i], &name[i + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::testing::{chain, tree};

    #[test]
    fn sides_are_told_by_name_and_place() {
        let (skeleton, pose) = tree();
        let mirror = Mirror::new(&skeleton).unwrap();
        let id = |name: &str| skeleton.find(name).unwrap();
        for part in ["arm", "elbow", "hand", "leg", "knee", "foot"] {
            assert_eq!(mirror.partner(id(&format!("{part}.L"))), Some(id(&format!("{part}.R"))));
            assert_eq!(mirror.partner(id(&format!("{part}.R"))), Some(id(&format!("{part}.L"))));
        }
        assert_eq!(mirror.partner(id("chest")), None);
        let rig = PosedRig::new(&skeleton, &pose);
        let plane = mirror.plane(&rig);
        let at = |name: &str| rig.world[id(name).index()].translation.as_dvec3();
        assert!(plane.point(at("hand.L")).distance(at("hand.R")) < 1e-6);
        assert!(Mirror::new(&chain(5, 0.2).0).is_none());
        let mut nameless = skeleton.clone();
        nameless.nodes.iter_mut().enumerate().for_each(|(i, n)| n.name = format!("node {i}"));
        assert_eq!(Mirror::new(&nameless).unwrap().partner, mirror.partner);
    }

    #[test]
    fn a_skin_without_mirrored_joints_has_a_plane_if_its_sides_are_alike() {
        let (skeleton, _) = chain(2, 0.2);
        let ball = |stretch: Vec3, bump: f32| -> Vec<Vec3> {
            let at = |k: i32| {
                let (y, a) = (1.0 - 2.0 * k as f32 / 800.0, k as f32 * 2.4);
                let x = Vec3::new((1.0 - y * y).sqrt() * a.cos(), y, (1.0 - y * y).sqrt() * a.sin());
                x * stretch * if x.x > 0.0 { 1.0 + bump * (4.0 * y).sin() } else { 1.0 } + Vec3::X * 3.0
            };
            (0..800).map(at).collect()
        };
        let mirror = Mirror::of_skin(&skeleton, &ball(Vec3::new(1.0, 2.0, 0.5), 0.0)).unwrap();
        assert!(mirror.reflect_bind(DVec3::new(4.0, 1.0, 0.3)).distance(DVec3::new(2.0, 1.0, 0.3)) < 0.02);
        // A skin whose two sides differ still has a front and a back.
        let mirror = Mirror::of_skin(&skeleton, &ball(Vec3::ONE, 0.6)).unwrap();
        assert!(mirror.reflect_bind(DVec3::Z).distance(-DVec3::Z) < 0.1);
        let skewed: Vec<Vec3> = ball(Vec3::ONE, 0.6).iter().map(|x| *x + Vec3::Z * (x.x - x.y)).collect();
        assert!(Mirror::of_skin(&skeleton, &skewed).is_none());
        assert!(Mirror::of_skin(&skeleton, &[]).is_none());
        let (tree, _) = tree();
        assert_eq!(Mirror::of_skin(&tree, &skewed), Mirror::new(&tree));
    }

    #[test]
    fn the_plane_goes_with_the_hips_and_mirrors_turns() {
        let (skeleton, mut pose) = tree();
        let mirror = Mirror::new(&skeleton).unwrap();
        let turn = crate::base::math::Quat::from_rotation_y(0.8);
        pose.local[0].rotation = turn.into();
        let plane = mirror.plane(&PosedRig::new(&skeleton, &pose));
        assert!(plane.direction(turn.as_dquat() * DVec3::X).distance(turn.as_dquat() * -DVec3::X) < 1e-6);
        let q = DQuat::from_scaled_axis(DVec3::new(0.3, -0.8, 0.4));
        let v = DVec3::new(0.2, 0.5, -0.7);
        let mirrored = plane.direction(q * plane.direction(v));
        assert!((plane.turn(q) * v).distance(mirrored) < 1e-9);
        assert!((plane.orientation(q) * DVec3::Z).distance(plane.direction(q * DVec3::Z)) < 1e-9);
    }

    #[test]
    fn names_of_sides() {
        for (a, b) in [
            ("LeftArm", "RightArm"),
            ("mixamorig:LeftHand", "mixamorig:RightHand"),
            ("arm.L", "arm.R"),
            ("L_arm", "R_arm"),
            ("hand_l_01", "hand_r_01"),
        ] {
            assert_eq!(other_side(a).as_deref(), Some(b));
            assert_eq!(other_side(b).as_deref(), Some(a));
        }
        assert_eq!(other_side("Spine"), None);
        assert_eq!(other_side("lower"), None);
    }
}
