//! `sinew play`: a journal replayed without a display, to the same document.

use super::context::{Context, folder, say, stage};
use super::demo::{Output, write_outputs};
use crate::asset::Asset;
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::edit::{AssetRef, Session, recover};
use crate::editor::Model;
use crate::rig::Skeleton;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Replays a journal and writes what its document shows. The file it is about is looked for where it was, then
/// beside the journal.
///
/// # Errors
/// A file that is no journal, holds no document, or whose character is missing or has changed since.
pub fn play(context: &mut Context, journal: &Path, out: &Path) -> Result<()> {
    let recovered = recover(journal)?;
    if let Some(torn) = &recovered.torn {
        eprintln!(
            "sinew: {}: the last record is not whole ({}); what is before it is replayed",
            journal.display(),
            torn.reason
        );
    }
    let Some(asset) = recovered.asset.clone() else {
        let remedy = "give a journal that was written to";
        return Err(Error::broken(journal, "header", "the journal is empty", remedy));
    };
    let path = locate(&asset, journal);
    let (model, _) = stage("load", || Model::load(&path, &BindOptions::default()))?;
    same_content(&model.asset, &asset, &path)?;
    folder(out)?;
    let skeleton = Arc::new(model.skeleton().clone());
    let loader = Box::new(move |_: &AssetRef| -> Result<Arc<Skeleton>> { Ok(skeleton.clone()) });
    let (session, time) = stage("replay", || Session::replay(&recovered.operations, loader))?;
    say(format_args!("document {}", session.document().hash()));
    write_outputs(context, &Output { model: &model, session: &session, replayed: time, out })
}

fn locate(asset: &AssetRef, journal: &Path) -> PathBuf {
    let there = PathBuf::from(&asset.path);
    if there.exists() {
        return there;
    }
    match (journal.parent(), there.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => there,
    }
}

fn same_content(asset: &Asset, expected: &AssetRef, path: &Path) -> Result<()> {
    if AssetRef::of(asset).hash == expected.hash {
        return Ok(());
    }
    Err(Error::broken(
        path,
        "content",
        "it is not the file that the journal is about",
        "put the original file back beside the journal",
    ))
}
