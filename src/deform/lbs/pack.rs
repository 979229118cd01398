//! Influences in the GPU's layout: four per vertex in 24 bytes, all further ones in a tail list.

use crate::asset::Influences;
use crate::shared_with_shaders;

shared_with_shaders! {
    /// An influence of a vertex after its fourth.
    #[derive(Debug, PartialEq)]
    pub struct TailEntry as "TailEntry" {
        /// Index of the joint.
        pub joint: u32,
        /// Weight of the joint.
        pub weight: f32,
    }
}

/// Skin influences for the GPU. Weights are f32, so that GPU and CPU reference agree up to rounding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackedInfluences {
    /// The four joints of largest weight per vertex, 16 bits each, low half first; 0 in unused slots.
    pub joints: Vec<[u32; 2]>,
    /// Weights of `joints`, descending; 0 in unused slots. The first zero ends the list.
    pub weights: Vec<[f32; 4]>,
    /// Offsets into `tail` per vertex, plus the end; a single 0 if no vertex has more than four influences.
    pub tail_offset: Vec<u32>,
    /// All influences after the fourth, in vertex order.
    pub tail: Vec<TailEntry>,
}

impl PackedInfluences {
    /// Packs influences, which must be sorted by descending weight.
    pub fn new(influences: &Influences) -> Self {
        let mut out = Self { tail_offset: vec![0], ..Self::default() };
        for vertex in 0..influences.len() {
            let (mut joints, mut weights) = ([0u32; 4], [0.0; 4]);
            for (k, (joint, weight)) in influences.of(vertex).enumerate() {
                if k < 4 {
                    (joints[k], weights[k]) = (joint.into(), weight);
                } else {
                    out.tail.push(TailEntry { joint: joint.into(), weight });
                }
            }
            out.joints.push([joints[0] | joints[1] << 16, joints[2] | joints[3] << 16]);
            out.weights.push(weights);
            out.tail_offset.push(out.tail.len() as u32);
        }
        if out.tail.is_empty() {
            out.tail_offset.truncate(1);
        }
        out
    }

    /// Returns whether any vertex has more than four influences.
    pub fn has_tail(&self) -> bool {
        !self.tail.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifth_influence_goes_to_the_tail_and_four_need_none() {
        let mut influences = Influences::default();
        influences.push([(7, 0.5), (300, 0.5)]);
        let packed = PackedInfluences::new(&influences);
        assert!(!packed.has_tail());
        assert_eq!((packed.tail_offset.len(), packed.joints[0]), (1, [7 | 300 << 16, 0]));
        influences.push((0..6).map(|j| (j, 1.0 / 6.0)));
        let packed = PackedInfluences::new(&influences);
        assert_eq!(packed.tail_offset, [0, 0, 2]);
        assert_eq!(packed.tail[1], TailEntry { joint: 5, weight: 1.0 / 6.0 });
        assert_eq!(packed.weights[1], [1.0 / 6.0; 4]);
    }
}
