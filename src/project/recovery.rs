//! Sessions that ended without saving: offered at the next start, taken up again or discarded.
//!
//! A front end starts a session with [`begin`] and ends it with [`end`] once its document is saved or not wanted. What
//! a crash leaves between the two, [`unfinished`] finds: to [`Unfinished::restore`], to [`Unfinished::discard`], or to
//! keep for later, by doing nothing.

use super::file::locate;
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::document::recover;
use crate::document::{
    AssetRef, Journal, Session, Torn, discard_journal, journal_folder, unfinished_journals,
};
use crate::scene::Model;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The user's folder of journals.
///
/// # Errors
/// As [`journal_folder`].
pub fn folder() -> Result<PathBuf> {
    journal_folder(|name| std::env::var_os(name))
}

/// A session that ended without saving.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfinished {
    /// Its journal.
    pub journal: PathBuf,
    /// The file it is about.
    pub file: AssetRef,
    /// When it last changed.
    pub modified: SystemTime,
    /// Operations after the one that opened the file.
    pub operations: usize,
    /// What a crash left of the last one, or damage; it is left out.
    pub torn: Option<Torn>,
}

/// What a folder of journals holds.
#[derive(Debug, Default)]
pub struct Found {
    /// Sessions with something in them, the newest first.
    pub sessions: Vec<Unfinished>,
    /// Journals that cannot be read, and why.
    pub unreadable: Vec<Error>,
}

/// The unfinished sessions in a folder; with `file` those of one file, wherever the path goes through links.
/// Sessions that other processes are working on are not among them.
///
/// # Errors
/// The folder cannot be read.
pub fn unfinished(folder: &Path, file: Option<&Path>) -> Result<Found> {
    let real = |path: &Path| std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).ok();
    let wanted = file.and_then(real);
    let mut found = Found::default();
    for journal in unfinished_journals(folder)? {
        let recovered = match recover(&journal) {
            Ok(recovered) => recovered,
            Err(error) => {
                found.unreadable.push(error);
                continue;
            }
        };
        let operations = recovered.operations.len().saturating_sub(1);
        let Some(file) = recovered.asset.filter(|_| operations > 0) else { continue };
        if wanted.is_some() && real(Path::new(&file.path)) != wanted {
            continue;
        }
        let modified = std::fs::metadata(&journal).and_then(|m| m.modified());
        let modified = modified.map_err(|e| Error::io(&journal, e))?;
        found.sessions.push(Unfinished { journal, file, modified, operations, torn: recovered.torn });
    }
    found.sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.journal.cmp(&b.journal)));
    Ok(found)
}

impl Unfinished {
    /// Loads the file it is about, from where it was.
    ///
    /// # Errors
    /// As [`Model::load`]; the file has changed since.
    pub fn load(&self, options: &BindOptions) -> Result<Model> {
        let model = Model::load(&locate(&self.file, &self.journal), options)?;
        model.is(&self.file)?;
        Ok(model)
    }

    /// The session as it was, history included. It goes on in the same journal.
    ///
    /// # Errors
    /// The model is of another file; another process has taken the journal up; as [`Session::replay`].
    pub fn restore(&self, model: &Model) -> Result<Session<'static>> {
        model.is(&self.file)?;
        let (journal, recovered) = Journal::open(&self.journal, &self.file)?;
        let mut session = model.replay(&recovered.operations, &self.journal)?;
        session.record_in(journal);
        Ok(session)
    }

    /// Removes its journal.
    ///
    /// # Errors
    /// Another process has taken it up; the operating system's.
    pub fn discard(&self) -> Result<()> {
        discard_journal(&self.journal)
    }
}

/// Starts a session on a model with a journal of its own; unfinished ones of the same file stay.
///
/// # Errors
/// No journal can be written: [`Model::start`] without one works, at the user's risk.
pub fn begin(folder: &Path, model: &Model) -> Result<Session<'static>> {
    model.start(Some(Journal::create_for(folder, &model.file())?))
}

/// Ends a session whose document is saved, or not wanted: its journal goes. Without this, the next start offers it.
///
/// # Errors
/// The journal cannot be removed.
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

    /// A character on disk, in a folder of its own.
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
        // Saved or not wanted: nothing is offered.
        end(begin(&journals, &model).unwrap()).unwrap();
        // Opened and left: neither.
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
        // It goes on in the same journal.
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
    fn a_journal_that_leads_to_no_character_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let (model, journals) = (character(folder.path()), folder.path().join("journal"));
        let mut session = begin(&journals, &model).unwrap();
        session.apply(turn(&model, 20.0)).unwrap();
        let path = session.journal().unwrap().path().to_owned();
        drop(session);
        let whole = std::fs::read(&path).unwrap();
        let header = whole.iter().position(|&b| b == b'\n').unwrap() + 1;
        // Torn in the middle of the first operation, behind the header, and taken back to nothing.
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
        // Torn as kill -9 leaves it: the record before stands.
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend(b"0123456789abcdef {\"do\":{\"ren");
        std::fs::write(&path, bytes).unwrap();
        std::fs::write(journals.join("letter.journal"), "Dear reader,\n").unwrap();
        let found = unfinished(&journals, None).unwrap();
        let [one] = &found.sessions[..] else { panic!("one session") };
        assert!(one.operations == 1 && one.torn.as_ref().is_some_and(|t| t.lines == 0));
        assert!(found.unreadable[0].to_string().contains("letter.journal"));
        // The file has changed since.
        let shape = Shape { bones: 3, rings: 13, segments: 8, radius: 0.1, length: 1.0, blend: 0.5 };
        let changed = crate::export::unedited(&shape.capsule_asset()).unwrap();
        std::fs::write(&model.asset.path, changed).unwrap();
        let error = one.load(&BindOptions::default()).err().unwrap().to_string();
        assert!(error.contains("not the file that the journal is about"), "{error}");
        assert!(one.restore(&model).is_ok());
    }
}
