//! Procedural characters with known results, for tests and benchmarks.

use super::Character;
use crate::asset::{Asset, Influences, Mesh, Node, Primitive, Skin};
use crate::base::math::{Mat4, Quat, Trs, Vec2, Vec3};
use crate::base::{Error, MeshId, NodeId, Result, SkinId};
use crate::geom::vertex_normals;
use std::collections::HashMap;
use std::f32::consts::{FRAC_PI_2, TAU};

/// Parameters of a procedural character along +Y; lengths in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Number of bones of equal length; joint `k` is at `y = k * length / bones`, and the last joint has no child.
    pub bones: usize,
    /// Number of face rows along `length`.
    pub rings: usize,
    /// Number of vertices around the axis; a bar uses `segments / 4` faces per side.
    pub segments: usize,
    /// Radius of a capsule, or half the width of a bar.
    pub radius: f32,
    /// Length from `y = 0`; a capsule's caps extend beyond both ends.
    pub length: f32,
    /// Size of the region around each joint in which weights change linearly, as a fraction of a bone's length: 0
    /// (each vertex follows a single joint) to 1 (from the middle of a bone to the middle of the next bone).
    pub blend: f32,
}

/// Creates a closed capsule, with weights blended over half a bone's length around each joint. See [`Shape`].
pub fn capsule(bones: usize, rings: usize, segments: usize, radius: f32, length: f32) -> Character {
    Shape { bones, rings, segments, radius, length, blend: 0.5 }.capsule()
}

/// Creates a closed box of square section with `across` faces along each side. See [`Shape`].
pub fn bar(bones: usize, rings: usize, across: usize, radius: f32, length: f32) -> Character {
    Shape { bones, rings, segments: 4 * across, radius, length, blend: 0.5 }.bar()
}

impl Shape {
    /// Builds the capsule as a character.
    pub fn capsule(&self) -> Character {
        character_of(&self.capsule_asset())
    }

    /// Builds the bar as a character.
    pub fn bar(&self) -> Character {
        character_of(&self.bar_asset())
    }

    /// Builds the capsule as an asset.
    pub fn capsule_asset(&self) -> Asset {
        let (rings, segments) = (self.rings.max(1), self.segments.max(3));
        let cap = segments.div_ceil(4).max(2);
        // Profile `(height, radius)` from pole to pole, without the poles.
        let below = (1..cap).map(|i| FRAC_PI_2 * i as f32 / cap as f32);
        let along = (0..=rings).map(|i| (self.length * i as f32 / rings as f32, self.radius));
        let profile: Vec<(f32, f32)> = below
            .clone()
            .map(|a| (-self.radius * a.cos(), self.radius * a.sin()))
            .chain(along)
            .chain(below.rev().map(|a| (self.length + self.radius * a.cos(), self.radius * a.sin())))
            .collect();
        let mut positions = vec![Vec3::new(0.0, -self.radius, 0.0)];
        for &(y, r) in &profile {
            for s in 0..segments {
                let (sin, cos) = (TAU * s as f32 / segments as f32).sin_cos();
                positions.push(Vec3::new(r * cos, y, r * sin));
            }
        }
        let top = positions.len() as u32;
        positions.push(Vec3::new(0.0, self.length + self.radius, 0.0));
        let n = segments as u32;
        let id = |ring: usize, s: u32| 1 + ring as u32 * n + s % n;
        let mut triangles = Vec::new();
        for s in 0..n {
            triangles.push([0, id(0, s), id(0, s + 1)]);
            for ring in 0..profile.len() - 1 {
                let (a, b, c, d) = (id(ring, s), id(ring, s + 1), id(ring + 1, s), id(ring + 1, s + 1));
                triangles.push([a, c, b]);
                triangles.push([b, c, d]);
            }
            triangles.push([top, id(profile.len() - 1, s + 1), id(profile.len() - 1, s)]);
        }
        self.asset(positions, triangles)
    }

    /// Builds the capsule as an asset without skeleton and skin weights.
    pub fn bare_asset(&self) -> Asset {
        stripped(self.capsule_asset())
    }

    /// Builds the bar as an asset.
    pub fn bar_asset(&self) -> Asset {
        let (rings, across) = (self.rings.max(1), (self.segments / 4).max(1));
        let size = [across, rings, across];
        let mut positions = Vec::new();
        let mut known: HashMap<[usize; 3], u32> = HashMap::new();
        let mut triangles = Vec::new();
        let mut vertex = |c: [usize; 3]| {
            *known.entry(c).or_insert_with(|| {
                let side = |i: usize| self.radius * (2.0 * i as f32 / across as f32 - 1.0);
                positions.push(Vec3::new(side(c[0]), self.length * c[1] as f32 / rings as f32, side(c[2])));
                positions.len() as u32 - 1
            })
        };
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for (i, j) in (0..size[u]).flat_map(|i| (0..size[v]).map(move |j| (i, j))) {
                for far in [false, true] {
                    let mut corner = |di: usize, dj: usize| {
                        let mut c = [0; 3];
                        (c[axis], c[u], c[v]) = (if far { size[axis] } else { 0 }, i + di, j + dj);
                        vertex(c)
                    };
                    let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                    let faces = if far { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] };
                    triangles.extend(faces);
                }
            }
        }
        self.asset(positions, triangles)
    }

    fn asset(&self, positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Asset {
        let bones = self.bones.max(1);
        let bone = self.length / bones as f32;
        let joints: Vec<(Vec3, Option<usize>)> =
            (0..bones).map(|k| (Vec3::Y * (bone * k as f32), k.checked_sub(1))).collect();
        let mut influences = Influences::default();
        for p in &positions {
            // Near a joint, blends the weights of the bones below and above it.
            let in_bones = p.y / bone;
            let own = (in_bones.floor().max(0.0) as usize).min(bones - 1);
            let nearest = (in_bones.round().max(0.0) as usize).min(bones);
            let offset = in_bones - nearest as f32;
            let mut entries = vec![(own as u16, 1.0)];
            if nearest > 0 && nearest < bones && self.blend > 0.0 && offset.abs() < 0.5 * self.blend {
                let upper = 0.5 + offset / self.blend;
                entries = vec![(nearest as u16, upper), (nearest as u16 - 1, 1.0 - upper)];
                entries.retain(|e| e.1 > 0.0);
                entries.sort_by(|a, b| b.1.total_cmp(&a.1));
            }
            influences.push(entries);
        }
        asset_from_parts(positions, triangles, &joints, influences)
    }
}

fn character_of(asset: &Asset) -> Character {
    // Cannot fail: all numbers are finite and there are few joints.
    Character::from_asset(asset).unwrap_or_default()
}

impl Character {
    /// Builds a character from raw parts. Vertices and triangles are in bind space. A joint is a position and a
    /// parent index. The influences of a vertex must be positive, sum to 1 and begin with the largest.
    ///
    /// # Errors
    /// [`Error::Input`] if an index is out of range, the parents form a cycle, a number is not
    /// finite or a vertex has no influence.
    pub fn from_parts(
        positions: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
        joints: &[(Vec3, Option<usize>)],
        influences: Influences,
    ) -> Result<Self> {
        let (vertices, count) = (positions.len(), joints.len());
        let leads_to_root = |start: usize| {
            let mut at = Some(start);
            (0..count).any(|_| {
                at = at.and_then(|j| joints[j].1);
                at.is_none()
            })
        };
        let problem = if positions.iter().chain(joints.iter().map(|j| &j.0)).any(|p| !p.is_finite()) {
            "a position is not finite"
        } else if triangles.iter().flatten().any(|&v| v as usize >= vertices) {
            "a triangle names a vertex that does not exist"
        } else if joints.iter().filter_map(|j| j.1).any(|p| p >= count) || !(0..count).all(leads_to_root) {
            "a joint's parent does not exist or is below it"
        } else if influences.len() != vertices || (0..vertices).any(|v| influences.of(v).len() == 0) {
            "a vertex has no influence"
        } else if influences.joint.iter().any(|&j| usize::from(j) >= count) {
            "an influence names a joint that does not exist"
        } else {
            return Self::from_asset(&asset_from_parts(positions, triangles, joints, influences));
        };
        Err(Error::input(problem, "build the parts again"))
    }
}

/// Removes skeleton and skin weights.
fn stripped(mut asset: Asset) -> Asset {
    asset.skins.clear();
    asset.nodes.retain(|n| n.mesh.is_some());
    for node in &mut asset.nodes {
        (node.skin, node.parent) = (None, None);
        node.children.clear();
    }
    asset.roots = (0..asset.nodes.len()).map(NodeId::from).collect();
    let primitives = asset.meshes.iter_mut().flat_map(|m| &mut m.primitives);
    primitives.for_each(|p| p.influences = Influences::default());
    asset
}

/// Builds an asset with one mesh without skeleton and skin weights; indices must be valid.
pub fn bare_from_parts(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Asset {
    stripped(asset_from_parts(positions, triangles, &[], Influences::default()))
}

/// Builds an asset with one skinned mesh, for [`Character::from_parts`]; indices must be valid. Joint `k` is node `k`
/// with the name `joint k`; the last node has the mesh.
pub fn asset_from_parts(
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    joints: &[(Vec3, Option<usize>)],
    influences: Influences,
) -> Asset {
    let node = |name: String, parent: Option<usize>, at: Vec3| Node {
        name,
        parent: parent.map(NodeId::from),
        children: Vec::new(),
        rest: Trs::new(at, Quat::IDENTITY, Vec3::ONE),
        matrix: None,
        mesh: None,
        skin: None,
        weights: Vec::new(),
    };
    let mut nodes: Vec<Node> = joints
        .iter()
        .enumerate()
        .map(|(k, &(at, parent))| {
            node(format!("joint {k}"), parent, at - parent.map_or(Vec3::ZERO, |p| joints[p].0))
        })
        .collect();
    for (k, &(_, parent)) in joints.iter().enumerate() {
        if let Some(p) = parent {
            nodes[p].children.push(NodeId::from(k));
        }
    }
    let drawn = node("mesh".into(), None, Vec3::ZERO);
    nodes.push(Node { mesh: Some(MeshId(0)), skin: Some(SkinId(0)), ..drawn });
    let roots = (0..nodes.len()).filter(|&i| nodes[i].parent.is_none()).map(NodeId::from).collect();
    let primitive = Primitive {
        normals: vertex_normals(&positions, &triangles),
        uvs: vec![Vec2::ZERO; positions.len()],
        positions,
        triangles,
        influences,
        ..Default::default()
    };
    Asset {
        nodes,
        roots,
        meshes: vec![Mesh { name: "mesh".into(), primitives: vec![primitive] }],
        skins: vec![Skin {
            name: "skin".into(),
            joints: (0..joints.len()).map(NodeId::from).collect(),
            inverse_bind: joints.iter().map(|j| Mat4::from_translation(-j.0)).collect(),
        }],
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{BoneId, JointId};

    /// Returns the volume by the divergence theorem; positive if the mesh is closed and oriented outwards.
    fn volume(c: &Character) -> f32 {
        let p = &c.control.positions;
        c.control
            .triangles
            .iter()
            .map(|t| t.map(|v| p[v as usize]))
            .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
            .sum()
    }

    #[test]
    fn a_capsule_is_closed_and_has_its_bones() {
        let c = capsule(2, 20, 64, 0.1, 1.0);
        let exact = std::f32::consts::PI * 0.01 * (1.0 + 4.0 / 3.0 * 0.1);
        let v = volume(&c);
        assert!(v > 0.99 * exact && v < exact, "{v} of {exact}");
        // Euler's formula: V - E + F = 2.
        let edges = c.control.adjacency.edges().count();
        assert_eq!(c.control.positions.len() + c.control.triangles.len(), edges + 2);
        let bones = &c.skeleton.bones;
        assert_eq!((bones.len(), bones[0].child), (2, Some(JointId(1))));
        assert!(bones[0].tail.distance(Vec3::Y * 0.5) < 1e-6 && bones[1].head == bones[0].tail);
        assert!(bones[1].tail.distance(Vec3::Y * 1.1) < 1e-4, "tip at the pole: {}", bones[1].tail);
        assert_eq!(c.skeleton.bones_of(JointId(1)).collect::<Vec<_>>(), [BoneId(1)]);
        let at_joint = c.control.positions.iter().position(|p| (p.y - 0.5).abs() < 1e-6).unwrap();
        assert!(c.control.influences.of(at_joint).all(|e| (e.1 - 0.5).abs() < 1e-5));
    }

    #[test]
    fn a_bar_is_a_closed_box() {
        let c = bar(4, 12, 3, 0.5, 4.0);
        assert!((volume(&c) - 4.0).abs() < 1e-4);
        assert_eq!(c.control.triangles.len(), 2 * (4 * 3 * 12 + 2 * 9));
        assert_eq!(c.control.positions.len(), c.control.triangles.len() / 2 + 2);
        assert_eq!(c.skeleton.bones.len(), 4);
    }

    #[test]
    fn bad_parts_are_refused() {
        let one = || {
            let mut i = Influences::default();
            i.push([(0, 1.0)]);
            i
        };
        let cycle = [(Vec3::ZERO, Some(1)), (Vec3::X, Some(0))];
        assert!(Character::from_parts(vec![Vec3::ZERO], vec![], &cycle, one()).is_err());
        let root = [(Vec3::ZERO, None)];
        assert!(Character::from_parts(vec![Vec3::ZERO], vec![[0, 0, 1]], &root, one()).is_err());
        assert!(Character::from_parts(vec![Vec3::NAN], vec![], &root, one()).is_err());
        assert!(Character::from_parts(vec![Vec3::ZERO], vec![], &root, Influences::default()).is_err());
        let fine = Character::from_parts(vec![Vec3::ZERO], vec![[0, 0, 0]], &root, one()).unwrap();
        assert_eq!(fine.skeleton.bones[0].head, fine.skeleton.bones[0].tail);
    }
}
