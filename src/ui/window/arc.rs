//! The way of the selected joint through the motion, with a tick at every frame and a dot at every key.

use super::{Hold, WindowEditor};
use crate::base::math::Vec3;
use crate::base::{NodeId, Version};
use crate::bind::Character;
use crate::render::Lines;
use crate::scene::onion;
use crate::workbench::Workbench;
use std::sync::Arc;

/// The arc that was found last.
#[derive(Default)]
pub(super) struct Found {
    /// Whose, of which joint, in which revision of the document.
    of: Option<(Arc<Character>, NodeId, Version)>,
    path: Vec<(Vec3, bool)>,
}

impl WindowEditor {
    /// Shows it, found again where another joint is selected, or the document has changed and nothing is held any more.
    pub(super) fn draw_arc(&mut self, bench: &Workbench, lines: &mut Lines) {
        let (Some(node), true) = (bench.selected(), self.choices.arcs) else {
            self.arc = Found::default();
            return;
        };
        let (character, revision) = (bench.character(), bench.session().revision());
        let held = self.hold != Hold::Free || self.context.egui_is_using_pointer();
        let found = (self.arc.of.as_ref())
            .is_some_and(|(c, n, k)| Arc::ptr_eq(c, character) && *n == node && (*k == revision || held));
        if !found {
            self.arc.path = onion::path(&character.skeleton, bench.session().document(), node);
            self.arc.of = Some((character.clone(), node, revision));
        }
        // One frame is no way.
        if self.arc.path.len() > 1 {
            onion::arc(&self.arc.path, lines);
        }
    }
}
