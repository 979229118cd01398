//! A document's deformer settings as a recipe.

use crate::base::Result;
use crate::deform::Recipe;
use crate::edit::DeformerSettings;

/// The recipe of settings.
///
/// # Errors
/// As [`Recipe::from_settings`].
pub fn recipe(settings: &DeformerSettings) -> Result<Recipe> {
    settings.recipe()
}
