//! The deformer at the moment shown: the document's settings with keyed ones in their place, found without allocating.

use super::recipe;
use crate::deform::Recipe;
use crate::document::{DeformerSettings, Document, Target};

/// Hertz of flesh that swings, on sliders.
pub const SWINGS: [f64; 2] = [0.0, 12.0];
/// Its damping on sliders.
pub const DAMPINGS: [f64; 2] = [0.0, 1.5];

/// A document's deformer over time.
#[derive(Debug, Default)]
pub struct LiveRecipe {
    /// What `own` is of.
    settings: DeformerSettings,
    own: Recipe,
    now: Recipe,
    /// Channels of the motion that change it.
    keyed: Vec<usize>,
}

impl LiveRecipe {
    /// Takes in a document that may have become another.
    pub fn learn(&mut self, document: &Document) {
        if self.settings != *document.deformer() {
            self.settings.clone_from(document.deformer());
            // Settings that do not fit were refused when they were made.
            self.own = recipe(&self.settings).unwrap_or_default();
        }
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

    /// Whether frames alone read a number that takes these values: what a method is bound to is heeded where there is time
    /// to bind again.
    fn is_live(&self, name: &str, values: &[f32]) -> bool {
        values.iter().all(|value| {
            let mut other = self.own.clone();
            other.set_number(name, *value);
            self.own.can_become(&other)
        })
    }

    /// Goes to a time of the document that was learnt last, seconds; none for its own settings.
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

    /// The deformer.
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
            let mut settings = DeformerSettings { method: method.into(), ..Default::default() };
            let base = recipe(&settings).unwrap();
            let mut fields: Vec<String> = vec!["reach.as_parent".into(), "reach.as_child".into()];
            fields.extend(["factor", "nothing", "start", "joints", "energy"].map(str::to_owned));
            for part in [serde_json::to_value(base.springs), serde_json::to_value(&base.geometric)] {
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
