//! Input to the binding of every deformation node.

use super::springs::{self, levels::Levels};
use super::volume::cells::Cells;
use crate::base::Progress;
use crate::bind::{Attachments, Character};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A character and the attachment of its skin to its bones. Clones share what the methods have computed for it.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The character to deform.
    pub character: Arc<Character>,
    /// Attachment to a bone, per control vertex.
    pub attachments: Arc<Attachments>,
    /// The character whose flesh contains the vertices, if they are points inside that character and no vertices of a
    /// mesh.
    pub body: Option<Arc<Character>>,
    /// Progress of slow bindings, which also cancels them.
    pub progress: Progress,
    results: Arc<Results>,
}

/// Results that the methods have computed, so that graphs of the same character compute them once. Two threads that
/// need one at the same time may both compute it: no thread waits, because a waiting thread of the pool could hold up
/// the other one.
#[derive(Debug, Default)]
struct Results {
    /// The springs' levels, per variant.
    levels: [OnceLock<Arc<Levels>>; 2],
    /// The cells of the last requested number of cubes.
    cells: Mutex<Option<(u32, Arc<Cells>)>>,
}

impl Bound {
    /// The input for a character's own vertices.
    pub fn new(character: Arc<Character>, attachments: Arc<Attachments>) -> Self {
        Self { character, attachments, body: None, progress: Progress::default(), results: Arc::default() }
    }

    /// Returns the same input with another character and other attachments.
    pub fn with(&self, character: Arc<Character>, attachments: Arc<Attachments>) -> Self {
        Self { character, attachments, results: Arc::default(), ..self.clone() }
    }

    /// Returns the rest measures of the springs on all levels.
    pub fn levels(&self, variant: springs::Variant) -> Arc<Levels> {
        let result = &self.results.levels[variant as usize];
        if let Some(levels) = result.get() {
            return levels.clone();
        }
        let made = Arc::new(Levels::bind(self, variant));
        result.get_or_init(|| made).clone()
    }

    /// Returns the character's closed parts filled with approximately `cubes` cubes.
    pub fn cells(&self, cubes: u32) -> Arc<Cells> {
        let last = || self.results.cells.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, cells)) = last().as_ref().filter(|(number, _)| *number == cubes) {
            return cells.clone();
        }
        let made = Arc::new(Cells::bind(&self.character, cubes));
        *last() = Some((cubes, made.clone()));
        made
    }
}

#[cfg(test)]
mod tests {
    use crate::deform::springs::Variant;
    use crate::deform::testing::cylinder;
    use std::sync::Arc;

    #[test]
    fn clones_share_results_and_another_character_has_its_own() {
        let bound = cylinder(3, 40, 60);
        let shared = bound.clone();
        let other = bound.with(bound.character.clone(), bound.attachments.clone());
        for variant in [Variant::Sinew, Variant::Thesis] {
            let levels = bound.levels(variant);
            assert!(Arc::ptr_eq(&levels, &shared.levels(variant)));
            assert!(!Arc::ptr_eq(&levels, &other.levels(variant)));
            assert_eq!(levels.coarse.is_empty(), variant == Variant::Thesis);
        }
        let cells = bound.cells(200);
        assert!(Arc::ptr_eq(&cells, &shared.cells(200)));
        assert!(!Arc::ptr_eq(&cells, &other.cells(200)));
        assert!(shared.cells(400).levels[0].cells.len() > cells.levels[0].cells.len());
    }
}
