//! The library's error: it names the file, the place in it, what is wrong and what to do.

use std::path::{Path, PathBuf};

/// Result of a fallible library call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, where, and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused a file.
    #[error("{}: {source}; {}", path.display(), remedy_of(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's own reason.
        source: std::io::Error,
    },
    /// A file's content is broken.
    #[error("{}: {at}: {problem}; {remedy}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The element at fault, e.g. `node "Spine2"` or `accessor 12`.
        at: String,
        /// What is wrong with it.
        problem: String,
        /// What the user can do.
        remedy: String,
    },
    /// A file is legal, but needs something that this program lacks.
    #[error("{}: {feature} is not supported; {remedy}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// E.g. the name of a required glTF extension.
        feature: String,
        /// What the user can do.
        remedy: String,
    },
    /// A request that cannot be carried out on this character, e.g. an unknown joint name.
    #[error("{problem}; {remedy}")]
    Input {
        /// What is wrong with the request.
        problem: String,
        /// What the user can do.
        remedy: String,
    },
    /// An OpenXR call failed, or there is no runtime or headset.
    #[error("OpenXR: {problem}; {remedy}")]
    Xr {
        /// The failing call and its result, or what is missing.
        problem: String,
        /// What the user can do.
        remedy: String,
    },
    /// A Vulkan call failed or no device fits.
    #[error("Vulkan: {problem}; {remedy}")]
    Gpu {
        /// The failing call and its result.
        problem: String,
        /// What the user can do.
        remedy: String,
    },
}

impl Error {
    /// An operating-system error on a file.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Io { path: path.as_ref().to_owned(), source }
    }

    /// Broken content: file, element, problem, remedy.
    pub fn broken(
        path: impl AsRef<Path>,
        at: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Broken {
            path: path.as_ref().to_owned(),
            at: at.into(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// A legal file that needs an unsupported feature.
    pub fn unsupported(
        path: impl AsRef<Path>,
        feature: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Unsupported { path: path.as_ref().to_owned(), feature: feature.into(), remedy: remedy.into() }
    }

    /// A request that does not fit the character or the document.
    pub fn input(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Input { problem: problem.into(), remedy: remedy.into() }
    }

    /// A failed OpenXR call.
    pub fn xr(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Xr { problem: problem.into(), remedy: remedy.into() }
    }

    /// A failed Vulkan call.
    pub fn gpu(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Gpu { problem: problem.into(), remedy: remedy.into() }
    }
}

/// What the user can do about a file that the system refused.
fn remedy_of(source: &std::io::Error) -> &'static str {
    use std::io::ErrorKind as Kind;
    match source.kind() {
        Kind::NotFound => "check the name and that its folder exists",
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => {
            "choose another place, or change its permissions"
        }
        Kind::IsADirectory | Kind::InvalidInput => "name a file",
        Kind::NotADirectory | Kind::AlreadyExists => "a file is in the way of a folder: choose another name",
        Kind::StorageFull | Kind::QuotaExceeded => "free space on the disk",
        _ => "check the disk and try again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_the_system_name_file_reason_and_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("none.glb");
        let text = Error::io(&missing, std::fs::read(&missing).unwrap_err()).to_string();
        assert!(
            text.contains("none.glb") && text.ends_with("check the name and that its folder exists"),
            "{text}"
        );
        let text = Error::io(folder.path(), std::fs::read(folder.path()).unwrap_err()).to_string();
        assert!(text.ends_with("name a file"), "{text}");
        let below = missing.join("below");
        std::fs::write(&missing, "x").unwrap();
        let text = Error::io(&below, std::fs::create_dir_all(&below).unwrap_err()).to_string();
        assert!(text.contains("in the way"), "{text}");
    }
}
