//! The way of the selected joint through the motion, with a tick at every frame and a dot at every key.

use super::Desk;
use crate::base::NodeId;
use crate::base::math::Vec3;
use crate::bind::Character;
use crate::editor::{Workbench, onion};
use crate::render::Lines;
use std::sync::Arc;

/// The arc that was found last.
#[derive(Default)]
pub(super) struct Found {
    /// Whose, of which joint, after how many changes of the document.
    of: Option<(Arc<Character>, NodeId, u64)>,
    path: Vec<(Vec3, bool)>,
}

impl Desk {
    /// Shows it, found anew where the document has changed or another joint is selected.
    pub(super) fn draw_arc(&mut self, bench: &Workbench, lines: &mut Lines) {
        let (Some(node), true) = (bench.selected(), self.choices.arcs) else { return };
        let (character, session) = (bench.character(), bench.session());
        let changes = session.changes();
        let found = self
            .arc
            .of
            .as_ref()
            .is_some_and(|(c, n, k)| Arc::ptr_eq(c, character) && (*n, *k) == (node, changes));
        if !found {
            self.arc.path = onion::path(&character.skeleton, session.document(), node);
            self.arc.of = Some((character.clone(), node, changes));
        }
        // One frame is no way.
        if self.arc.path.len() > 1 {
            onion::arc(&self.arc.path, lines);
        }
    }
}
