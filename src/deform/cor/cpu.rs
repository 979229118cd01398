//! CPU reference of skinning with optimized centres of rotation.

use super::bind::{center_coordinates, centers};
use crate::base::math::{Quat, Vec3};
use crate::deform::attach::Anchors;
use crate::deform::rest::{Rested, SkinCage};
use crate::deform::skinning_cpu::{Posed, Skinning};
use crate::deform::{Bound, lbs};

/// Skinning with optimized centres of rotation, with its precomputed centres.
pub struct Cor {
    centers: Vec<Vec3>,
    /// The centres in the file's rest shape.
    base: Vec<Vec3>,
    coordinates: SkinCage,
}

impl Cor {
    /// Precomputes the centres of rotation.
    pub fn new(bound: &Bound) -> Self {
        let centers = centers(&bound.character.control);
        Self { base: centers.clone(), centers, coordinates: SkinCage::default() }
    }
}

impl Skinning for Cor {
    fn name(&self) -> &'static str {
        "cor"
    }

    fn set_cage(&mut self, bound: &Bound, skin: &SkinCage) {
        self.coordinates = center_coordinates(&bound.character.control, skin);
    }

    fn set_rest(&mut self, rested: &Rested, _: &Anchors) {
        for (v, (center, base)) in self.centers.iter_mut().zip(&self.base).enumerate() {
            *center = *base + self.coordinates.offset(v, &rested.cage);
        }
    }

    /// Algorithm 1 of the paper: `x' = R (S x - S p*) + Σ w_j T_j p*`, with `R` the normalised sum of the joints'
    /// quaternions. **(differs)** `S = Σ w_j S_j` adds the joints' scale, which the paper omits.
    fn vertex(&self, vertex: usize, _: Vec3, posed: &Posed<'_>) -> Vec3 {
        let (influences, data) = (&posed.control.influences, posed.data);
        let mut arm = posed.control.positions[vertex] - self.centers[vertex];
        if data.scaled {
            let stretched = |(j, w): (u16, f32)| w * data.scale[j as usize].affine().transform_vector3(arm);
            arm = influences.of(vertex).map(stretched).sum();
        }
        let mut sum = Quat::from_array([0.0; 4]);
        let mut heaviest = None;
        for (joint, weight) in influences.of(vertex) {
            let q = posed.rig.rotation[joint as usize];
            let sign = if heaviest.get_or_insert(q).dot(q) < 0.0 { -weight } else { weight };
            sum += q * sign;
        }
        let turn = if sum.length() > 1e-6 { sum.normalize() } else { heaviest.unwrap_or(Quat::IDENTITY) };
        let center =
            lbs::blend(influences, vertex, &posed.rig.skinning).transform_point3(self.centers[vertex]);
        turn * arm + center
    }
}
