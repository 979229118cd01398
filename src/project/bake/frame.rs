//! File format of a baked frame: the pose, the deformed surface and a hash of both.
//!
//! Little endian: `SINEWFRM`; version, frame number, counts of nodes, weights and vertices, u32 each; 4 zero bytes;
//! time in seconds, f64; the bake's key, 32 bytes; translation, rotation and scale per node, 10 f32; morph weights
//! per node, f32; positions and normals, 3 f32 each; BLAKE3 of all preceding bytes, 32 bytes.

use crate::base::math::{Trs, Vec3};
use crate::base::{Error, Result};
use crate::rig::{Pose, Skeleton};
use std::path::Path;

const MAGIC: &[u8; 8] = b"SINEWFRM";
const VERSION: u32 = 1;
const HEAD: usize = 8 + 6 * 4 + 8 + 32;
const HASH: usize = 32;

/// A baked frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Frame number, equal to time times frame rate.
    pub number: u32,
    /// Time, seconds.
    pub time: f64,
    /// Pose of every node.
    pub pose: Pose,
    /// Position per display vertex, world space, metres.
    pub positions: Vec<Vec3>,
    /// Unit normal per display vertex, world space.
    pub normals: Vec<Vec3>,
}

impl Frame {
    /// Serialises the frame. `key` identifies the bake and is stored in the frame.
    pub fn bytes(&self, key: &[u8; 32]) -> Vec<u8> {
        let weights: usize = self.pose.weights.iter().map(Vec::len).sum();
        let floats = self.pose.local.len() * 10 + weights + self.positions.len() * 6;
        let mut out = Vec::with_capacity(HEAD + floats * 4 + HASH);
        out.extend(MAGIC);
        let counts = [VERSION, self.number, self.pose.local.len() as u32, weights as u32];
        counts.iter().for_each(|n| out.extend(n.to_le_bytes()));
        out.extend((self.positions.len() as u32).to_le_bytes());
        out.extend([0; 4]);
        out.extend(self.time.to_le_bytes());
        out.extend(key);
        let mut put = |v: &[f32]| v.iter().for_each(|f| out.extend(f.to_le_bytes()));
        for local in &self.pose.local {
            put(&local.translation);
            put(&local.rotation);
            put(&local.scale);
        }
        self.pose.weights.iter().for_each(|w| put(w));
        self.positions.iter().chain(&self.normals).for_each(|v| put(&v.to_array()));
        let hash = *blake3::hash(&out).as_bytes();
        out.extend(hash);
        out
    }

    /// Parses a frame; `key` is the key of its bake.
    ///
    /// # Errors
    /// The bytes are truncated or damaged, or belong to another bake or character.
    pub fn parse(bytes: &[u8], path: &Path, key: &[u8; 32], skeleton: &Skeleton) -> Result<Self> {
        let broken =
            |what: &str| Error::broken(path, "frame", what, "remove the file and bake the frame again");
        if bytes.len() < HEAD + HASH || &bytes[..8] != MAGIC {
            return Err(broken("it is no baked frame, or cut short"));
        }
        let (content, hash) = bytes.split_at(bytes.len() - HASH);
        if blake3::hash(content).as_bytes() != hash {
            return Err(broken("its hash is not that of its content"));
        }
        let word = |i: usize| content[8 + 4 * i..12 + 4 * i].try_into().map_or(0, u32::from_le_bytes);
        let [version, number, nodes, weights, vertices] = std::array::from_fn(word);
        if version != VERSION {
            return Err(broken("it is of another version of Sinew"));
        }
        if &content[40..72] != key {
            return Err(broken("it belongs to another project, rate or device"));
        }
        let time = content[32..40].try_into().map_or(f64::NAN, f64::from_le_bytes);
        let own: usize = skeleton.nodes.iter().map(|n| n.weights.len()).sum();
        let (nodes, weights, vertices) = (nodes as usize, weights as usize, vertices as usize);
        let floats = (content.len() - HEAD) / 4;
        if nodes != skeleton.nodes.len() || weights != own || nodes * 10 + weights + vertices * 6 != floats {
            return Err(broken("it is of another character"));
        }
        let mut all = content[HEAD..].chunks_exact(4).map(|b| b.try_into().map_or(0.0, f32::from_le_bytes));
        let mut next = || all.next().unwrap_or_default();
        let local = |_| Trs {
            translation: std::array::from_fn(|_| next()),
            rotation: std::array::from_fn(|_| next()),
            scale: std::array::from_fn(|_| next()),
        };
        let local: Vec<Trs> = (0..nodes).map(local).collect();
        let weights = skeleton.nodes.iter().map(|n| n.weights.iter().map(|_| next()).collect()).collect();
        let mut vectors =
            |n: usize| (0..n).map(|_| Vec3::from_array(std::array::from_fn(|_| next()))).collect();
        let (positions, normals) = (vectors(vertices), vectors(vertices));
        Ok(Self { number, time, pose: Pose { local, weights, ..Pose::default() }, positions, normals })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Quat;

    #[test]
    fn a_frame_comes_back_whole_or_not_at_all() {
        let (_, model) = crate::project::bake::tests::capsule();
        let skeleton = model.skeleton();
        let mut pose = Pose::rest(skeleton);
        pose.local[1].rotation = Quat::from_rotation_x(0.4).to_array();
        let positions: Vec<Vec3> = (0..20).map(|i| Vec3::new(i as f32, 0.1, -0.0)).collect();
        let frame = Frame { number: 7, time: 7.0 / 24.0, pose, normals: positions.clone(), positions };
        let key = [9; 32];
        let bytes = frame.bytes(&key);
        let parse = |b: &[u8], key| Frame::parse(b, Path::new("f"), key, skeleton);
        assert_eq!(parse(&bytes, &key).unwrap(), frame);
        for cut in [0, 7, 60, 100, bytes.len() - 1] {
            assert!(parse(&bytes[..cut], &key).is_err());
        }
        for at in (0..bytes.len()).step_by(13) {
            let mut bad = bytes.clone();
            bad[at] ^= 4;
            assert!(parse(&bad, &key).is_err(), "byte {at}");
        }
        assert!(parse(&bytes, &[8; 32]).unwrap_err().to_string().contains("another project"));
    }
}
