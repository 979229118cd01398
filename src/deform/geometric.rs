//! The choice of the geometric method, which is the first node of the graph.

use super::blend::{Blend, Painted};
use super::cor::Cor;
use super::dqs::Dqs;
use super::fast::{self, Fast};
use super::irs::{Irs, IrsParams};
use super::lbs::Lbs;
use super::rigid::Rigid;
use super::skinning_cpu::SkinningReference;
use super::stb::Stb;
use super::swing_twist::{self, SwingTwist};
use super::{Bound, Reference};
use crate::base::{Error, Result};
use serde::{Deserialize, Serialize};

/// A geometric skinning method and its authored settings (docs/internals.md, *Geometric methods*).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Geometric {
    /// Rigid attachment of each vertex to one bone.
    Rigid,
    /// Linear blend skinning.
    Lbs,
    /// Dual quaternion skinning.
    Dqs,
    /// Linear interpolation between LBS and DQS.
    Blend {
        /// 0 is LBS, 1 is DQS.
        factor: f32,
        /// A factor per vertex, which replaces `factor`.
        #[serde(default, skip_serializing_if = "Painted::is_empty")]
        painted: Painted,
    },
    /// Incremental rotation skinning.
    Irs(IrsParams),
    /// Optimized centres of rotation.
    Cor,
    /// Stretchable, twistable bones.
    Stb,
    /// Joint-based deformers that blend swing and twist separately.
    #[serde(rename = "swing-twist")]
    SwingTwist(swing_twist::Params),
    /// Fast automatic skinning transformations: a solver finds the joint transforms that the pose leaves free.
    Fast(fast::Params),
}

impl Geometric {
    /// All closed-form methods with default settings, in the order of reports; without [`Geometric::Fast`].
    pub const ALL: [Self; 8] = [
        Self::Rigid,
        Self::Lbs,
        Self::Dqs,
        Self::Blend { factor: 0.5, painted: Painted::NONE },
        Self::Irs(IrsParams::DEFAULT),
        Self::Cor,
        Self::Stb,
        Self::SwingTwist(swing_twist::Params::DEFAULT),
    ];

    /// Returns the name on the command line and in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Rigid => "rigid",
            Self::Lbs => "lbs",
            Self::Dqs => "dqs",
            Self::Blend { .. } => "blend",
            Self::Irs(_) => "irs",
            Self::Cor => "cor",
            Self::Stb => "stb",
            Self::SwingTwist(_) => "swing-twist",
            Self::Fast(_) => "fast",
        }
    }

    /// Whether the method only rotates scale vectors, so that sculpt layers may change their length (thesis 5.1).
    pub fn is_radial(&self) -> bool {
        match self {
            Self::Rigid => true,
            Self::Irs(params) => !params.length_correction,
            _ => false,
        }
    }

    /// Sets a numeric setting by name. Returns false if the method has no setting of this name.
    pub fn set_number(&mut self, name: &str, value: f32) -> bool {
        match (self, name) {
            (Self::Blend { factor, .. }, "factor") => *factor = value.clamp(0.0, 1.0),
            (Self::Irs(params), "reach.as_parent") => params.reach.as_parent = value,
            (Self::Irs(params), "reach.as_child") => params.reach.as_child = value,
            (Self::Fast(params), _) => return params.set_number(name, value),
            _ => return false,
        }
        true
    }

    /// Whether a bound method can change to `other` without a new binding. Settings that are used at binding must be
    /// equal; settings that are only read per frame may differ.
    pub fn can_become(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Blend { .. }, Self::Blend { .. }) => true,
            (Self::Irs(a), Self::Irs(b)) => a.length_correction == b.length_correction,
            (Self::SwingTwist(a), Self::SwingTwist(b)) => a.can_become(b),
            (Self::Fast(a), Self::Fast(b)) => a.can_become(b),
            _ => self == other,
        }
    }

    /// Returns the method of this name with default settings. Errors if the name is unknown.
    pub fn from_name(name: &str) -> Result<Self> {
        if name == "fast" {
            return Ok(Self::Fast(fast::Params::deformer()));
        }
        Self::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(|m| m.name()).join(", ") + ", fast";
            Error::input(format!("\"{name}\" is no skinning method"), format!("choose one of {known}"))
        })
    }

    /// Binds the method's CPU reference. Errors if the attachments do not match the character.
    pub fn bind(&self, bound: &Bound) -> Result<Box<dyn Reference>> {
        Ok(match self {
            Self::Rigid => Box::new(SkinningReference::new(bound, Rigid)?),
            Self::Lbs => Box::new(SkinningReference::new(bound, Lbs)?),
            Self::Dqs => Box::new(SkinningReference::new(bound, Dqs)?),
            Self::Blend { factor, painted } => {
                Box::new(SkinningReference::new(bound, Blend::new(bound, painted.or(*factor))?)?)
            }
            Self::Irs(params) => Box::new(SkinningReference::new(bound, Irs::new(bound, params)?)?),
            Self::Cor => Box::new(SkinningReference::new(bound, Cor::new(bound))?),
            Self::Stb => Box::new(SkinningReference::new(bound, Stb::new(bound))?),
            Self::SwingTwist(params) => Box::new(SwingTwist::new(bound, params)?),
            Self::Fast(params) => Box::new(Fast::new(bound, params)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_settings_survive_a_round_trip() {
        for method in Geometric::ALL {
            assert_eq!(Geometric::from_name(method.name()).unwrap(), method);
        }
        assert!(Geometric::from_name("nurbs").unwrap_err().to_string().contains("cor"));
        let mut params = IrsParams { length_correction: true, ..IrsParams::DEFAULT };
        params
            .joints
            .insert(crate::base::JointId(3), crate::deform::irs::Reach { as_parent: 0.2, as_child: 0.9 });
        let method = Geometric::Irs(params);
        let text = serde_json::to_string(&method).unwrap();
        assert_eq!(serde_json::from_str::<Geometric>(&text).unwrap(), method, "{text}");
    }
}
