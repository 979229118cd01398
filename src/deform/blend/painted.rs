//! Painted blend factors: one per control vertex, in steps of 1/255.

use super::Factor;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Maximum number of vertices, against damaged files.
const MOST: usize = 1 << 26;

/// The factor of every control vertex; empty if one factor applies to all. Files store runs `[count, value]`, with values
/// 0..=255 for factors 0..=1. Clones share the memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<[u32; 2]>", into = "Vec<[u32; 2]>")]
pub struct Painted(Option<Arc<[u8]>>);

impl Painted {
    /// No painted factors.
    pub const NONE: Self = Self(None);

    /// Creates factors from one number per control vertex, 0 (LBS) to 1 (DQS); NaN counts as 0.
    pub fn new(factors: impl Iterator<Item = f32>) -> Self {
        let values: Vec<u8> = factors.map(|f| (f.clamp(0.0, 1.0) * 255.0).round() as u8).collect();
        Self((!values.is_empty()).then(|| values.into()))
    }

    /// Whether one factor applies to all vertices.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Number of vertices; 0 if one factor applies to all.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |values| values.len())
    }

    /// Returns the factor of a vertex; `None` if one factor applies to all.
    pub fn get(&self, vertex: usize) -> Option<f32> {
        self.0.as_ref()?.get(vertex).map(|v| f32::from(*v) / 255.0)
    }

    /// Returns the factors of the blend: the painted ones, else `global` for all vertices.
    pub fn or(&self, global: f32) -> Factor {
        match &self.0 {
            None => Factor::Global(global),
            Some(values) => Factor::PerVertex(values.iter().map(|v| f32::from(*v) / 255.0).collect()),
        }
    }
}

impl TryFrom<Vec<[u32; 2]>> for Painted {
    type Error = String;

    fn try_from(runs: Vec<[u32; 2]>) -> Result<Self, String> {
        let count: u64 = runs.iter().map(|r| u64::from(r[0])).sum();
        if count > MOST as u64 || runs.iter().any(|r| r[0] == 0 || r[1] > 255) {
            return Err(format!("painted factors are runs of a count up to {MOST} and a value up to 255"));
        }
        let mut values = Vec::with_capacity(count as usize);
        runs.iter().for_each(|&[n, v]| values.resize(values.len() + n as usize, v as u8));
        Ok(Self((!values.is_empty()).then(|| values.into())))
    }
}

impl From<Painted> for Vec<[u32; 2]> {
    fn from(painted: Painted) -> Self {
        let values = painted.0.as_deref().unwrap_or_default();
        values.chunk_by(|a, b| a == b).map(|run| [run.len() as u32, run[0].into()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_stored_as_runs() {
        let painted = Painted::new([0.0, 0.0, 1.0, 0.2, f32::NAN, 7.0].into_iter());
        let text = serde_json::to_string(&painted).unwrap();
        assert_eq!(text, "[[2,0],[1,255],[1,51],[1,0],[1,255]]");
        assert_eq!(serde_json::from_str::<Painted>(&text).unwrap(), painted);
        assert_eq!((painted.len(), painted.get(3), painted.get(9)), (6, Some(0.2), None));
        let Factor::PerVertex(all) = painted.or(0.5) else { panic!() };
        assert_eq!((all.len(), all[2]), (6, 1.0));
        assert_eq!(Painted::NONE.or(0.5), Factor::Global(0.5));
        assert_eq!(serde_json::from_str::<Painted>("[]").unwrap(), Painted::NONE);
        for bad in ["[[1,256]]", "[[0,3]]", "[[4294967295,1],[4294967295,1]]", "[3]"] {
            assert!(serde_json::from_str::<Painted>(bad).is_err(), "{bad}");
        }
    }
}
