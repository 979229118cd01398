//! Which deformation a character gets: the authored choice of nodes.

use super::{Geometric, springs};
use crate::base::{Error, Result};
use serde::{Deserialize, Serialize};

/// A geometric method and, on top of it, springs or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The first node.
    pub geometric: Geometric,
    /// The spring node, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub springs: Option<springs::Params>,
}

impl Default for Recipe {
    fn default() -> Self {
        Self::springs(springs::Params::default())
    }
}

impl Recipe {
    /// The methods by name, in the order of reports.
    pub const NAMES: [&'static str; 10] =
        ["rigid", "lbs", "dqs", "blend", "irs", "cor", "stb", "fast", "springs", "fast+springs"];

    /// One geometric method alone.
    pub fn geometric(geometric: Geometric) -> Self {
        Self { geometric, springs: None }
    }

    /// Springs on dual quaternion skinning, which starts nearest to their equilibrium.
    pub fn springs(params: springs::Params) -> Self {
        Self { geometric: Geometric::Dqs, springs: Some(params) }
    }

    /// The method of that name with its default settings; an error lists the names.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "springs" => Ok(Self::default()),
            "fast+springs" => {
                let geometric = Geometric::from_name("fast")?;
                Ok(Self { geometric, springs: Some(springs::Params::default()) })
            }
            _ if Self::NAMES.contains(&name) => Ok(Self::geometric(Geometric::from_name(name)?)),
            _ => Err(Error::input(
                format!("\"{name}\" is no deformation method"),
                format!("choose one of {}", Self::NAMES.join(", ")),
            )),
        }
    }

    /// Sets a number by the name that settings have for it, in range, counts rounded; false where the method has none of that
    /// name. Does not allocate: keys do this in every frame.
    pub fn set_number(&mut self, name: &str, value: f32) -> bool {
        self.geometric.set_number(name, value)
            || self.springs.as_mut().is_some_and(|springs| springs.set_number(name, value))
    }

    /// Whether what is bound to this one can become the other by [`super::Graph::adopt`].
    pub fn can_become(&self, other: &Self) -> bool {
        self.springs.is_some() == other.springs.is_some() && self.geometric.can_become(&other.geometric)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match (&self.springs, &self.geometric) {
            (Some(_), Geometric::Fast(_)) => "fast+springs",
            (Some(_), _) => "springs",
            (None, geometric) => geometric.name(),
        }
    }
}
