//! The library's error type. An error names the file, the element in the file, the problem and a remedy.

use std::path::{Path, PathBuf};

/// Result of a fallible library call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error with its location and remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system reported an error on a file.
    #[error("{}: {source}; {}", path.display(), remedy_of(source))]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file's content is invalid.
    #[error("{}: {at}: {problem}; {remedy}", path.display())]
    Broken {
        /// Path of the file.
        path: PathBuf,
        /// The invalid element, e.g. `node "Spine2"` or `accessor 12`.
        at: String,
        /// The problem with the element.
        problem: String,
        /// The remedy: what the user can do about the problem.
        remedy: String,
    },
    /// A file is valid, but needs a feature that this program lacks.
    #[error("{}: {feature} is not supported; {remedy}", path.display())]
    Unsupported {
        /// Path of the file.
        path: PathBuf,
        /// The missing feature, e.g. the name of a required glTF extension.
        feature: String,
        /// The remedy: what the user can do about the problem.
        remedy: String,
    },
    /// A request that is invalid for this character, e.g. an unknown joint name.
    #[error("{problem}; {remedy}")]
    Input {
        /// The problem with the request.
        problem: String,
        /// The remedy: what the user can do about the problem.
        remedy: String,
    },
    /// An OpenXR call failed, or the OpenXR runtime or the headset is missing.
    #[error("OpenXR: {problem}; {remedy}")]
    Xr {
        /// The failing call and its result, or the missing component.
        problem: String,
        /// The remedy: what the user can do about the problem.
        remedy: String,
    },
    /// A Vulkan call failed, or no device meets the requirements.
    #[error("Vulkan: {problem}; {remedy}")]
    Gpu {
        /// The failing call and its result.
        problem: String,
        /// The remedy: what the user can do about the problem.
        remedy: String,
    },
}

impl Error {
    /// Wraps an operating-system error on a file.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Io { path: path.as_ref().to_owned(), source }
    }

    /// Creates an error about invalid content: file, element, problem, remedy.
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

    /// Creates an error about a valid file that needs an unsupported feature.
    pub fn unsupported(
        path: impl AsRef<Path>,
        feature: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Unsupported { path: path.as_ref().to_owned(), feature: feature.into(), remedy: remedy.into() }
    }

    /// Creates an error about a request that is invalid for the character or the document.
    pub fn input(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Input { problem: problem.into(), remedy: remedy.into() }
    }

    /// Prefixes an [`Error::Input`] with a file's path. Other errors stay.
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            Self::Input { problem, remedy } => Self::input(format!("{}: {problem}", path.display()), remedy),
            other => other,
        }
    }

    /// Creates an error about a failed OpenXR call.
    pub fn xr(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Xr { problem: problem.into(), remedy: remedy.into() }
    }

    /// Creates an error about a failed Vulkan call.
    pub fn gpu(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Gpu { problem: problem.into(), remedy: remedy.into() }
    }
}

/// Returns advice for an operating-system error on a file.
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
