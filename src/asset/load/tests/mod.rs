//! Tests of the loader on small files built in memory.

mod builder;
mod clips;
mod compressed;
mod fuzz;
mod geometry;
mod hostile;
mod looks;
mod nodes;
mod skinning;
mod uris;

/// Returns whether a problem was reported whose location and text contain `at` and `text`.
fn told(asset: &crate::asset::Asset, at: &str, text: &str) -> bool {
    asset.problems.iter().any(|p| p.at.contains(at) && p.text.contains(text))
}
