//! Sparse morph targets in bind space: the displacements that a pose's morph weights add to the character before
//! deformation.

use super::Character;
use super::character::placement_of;
use crate::asset::Asset;
use crate::base::NodeId;
use crate::base::math::{Mat3, Vec3};

/// The morph targets of a character.
#[derive(Clone, Debug, Default)]
pub struct Morphs {
    /// Targets in node order, then target order; targets without displacements are kept with empty lists.
    pub targets: Vec<MorphTarget>,
}

/// A morph target of a mesh node; it moves vertices of all primitives of the mesh.
#[derive(Clone, Debug)]
pub struct MorphTarget {
    /// The node with the mesh; [`crate::rig::Pose::weights`] of this node holds the morph weights.
    pub node: NodeId,
    /// Index of the target in its mesh; the target's weight has the same index.
    pub target: usize,
    /// Display vertices moved by the target, ascending.
    pub vertices: Vec<u32>,
    /// Displacement of each vertex in bind space, metres.
    pub positions: Vec<Vec3>,
    /// Control vertices moved by the target, without duplicates, each with an index into `vertices`.
    pub control: Vec<(u32, u32)>,
}

impl Morphs {
    /// Reads the morph targets of a character from the file that it was built from.
    pub fn from_asset(asset: &Asset, character: &Character) -> Self {
        let mut targets: Vec<MorphTarget> = Vec::new();
        let mut last_target = vec![u32::MAX; character.control.positions.len()];
        for part in &character.display.parts {
            let primitive = &asset.meshes[part.mesh.index()].primitives[part.primitive];
            let Some(bind_from_mesh) = placement_of(asset, &character.skeleton, part.node, primitive) else {
                continue;
            };
            let linear = Mat3::from(bind_from_mesh.matrix3);
            for (index, morph) in primitive.morphs.iter().enumerate() {
                let known = targets.iter().rposition(|t| t.node == part.node && t.target == index);
                let slot = known.unwrap_or_else(|| {
                    targets.push(MorphTarget {
                        node: part.node,
                        target: index,
                        vertices: Vec::new(),
                        positions: Vec::new(),
                        control: Vec::new(),
                    });
                    targets.len() - 1
                });
                let target = &mut targets[slot];
                for (v, &moved) in morph.positions.iter().enumerate().take(primitive.positions.len()) {
                    if moved == Vec3::ZERO {
                        continue;
                    }
                    target.vertices.push(part.vertices.start + v as u32);
                    target.positions.push(linear * moved);
                }
            }
        }
        for (index, target) in targets.iter_mut().enumerate() {
            for (entry, &v) in target.vertices.iter().enumerate() {
                let control = character.display.control_of[v as usize];
                if std::mem::replace(&mut last_target[control as usize], index as u32) != index as u32 {
                    target.control.push((control, entry as u32));
                }
            }
        }
        Self { targets }
    }

    /// Returns whether there are no targets.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Returns the targets with nonzero weights, and their weights; `weights` is per node as in a pose.
    fn active<'a>(&'a self, weights: &'a [Vec<f32>]) -> impl Iterator<Item = (&'a MorphTarget, f32)> {
        let weight = |t: &MorphTarget| weights.get(t.node.index()).and_then(|w| w.get(t.target)).copied();
        self.targets.iter().filter_map(move |t| weight(t).map(|w| (t, w))).filter(|e| e.1 != 0.0)
    }

    /// Adds `Σ_k w_k Δ_k` to display positions. Normals are recomputed later from the deformed surface.
    pub fn add_to_display(&self, weights: &[Vec<f32>], positions: &mut [Vec3]) {
        for (target, weight) in self.active(weights) {
            for (&v, &delta) in target.vertices.iter().zip(&target.positions) {
                positions[v as usize] += weight * delta;
            }
        }
    }

    /// Adds `Σ_k w_k Δ_k` to control positions.
    pub fn add_to_control(&self, weights: &[Vec<f32>], positions: &mut [Vec3]) {
        for (target, weight) in self.active(weights) {
            for &(control, entry) in &target.control {
                positions[control as usize] += weight * target.positions[entry as usize];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Morph;
    use crate::base::math::{Affine3A, Mat4, Quat};
    use crate::bind::shapes::Shape;

    #[test]
    fn deltas_are_placed_like_the_mesh_and_added_by_weight() {
        let shape = Shape { bones: 2, rings: 4, segments: 8, radius: 0.1, length: 1.0, blend: 0.5 };
        let mut asset = shape.capsule_asset();
        let node = asset.nodes.len() - 1;
        // The mesh's own space is rotated and scaled by 2 relative to bind space.
        let mesh_from_bind = Affine3A::from_scale_rotation_translation(
            Vec3::splat(2.0),
            Quat::from_rotation_z(0.5),
            Vec3::new(3.0, 0.0, 1.0),
        );
        let primitive = &mut asset.meshes[0].primitives[0];
        for (p, n) in primitive.positions.iter_mut().zip(&mut primitive.normals) {
            *p = mesh_from_bind.transform_point3(*p);
            *n = Quat::from_rotation_z(0.5) * *n;
        }
        for m in &mut asset.skins[0].inverse_bind {
            *m *= Mat4::from(mesh_from_bind.inverse());
        }
        let count = primitive.positions.len();
        let mut along = vec![Vec3::ZERO; count];
        along[3] = mesh_from_bind.transform_vector3(Vec3::X);
        let mut turned = vec![Vec3::ZERO; count];
        turned[3] = Quat::from_rotation_z(0.5) * Vec3::Z;
        let none = Morph { name: "none".into(), positions: vec![Vec3::ZERO; count], normals: vec![] };
        primitive.morphs = vec![none, Morph { name: "one".into(), positions: along, normals: turned }];
        asset.nodes[node].weights = vec![0.0, 0.25];

        let character = Character::from_asset(&asset).unwrap();
        let bind = shape.capsule();
        for (a, b) in character.display.positions.iter().zip(&bind.display.positions) {
            assert!(a.distance(*b) < 1e-5);
        }
        let morphs = Morphs::from_asset(&asset, &character);
        assert_eq!(morphs.targets.len(), 2);
        assert!(morphs.targets[0].vertices.is_empty());
        assert_eq!(morphs.targets[1].vertices, [3]);
        let pose = crate::rig::Pose::rest(&character.skeleton);
        let mut p = character.display.positions.clone();
        morphs.add_to_display(&pose.weights, &mut p);
        assert!((p[3] - character.display.positions[3]).distance(Vec3::X * 0.25) < 1e-5);
        assert_eq!(p[4], character.display.positions[4]);
        let mut x = character.control.positions.clone();
        morphs.add_to_control(&pose.weights, &mut x);
        assert!(x[character.display.control_of[3] as usize].distance(p[3]) < 1e-6);
    }
}
