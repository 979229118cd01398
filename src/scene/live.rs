//! The deformer's settings at the displayed time: those of the document, overridden by keyed values. The code allocates
//! no memory.

use super::recipe;
use crate::deform::Recipe;
use crate::deform::fast::Grips;
use crate::document::{DeformerSettings, Document, Target};

/// Slider range of the frequency of the dynamics, hertz.
pub const SWINGS: [f64; 2] = [0.0, 12.0];
/// Number of multigrid cycles with contact when the user switches contact on.
pub const CONTACT: u32 = 3;
/// Slider range of the damping ratio of the dynamics.
pub const DAMPINGS: [f64; 2] = [0.0, 1.5];

/// A document's deformer over time.
#[derive(Debug, Default)]
pub struct LiveRecipe {
    /// Settings from which `own` was built.
    settings: DeformerSettings,
    own: Recipe,
    /// The document's grips.
    grips: Grips,
    now: Recipe,
    /// Indices of the motion channels that change the recipe.
    keyed: Vec<usize>,
}

impl LiveRecipe {
    /// Updates the settings and channels after a change of the document.
    pub fn learn(&mut self, document: &Document) {
        if self.settings != *document.deformer() {
            self.settings.clone_from(document.deformer());
            // Invalid settings were rejected when the document was edited.
            self.own = recipe(&self.settings).unwrap_or_default();
        }
        let grips = document.grip_shapes();
        if self.grips != grips {
            self.grips = grips;
        }
        self.own.set_grips(&self.grips);
        self.own.firm.clone_from(document.firm());
        let channels = document.motion().channels().iter().enumerate();
        let keyed = channels.filter(|(_, c)| match &c.target {
            Target::Setting { method, name } => {
                *method == self.settings.method && self.is_live(name, &c.values)
            }
            _ => false,
        });
        self.keyed = keyed.map(|(i, _)| i).collect();
        self.now = self.own.clone();
    }

    /// Whether a parameter can take these values without a new bind. Parameters that require a bind cannot change per
    /// frame.
    fn is_live(&self, name: &str, values: &[f32]) -> bool {
        values.iter().all(|value| {
            let mut other = self.own.clone();
            other.set_number(name, *value);
            self.own.can_become(&other)
        })
    }

    /// Sets the displayed time, seconds. `None` selects the unkeyed settings of the document that was last passed to
    /// `learn`.
    pub fn go_to(&mut self, document: &Document, time: Option<f64>) {
        let Some(time) = time else {
            if self.now != self.own {
                self.now.clone_from(&self.own);
            }
            return;
        };
        let channels = document.motion().channels();
        for channel in self.keyed.iter().filter_map(|&i| channels.get(i)) {
            if let Target::Setting { name, .. } = &channel.target {
                let mut value = [0.0];
                channel.curve().evaluate(time, &mut value);
                self.now.set_number(name, value[0]);
            }
        }
    }

    /// The grips of the document, for a binding.
    pub fn grips(&self) -> &Grips {
        &self.grips
    }

    /// The deformer at the displayed time.
    pub fn recipe(&self) -> &Recipe {
        &self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn numbers_are_set_as_settings_set_them() {
        let mut names = 0;
        for method in Recipe::NAMES {
            let mut settings = DeformerSettings::of(method);
            let base = recipe(&settings).unwrap();
            let mut fields: Vec<String> = vec!["reach.as_parent".into(), "reach.as_child".into()];
            fields.extend(
                ["factor", "nothing", "start", "joints", "energy", "joints.3", "joints.x"].map(str::to_owned),
            );
            let parts = [
                serde_json::to_value(base.springs),
                serde_json::to_value(base.volume),
                serde_json::to_value(&base.geometric),
            ];
            for part in parts {
                let mut part = part.unwrap();
                if let Some(own) = part.get_mut("fast") {
                    part = own.take();
                }
                fields.extend(part.as_object().into_iter().flat_map(|o| o.keys().cloned()));
            }
            for name in fields {
                for value in [0.0, 0.37, 2.6, 250.0] {
                    settings.parameters = [(name.clone(), Value::from(f64::from(value)))].into();
                    let mut now = base.clone();
                    let set = now.set_number(&name, value);
                    match recipe(&settings) {
                        Ok(wanted) => assert_eq!((set, now), (true, wanted), "{method} {name} {value}"),
                        Err(error) => assert!(!set, "{method} {name}: {error}"),
                    }
                    names += usize::from(set);
                }
            }
        }
        assert!(names > 100, "{names}");
    }
}
