use std::fmt;

use crate::problem::{Position, Problem};
use crate::problems::Problems;

/// Columns of a line that an excerpt shows before it is cut.
const WIDTH: usize = 120;
/// Columns before the marked place that a cut excerpt keeps.
const BEFORE: usize = 40;

/// Problems as text for files and pipes.
#[derive(Debug)]
pub struct Plain<'a>(pub(crate) &'a Problems);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(problems) = self;
        problems.all().iter().enumerate().try_for_each(|(index, problem)| {
            let between = if index == 0 { "" } else { "\n" };
            f.write_str(between)?;
            show(f, problems, problem)
        })
    }
}

fn show(f: &mut fmt::Formatter<'_>, problems: &Problems, problem: &Problem) -> fmt::Result {
    let Problem { severity, code, message, hint, at, also } = problem;
    let (file, severity) = (problems.file(), severity.as_str());
    writeln!(f, "{file}:{}:{}: {severity}[{code}]: {message}", at.line, at.column)?;
    excerpt(f, problems.text(), *at)?;
    if let Some(also) = also {
        writeln!(f, "  {file}:{}:{}: {}", also.at.line, also.at.column, also.label)?;
        excerpt(f, problems.text(), also.at)?;
    }
    if hint.is_empty() { Ok(()) } else { writeln!(f, "  hint: {hint}") }
}

fn excerpt(f: &mut fmt::Formatter<'_>, text: &str, at: Position) -> fmt::Result {
    let start = text[..at.offset].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].split(['\n', '\r']).next().unwrap_or_default();
    let skipped = match line.chars().count() {
        0..=WIDTH => 0,
        _ => (at.column - 1).saturating_sub(BEFORE),
    };
    // A tab or a control character would move the mark away from what it marks.
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let shown: String = line.chars().skip(skipped).take(WIDTH).map(plain).collect();
    let marked = text[at.offset..at.offset + at.len].chars().count().max(1);
    let before = at.column - 1 - skipped;
    let marked = marked.min(WIDTH.saturating_sub(before).max(1));
    let number = at.line.to_string();
    let margin = " ".repeat(number.len());
    writeln!(f, "  {number} | {}", shown.trim_end())?;
    writeln!(f, "  {margin} | {}{}", " ".repeat(before), "^".repeat(marked))
}
