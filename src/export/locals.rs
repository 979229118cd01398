//! Node transforms of the keys: which nodes change, how they are written, and the resulting world transforms.

use super::posed::Job;
use super::{Builder, numbers};
use crate::asset::{Asset, Problem};
use crate::base::NodeId;
use crate::base::math::{Mat4, Trs};
use crate::rig::Pose;
use glam::{DAffine3, DMat4, DQuat, DVec3};
use serde_json::Value;

/// How the exported file stores a node's transform.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// The transform from the file.
    File,
    /// Translation, rotation, scale.
    Trs,
    /// A matrix, because the file's own matrix has shear that TRS cannot express. Only in a static export.
    Matrix,
}

/// How the exported file stores the transform of every node.
pub(super) struct Locals {
    form: Vec<Form>,
}

impl Locals {
    pub fn new(job: &Job, problems: &mut Vec<Problem>) -> Self {
        let form = |(i, node): (usize, &crate::asset::Node)| {
            let moves = job.moves(NodeId::from(i));
            if !moves && job.keys.iter().all(|k| k.pose.local[i] == node.rest) {
                Form::File
            } else if job.character.skeleton.nodes[i].remainder.is_none() {
                Form::Trs
            } else if job.keys.len() == 1 && !moves {
                Form::Matrix
            } else {
                problems.push(Problem {
                    at: format!("node \"{}\"", node.name),
                    text: "its matrix has shear, which an animation cannot carry; it is left out".into(),
                });
                Form::Trs
            }
        };
        Self { form: job.asset.nodes.iter().enumerate().map(form).collect() }
    }

    /// Returns `world_from_node` at a key, computed from the transforms as written.
    pub fn world(&self, job: &Job, key: usize) -> Vec<DAffine3> {
        self.world_of(job, job.keys[key].pose)
    }

    /// Returns `world_from_node` in a pose, computed from the transforms as written.
    pub fn world_of(&self, job: &Job, pose: &Pose) -> Vec<DAffine3> {
        let mut world = vec![DAffine3::IDENTITY; job.asset.nodes.len()];
        for id in &job.character.skeleton.order {
            let i = id.index();
            let local = match self.form[i] {
                Form::File => file_local(job.asset, i),
                Form::Trs => affine(&unit(pose.local[i])),
                Form::Matrix => DAffine3::from_mat4(self.matrix(job, pose, i).as_dmat4()),
            };
            world[i] = job.asset.nodes[i].parent.map_or(local, |p| world[p.index()] * local);
        }
        world
    }

    /// Returns the largest factor by which skinning lengthens a displacement, over all joints and keys.
    pub fn stretch(&self, job: &Job) -> f64 {
        let longest = |m: &DAffine3| {
            let m = m.matrix3;
            // With shear, the factor can be larger than each column's length. The receipt measures the actual error.
            m.x_axis.length().max(m.y_axis.length()).max(m.z_axis.length())
        };
        let skins = (0..job.asset.skins.len()).map(crate::base::SkinId::from).collect::<Vec<_>>();
        let of_key = |key: usize| {
            let world = self.world(job, key);
            let skinned = skins.iter().flat_map(|&s| skinning(job.asset, s, &world)).map(|m| longest(&m));
            let drawn = job.drawn().into_iter().map(|(n, _)| longest(&world[n.index()])).collect::<Vec<_>>();
            skinned.chain(drawn).fold(0.0, f64::max)
        };
        (0..job.keys.len()).map(of_key).fold(0.0, f64::max)
    }

    fn matrix(&self, job: &Job, pose: &Pose, node: usize) -> Mat4 {
        let remainder = job.character.skeleton.nodes[node].remainder.map(Mat4::from).unwrap_or_default();
        Mat4::from(pose.local[node].affine()) * remainder
    }
}

/// Returns the local transform in the file.
fn file_local(asset: &Asset, node: usize) -> DAffine3 {
    let node = &asset.nodes[node];
    node.matrix.map_or_else(|| affine(&node.rest), |m| DAffine3::from_mat4(m.as_dmat4()))
}

/// Returns the transform as the file stores it, with a unit quaternion.
fn unit(local: Trs) -> Trs {
    Trs { rotation: local.rotation().to_array(), ..local }
}

/// Returns `translation * rotation * scale` in double precision.
pub(super) fn affine(trs: &Trs) -> DAffine3 {
    let q = trs.rotation.map(f64::from);
    let rotation = DQuat::from_array(q);
    let rotation = if rotation.length_squared() > 1e-12 { rotation.normalize() } else { DQuat::IDENTITY };
    DAffine3::from_scale_rotation_translation(
        DVec3::from_array(trs.scale.map(f64::from)),
        rotation,
        DVec3::from_array(trs.translation.map(f64::from)),
    )
}

/// Writes the first key's transforms to the nodes that the pose changes; all other nodes stay as in the file.
pub(super) fn write_nodes(job: &Job, locals: &Locals, builder: &mut Builder) {
    for (i, form) in locals.form.iter().enumerate() {
        let Some(node) = builder.json["nodes"].get_mut(i).and_then(Value::as_object_mut) else { continue };
        let local = unit(job.keys[0].pose.local[i]);
        match form {
            Form::File => continue,
            Form::Matrix => {
                let columns: Vec<f32> = locals.matrix(job, job.keys[0].pose, i).to_cols_array().to_vec();
                node.insert("matrix".into(), numbers(&columns));
                for name in ["translation", "rotation", "scale"] {
                    node.shift_remove(name);
                }
            }
            Form::Trs => {
                node.shift_remove("matrix");
                let rest = Trs::IDENTITY;
                let mut set = |name: &str, value: &[f32], default: &[f32]| {
                    if value == default {
                        node.shift_remove(name);
                    } else {
                        node.insert(name.into(), numbers(value));
                    }
                };
                set("translation", &local.translation, &rest.translation);
                set("rotation", &local.rotation, &rest.rotation);
                set("scale", &local.scale, &rest.scale);
            }
        }
    }
    for (i, node) in job.asset.nodes.iter().enumerate() {
        let weights = &job.keys[0].pose.weights[i];
        if *weights != node.weights {
            builder.json["nodes"][i]["weights"] = numbers(weights);
        }
    }
}

/// Returns `world_from_mesh` per joint of a skin: `W_j * inverse_bind_j`.
pub(super) fn skinning(asset: &Asset, skin: crate::base::SkinId, world: &[DAffine3]) -> Vec<DAffine3> {
    let skin = &asset.skins[skin.index()];
    let bind = |i: usize| skin.inverse_bind.get(i).map_or(DMat4::IDENTITY, |m| m.as_dmat4());
    skin.joints.iter().enumerate().map(|(i, j)| world[j.index()] * DAffine3::from_mat4(bind(i))).collect()
}
