//! Converts a document's deformer settings to a recipe.

use crate::base::Result;
use crate::deform::Recipe;
use crate::document::DeformerSettings;

/// Returns the recipe of the settings.
///
/// # Errors
/// As [`Recipe::from_settings`].
pub fn recipe(settings: &DeformerSettings) -> Result<Recipe> {
    settings.recipe()
}

/// The full name of a method; an empty name means springs.
pub(crate) fn method(name: &str) -> &str {
    if name.is_empty() { "springs" } else { name }
}
