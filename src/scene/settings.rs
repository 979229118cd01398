//! A document's deformer settings as a recipe.

use crate::base::Result;
use crate::deform::Recipe;
use crate::document::DeformerSettings;

/// The recipe of settings.
///
/// # Errors
/// As [`Recipe::from_settings`].
pub fn recipe(settings: &DeformerSettings) -> Result<Recipe> {
    settings.recipe()
}

/// The full name of a method; none is springs.
pub(crate) fn method(name: &str) -> &str {
    if name.is_empty() { "springs" } else { name }
}
