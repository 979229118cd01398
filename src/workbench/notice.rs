//! One line of text about the last action.

use crate::base::Error;
use std::ops::Deref;

/// What a notice is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoticeKind {
    /// The action was refused or has failed. The text has advice.
    #[default]
    Problem,
    /// What the action did or is doing.
    Fact,
}

/// One line of text about the last action. Text and errors become problems.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notice {
    /// What the text is about.
    pub kind: NoticeKind,
    /// The line.
    pub text: String,
}

impl Notice {
    /// Says what an action did or is doing.
    pub fn fact(text: impl Into<String>) -> Self {
        Self { kind: NoticeKind::Fact, text: text.into() }
    }
}

impl Deref for Notice {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl From<String> for Notice {
    fn from(text: String) -> Self {
        Self { kind: NoticeKind::Problem, text }
    }
}

impl From<&str> for Notice {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&Error> for Notice {
    fn from(error: &Error) -> Self {
        error.to_string().into()
    }
}
