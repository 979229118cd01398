//! The sample characters, which are part of the program. The lists of files offer them, so that a new user has something to
//! open.

use crate::base::{Error, Result, folders};
use crate::export::write_atomically;
use std::path::{Path, PathBuf};

/// Name and content of each file.
const SAMPLES: [(&str, &[u8]); 2] = [
    ("human.glb", include_bytes!("../../assets/human.glb")),
    ("chibi.glb", include_bytes!("../../assets/chibi.glb")),
];

/// Returns the folder of the samples; `None` if the environment names no folder for a user's files.
pub fn folder() -> Option<PathBuf> {
    folders::state(|name| std::env::var_os(name)).map(|state| state.join("samples"))
}

/// Whether a file is in the folder of the samples.
pub fn is_sample(path: &Path) -> bool {
    folder().is_some_and(|folder| path.parent() == Some(&folder))
}

/// Writes the samples that `folder` does not have yet. Returns their paths.
///
/// # Errors
/// If the folder or a file cannot be written.
pub fn samples(folder: &Path) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    let sample = |(name, content): &(&str, &[u8])| {
        let path = folder.join(name);
        // A file of this name may be the user's own version.
        if !path.exists() {
            write_atomically(&path, content)?;
        }
        Ok(path)
    };
    SAMPLES.iter().map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::BindOptions;
    use crate::scene::Model;

    #[test]
    fn samples_are_written_once_and_can_be_opened() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("new/samples");
        let written = samples(&folder).unwrap();
        assert_eq!(written.len(), 2);
        for path in &written {
            Model::load(path, &BindOptions::default()).unwrap();
        }
        std::fs::write(&written[0], b"mine").unwrap();
        assert_eq!(samples(&folder).unwrap(), written);
        assert_eq!(std::fs::read(&written[0]).unwrap(), b"mine");
        let file = place.path().join("file");
        std::fs::write(&file, b"").unwrap();
        assert!(samples(&file).unwrap_err().to_string().contains("file"));
    }
}
