//! Evaluates a glTF file in double precision, as a viewer does. The code is written from the specification alone.
//!
//! The code shares no code with the deformers or with the exporter's solver, so that the receipt is an independent
//! check. The numbers in parentheses are sections of the specification. The code evaluates nodes (3.5), skins (3.7.3),
//! morph targets (3.7.2) and animations (3.11, appendix C). Normals are transformed as in common viewers: by the linear
//! part of the blended matrix for skinned primitives, by the inverse transpose of the node's transform for unskinned
//! primitives.

use crate::asset::{Asset, Channel, Interpolation, Node, Primitive, Property};
use crate::base::math::Trs;
use glam::{DMat3, DMat4, DQuat, DVec3};

/// The state to evaluate: a clip at a time, or the static scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    /// The file's node transforms and weights.
    Static,
    /// Animation `clip` at `time_s` seconds.
    Clip {
        /// Index of the animation.
        clip: usize,
        /// Time in seconds.
        time_s: f64,
    },
}

/// A drawn vertex.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// World position, scene units.
    pub position: DVec3,
    /// World normal, unit length; zero if the file's normal has no length.
    pub normal: DVec3,
}

struct NodeStates {
    local: Vec<Option<DMat4>>,
    trs: Vec<[Vec<f64>; 3]>,
    weights: Vec<Vec<f64>>,
}

/// Evaluates all vertices of all triangle primitives of the scene, in node order, then primitive order.
pub fn evaluate(asset: &Asset, moment: Moment) -> Vec<Drawn> {
    let state = state(asset, moment);
    let mut world = vec![None; asset.nodes.len()];
    let mut stack: Vec<(usize, DMat4)> = asset.roots.iter().map(|r| (r.index(), DMat4::IDENTITY)).collect();
    while let Some((node, parent)) = stack.pop() {
        let here = parent * state.local[node].unwrap_or_else(|| compose(&state.trs[node]));
        world[node] = Some(here);
        stack.extend(asset.nodes[node].children.iter().map(|c| (c.index(), here)));
    }
    let mut out = Vec::new();
    for (i, node) in asset.nodes.iter().enumerate() {
        let (Some(here), Some(mesh)) = (world[i], node.mesh) else { continue };
        for primitive in &asset.meshes[mesh.index()].primitives {
            draw(asset, node, primitive, &here, &world, &state.weights[i], &mut out);
        }
    }
    out
}

fn draw(
    asset: &Asset,
    node: &Node,
    primitive: &Primitive,
    here: &DMat4,
    world: &[Option<DMat4>],
    weights: &[f64],
    out: &mut Vec<Drawn>,
) {
    let skin = node.skin.map(|s| &asset.skins[s.index()]).filter(|s| !s.joints.is_empty());
    let skin = skin.filter(|_| !primitive.influences.is_empty());
    let joints: Option<Vec<DMat4>> = skin.map(|skin| {
        let at = |n: usize| world[n].unwrap_or(DMat4::IDENTITY);
        skin.joints.iter().zip(&skin.inverse_bind).map(|(j, b)| at(j.index()) * b.as_dmat4()).collect()
    });
    let shown: Vec<_> = primitive.morphs.iter().zip(weights).filter(|(_, w)| **w != 0.0).collect();
    for v in 0..primitive.positions.len() {
        let mut x = primitive.positions[v].as_dvec3();
        let mut n = primitive.normals[v].as_dvec3();
        for (target, w) in &shown {
            x += **w * target.positions[v].as_dvec3();
            if !target.normals.is_empty() {
                n += **w * target.normals[v].as_dvec3();
            }
        }
        let drawn = match &joints {
            Some(joints) => {
                let mut m = DMat4::ZERO;
                for (joint, w) in primitive.influences.of(v) {
                    m += joints[usize::from(joint).min(joints.len() - 1)] * f64::from(w);
                }
                let sum = m.w_axis.w;
                m *= if sum > 0.0 { 1.0 / sum } else { 1.0 };
                Drawn { position: m.transform_point3(x), normal: DMat3::from_mat4(m) * n }
            }
            None => {
                let linear = DMat3::from_mat4(*here);
                Drawn { position: here.transform_point3(x), normal: linear.inverse().transpose() * n }
            }
        };
        out.push(Drawn { normal: drawn.normal.normalize_or_zero(), ..drawn });
    }
}

fn state(asset: &Asset, moment: Moment) -> NodeStates {
    let wide = |v: &[f32]| v.iter().copied().map(f64::from).collect::<Vec<_>>();
    let split = |t: &Trs| [wide(&t.translation), wide(&t.rotation), wide(&t.scale)];
    let mut state = NodeStates {
        local: asset.nodes.iter().map(|n| n.matrix.map(|m| m.as_dmat4())).collect(),
        trs: asset.nodes.iter().map(|n| split(&n.rest)).collect(),
        weights: asset.nodes.iter().map(|n| wide(&n.weights)).collect(),
    };
    if let Moment::Clip { clip, time_s } = moment {
        for channel in asset.clips.get(clip).map_or(&[][..], |c| &c.channels[..]) {
            let node = channel.node.index();
            let slot = match channel.property {
                Property::Translation => &mut state.trs[node][0],
                Property::Rotation => &mut state.trs[node][1],
                Property::Scale => &mut state.trs[node][2],
                Property::Weights => &mut state.weights[node],
            };
            *slot = value_at(channel, time_s, slot.len());
            if channel.property != Property::Weights {
                state.local[node] = None;
            }
        }
    }
    state
}

fn compose(trs: &[Vec<f64>; 3]) -> DMat4 {
    let v = |a: &[f64]| DVec3::new(a[0], a[1], a[2]);
    let q = DQuat::from_xyzw(trs[1][0], trs[1][1], trs[1][2], trs[1][3]);
    let q = if q.length() > 0.0 { q.normalize() } else { DQuat::IDENTITY };
    DMat4::from_scale_rotation_translation(v(&trs[2]), q, v(&trs[0]))
}

fn value_at(channel: &Channel, time: f64, width: usize) -> Vec<f64> {
    let per_key = channel.values.len() / channel.times.len();
    let (key, next, u, dt) = {
        let next = channel.times.partition_point(|&t| f64::from(t) <= time);
        let key = next.saturating_sub(1);
        let next = next.min(channel.times.len() - 1);
        let (t0, t1) = (f64::from(channel.times[key]), f64::from(channel.times[next]));
        (key, next, if t1 > t0 { ((time - t0) / (t1 - t0)).clamp(0.0, 1.0) } else { 0.0 }, t1 - t0)
    };
    let part = |k: usize, which: usize| -> Vec<f64> {
        let start = k * per_key + which * width;
        channel.values[start..start + width].iter().copied().map(f64::from).collect()
    };
    let combine = |a: f64, x: &[f64], b: f64, y: &[f64]| -> Vec<f64> {
        x.iter().zip(y).map(|(x, y)| a * x + b * y).collect()
    };
    match channel.interpolation {
        Interpolation::Step => part(key, 0),
        Interpolation::Linear if channel.property == Property::Rotation => {
            let q = |v: Vec<f64>| DQuat::from_xyzw(v[0], v[1], v[2], v[3]);
            q(part(key, 0)).slerp(q(part(next, 0)), u).to_array().to_vec()
        }
        Interpolation::Linear => combine(1.0 - u, &part(key, 0), u, &part(next, 0)),
        Interpolation::CubicSpline => {
            let (u2, u3) = (u * u, u * u * u);
            let ends = combine(2.0 * u3 - 3.0 * u2 + 1.0, &part(key, 1), 3.0 * u2 - 2.0 * u3, &part(next, 1));
            let slopes = combine(dt * (u3 - 2.0 * u2 + u), &part(key, 2), dt * (u3 - u2), &part(next, 0));
            combine(1.0, &ends, 1.0, &slopes)
        }
    }
}
