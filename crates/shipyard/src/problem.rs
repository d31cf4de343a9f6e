use std::fmt;

use miette::{Diagnostic, LabeledSpan, SourceSpan};
use serde::Serialize;

use crate::code::Code;

/// Something in a file that its author should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    pub severity: Severity,
    pub code: Code,
    pub message: String,
    /// What to do about it; empty where the message says so.
    pub hint: String,
    #[serde(flatten)]
    pub at: Position,
    /// Another place that is part of it, such as the first of two with the same name.
    pub also: Option<Also>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    Warning,
    Error,
}

/// A part of one line of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// In bytes from the start of the text.
    pub offset: usize,
    /// In bytes.
    pub len: usize,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Also {
    pub label: String,
    #[serde(flatten)]
    pub at: Position,
}

impl Severity {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl From<Severity> for miette::Severity {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Warning => Self::Warning,
            Severity::Error => Self::Error,
        }
    }
}

impl Problem {
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl Position {
    fn span(self) -> SourceSpan {
        (self.offset, self.len).into()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity.into())
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.hint.is_empty()).then(|| Box::new(&self.hint) as Box<dyn fmt::Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let also = self.also.as_ref();
        let label = also.map(|_| "and then here".to_owned());
        let here = LabeledSpan::new_primary_with_span(label, self.at.span());
        let also = also.map(|it| LabeledSpan::new_with_span(Some(it.label.clone()), it.at.span()));
        Some(Box::new(std::iter::once(here).chain(also)))
    }
}
