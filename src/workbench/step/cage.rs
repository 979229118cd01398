//! Commands that change the cage, and the receipt of cages from background jobs.

use crate::base::Error;
use crate::base::math::Vec3;
use crate::cage::{Cage, CageMesh, Coordinates, Coupling};
use crate::document::{CageMove, Edit, KeyEdit, KeyValue, Target};
use crate::rig::Pose;
use crate::scene::{CageSource, NewCage};
use crate::workbench::{Command, Notice, Request, Tool, Workbench};
use std::sync::Arc;

/// Smallest and largest number of vertices of a new cage that the interface allows.
pub const CAGE_VERTICES: [u32; 2] = [40, 400];

impl Workbench {
    /// Runs a command of the cage.
    pub(super) fn run_cage_command(&mut self, command: &Command) {
        let none = self.context.session.document().cage().is_none();
        match command {
            Command::MakeCage(vertices) => {
                self.cancel();
                self.preferences.tool = Tool::Cage;
                let vertices = (*vertices).clamp(CAGE_VERTICES[0], CAGE_VERTICES[1]);
                self.requests.push(Request::Cage(CageSource::Made(vertices as usize)));
            }
            Command::CageSet(set) => {
                self.cage.cancel(&mut self.context);
                self.preferences.cage_set = *set;
            }
            Command::CageRest(on) => self.preferences.cage_rest = *on,
            _ if none => {
                self.context.notice = Some("the character has no cage: make or import one".into());
                self.limit();
            }
            Command::RemoveCage => self.change(Edit::SetCage(None)),
            Command::KeyCage => self.key_cage(),
            Command::ResetCage => {
                let count = self.context.session.document().cage().map_or(0, Cage::vertices) as u32;
                let moves = (0..count).map(|vertex| CageMove { vertex, offset: [0.0; 3] });
                self.change(Edit::MoveCage(moves.collect()));
            }
            Command::ExportCage => self.requests.push(Request::ExportCage),
            _ => {}
        }
    }

    /// Keys the displayed shape of the cage at the playhead.
    fn key_cage(&mut self) {
        let document = self.context.session.document();
        let Some(cage) = document.cage() else { return };
        let mut value: Vec<f32> = self.context.pose.rest.cage.iter().flat_map(|v| v.to_array()).collect();
        value.resize(3 * cage.vertices(), 0.0);
        let target = Target::Cage(cage.vertices() as u32);
        let time = self.playhead.time;
        self.change(Edit::Keys(KeyEdit::Insert { time, keys: vec![KeyValue { target, value }] }));
    }

    /// Queues the cage of a finished [`Request::Cage`]. The next frame in which no tool is in use puts the cage into
    /// the document.
    pub fn receive_cage(&mut self, cage: NewCage) {
        self.coming_cages.push(cage);
    }

    /// Sets received cages, each as an undo step.
    pub(super) fn add_cages(&mut self) {
        if self.coming_cages.is_empty() || self.is_busy() {
            return;
        }
        for new in std::mem::take(&mut self.coming_cages) {
            let told = new.told.join("; ");
            self.change(Edit::SetCage(Some(Box::new(new.cage.clone()))));
            if self.context.notice.is_none() && !told.is_empty() {
                self.context.notice = Some(Notice::fact(told));
            }
            self.know_coupling((new.cage.mesh, new.cage.coordinates), new.coupling);
        }
    }

    /// Sets the coupling of a cage with the skin. Does nothing if the document has another cage by now.
    pub fn know_coupling(&mut self, (mesh, coordinates): (CageMesh, Coordinates), coupling: Arc<Coupling>) {
        if self.has_cage(&mesh, coordinates) {
            self.coupled = Some((mesh, coordinates));
            (self.context.coupling, self.context.uncoupled) = (Some(coupling), None);
        }
    }

    /// Keeps the reason why a cage has no coupling, for the user of the cage tool. Does nothing if the document has another
    /// cage by now.
    pub fn coupling_failed(&mut self, cage: &Cage, error: &Error) {
        if self.has_cage(&cage.mesh, cage.coordinates) {
            self.context.uncoupled = Some(error.to_string());
        }
    }

    fn has_cage(&self, mesh: &CageMesh, coordinates: Coordinates) -> bool {
        let fits = |c: &Cage| c.mesh == *mesh && c.coordinates == coordinates;
        self.context.session.document().cage().is_some_and(fits)
    }

    /// Requests the coupling of a cage that an edit, an undo or a file has set.
    pub(super) fn cage_changed(&mut self) {
        let cage = self.context.session.document().cage();
        let known =
            |c: &Cage| self.coupled.as_ref().is_some_and(|(m, k)| *m == c.mesh && *k == c.coordinates);
        match cage {
            Some(cage) if !known(cage) => {
                self.coupled = Some((cage.mesh.clone(), cage.coordinates));
                (self.context.coupling, self.context.uncoupled) = (None, None);
                self.cage.forget_vertices();
                self.requests.push(Request::Couple);
            }
            Some(_) => {}
            None => (self.coupled, self.context.coupling) = (None, None),
        }
        self.cage.document_changed(&self.context);
    }

    /// Shows the rest pose while the cage tool edits the rest cage.
    pub(super) fn show_rest_for_cage(&mut self) {
        let p = &self.preferences;
        let wanted = p.tool == Tool::Cage && p.cage_rest && self.context.session.document().cage().is_some();
        if self.context.rest_view != wanted && !self.is_busy() {
            self.context.rest_view = wanted;
            self.context.show_document();
        }
    }

    /// Returns the edit that gives the document's cage the offsets of a displayed pose; `None` if the cage already has
    /// them.
    pub(in crate::workbench) fn cage_as_shown(&self, pose: &Pose) -> Option<Edit> {
        let cage = self.context.session.document().cage()?;
        let shown = |v: usize| pose.rest.cage.get(v).map_or([0.0; 3], |d| d.to_array());
        let moved = |(v, old): (usize, &[f32; 3])| {
            (shown(v) != *old).then(|| CageMove { vertex: v as u32, offset: shown(v) })
        };
        let moves: Vec<CageMove> = cage.offsets.iter().enumerate().filter_map(moved).collect();
        (!moves.is_empty()).then_some(Edit::MoveCage(moves))
    }

    /// Positions of the displayed cage, world space, metres.
    pub fn cage_positions(&self) -> impl Iterator<Item = Vec3> + '_ {
        self.cage.positions().iter().map(|x| x.as_vec3())
    }

    /// Displayed offsets of the rest cage, bind space, metres; empty at rest.
    pub fn shown_cage(&self) -> &[Vec3] {
        &self.context.pose.rest.cage
    }
}
