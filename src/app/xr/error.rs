//! What can go wrong with a runtime, distinguished by what should be done.

use crate::base::Error;
use openxr as xr;

/// Result of a call that the runtime answers.
pub type Result<T> = std::result::Result<T, XrError>;

/// Why a session cannot go on.
#[derive(Debug)]
pub enum XrError {
    /// The session is gone, the runtime is not: begin another one.
    SessionLost(String),
    /// The runtime is gone: begin again when it is back.
    InstanceLost(String),
    /// There is no loader, no runtime or no headset (yet).
    Absent(Error),
    /// Beginning again would not help.
    Fatal(Error),
}

impl XrError {
    /// As an error for people.
    pub fn into_error(self) -> Error {
        match self {
            Self::SessionLost(problem) | Self::InstanceLost(problem) => {
                Error::xr(problem, "start the OpenXR runtime again")
            }
            Self::Absent(error) | Self::Fatal(error) => error,
        }
    }
}

impl From<Error> for XrError {
    fn from(error: Error) -> Self {
        Self::Fatal(error)
    }
}

/// What a failed call means, to be used with `map_err`.
pub fn failed(call: &'static str) -> impl Fn(xr::sys::Result) -> XrError {
    move |result| {
        use xr::sys::Result as R;
        let text = format!("{call}: {}", name(result));
        match result {
            R::ERROR_SESSION_LOST => XrError::SessionLost(text),
            // A service that dies between two messages shows as a failure of the runtime.
            R::ERROR_INSTANCE_LOST | R::ERROR_RUNTIME_FAILURE => XrError::InstanceLost(text),
            // The second is what API layers make of a runtime that cannot be reached.
            R::ERROR_RUNTIME_UNAVAILABLE | R::ERROR_INITIALIZATION_FAILED => {
                XrError::Absent(Error::xr(text, NO_RUNTIME))
            }
            R::ERROR_FORM_FACTOR_UNAVAILABLE | R::ERROR_FORM_FACTOR_UNSUPPORTED => {
                XrError::Absent(Error::xr(text, NO_HEADSET))
            }
            _ => XrError::Fatal(Error::xr(text, "update the OpenXR runtime, or use another one")),
        }
    }
}

/// What to do without a loader.
pub const NO_LOADER: &str =
    "install the OpenXR loader (Debian: libopenxr-loader1), or run through tools/xr-runtime";
/// What to do without a runtime.
pub const NO_RUNTIME: &str = "start SteamVR or Monado and make it the active runtime, set XR_RUNTIME_JSON to its \
                              manifest, or run through tools/xr-runtime";
/// What to do without a headset.
pub const NO_HEADSET: &str = "connect the headset, switch it on and put it on";

/// A result as the specification writes it.
fn name(result: xr::sys::Result) -> String {
    format!("{result:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_told_from_absence_and_from_mistakes() {
        use xr::sys::Result as R;
        let of = failed("xrWaitFrame");
        assert!(matches!(of(R::ERROR_SESSION_LOST), XrError::SessionLost(t) if t.contains("xrWaitFrame")));
        for gone in [R::ERROR_INSTANCE_LOST, R::ERROR_RUNTIME_FAILURE] {
            assert!(matches!(of(gone), XrError::InstanceLost(_)), "{gone:?}");
        }
        for (absent, word) in [
            (R::ERROR_RUNTIME_UNAVAILABLE, "XR_RUNTIME_JSON"),
            (R::ERROR_INITIALIZATION_FAILED, "Monado"),
            (R::ERROR_FORM_FACTOR_UNAVAILABLE, "headset"),
        ] {
            let XrError::Absent(error) = of(absent) else { panic!("{absent:?}") };
            assert!(error.to_string().contains(word), "{error}");
        }
        assert!(matches!(of(R::ERROR_VALIDATION_FAILURE), XrError::Fatal(_)));
    }
}
