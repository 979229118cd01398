//! An editing session: a document with its undo history and its journal. Only [`Operation`]s change the document.

use super::{AssetRef, Context, Document, Edit, Journal, Operation};
use crate::base::{Error, Result, Version};
use crate::pose::Sample;
use crate::rig::{Pose, Skeleton};
use std::sync::Arc;

/// A callback that returns the skeleton of an asset file, loaded from disk or from a cache.
pub type Loader<'a> = Box<dyn FnMut(&AssetRef) -> Result<Arc<Skeleton>> + Send + 'a>;

/// One undo step: pairs of an edit and its inverse, in the order of application.
#[derive(Clone, Debug, Default)]
struct Step {
    edits: Vec<(Edit, Edit)>,
}

/// An open document with its skeleton, undo history and journal.
pub struct Session<'a> {
    document: Document,
    skeleton: Arc<Skeleton>,
    loader: Loader<'a>,
    steps: Vec<Step>,
    /// Number of steps currently applied; the steps after them can be redone.
    done: usize,
    /// The edit of [`Self::try_out`], its inverse, and the revision before it.
    trial: Option<(Edit, Edit, Version)>,
    drawing: Vec<Sample>,
    journal: Option<Journal>,
    trouble: Option<Error>,
    /// Number of triangles of the character's display mesh, if known.
    triangles: Option<usize>,
    revision: Version,
}

impl<'a> Session<'a> {
    /// Creates a session with an empty document.
    pub fn new(loader: Loader<'a>) -> Self {
        Self {
            document: Document::default(),
            skeleton: Arc::default(),
            loader,
            steps: Vec::new(),
            done: 0,
            trial: None,
            drawing: Vec::new(),
            journal: None,
            trouble: None,
            triangles: None,
            revision: Version::new(),
        }
    }

    /// Replays recorded operations on an empty document.
    ///
    /// # Errors
    /// An operation does not apply (the error gives its number), or a file cannot be loaded.
    pub fn replay(operations: &[Operation], loader: Loader<'a>) -> Result<Self> {
        let mut session = Self::new(loader);
        for (i, operation) in operations.iter().enumerate() {
            session.run(operation.clone()).map_err(|e| {
                Error::input(
                    format!("operation {} of the recording: {e}", i + 1),
                    "replay it with the same file",
                )
            })?;
        }
        Ok(session)
    }

    /// Returns operations that rebuild this document and its undo history, redo steps included.
    pub fn recording(&self) -> Vec<Operation> {
        let mut out = Vec::new();
        for step in &self.steps {
            for (i, (edit, _)) in step.edits.iter().enumerate() {
                let edit = edit.clone();
                out.push(if i == 0 { Operation::Do(edit) } else { Operation::Continue(edit) });
            }
        }
        if self.done < self.steps.len() {
            out.push(Operation::Jump(self.done));
        }
        out
    }

    /// Records all later operations in `journal`. The journal must already hold all operations of this session up to
    /// now.
    pub fn record_in(&mut self, journal: Journal) {
        self.journal = Some(journal);
    }

    /// Moves the journal's disk syncs to a background thread. Does nothing if there is no journal.
    ///
    /// # Errors
    /// The operating system cannot start the thread.
    pub fn sync_in_background(&mut self) -> Result<()> {
        self.journal.as_mut().map_or(Ok(()), Journal::sync_in_background)
    }

    /// Sets the number of triangles of the display mesh. From now on, edits with marks on other triangles fail.
    pub fn know_triangles(&mut self, triangles: usize) {
        self.triangles = Some(triangles);
    }

    /// Applies an edit that opens no file, but does not record it. The next edit records both as one undo step. Until
    /// then [`Self::take_back`] reverts the trial, and undone steps can be redone. Reverts an earlier trial first.
    ///
    /// # Errors
    /// The edit does not apply; the document stays unchanged.
    pub fn try_out(&mut self, edit: Edit) -> Result<()> {
        self.take_back();
        let context = Context { skeleton: &self.skeleton, triangles: self.triangles };
        let inverse = edit.apply(&mut self.document, &context)?;
        self.trial = Some((edit, inverse, std::mem::replace(&mut self.revision, Version::new())));
        Ok(())
    }

    /// Reverts and returns the edit of [`Self::try_out`]; `None` if there is none. The revision is that before the trial.
    pub fn take_back(&mut self) -> Option<Edit> {
        let (edit, inverse, revision) = self.trial.take()?;
        let context = Context { skeleton: &self.skeleton, triangles: self.triangles };
        // An inverse applies to the document that its edit made.
        let _ = inverse.apply(&mut self.document, &context);
        self.revision = revision;
        Some(edit)
    }

    /// Runs one operation and records it.
    ///
    /// # Errors
    /// The operation does not apply; the document stays unchanged and nothing is recorded. A failure to write the
    /// journal does not fail the operation: see [`Self::trouble`].
    pub fn run(&mut self, operation: Operation) -> Result<()> {
        let operation = match operation {
            Operation::Drawing(_) => operation,
            other => match (self.take_back(), other) {
                (Some(trial), Operation::Do(edit) | Operation::Continue(edit)) => {
                    let both = Operation::Do(Edit::Group(vec![trial.clone(), edit]));
                    // A trial that applied before applies again.
                    return self.run(both).inspect_err(|_| drop(self.try_out(trial)));
                }
                (_, other) => other,
            },
        };
        match &operation {
            Operation::Do(edit) => self.change(edit, false)?,
            Operation::Continue(edit) => self.change(edit, true)?,
            Operation::Undo if self.done == 0 => {
                return Err(Error::input("there is nothing to undo", "make an edit first"));
            }
            Operation::Redo if self.done == self.steps.len() => {
                return Err(Error::input("there is nothing to redo", "undo something first"));
            }
            Operation::Undo => self.go_to(self.done - 1)?,
            Operation::Redo => self.go_to(self.done + 1)?,
            Operation::Jump(step) => self.go_to(*step)?,
            Operation::Drawing(samples) => self.drawing.extend_from_slice(samples),
        }
        if !matches!(operation, Operation::Drawing(_)) {
            self.drawing.clear();
            self.revision = Version::new();
        }
        if let Some(journal) = &mut self.journal {
            self.trouble = journal.append(&operation).err();
        }
        Ok(())
    }

    /// Applies an edit as one undo step.
    ///
    /// # Errors
    /// Same as [`Self::run`].
    pub fn apply(&mut self, edit: Edit) -> Result<()> {
        self.run(Operation::Do(edit))
    }

    /// Returns the document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the skeleton of the document's character.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// Returns the edited pose with all strokes applied.
    pub fn posed(&self) -> Pose {
        self.document.posed(&self.skeleton)
    }

    /// Returns the document's version number. Every change gives the document a new version number.
    pub fn revision(&self) -> Version {
        self.revision
    }

    /// Returns the number of applied undo steps and the total number of steps.
    pub fn history(&self) -> (usize, usize) {
        (self.done, self.steps.len())
    }

    /// Returns, of each undo step, the first edit, its inverse and the last edit, including steps that can be redone.
    pub fn steps(&self) -> impl Iterator<Item = (&Edit, &Edit, &Edit)> {
        self.steps.iter().filter_map(|s| {
            let ((first, undo), (last, _)) = (s.edits.first()?, s.edits.last()?);
            Some((first, undo, last))
        })
    }

    /// Returns the samples of a stroke that was unfinished when the recording ended.
    pub fn unfinished(&self) -> &[Sample] {
        &self.drawing
    }

    /// Returns the error of the last journal write, if it failed. The next operation retries the write.
    pub fn trouble(&self) -> Option<&Error> {
        self.trouble.as_ref()
    }

    /// Returns the journal, if operations are recorded.
    pub fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    /// Ends the session and returns its journal, so that the caller can discard it after saving the document.
    pub fn into_journal(self) -> Option<Journal> {
        self.journal
    }

    fn change(&mut self, edit: &Edit, continues: bool) -> Result<()> {
        let skeleton = self.skeleton_for(edit)?;
        let triangles = self.triangles;
        let context = Context { skeleton: &skeleton, triangles };
        let inverse = edit.apply(&mut self.document, &context)?;
        if self.document.asset().is_none() {
            inverse.apply(&mut self.document, &context)?;
            return Err(Error::input("this edit leaves no character open", "open a file first"));
        }
        self.skeleton = skeleton;
        self.steps.truncate(self.done);
        if !(continues && self.done > 0) {
            self.steps.push(Step::default());
            self.done += 1;
        }
        let step = &mut self.steps[self.done - 1];
        match step.edits.last_mut() {
            // While the user drags, each edit replaces the previous edit of the same step, and the step keeps its first
            // inverse.
            Some((last, _)) if continues && edit.supersedes(last) => *last = edit.clone(),
            _ => step.edits.push((edit.clone(), inverse)),
        }
        Ok(())
    }

    /// Goes to a step of the history. If an edit fails, the document stays as it was.
    fn go_to(&mut self, step: usize) -> Result<()> {
        let before = self.done;
        let gone = self.walk_to(step);
        if gone.is_err() {
            // These edits succeeded a moment ago, in the other direction.
            let _ = self.walk_to(before);
        }
        gone
    }

    fn walk_to(&mut self, step: usize) -> Result<()> {
        if step > self.steps.len() {
            return Err(Error::input(
                format!("there is no step {step}"),
                format!("the history has {} steps", self.steps.len()),
            ));
        }
        while self.done > step {
            let edits = std::mem::take(&mut self.steps[self.done - 1].edits);
            let result = self.force(edits.iter().rev().map(|(edit, inverse)| (inverse, edit)));
            self.steps[self.done - 1].edits = edits;
            result?;
            self.done -= 1;
        }
        while self.done < step {
            let edits = std::mem::take(&mut self.steps[self.done].edits);
            let result = self.force(edits.iter().map(|(edit, inverse)| (edit, inverse)));
            self.steps[self.done].edits = edits;
            result?;
            self.done += 1;
        }
        Ok(())
    }

    /// Applies edits of one step, each with its inverse. If one fails, takes back those before it.
    fn force<'e>(&mut self, edits: impl Iterator<Item = (&'e Edit, &'e Edit)>) -> Result<()> {
        let mut done: Vec<&Edit> = Vec::new();
        for (edit, back) in edits {
            if let Err(error) = self.force_one(edit) {
                // The edits before it can be taken back, because they have just been applied.
                done.into_iter().rev().try_for_each(|back| self.force_one(back))?;
                return Err(error);
            }
            done.push(back);
        }
        Ok(())
    }

    fn force_one(&mut self, edit: &Edit) -> Result<()> {
        let skeleton = self.skeleton_for(edit)?;
        let triangles = self.triangles;
        edit.apply(&mut self.document, &Context { skeleton: &skeleton, triangles })?;
        self.skeleton = skeleton;
        Ok(())
    }

    /// Returns the skeleton for the document after `edit`; calls the loader if the edit opens another file.
    fn skeleton_for(&mut self, edit: &Edit) -> Result<Arc<Skeleton>> {
        let asset = opened(edit);
        match asset {
            Some(asset) if self.document.asset().map(|a| &a.hash) != Some(&asset.hash) => {
                let skeleton = (self.loader)(asset)?;
                self.triangles = None;
                Ok(skeleton)
            }
            _ => Ok(self.skeleton.clone()),
        }
    }
}

/// Returns the asset that an edit opens, if any.
fn opened(edit: &Edit) -> Option<&AssetRef> {
    match edit {
        Edit::Open { asset } => Some(asset),
        Edit::Replace(document) => document.asset(),
        Edit::Group(edits) => edits.iter().rev().find_map(opened),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Random;
    use crate::base::{NodeId, StrokeId};
    use crate::document::testing::{asset, operation, session, work};
    use crate::document::{DeformerSettings, Key, KeyEdit, KeyValue, StrokeLine, Target};
    use crate::pose::StrokeLayer;
    use crate::rig::tree;

    #[test]
    fn every_edit_has_an_inverse_that_restores_the_document_exactly() {
        let mut kinds = std::collections::BTreeSet::new();
        for seed in 1..6 {
            let mut s = session();
            let mut random = Random::new(seed * 1001);
            work(&mut s, &mut random, 30);
            let (mut document, skeleton) = (s.document().clone(), s.skeleton().clone());
            let context = Context { skeleton: &skeleton, triangles: None };
            for _ in 0..200 {
                let (Operation::Do(edit) | Operation::Continue(edit)) = operation(&s, &mut random) else {
                    continue;
                };
                let (before, hash) = (document.clone(), document.hash());
                let Ok(inverse) = edit.apply(&mut document, &context) else {
                    assert_eq!(document, before, "a refused edit changed the document: {edit:?}");
                    continue;
                };
                let after = document.clone();
                kinds.insert(serde_json::to_string(&edit).unwrap().split('"').nth(1).unwrap().to_owned());
                let again = inverse.apply(&mut document, &context).unwrap();
                assert_eq!((&document, document.hash()), (&before, hash), "{edit:?}");
                again.apply(&mut document, &context).unwrap();
                assert_eq!(document, after, "{edit:?}");
                document = before;
            }
        }
        assert!(kinds.len() >= 12, "{kinds:?}");
    }

    /// A file can be gone when a jump needs it again.
    #[test]
    fn a_jump_that_fails_on_its_way_leaves_the_document_and_the_history() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let gone = Arc::new(AtomicBool::new(false));
        let (skeleton, is_gone) = (Arc::new(tree().0), gone.clone());
        let mut s = Session::new(Box::new(move |_| match is_gone.load(Ordering::Relaxed) {
            false => Ok(skeleton.clone()),
            true => Err(Error::input("the file is gone", "bring it back")),
        }));
        let other = AssetRef { path: "other.glb".into(), hash: "11ee".repeat(16) };
        s.apply(Edit::Open { asset: asset() }).unwrap();
        s.apply(Edit::SetDeformer(DeformerSettings { method: "dqs".into(), ..Default::default() })).unwrap();
        s.apply(Edit::Open { asset: other }).unwrap();
        s.apply(Edit::SetDeformer(DeformerSettings { method: "lbs".into(), ..Default::default() })).unwrap();
        s.know_triangles(7);
        let before = (s.document().hash(), s.history(), s.recording());
        gone.store(true, Ordering::Relaxed);
        for step in [1, 2] {
            assert!(s.run(Operation::Jump(step)).is_err());
            assert_eq!((s.document().hash(), s.history(), s.recording()), before);
            assert_eq!(s.triangles, Some(7), "marks are checked as before");
        }
        gone.store(false, Ordering::Relaxed);
        s.run(Operation::Jump(1)).unwrap();
        s.run(Operation::Jump(4)).unwrap();
        assert_eq!(s.document().hash(), before.0);
    }

    #[test]
    fn undo_redo_and_jumps_visit_the_same_documents() {
        let mut s = session();
        let mut random = Random::new(99);
        let mut hashes = vec![s.document().hash()];
        while hashes.len() < 60 {
            let operation = operation(&s, &mut random);
            if matches!(operation, Operation::Do(_)) && s.run(operation).is_ok() {
                hashes.push(s.document().hash());
            }
        }
        for i in (0..59).rev() {
            s.run(Operation::Undo).unwrap();
            assert_eq!(s.document().hash(), hashes[i], "step {i}");
        }
        assert!(s.run(Operation::Undo).unwrap_err().to_string().contains("nothing to undo"));
        for hash in &hashes[1..] {
            s.run(Operation::Redo).unwrap();
            assert_eq!(&s.document().hash(), hash);
        }
        for step in [7, 41, 0, 59, 30] {
            s.run(Operation::Jump(step)).unwrap();
            assert_eq!(s.document().hash(), hashes[step]);
        }
        assert!(s.run(Operation::Jump(60)).is_err());
    }

    #[test]
    fn replay_and_json_give_the_same_document() {
        let mut s = session();
        let operations = work(&mut s, &mut Random::new(3), 150);
        let text = serde_json::to_string(&operations).unwrap();
        let back: Vec<Operation> = serde_json::from_str(&text).unwrap();
        assert_eq!(operations, back);
        let skeleton = Arc::new(tree().0);
        let replayed = Session::replay(&back, Box::new(move |_| Ok(skeleton.clone()))).unwrap();
        assert_eq!(replayed.document(), s.document());
        assert_eq!(replayed.document().hash(), s.document().hash());
        assert_eq!(replayed.history(), s.history());
        let posed = replayed.posed();
        assert!(posed.local.iter().all(|t| t.translation.iter().chain(&t.rotation).all(|v| v.is_finite())));
    }

    /// A trial leaves no trace when it is taken back. An edit after it records both as one step, in the journal, too.
    #[test]
    fn a_trial_is_taken_back_or_joins_the_next_edit() {
        let mut s = session();
        s.apply(Edit::Open { asset: asset() }).unwrap();
        s.apply(Edit::Rename("a".into())).unwrap();
        s.apply(Edit::Rename("b".into())).unwrap();
        s.run(Operation::Undo).unwrap();
        let state = |s: &Session| (s.document().hash(), s.history(), s.recording());
        let revision = s.revision();
        let (before, pins) = (state(&s), |n: u32| Edit::SetPins(vec![NodeId(n)]));
        s.try_out(pins(1)).unwrap();
        s.try_out(pins(2)).unwrap();
        assert_eq!((s.document().pins(), s.history()), (&[NodeId(2)][..], (2, 3)));
        s.run(Operation::Drawing(vec![Sample::default()])).unwrap();
        assert_eq!(s.take_back(), Some(pins(2)));
        assert_eq!((state(&s), s.revision(), s.take_back()), (before.clone(), revision, None));
        // An edit that is refused leaves the trial, and a refused trial leaves the document.
        s.try_out(pins(1)).unwrap();
        assert!(s.apply(Edit::RemoveKey(1.0)).is_err());
        assert_eq!((s.document().pins(), s.history()), (&[NodeId(1)][..], (2, 3)));
        assert!(s.try_out(pins(99)).is_err());
        assert_eq!(state(&s), before);
        s.try_out(pins(1)).unwrap();
        s.run(Operation::Redo).unwrap();
        assert_eq!((s.document().pins(), s.document().name.as_str()), (&[][..], "b"));
        s.run(Operation::Undo).unwrap();
        for continues in [false, true] {
            s.try_out(pins(1)).unwrap();
            let edit = Edit::Rename("c".into());
            s.run(if continues { Operation::Continue(edit) } else { Operation::Do(edit) }).unwrap();
            assert_eq!((s.document().pins(), s.history()), (&[NodeId(1)][..], (3, 3)));
            let skeleton = Arc::new(tree().0);
            let again = Session::replay(&s.recording(), Box::new(move |_| Ok(skeleton.clone()))).unwrap();
            assert_eq!(state(&again), state(&s));
            s.run(Operation::Undo).unwrap();
            assert_eq!(s.document().hash(), before.0);
        }
    }

    #[test]
    fn its_recording_leads_to_the_same_document_and_history() {
        let mut s = session();
        work(&mut s, &mut Random::new(12), 40);
        s.run(Operation::Jump(s.history().1 / 2)).unwrap();
        let skeleton = Arc::new(tree().0);
        let mut again = Session::replay(&s.recording(), Box::new(move |_| Ok(skeleton.clone()))).unwrap();
        assert_eq!((again.document(), again.history()), (s.document(), s.history()));
        for step in [0, s.history().1, s.history().1 / 3] {
            s.run(Operation::Jump(step)).unwrap();
            again.run(Operation::Jump(step)).unwrap();
            assert_eq!(again.document(), s.document(), "after {step} steps");
        }
    }

    #[test]
    fn a_drag_is_one_step_and_the_pose_follows_it() {
        let mut s = session();
        s.apply(Edit::Open { asset: asset() }).unwrap();
        let at = |s: &Session, n: &str| {
            let id = s.skeleton().find(n).unwrap();
            s.posed().world(s.skeleton())[id.index()].translation
        };
        let knots: Vec<Sample> = ["arm.L", "elbow.L", "hand.L"]
            .map(|n| Sample { position: at(&s, n).into(), ..Sample::default() })
            .to_vec();
        let line = crate::pose::Stroke::from_knots(knots).unwrap();
        let id = s.document().unused_stroke_id();
        let layer = StrokeLayer::new(id, line.clone(), 0.05, (s.skeleton(), &[]), &s.posed()).unwrap();
        assert_eq!(layer.selection.len(), 3);
        s.apply(Edit::AddStroke { index: None, layer: Box::new(layer.with_offset(line)) }).unwrap();
        let rest = at(&s, "hand.L");
        let edit = |y: f32| Edit::MoveKnot { id, line: StrokeLine::Offset, knot: 2, position: [0.7, y, 0.0] };
        s.apply(edit(1.6)).unwrap();
        for i in 0..50 {
            s.run(Operation::Continue(edit(1.6 + 0.01 * i as f32))).unwrap();
        }
        assert_eq!(s.history(), (3, 3));
        assert_eq!(s.steps[2].edits.len(), 1);
        assert!(at(&s, "hand.L").y > rest.y + 0.2);
        s.run(Operation::Undo).unwrap();
        assert!((at(&s, "hand.L") - rest).length() < 1e-6);
        s.run(Operation::Redo).unwrap();
        assert_eq!(s.document().strokes()[0].offset.as_ref().unwrap().knots()[2].position[1], 2.09);
    }

    #[test]
    fn hashes_ignore_the_sign_of_zero_and_the_path_and_see_everything_else() {
        let mut s = session();
        work(&mut s, &mut Random::new(12), 40);
        let base = s.document().clone();
        let mut same = base.clone();
        same.asset.as_mut().unwrap().path = "elsewhere.glb".into();
        same.pose.local[1].translation[0] = 0.0;
        let mut minus = same.clone();
        minus.pose.local[1].translation[0] = -0.0;
        assert_eq!(same.hash(), minus.hash());
        let changes: [fn(&mut Document); 6] = [
            |d| d.name.push('x'),
            |d| d.asset.as_mut().unwrap().hash.push('x'),
            |d| d.pose.local[3].rotation[2] += 1e-6,
            |d| d.motion.rate = 60,
            |d| d.deformer.method.push('x'),
            |d| d.strokes.truncate(d.strokes.len() - 1),
        ];
        for change in changes {
            let mut other = base.clone();
            change(&mut other);
            assert_ne!(other.hash(), base.hash());
        }
    }

    #[test]
    fn a_document_with_an_unknown_method_or_parameter_is_refused_and_one_out_of_range_is_not() {
        let mut s = session();
        s.apply(Edit::Open { asset: asset() }).unwrap();
        let replace = |method: &str, name: &str| {
            let mut json = serde_json::to_value(s.document()).unwrap();
            json["deformer"] = serde_json::json!({ "method": method, "parameters": { name: -1e9 } });
            let document = Document::from_json(json.clone(), s.skeleton());
            let journal = serde_json::json!([{ "do": { "open": { "asset": asset() } } }, { "do": { "replace": json } }]);
            let skeleton = s.skeleton().clone();
            let operations: Vec<Operation> = serde_json::from_value(journal).unwrap();
            let replayed = Session::replay(&operations, Box::new(move |_| Ok(skeleton.clone())));
            (document.map(drop), replayed.map(drop))
        };
        for (method, name, says) in
            [("nurbs", "torsion", "choose one of rigid"), ("springs", "k_s", "no parameter k_s")]
        {
            let (document, journal) = replace(method, name);
            for error in [document.unwrap_err(), journal.unwrap_err()] {
                assert!(error.to_string().contains(says), "{error}");
            }
        }
        let (document, journal) = replace("springs", "torsion");
        document.and(journal).unwrap();
    }

    #[test]
    fn edits_that_do_not_fit_are_refused_with_a_reason() {
        let mut s = session();
        assert!(s.apply(Edit::RemoveKey(0.0)).unwrap_err().to_string().contains("no character is open"));
        assert!(s.apply(Edit::Group(Vec::new())).is_err(), "a first step without a character");
        s.apply(Edit::Open { asset: asset() }).unwrap();
        let hash = s.document().hash();
        let deformer = |method: &str, name: &str| {
            let parameters = [(name.to_owned(), serde_json::json!(0.5))].into();
            Edit::SetDeformer(DeformerSettings { method: method.into(), parameters })
        };
        let keyed = |name: &str| {
            let target = Target::Setting { method: "springs".into(), name: name.into() };
            Edit::Keys(KeyEdit::Insert { time: 0.0, keys: vec![KeyValue { target, value: vec![1.0] }] })
        };
        let nan = crate::base::math::Trs { translation: [f32::NAN; 3], ..crate::base::math::Trs::IDENTITY };
        for (edit, says) in [
            (Edit::RemoveKey(0.5), "no key"),
            (Edit::Replace(Box::default()), "no character open"),
            (deformer("nurbs", "factor"), "\"nurbs\" is no deformation method"),
            (deformer("lbs", "factor"), "lbs has no parameter factor"),
            (deformer("springs", "k_s"), "it has surface, "),
            (deformer("springs", "stop"), "springs: stop: "),
            (keyed("k_s"), "springs has no parameter k_s"),
            (keyed("start"), "is no skinning method"),
            (Edit::RemoveStroke(StrokeId(7)), "no stroke 7"),
            (Edit::SetLocal { node: NodeId(99), local: nan }, "no node 99"),
            (Edit::SetLocal { node: NodeId(1), local: nan }, "\"chest\" is not finite"),
            (Edit::SetWeights { node: NodeId(1), weights: vec![1.0] }, "give 0"),
            (Edit::SetPose(Pose::default()), "0 nodes"),
            (Edit::SetKey(Key { time: -1.0, pose: s.posed() }), "-1 s"),
            (Edit::Group(vec![Edit::Rename("x".into()), Edit::RemoveKey(3.0)]), "no key"),
        ] {
            let error = s.apply(edit).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
            assert_eq!(s.document().hash(), hash);
        }
        assert_eq!(s.history(), (1, 1));
    }
}
