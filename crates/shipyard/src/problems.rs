use std::fmt;

use miette::{Diagnostic, NamedSource, SourceCode};

use crate::code::Code;
use crate::plain::Plain;
use crate::problem::{Problem, Severity};

/// Everything that is to be said about one file, in the order of the text.
#[derive(Clone, Debug)]
pub struct Problems {
    source: NamedSource<String>,
    all: Vec<Problem>,
}

impl Problems {
    /// Puts problems, such as the warnings of a checked file, together with their text.
    #[must_use]
    pub fn new(text: &str, file: &str, problems: Vec<Problem>) -> Self {
        Self { source: NamedSource::new(file, text.to_owned()), all: problems }
    }

    #[must_use]
    pub fn file(&self) -> &str {
        self.source.name()
    }

    #[must_use]
    pub fn text(&self) -> &str {
        self.source.inner()
    }

    #[must_use]
    pub fn all(&self) -> &[Problem] {
        &self.all
    }

    #[must_use]
    pub fn errors(&self) -> usize {
        self.count(Severity::Error)
    }

    #[must_use]
    pub fn warnings(&self) -> usize {
        self.count(Severity::Warning)
    }

    /// There were more than are shown.
    #[must_use]
    pub fn are_cut(&self) -> bool {
        self.all.iter().any(|it| it.code == Code::TooManyProblems)
    }

    /// As text without colours or drawings, with an excerpt for each.
    #[must_use]
    pub fn plain(&self) -> Plain<'_> {
        Plain(self)
    }

    fn count(&self, severity: Severity) -> usize {
        self.all.iter().filter(|it| it.severity == severity).count()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file();
        match self.all.iter().find(|it| it.is_error()).or(self.all.first()) {
            None => write!(f, "{file} has no problems"),
            Some(Problem { at, message, .. }) => {
                write!(f, "{file}:{}:{}: {message}", at.line, at.column)?;
                match self.all.len() - 1 {
                    0 => Ok(()),
                    more => write!(f, " (and {more} more)"),
                }
            }
        }
    }
}

impl std::error::Error for Problems {}

impl Diagnostic for Problems {
    fn severity(&self) -> Option<miette::Severity> {
        let worst = if self.errors() > 0 { Severity::Error } else { Severity::Warning };
        Some(worst.into())
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.all.iter().map(|it| it as &dyn Diagnostic)))
    }
}
