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

/// An edit that applies but is not recorded.
struct Trial {
    edit: Edit,
    inverse: Edit,
    /// The revision before the edit.
    before: Version,
}

/// An open document with its skeleton, undo history and journal.
pub struct Session<'a> {
    document: Document,
    skeleton: Arc<Skeleton>,
    loader: Loader<'a>,
    steps: Vec<Step>,
    /// Number of steps currently applied; the steps after them can be redone.
    done: usize,
    /// The edit of [`Self::try_out`].
    trial: Option<Trial>,
    /// The edit of [`Self::draft`], on top of the trial.
    draft: Option<Trial>,
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
            draft: None,
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
        self.trial = Some(self.attempt(edit)?);
        Ok(())
    }

    /// Reverts and returns the edit of [`Self::try_out`]; `None` if there is none. The revision is that before the trial.
    pub fn take_back(&mut self) -> Option<Edit> {
        self.drop_draft();
        let trial = self.trial.take()?;
        Some(self.revert(trial))
    }

    /// Applies an edit of a drag in progress on top of the trial, in place of the drag's edit before. Does not record it:
    /// the next operation or [`Self::drop_draft`] reverts it.
    ///
    /// # Errors
    /// The edit does not apply; the document stays unchanged.
    pub fn draft(&mut self, edit: Edit) -> Result<()> {
        let last = self.drop_draft();
        match self.attempt(edit) {
            Ok(new) => {
                self.draft = Some(new);
                Ok(())
            }
            Err(error) => {
                // An edit that applied before applies again.
                self.draft = last.and_then(|last| self.attempt(last).ok());
                Err(error)
            }
        }
    }

    /// Reverts and returns the edit of [`Self::draft`]; `None` if there is none. The revision is that before the drag.
    pub fn drop_draft(&mut self) -> Option<Edit> {
        let draft = self.draft.take()?;
        Some(self.revert(draft))
    }

    fn attempt(&mut self, edit: Edit) -> Result<Trial> {
        let context = Context { skeleton: &self.skeleton, triangles: self.triangles };
        let inverse = edit.apply(&mut self.document, &context)?;
        Ok(Trial { edit, inverse, before: std::mem::replace(&mut self.revision, Version::new()) })
    }

    fn revert(&mut self, trial: Trial) -> Edit {
        let context = Context { skeleton: &self.skeleton, triangles: self.triangles };
        // An inverse applies to the document that its edit made.
        let _ = trial.inverse.apply(&mut self.document, &context);
        self.revision = trial.before;
        trial.edit
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
mod tests;
