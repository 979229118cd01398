//! Tests of the loader on small files built in memory, by intent.

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

/// Whether a problem was reported whose location and text contain these words.
fn told(asset: &crate::asset::Asset, at: &str, text: &str) -> bool {
    asset.problems.iter().any(|p| p.at.contains(at) && p.text.contains(text))
}
