//! Crash recovery: unfinished sessions, which the next start offers to restore or discard.
//!
//! A front end starts a session with [`begin`] and calls [`end`] after its document is saved or discarded. If a crash
//! prevents [`end`], [`unfinished`] finds the session. The user can then choose [`Unfinished::restore`] or
//! [`Unfinished::discard`], or leave the session for later.

use super::file::locate;
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::document::recover;
use crate::document::{
    AssetRef, Journal, LastSave, Session, Torn, discard_journal, journal_folder, open_journals,
    unfinished_journals,
};
use crate::scene::Model;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Returns the user's folder of journals.
///
/// # Errors
/// Same as [`journal_folder`].
pub fn folder() -> Result<PathBuf> {
    journal_folder(|name| std::env::var_os(name))
}

/// A session that ended without saving.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfinished {
    /// Path of the session's journal.
    pub journal: PathBuf,
    /// Asset file of the session.
    pub file: AssetRef,
    /// Time of the journal's last change.
    pub modified: SystemTime,
    /// Number of operations after the operation that opened the file.
    pub operations: usize,
    /// Unreadable tail of the journal, from a crash or damage; it is skipped.
    pub torn: Option<Torn>,
    /// Project of the session's last save, if any.
    pub saved: Option<PathBuf>,
    /// Whether nobody has changed this project after that save.
    pub is_current: bool,
    /// Whether all operations are in this project.
    pub is_saved: bool,
}

/// The readable and unreadable journals in a folder.
#[derive(Debug, Default)]
pub struct Found {
    /// Unfinished sessions with at least one edit, newest first.
    pub sessions: Vec<Unfinished>,
    /// Errors of the journals that cannot be read.
    pub unreadable: Vec<Error>,
}

/// Returns the unfinished sessions in a folder, or only the sessions of `file`, with symbolic links resolved. Skips
/// sessions that other processes have open, and sessions of which all operations are in a project.
///
/// # Errors
/// The folder cannot be read.
pub fn unfinished(folder: &Path, file: Option<&Path>) -> Result<Found> {
    let mut found = resumable(folder, file)?;
    found.sessions.retain(|session| !session.is_saved);
    Ok(found)
}

/// Returns the same as [`unfinished`], and also sessions of which all operations are in a project.
///
/// # Errors
/// The folder cannot be read.
pub fn resumable(folder: &Path, file: Option<&Path>) -> Result<Found> {
    let wanted = file.and_then(real);
    let mut found = Found::default();
    for journal in unfinished_journals(folder)? {
        match Unfinished::read(journal) {
            Ok(Some(session)) if wanted.is_none() || real(Path::new(&session.file.path)) == wanted => {
                found.sessions.push(session);
            }
            Ok(_) => {}
            Err(error) => found.unreadable.push(error),
        }
    }
    found.sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.journal.cmp(&b.journal)));
    Ok(found)
}

/// Returns the newest unfinished session that saved a project at the path `project` and then went on.
///
/// # Errors
/// The folder cannot be read.
pub fn later(folder: &Path, project: &Path) -> Result<Option<Unfinished>> {
    let project = real(project);
    // Only the journals whose notes name the project are read.
    let names = |journal: &PathBuf| LastSave::of(journal).is_some_and(|save| real(&save.project) == project);
    let journals = unfinished_journals(folder)?.into_iter().filter(names);
    let sessions = journals.filter_map(|journal| Unfinished::read(journal).ok().flatten());
    Ok(sessions.filter(|session| !session.is_saved).max_by_key(|session| session.modified))
}

/// Returns the journals of a model's file that processes have open. A folder that cannot be read has none.
pub fn open_elsewhere(folder: &Path, model: &Model) -> Vec<PathBuf> {
    open_journals(folder, &model.file()).unwrap_or_default()
}

/// The absolute path, with symbolic links resolved.
fn real(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).ok()
}

impl Unfinished {
    /// Reads a session's journal and the note beside it. Returns `None` for a session without edits.
    fn read(journal: PathBuf) -> Result<Option<Self>> {
        let recovered = recover(&journal)?;
        let operations = recovered.operations.len().saturating_sub(1);
        let Some(file) = recovered.asset.filter(|_| operations > 0) else { return Ok(None) };
        let modified = std::fs::metadata(&journal).and_then(|m| m.modified());
        let modified = modified.map_err(|e| Error::io(&journal, e))?;
        let save = LastSave::of(&journal);
        let is_saved = save.as_ref().is_some_and(|save| save.is_whole(&journal));
        let is_current = save.as_ref().is_some_and(LastSave::is_current);
        let (torn, saved) = (recovered.torn, save.map(|save| save.project));
        Ok(Some(Self { journal, file, modified, operations, torn, saved, is_current, is_saved }))
    }

    /// Returns the project to which the restored session is saved without a question: that of the last save, unless
    /// somebody has changed it since.
    pub fn place(&self) -> Option<&PathBuf> {
        self.saved.as_ref().filter(|_| self.is_current)
    }

    /// Returns the name of the session's asset file, without folders.
    pub fn name(&self) -> String {
        let path = Path::new(&self.file.path);
        path.file_name().map_or_else(|| self.file.path.clone(), |name| name.to_string_lossy().into_owned())
    }

    /// Loads the session's asset file from its stored path.
    ///
    /// # Errors
    /// [`Model::load`] fails, or the file has changed since the session.
    pub fn load(&self, options: &BindOptions) -> Result<Model> {
        let model = Model::load(&locate(&self.file, &self.journal), options)?;
        model.is(&self.file)?;
        Ok(model)
    }

    /// Restores the session with its undo history. The session continues to record in the same journal.
    ///
    /// # Errors
    /// The model has another file, another process has opened the journal, or [`Session::replay`] fails.
    pub fn restore(&self, model: &Model) -> Result<Session<'static>> {
        model.is(&self.file)?;
        let (journal, recovered) = Journal::open(&self.journal, &self.file)?;
        let mut session = model.replay(&recovered.operations, &self.journal)?;
        session.record_in(journal);
        Ok(session)
    }

    /// Deletes the session's journal.
    ///
    /// # Errors
    /// Another process has opened the journal, or the file cannot be deleted.
    pub fn discard(&self) -> Result<()> {
        discard_journal(&self.journal)
    }
}

/// Starts a session with a new journal. Journals of unfinished sessions of the same file stay on disk. Journals of ended
/// sessions whose last operation is in a project are deleted.
///
/// # Errors
/// No journal can be written. [`Model::start`] works without one, at the risk of losing work.
pub fn begin(folder: &Path, model: &Model) -> Result<Session<'static>> {
    for journal in unfinished_journals(folder)? {
        if LastSave::of(&journal).is_some_and(|save| save.is_whole(&journal)) {
            // If the journal cannot be deleted, the next start tries again; the new session is recorded all the same.
            let _ = discard_journal(&journal);
        }
    }
    model.start(Some(Journal::create_for(folder, &model.file())?))
}

/// Ends a session whose document is saved or discarded, and deletes its journal. If a session is not ended this way,
/// the next start offers to restore it.
///
/// # Errors
/// The journal cannot be deleted.
pub fn end(session: Session<'_>) -> Result<()> {
    session.into_journal().map_or(Ok(()), Journal::discard)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::Shape;
    use crate::document::{Edit, Operation};
    use crate::pose::Sample;
    use crate::rig::Axis;
    use std::time::Duration;

    /// Writes a capsule character to disk and loads it.
    fn character(folder: &Path) -> Model {
        let path = folder.join("héro.glb");
        let shape = Shape { bones: 3, rings: 12, segments: 8, radius: 0.1, length: 1.0, blend: 0.5 };
        std::fs::write(&path, crate::export::unedited(&shape.capsule_asset()).unwrap()).unwrap();
        Model::load(&path, &BindOptions::default()).unwrap()
    }

    fn turn(model: &Model, degrees: f32) -> Edit {
        let node = model.skeleton().joints[1].node;
        Edit::RotateJoint { node, turns: vec![(Axis::X, degrees)] }
    }

    #[test]
    fn what_was_not_saved_is_offered_and_taken_up_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (model, journals) = (character(folder.path()), folder.path().join("journal"));
        let found = |file: Option<&Path>| unfinished(&journals, file).unwrap().sessions;
        assert!(found(None).is_empty());
        // After a save or discard, the next start offers nothing.
        end(begin(&journals, &model).unwrap()).unwrap();
        // A session that was opened and not edited is not offered either.
        drop(begin(&journals, &model).unwrap());
        assert!(found(None).is_empty());

        let mut session = begin(&journals, &model).unwrap();
        session.apply(turn(&model, 20.0)).unwrap();
        session.apply(turn(&model, 30.0)).unwrap();
        session.run(Operation::Undo).unwrap();
        session.run(Operation::Drawing(vec![Sample::default(); 3])).unwrap();
        let (hash, history) = (session.document().hash(), session.history());
        assert!(found(None).is_empty(), "it is being worked on");
        drop(session);

        let file = folder.path().join(".").join("héro.glb");
        let [one] = &found(Some(&file))[..] else { panic!("one session") };
        assert_eq!((one.operations, one.file.hash.as_str()), (4, model.file().hash.as_str()));
        assert!(found(Some(&folder.path().join("other.glb"))).is_empty());
        let mut session = one.restore(&one.load(&BindOptions::default()).unwrap()).unwrap();
        assert_eq!((session.document().hash(), session.history()), (hash, history));
        assert_eq!(session.unfinished().len(), 3);
        assert!(one.discard().is_err(), "it is being worked on");
        // The restored session continues in the same journal.
        session.run(Operation::Redo).unwrap();
        let hash = session.document().hash();
        drop(session);
        let [one] = &found(None)[..] else { panic!("one session") };
        assert_eq!(one.operations, 5);
        assert_eq!(one.restore(&model).unwrap().document().hash(), hash);
        one.discard().unwrap();
        assert!(found(None).is_empty());
    }

    #[test]
    fn a_session_that_went_on_after_its_project_was_saved_is_found_from_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let (model, journals) = (character(folder.path()), folder.path().join("journal"));
        let [path, other] = ["project.glb", "other.glb"].map(|name| folder.path().join(name));
        let found = |path: &Path| later(&journals, path).unwrap();
        let listed = || unfinished(&journals, None).unwrap().sessions.len();
        let mut session = begin(&journals, &model).unwrap();
        session.apply(turn(&model, 20.0)).unwrap();
        for path in [&path, &other] {
            std::fs::write(path, b"a project").unwrap();
        }
        let journal = session.journal().unwrap();
        journal.last_save(path.clone()).write(journal.path()).unwrap();
        assert!(found(&path).is_none(), "it is being worked on");
        drop(session);
        assert_eq!((found(&path), listed()), (None, 0), "all of it is saved");
        assert_eq!(resumable(&journals, Some(&model.asset.path)).unwrap().sessions.len(), 1);
        std::fs::rename(&path, &other).unwrap();
        assert_eq!(listed(), 1, "the project is gone");
        std::fs::rename(&other, &path).unwrap();
        // The next session deletes the journal.
        let mut session = begin(&journals, &model).unwrap();
        assert_eq!(std::fs::read_dir(&journals).unwrap().count(), 1);
        session.apply(turn(&model, 20.0)).unwrap();
        let journal = session.journal().unwrap();
        journal.last_save(path.clone()).write(journal.path()).unwrap();
        session.apply(turn(&model, 40.0)).unwrap();
        let hash = session.document().hash();
        drop(session);
        let one = found(&folder.path().join(".").join("project.glb")).unwrap();
        assert_eq!((one.operations, one.place(), listed()), (2, Some(&path), 1));
        // A project that another session has changed is not replaced without a question.
        let saved = std::fs::metadata(&path).and_then(|m| m.modified()).unwrap();
        let project = std::fs::File::options().write(true).open(&path).unwrap();
        project.set_modified(saved + Duration::from_secs(1)).unwrap();
        let one = found(&path).unwrap();
        assert_eq!((one.saved.as_ref(), one.place()), (Some(&path), None));
        assert!(found(&model.asset.path).is_none());
        let restored = one.restore(&one.load(&BindOptions::default()).unwrap()).unwrap();
        assert_eq!(restored.document().hash(), hash);
        drop(restored);
        one.discard().unwrap();
        assert_eq!(std::fs::read_dir(&journals).unwrap().count(), 0, "the note stays behind");
    }

    #[test]
    fn a_journal_that_leads_to_no_character_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let (model, journals) = (character(folder.path()), folder.path().join("journal"));
        let mut session = begin(&journals, &model).unwrap();
        session.apply(turn(&model, 20.0)).unwrap();
        let path = session.journal().unwrap().path().to_owned();
        drop(session);
        let whole = std::fs::read(&path).unwrap();
        let header = whole.iter().position(|&b| b == b'\n').unwrap() + 1;
        // Cut the file within the first operation, so that the journal holds no complete operation.
        std::fs::write(&path, &whole[..header + 40]).unwrap();
        let says =
            |path: &Path| crate::project::open(path, &BindOptions::default()).err().unwrap().to_string();
        assert!(says(&path).contains("opens no character"));
        std::fs::write(&path, &whole[..header]).unwrap();
        assert!(says(&path).contains("opens no character"));
        std::fs::write(&path, &whole).unwrap();
        let (mut journal, _) = Journal::open(&path, &model.file()).unwrap();
        journal.append(&Operation::Jump(0)).unwrap();
        drop(journal);
        assert!(says(&path).contains("opens no character"));
        let [one] = &unfinished(&journals, None).unwrap().sessions[..] else { panic!("one session") };
        assert!(one.restore(&model).is_err());
    }

    #[test]
    fn another_files_session_is_not_mixed_up_and_damage_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let (model, journals) = (character(folder.path()), folder.path().join("journal"));
        let mut session = begin(&journals, &model).unwrap();
        session.apply(turn(&model, 20.0)).unwrap();
        let path = session.journal().unwrap().path().to_owned();
        drop(session);
        // Append an unfinished record, as `kill -9` may leave it. The records before it stay valid.
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend(b"0123456789abcdef {\"do\":{\"ren");
        std::fs::write(&path, bytes).unwrap();
        std::fs::write(journals.join("letter.journal"), "Dear reader,\n").unwrap();
        let found = unfinished(&journals, None).unwrap();
        let [one] = &found.sessions[..] else { panic!("one session") };
        assert!(one.operations == 1 && one.torn.as_ref().is_some_and(|t| t.lines == 0));
        assert!(found.unreadable[0].to_string().contains("letter.journal"));
        // The asset file has changed since the session.
        let shape = Shape { bones: 3, rings: 13, segments: 8, radius: 0.1, length: 1.0, blend: 0.5 };
        let changed = crate::export::unedited(&shape.capsule_asset()).unwrap();
        std::fs::write(&model.asset.path, changed).unwrap();
        let error = one.load(&BindOptions::default()).err().unwrap().to_string();
        assert!(error.contains("not the file that the journal is about"), "{error}");
        assert!(one.restore(&model).is_ok());
    }
}
