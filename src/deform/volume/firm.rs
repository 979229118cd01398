//! Regions of the skin below which the flesh is firmer or softer.
//!
//! Each region has a factor on the stiffness of the flesh, and a weight per vertex. The logarithm of a vertex's factor is
//! the weighted sum of the logarithms of its regions' factors. Where regions overlap, their factors are therefore
//! multiplied, in any order, and the factor changes evenly across a falloff.

use crate::base::{Error, FirmId, MAX_NAME, Result};
use crate::bind::VertexRuns;
use crate::deform::blend::Painted;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Range of a region's factor, and of the product of overlapping factors.
pub const FACTORS: [f32; 2] = [1.0 / 16.0, 16.0];
/// Maximum number of regions.
pub const MAX_FIRM: usize = 256;

/// Returns a factor in the range [`FACTORS`]; NaN becomes 1.
pub fn sane(factor: f32) -> f32 {
    if factor.is_nan() { 1.0 } else { factor.clamp(FACTORS[0], FACTORS[1]) }
}

/// A region of the skin below which the flesh is firmer or softer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirmRegion {
    /// Id, unique in the document.
    pub id: FirmId,
    /// Display name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Factor on the stiffness of the flesh, 1/16..=16; 1 changes nothing.
    pub factor: f32,
    /// The control vertices.
    pub vertices: VertexRuns,
    /// Weight of each of these vertices, 0..=1, in their order; empty if all are 1.
    #[serde(default, skip_serializing_if = "Painted::is_empty")]
    pub falloff: Painted,
}

impl FirmRegion {
    /// Checks an untrusted region.
    ///
    /// # Errors
    /// [`Error::Input`] for a factor outside 1/16..=16, vertices out of order, or another number of weights than of
    /// vertices.
    pub fn validate(&self) -> Result<()> {
        let problem = if !self.vertices.is_sound() {
            "has no vertices, or has them out of order"
        } else if self.factor != sane(self.factor) {
            "has a factor outside 1/16 to 16"
        } else if !self.falloff.is_empty() && self.falloff.len() != self.vertices.count() {
            "has another number of weights than of vertices"
        } else if self.name.len() > MAX_NAME {
            "has too long a name"
        } else {
            return Ok(());
        };
        Err(Error::input(format!("firm region {} {problem}", self.id.0 + 1), "mark it again"))
    }

    /// The vertices with their weights.
    fn weights(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.vertices.iter().enumerate().map(|(k, v)| (v, self.falloff.get(k).unwrap_or(1.0)))
    }
}

/// The firm and soft regions of a document, in the order in which they were made. Clones share the memory.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<FirmRegion>", into = "Vec<FirmRegion>")]
pub struct Firm(Arc<Vec<FirmRegion>>);

impl Firm {
    /// Shares a list.
    pub fn new(regions: Vec<FirmRegion>) -> Self {
        Self(Arc::new(regions))
    }

    /// Whether there are no regions.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Changes the list. Allocates if the memory is shared.
    pub fn change(&mut self) -> &mut Vec<FirmRegion> {
        Arc::make_mut(&mut self.0)
    }

    /// Writes the binary logarithm of the factor of each control vertex. Ignores vertices that do not exist. Does not
    /// allocate if `out` has enough capacity.
    pub fn field(&self, vertices: usize, out: &mut Vec<f32>) {
        out.clear();
        out.resize(vertices, 0.0);
        for region in self.iter() {
            let factor = sane(region.factor).log2();
            for (v, weight) in region.weights() {
                if let Some(sum) = out.get_mut(v as usize) {
                    *sum += factor * weight;
                }
            }
        }
        let range = FACTORS.map(f32::log2);
        out.iter_mut().for_each(|sum| *sum = sum.clamp(range[0], range[1]));
    }
}

impl From<Vec<FirmRegion>> for Firm {
    fn from(regions: Vec<FirmRegion>) -> Self {
        Self::new(regions)
    }
}

impl From<Firm> for Vec<FirmRegion> {
    fn from(firm: Firm) -> Self {
        Arc::unwrap_or_clone(firm.0)
    }
}

impl std::ops::Deref for Firm {
    type Target = [FirmRegion];

    fn deref(&self) -> &[FirmRegion] {
        &self.0
    }
}

impl PartialEq for Firm {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(id: u32, factor: f32, vertices: &[u32], falloff: &[f32]) -> FirmRegion {
        FirmRegion {
            id: FirmId(id),
            name: String::new(),
            factor,
            vertices: VertexRuns::of(vertices.iter().copied()),
            falloff: Painted::new(falloff.iter().copied()),
        }
    }

    #[test]
    fn factors_multiply_fade_evenly_and_stay_in_range() {
        let firm = Firm::new(vec![
            region(0, 4.0, &[0, 1, 2], &[1.0, 1.0, 0.2]),
            region(1, 0.25, &[1, 9], &[]),
            region(2, 16.0, &[0, 3], &[]),
            region(3, 16.0, &[0], &[]),
        ]);
        let mut field = Vec::new();
        firm.field(5, &mut field);
        assert_eq!(field, [4.0, 0.0, 0.4, 4.0, 0.0]);
        let mut back: Vec<FirmRegion> = firm.to_vec();
        back.reverse();
        let mut other = Vec::new();
        Firm::new(back).field(5, &mut other);
        assert_eq!(field, other);
        Firm::default().field(3, &mut field);
        assert_eq!(field, [0.0; 3]);
    }

    #[test]
    fn factors_are_brought_into_range_and_unsound_regions_are_refused() {
        let cases = [(f32::NAN, 1.0), (f32::INFINITY, 16.0), (-3.0, 0.0625), (0.0, 0.0625), (3.0, 3.0)];
        assert!(cases.iter().all(|(given, wanted)| sane(*given) == *wanted));
        let sound = region(0, 4.0, &[2, 3], &[0.5, 1.0]);
        sound.validate().unwrap();
        let text = serde_json::to_string(&sound).unwrap();
        assert_eq!(text, r#"{"id":0,"factor":4.0,"vertices":[[2,2]],"falloff":[[1,128],[1,255]]}"#);
        assert_eq!(serde_json::from_str::<FirmRegion>(&text).unwrap().vertices, sound.vertices);
        let told = |change: &dyn Fn(&mut FirmRegion)| {
            let mut region = sound.clone();
            change(&mut region);
            region.validate().unwrap_err().to_string()
        };
        assert!(told(&|r| r.factor = 17.0).contains("factor"));
        assert!(told(&|r| r.factor = f32::NAN).contains("factor"));
        assert!(told(&|r| r.vertices = VertexRuns::default()).contains("no vertices"));
        assert!(told(&|r| r.falloff = Painted::new([1.0].into_iter())).contains("weights"));
        assert!(told(&|r| r.name = "x".repeat(2000)).contains("name"));
    }
}
