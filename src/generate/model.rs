//! A finished rigged model, ready to be written as glTF.

use crate::base::math::Vec3;

/// A joint. In the bind pose its axes are the world axes, so its position alone defines it.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    /// Unique name.
    pub name: String,
    /// Index of the parent, less than the joint's own index; `None` for the root.
    pub parent: Option<usize>,
    /// World position in the bind pose, metres.
    pub position: Vec3,
}

/// The joints of a model, parents first.
#[derive(Clone, Debug, Default)]
pub(super) struct Rig {
    /// Joints in order of addition.
    pub joints: Vec<Joint>,
}

impl Rig {
    /// Adds a joint and returns its index.
    pub fn add(&mut self, name: impl Into<String>, parent: Option<usize>, position: Vec3) -> usize {
        self.joints.push(Joint { name: name.into(), parent, position });
        self.joints.len() - 1
    }
}

/// A metallic-roughness material.
#[derive(Clone, Debug)]
pub(super) struct Paint {
    /// Name of the material.
    pub name: &'static str,
    /// Linear base colour.
    pub color: [f32; 3],
    /// Roughness: 0 is a mirror, 1 is chalk.
    pub roughness: f32,
}

impl Paint {
    /// Creates a material from an sRGB colour, 0..=255 per channel.
    pub fn srgb(name: &'static str, color: [u8; 3], roughness: f32) -> Self {
        Self { name, color: color.map(linear), roughness }
    }
}

/// Converts sRGB to linear by a common cubic fit, within 0.5 %; `powf` would differ between platforms.
fn linear(value: u8) -> f32 {
    let s = f32::from(value) / 255.0;
    s * (s * (s * 0.305_306 + 0.682_171_1) + 0.012_522_878)
}

/// Normals of a model.
#[derive(Clone, Debug)]
pub(super) enum Normals {
    /// One normal per vertex.
    Smooth(Vec<Vec3>),
    /// One normal per triangle; the writer splits vertices where normals differ.
    Flat(Vec<Vec3>),
}

/// Four influences: joint and weight, heaviest first; the weights sum to `u16::MAX`.
pub(super) type Weights = [(u8, u16); 4];

/// An animation of rotations.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    /// Name of the animation.
    pub name: &'static str,
    /// Per channel: a joint index and its keys, each a time in seconds and a rotation. A rotation is stored as its
    /// axis times the tangent of half the angle; the conversion to a quaternion needs only a square root.
    pub channels: Vec<(usize, Vec<(f32, Vec3)>)>,
}

/// A complete rigged model, the content of one file.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Name of the mesh.
    pub name: &'static str,
    /// Joints of the skeleton.
    pub rig: Rig,
    /// Positions of the control vertices, metres.
    pub positions: Vec<Vec3>,
    /// Normals of the surface, per vertex or per triangle.
    pub normals: Normals,
    /// Vertex indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Index into `paints` per triangle.
    pub paint_of: Vec<u8>,
    /// Materials that `paint_of` refers to.
    pub paints: Vec<Paint>,
    /// Joint influences per vertex.
    pub weights: Vec<Weights>,
    /// An optional animation.
    pub motion: Option<Motion>,
}

/// Quantises the four heaviest of the dense weights to 16 bits; their sum is exactly `u16::MAX`.
pub(super) fn quantize(dense: &[f32]) -> Weights {
    let mut order: Vec<usize> = (0..dense.len()).filter(|&j| dense[j] > 0.004).collect();
    order.sort_by(|&a, &b| dense[b].total_cmp(&dense[a]).then(a.cmp(&b)));
    order.truncate(4);
    let sum: f32 = order.iter().map(|&j| dense[j]).sum();
    let mut out = [(0, 0); 4];
    let mut left = u16::MAX;
    for (slot, &j) in order.iter().enumerate() {
        let weight = ((dense[j] / sum * 65535.0 + 0.5) as u16).min(left);
        out[slot] = (j as u8, weight);
        left -= weight;
    }
    out[0].1 += left;
    for slot in &mut out {
        if slot.1 == 0 {
            *slot = (0, 0);
        }
    }
    out
}
