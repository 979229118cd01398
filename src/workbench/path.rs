//! Draws the motion path of the selected joint, with a tick at every frame and a dot at every key.

use super::Workbench;
use crate::base::{NodeId, Version};
use crate::bind::Character;
use crate::scene::onion::MotionPath;
use std::sync::Arc;

/// Number of points of a path that a frame of the headset computes. The window, which stops when nothing changes, computes
/// all at once.
const POINTS: usize = 8;

/// The motion path of the selected joint.
#[derive(Default)]
pub(super) struct SelectedPath {
    /// The character, joint and document revision that the path belongs to.
    of: Option<(Arc<Character>, NodeId, Version)>,
    path: MotionPath,
    complete: bool,
}

impl Workbench {
    /// Adds the path to the lines of the frame. Computes it again, a part in each frame, if another joint is selected, or if
    /// the document has changed and no hand holds anything.
    pub(super) fn draw_path(&mut self) {
        let (Some(node), true) = (self.selected(), self.preferences().path) else {
            self.path = SelectedPath::default();
            return;
        };
        let (revision, held) = (self.session().revision(), self.is_busy());
        let mut own = std::mem::take(&mut self.path);
        let found = (own.of.as_ref()).is_some_and(|(c, n, k)| {
            Arc::ptr_eq(c, self.character()) && *n == node && (*k == revision || held)
        });
        if !found {
            own.of = Some((self.character().clone(), node, revision));
            own.path.points.clear();
            own.path.keyed.clear();
            own.complete = false;
        }
        if !own.complete {
            let (skeleton, document) = (&self.character().skeleton, self.session().document());
            let count = if self.windowed { usize::MAX } else { POINTS };
            own.complete = own.path.extend(skeleton, document, node, count);
        }
        // A motion of one frame has no path.
        if own.path.points.len() > 1 {
            own.path.lines(&mut self.output.lines);
        }
        self.path = own;
    }
}
