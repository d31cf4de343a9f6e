use crate::code::Code;
use crate::limits;
use crate::problem::{Also, Position, Problem, Severity};

/// Bytes of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub offset: usize,
    pub len: usize,
}

/// A problem whose place is not yet a line and a column.
#[derive(Debug)]
pub struct Draft {
    severity: Severity,
    code: Code,
    place: Place,
    message: String,
    hint: String,
    also: Option<(Place, String)>,
}

impl Draft {
    pub fn new(severity: Severity, code: Code, place: Place, message: String) -> Self {
        Self { severity, code, place, message, hint: String::new(), also: None }
    }

    pub fn error(code: Code, place: Place, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, place, message.into())
    }

    pub fn warning(code: Code, place: Place, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, place, message.into())
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    pub fn also(self, place: Place, label: impl Into<String>) -> Self {
        Self { also: Some((place, label.into())), ..self }
    }
}

/// Collects what is to be said about one text.
#[derive(Debug)]
pub struct Report<'a> {
    text: &'a str,
    /// Where each line starts.
    lines: Vec<usize>,
    problems: Vec<Problem>,
    /// Those that found no room, and the worst of them.
    left_out: Option<(usize, Severity)>,
}

impl<'a> Report<'a> {
    pub fn new(text: &'a str) -> Self {
        let starts = text.match_indices('\n').map(|(newline, _)| newline + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        Self { text, lines, problems: Vec::new(), left_out: None }
    }

    pub fn push(&mut self, draft: Draft) {
        let Draft { severity, code, place, message, hint, also } = draft;
        if self.is_full() {
            let (count, worst) = self.left_out.unwrap_or((0, severity));
            self.left_out = Some((count + 1, worst.max(severity)));
            return;
        }
        let at = self.position(place);
        let also = also.map(|(place, label)| Also { label, at: self.position(place) });
        let problem = Problem { severity, code, message, hint, at, also };
        // What an alias repeats is wrong only once.
        let again = self.problems.iter().rev().take(64).any(|it| *it == problem);
        if !again {
            self.problems.push(problem);
        }
    }

    /// Nothing more will be kept, so that nobody needs to work out good advice.
    pub fn is_full(&self) -> bool {
        self.problems.len() >= limits::PROBLEMS
    }

    pub fn has_errors(&self) -> bool {
        let left_out = self.left_out.is_some_and(|(_, worst)| worst == Severity::Error);
        left_out || self.problems.iter().any(Problem::is_error)
    }

    /// In the order of the text.
    pub fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|it| (it.at.offset, it.at.len));
        if let Some((count, severity)) = self.left_out {
            let at = self.position(Place { offset: self.text.len(), len: 0 });
            let message = format!("{count} more problems are not shown");
            let hint = "solve the first ones and look again".to_owned();
            let code = Code::TooManyProblems;
            self.problems.push(Problem { severity, code, message, hint, at, also: None });
        }
        self.problems
    }

    /// Cuts a place to what lies inside the text and on one line.
    fn position(&self, Place { offset, len }: Place) -> Position {
        let start = self.text.floor_char_boundary(offset.min(self.text.len()));
        let end = start.saturating_add(len).min(self.text.len());
        let end = self.text.ceil_char_boundary(end);
        let part = &self.text[start..end];
        let part = part.split(['\n', '\r']).next().unwrap_or_default().trim_end();
        let line = self.lines.partition_point(|&line| line <= start);
        let column = self.text[self.lines[line - 1]..start].chars().count() + 1;
        Position { offset: start, len: part.len(), line, column }
    }
}
