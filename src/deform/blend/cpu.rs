//! CPU reference of the blend of linear blend skinning (LBS) and dual quaternion skinning (DQS).

use crate::base::math::Vec3;
use crate::base::{Error, Result};
use crate::deform::Bound;
use crate::deform::dqs::Dqs;
use crate::deform::lbs::Lbs;
use crate::deform::skinning_cpu::{Posed, Skinning};
use std::sync::Arc;

/// Weight of DQS in the blend: 0 gives LBS, 1 gives DQS.
#[derive(Clone, Debug, PartialEq)]
pub enum Factor {
    /// One factor for all vertices.
    Global(f32),
    /// One factor per control vertex.
    PerVertex(Arc<[f32]>),
}

impl Factor {
    /// Returns an error if the number of factors differs from `vertices`.
    pub fn check(&self, vertices: usize) -> Result<()> {
        match self {
            Self::PerVertex(factors) if factors.len() != vertices => Err(Error::input(
                format!("{} blend factors for {vertices} control vertices", factors.len()),
                "give one factor per control vertex",
            )),
            _ => Ok(()),
        }
    }

    /// Returns the blend factor of a vertex, 0 (LBS) to 1 (DQS); NaN counts as 0.
    pub fn of(&self, vertex: usize) -> f32 {
        let factor = match self {
            Self::Global(factor) => *factor,
            Self::PerVertex(factors) => factors[vertex],
        };
        factor.clamp(0.0, 1.0).max(0.0)
    }
}

/// The blend of LBS and DQS with its factor.
pub struct Blend {
    factor: Factor,
}

impl Blend {
    /// Binds the method. Returns an error if the number of factors differs from the number of vertices.
    pub fn new(bound: &Bound, factor: Factor) -> Result<Self> {
        factor.check(bound.character.control.positions.len())?;
        Ok(Self { factor })
    }
}

impl Skinning for Blend {
    fn name(&self) -> &'static str {
        "blend"
    }

    fn vertex(&self, vertex: usize, a: Vec3, posed: &Posed<'_>) -> Vec3 {
        let linear = Lbs.vertex(vertex, a, posed);
        linear.lerp(Dqs.vertex(vertex, a, posed), self.factor.of(vertex))
    }
}
