//! Documents and files: a session on a model, a file or journal opened.

use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::document::recover;
use crate::document::{AssetRef, DeformerSettings, Document, Edit, Journal, Operation, Session, State, Torn};
use crate::rig::{Pose, Skeleton};
use crate::scene::Model;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Model {
    /// The model's file, by its absolute path: what documents and journals say they are about.
    pub fn file(&self) -> AssetRef {
        let of = AssetRef::of(&self.asset);
        let path = std::path::absolute(&self.asset.path).unwrap_or_else(|_| self.asset.path.clone());
        AssetRef { path: path.to_string_lossy().into_owned(), ..of }
    }

    /// What the file shows: a project's document with its strokes applied, or else the file's own node transforms.
    pub fn shown(&self) -> Pose {
        self.document.as_ref().map_or_else(|| self.rest(), |d| d.posed(self.skeleton()))
    }

    /// As [`Self::shown`], at a time of a project's motion.
    pub fn shown_at(&self, time: Option<f64>) -> State {
        let rest = || State { pose: self.rest(), ..State::default() };
        self.document.as_ref().map_or_else(rest, |d| d.state(self.skeleton(), time))
    }

    /// The settings, or those of the project's document where they name no method.
    pub fn deformer(&self, settings: &DeformerSettings) -> DeformerSettings {
        let mut out = match &self.document {
            Some(document) if settings.method.is_empty() => document.deformer().clone(),
            _ => return settings.clone(),
        };
        out.parameters.extend(settings.parameters.clone());
        out
    }

    /// A session on the model: on a project's document, or on a new one. Recorded in the journal from its first
    /// operation on.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn start(&self, journal: Option<Journal>) -> Result<Session<'static>> {
        let mut session = Session::new(self.loader());
        if let Some(journal) = journal {
            session.record_in(journal);
        }
        session.apply(match &self.document {
            Some(document) => Edit::Replace(Box::new(document.clone())),
            None => Edit::Open { asset: self.file() },
        })?;
        Ok(session)
    }

    /// The session that recorded operations lead to on this model; `recording` is for messages.
    ///
    /// # Errors
    /// As [`Session::replay`]; they lead to no character, or to a mark beside its mesh.
    pub(crate) fn replay(&self, operations: &[Operation], recording: &Path) -> Result<Session<'static>> {
        let session = Session::replay(operations, self.loader())?;
        if session.document().asset().is_none() {
            let problem = "its complete part opens no character, so it holds no work";
            let remedy = format!("open {} itself", self.asset.path.display());
            return Err(Error::broken(recording, "operations", problem, remedy));
        }
        session.document().fits(self.bound.character.display.triangles.len())?;
        Ok(session)
    }

    /// Hands this model's skeleton to sessions, and no other.
    pub(crate) fn loader(&self) -> crate::document::Loader<'static> {
        let skeleton: Arc<Skeleton> = Arc::new(self.skeleton().clone());
        let mut known = vec![AssetRef::of(&self.asset).hash];
        known.extend(self.document.as_ref().and_then(Document::asset).map(|a| a.hash.clone()));
        let path = self.asset.path.clone();
        Box::new(move |asset| match known.contains(&asset.hash) {
            true => Ok(skeleton.clone()),
            false => Err(another_content(&path)),
        })
    }

    /// Whether this is the file that a journal is about.
    ///
    /// # Errors
    /// It has another content.
    pub(crate) fn is(&self, file: &AssetRef) -> Result<()> {
        let same = AssetRef::of(&self.asset).hash == file.hash;
        if same { Ok(()) } else { Err(another_content(&self.asset.path)) }
    }
}

fn another_content(path: &Path) -> Error {
    let remedy = "put the original file back where it was, or beside the journal";
    Error::broken(path, "content", "it is not the file that the journal is about", remedy)
}

/// A file or a journal that was opened.
pub struct Opened {
    /// The character.
    pub model: Model,
    /// The document: a project's, what a journal leads to, or a new one.
    pub session: Session<'static>,
    /// The end of a journal that is no whole record, left out.
    pub torn: Option<Torn>,
}

/// Opens a glTF file, a project or a journal; the content says which. Nothing is recorded.
///
/// # Errors
/// As [`Model::load`] and [`recover`]; a journal that holds no document, or whose character is missing (looked for
/// where it was, then beside the journal) or has changed since.
pub fn open(path: &Path, options: &BindOptions) -> Result<Opened> {
    if !is_journal(path)? {
        let model = Model::load(path, options)?;
        let session = model.start(None)?;
        return Ok(Opened { model, session, torn: None });
    }
    let recovered = recover(path)?;
    let Some(file) = &recovered.asset else {
        let remedy = "give a journal that was written to";
        return Err(Error::broken(path, "header", "the journal is empty", remedy));
    };
    let model = Model::load(&locate(file, path), options)?;
    model.is(file)?;
    let session = model.replay(&recovered.operations, path)?;
    Ok(Opened { model, session, torn: recovered.torn })
}

/// Whether a file should be read as a journal: glTF begins with its magic or a brace.
fn is_journal(path: &Path) -> Result<bool> {
    use std::io::Read;
    let mut head = Vec::new();
    let file = std::fs::File::open(path).map_err(|e| Error::io(path, e))?;
    file.take(64).read_to_end(&mut head).map_err(|e| Error::io(path, e))?;
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head).trim_ascii_start();
    Ok(!text.starts_with(b"glTF") && !text.starts_with(b"{"))
}

/// Where a journal's file is: where it was, or else beside the journal.
pub(crate) fn locate(file: &AssetRef, journal: &Path) -> PathBuf {
    let there = PathBuf::from(&file.path);
    match (journal.parent(), there.file_name()) {
        (Some(folder), Some(name)) if !there.exists() => folder.join(name),
        _ => there,
    }
}
