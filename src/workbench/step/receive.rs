//! What background jobs give the workbench: sculpt layers, their refits and surroundings, and joints of drawn bones.

use crate::base::SculptId;
use crate::document::Edit;
use crate::scene::{DrawnBones, Refit};
use crate::surface::Sculpt;
use crate::workbench::tools::attached;
use crate::workbench::{Request, Workbench};

impl Workbench {
    /// Queues the sculpt layer of a finished [`Request::Accent`] (a separate undo step) or [`Request::Refit`]. The next
    /// frame in which no tool is in use adds the layer to the document.
    pub fn receive(&mut self, shape: Sculpt) {
        self.coming.push(shape);
    }

    /// Queues the joints of a finished [`Request::Bones`]. The next frame in which no tool is in use adds them to the
    /// document.
    pub fn receive_bones(&mut self, drawn: DrawnBones) {
        self.coming_bones.push(drawn);
    }

    /// Adds received bones to the document, each as an undo step.
    pub(super) fn add_bones(&mut self) {
        if self.coming_bones.is_empty() || self.is_busy() {
            return;
        }
        for drawn in std::mem::take(&mut self.coming_bones) {
            let document = self.context.session.document();
            let chains = attached(document.bones(), &drawn, document.unused_chain_id());
            let one_sided = drawn.mirror && drawn.plane.is_none();
            self.change(Edit::SetBones(chains));
            if one_sided && self.context.notice.is_none() {
                self.context.notice = Some("this mesh has no two sides: the bones are on one side".into());
            }
        }
    }

    /// Requests what a sculpt layer lacks: its surroundings by a classical tool, and a refit if the deformer has correction
    /// springs.
    /// `pulled` is whether a hand has pulled the layer, whose offsets before the pull are `before`.
    pub(super) fn ask_to_refit(&mut self, id: SculptId, pulled: bool, before: Option<Vec<[f32; 3]>>) {
        self.pulled.retain(|s| s.id != id);
        let sculpt = self.context.session.document().sculpt(id).ok().cloned();
        let springs = self.recipe().springs.is_some();
        let Some(sculpt) = sculpt.filter(|s| s.awaits_surroundings() || (pulled && springs)) else { return };
        self.pulled.push(sculpt.clone());
        self.find_states();
        let (pose, states, recipe) = (self.context.pose.clone(), self.states.clone(), self.recipe().clone());
        let refit = Refit { sculpt, pulled, before, pose, states, recipe };
        self.requests.push(Request::Refit(Box::new(refit)));
    }

    /// Requests the surroundings of all sculpt layers that await them, unless they are requested already.
    pub(super) fn ask_for_surroundings(&mut self) {
        let asked = |s: &Sculpt| self.pulled.iter().any(|p| p.id == s.id && same_surroundings(p, s));
        let all = self.context.session.document().sculpts().iter();
        let open: Vec<SculptId> =
            all.filter(|s| s.awaits_surroundings() && !asked(s)).map(|s| s.id).collect();
        open.into_iter().for_each(|id| self.ask_to_refit(id, false, None));
    }

    /// Completes a sculpt layer, as part of the newest undo step. Discards the answer if the layer has changed since the
    /// request, or if the user has undone a step. Returns whether `shape` belongs to a waiting layer.
    fn complete(&mut self, shape: &Sculpt) -> bool {
        let like = |s: &Sculpt| (s.id, s.mark, &s.region) == (shape.id, shape.mark, &shape.region);
        let Some(at) = self.pulled.iter().position(like) else { return false };
        let pulled = self.pulled.remove(at);
        let session = &self.context.session;
        let (done, all) = session.history();
        let Some(now) = session.document().sculpt(pulled.id).ok().filter(|_| done == all) else {
            return true;
        };
        let new = if pulled.awaits_surroundings() {
            // Changes of the amplitude or the name do not matter.
            (now.awaits_surroundings() && same_surroundings(now, &pulled)).then(|| {
                let (form, surroundings) = (shape.form.clone(), shape.surroundings.clone());
                Sculpt { form, surroundings, ..now.clone() }
            })
        } else {
            (*now == pulled).then(|| shape.clone())
        };
        if let Some(new) = new {
            self.apply(Edit::SetSculpt(Box::new(new)), true);
        }
        true
    }

    pub(super) fn add_shapes(&mut self) {
        while !self.coming.is_empty() && !self.is_busy() {
            let mut shape = Box::new(self.coming.remove(0));
            if self.complete(&shape) {
                continue;
            }
            let id = self.context.session.document().unused_sculpt_id();
            // Other sculpt layers may have taken the id in the meantime.
            if shape.id != id {
                shape.name = format!("Silhouette {}", id.0 + 1);
            }
            shape.id = id;
            self.accent.end_preview();
            self.change(Edit::AddSculpt { index: None, sculpt: shape });
        }
    }
}

/// Whether a classical tool gives two layers the same surroundings.
fn same_surroundings(a: &Sculpt, b: &Sculpt) -> bool {
    let method = |s: &Sculpt| s.surroundings.as_ref().map(|s| s.method);
    (&a.region, &a.form, method(a)) == (&b.region, &b.form, method(b))
}
