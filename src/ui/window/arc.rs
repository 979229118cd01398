//! Draws the motion path of the selected joint, with a tick at every frame and a dot at every key.

use super::{Hold, WindowEditor};
use crate::base::math::Vec3;
use crate::base::{NodeId, Version};
use crate::bind::Character;
use crate::render::Lines;
use crate::scene::onion;
use crate::workbench::Workbench;
use std::sync::Arc;

/// The cached motion path.
#[derive(Default)]
pub(super) struct Found {
    /// The character, joint and document revision that the path belongs to.
    of: Option<(Arc<Character>, NodeId, Version)>,
    path: Vec<(Vec3, bool)>,
}

impl WindowEditor {
    /// Draws the path. Recomputes it if the selected joint has changed, or if the document has changed and the mouse
    /// holds nothing.
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
        // A motion of one frame has no path.
        if self.arc.path.len() > 1 {
            onion::arc(&self.arc.path, lines);
        }
    }
}
