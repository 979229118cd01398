//! Opens glTF files, projects and journals as editing sessions on a model.

use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::deform::Recipe;
use crate::document::recover;
use crate::document::{AssetRef, DeformerSettings, Document, Edit, Journal, Operation, Session, State, Torn};
use crate::rig::{Pose, Skeleton};
use crate::scene::Model;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Model {
    /// Returns the recipe of deformer settings, bound to the grips of the model's document, with its firm regions.
    ///
    /// # Errors
    /// Same as [`DeformerSettings::recipe`].
    pub fn recipe(&self, settings: &DeformerSettings) -> Result<Recipe> {
        match &self.document {
            Some(document) => document.recipe_of(settings),
            None => settings.recipe(),
        }
    }

    /// Returns a reference to the model's file, with an absolute path. Documents and journals store this reference.
    pub fn file(&self) -> AssetRef {
        let of = AssetRef::of(&self.asset);
        let path = std::path::absolute(&self.asset.path).unwrap_or_else(|_| self.asset.path.clone());
        AssetRef { path: path.to_string_lossy().into_owned(), ..of }
    }

    /// Returns the pose of the project's document with strokes applied, or the file's own rest transforms.
    pub fn shown(&self) -> Pose {
        self.document.as_ref().map_or_else(|| self.rest(), |d| d.posed(self.skeleton()))
    }

    /// Returns the state of the project's document at a time, see [`Document::state`]. Without such a document, returns
    /// the rest pose.
    pub fn shown_at(&self, time: Option<f64>) -> State {
        let rest = || State { pose: self.rest(), ..State::default() };
        self.document.as_ref().map_or_else(rest, |d| d.state(self.skeleton(), time))
    }

    /// Returns `settings` if they name a method. Otherwise returns the document's settings, with the parameters of
    /// `settings` replacing the document's. Without a document, the method is springs, or linear blend skinning for a
    /// file with corrections of it.
    pub fn deformer(&self, settings: &DeformerSettings) -> DeformerSettings {
        if !settings.method.is_empty() {
            return settings.clone();
        }
        let own = || self.own_deformer().unwrap_or_default();
        let mut out = self.document.as_ref().map_or_else(own, |document| document.deformer().clone());
        out.parameters.extend(settings.parameters.clone());
        out
    }

    /// The settings of a new document about a file that needs another method than springs: linear blend skinning for a
    /// file with corrections of it.
    fn own_deformer(&self) -> Option<DeformerSettings> {
        let corrected = self.asset.corrects_lbs();
        corrected.then(|| DeformerSettings { method: "lbs".to_owned(), ..DeformerSettings::default() })
    }

    /// Returns a document about this model's file in place of another file with the same nodes and triangles, for example
    /// with other skin weights.
    ///
    /// # Errors
    /// Same as [`Document::fits`].
    pub fn adopted(&self, document: &Document) -> Result<Document> {
        let new = document.about(self.file());
        new.fits(&self.bound.character).map(|()| new)
    }

    /// Starts a session on the project's document or a new document. The journal records it from the first operation.
    ///
    /// # Errors
    /// Same as [`Session::run`].
    pub fn start(&self, journal: Option<Journal>) -> Result<Session<'static>> {
        let mut session = Session::new(self.loader());
        if let Some(journal) = journal {
            session.record_in(journal);
        }
        let open = Edit::Open { asset: self.file() };
        session.apply(match (&self.document, self.own_deformer()) {
            (Some(document), _) => Edit::Replace(Box::new(document.clone())),
            (None, None) => open,
            (None, Some(own)) => {
                // The method belongs to the first step, so a file that was only opened counts as unchanged.
                let mut first = Session::new(self.loader());
                first.apply(open)?;
                first.apply(Edit::SetDeformer(own))?;
                Edit::Replace(Box::new(first.document().clone()))
            }
        })?;
        Ok(session)
    }

    /// Replays recorded operations on this model. `recording` is the path of the recording, for error messages.
    ///
    /// # Errors
    /// [`Session::replay`] fails, the operations open no character, or a mark is outside the character's mesh.
    pub(crate) fn replay(&self, operations: &[Operation], recording: &Path) -> Result<Session<'static>> {
        let session = Session::replay(operations, self.loader())?;
        if session.document().asset().is_none() {
            let problem = "its complete part opens no character, so it holds no work";
            let remedy = format!("open {} itself", self.asset.path.display());
            return Err(Error::broken(recording, "operations", problem, remedy));
        }
        session.document().fits(&self.bound.character)?;
        Ok(session)
    }

    /// Returns a loader that gives sessions this model's skeleton and rejects other files.
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

    /// Checks that this model's file has the content that a journal refers to.
    ///
    /// # Errors
    /// The content differs.
    pub(crate) fn is(&self, file: &AssetRef) -> Result<()> {
        let same = AssetRef::of(&self.asset).hash == file.hash;
        if same { Ok(()) } else { Err(another_content(&self.asset.path)) }
    }
}

fn another_content(path: &Path) -> Error {
    let remedy = "put the original file back where it was, or beside the journal";
    Error::broken(path, "content", "it is not the file that the journal is about", remedy)
}

/// An opened file or journal.
pub struct Opened {
    /// Loaded character.
    pub model: Model,
    /// Session on the project's document, the recovered document or a new document.
    pub session: Session<'static>,
    /// Unreadable tail of the journal, which was skipped.
    pub torn: Option<Torn>,
}

/// Opens a glTF file, a project or a journal, depending on the content. The session has no journal.
///
/// # Errors
/// [`Model::load`] or [`recover`] fails, the journal holds no document, or the journal's character has changed or is
/// missing. The character's file is searched at its stored path, then in the journal's folder.
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
    let mut model = Model::load(&locate(file, path), options)?;
    model.is(file)?;
    let session = model.replay(&recovered.operations, path)?;
    let binding = session.document().binding();
    if model.binding() != binding {
        model = model.rebound(binding)?;
    }
    Ok(Opened { model, session, torn: recovered.torn })
}

/// Returns whether to read a file as a journal. A file is glTF if it starts with the glTF magic or a brace.
fn is_journal(path: &Path) -> Result<bool> {
    use std::io::Read;
    // The loader refuses folders and pipes.
    if !std::fs::metadata(path).map_err(|e| Error::io(path, e))?.is_file() {
        return Ok(false);
    }
    let mut head = Vec::new();
    let file = std::fs::File::open(path).map_err(|e| Error::io(path, e))?;
    file.take(64).read_to_end(&mut head).map_err(|e| Error::io(path, e))?;
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head).trim_ascii_start();
    Ok(!text.starts_with(b"glTF") && !text.starts_with(b"{"))
}

/// Returns the asset's path stored in the journal, or, if missing, the path beside the journal.
pub(crate) fn locate(file: &AssetRef, journal: &Path) -> PathBuf {
    let there = PathBuf::from(&file.path);
    match (journal.parent(), there.file_name()) {
        (Some(folder), Some(name)) if !there.exists() => folder.join(name),
        _ => there,
    }
}
