use crate::check::index::Index;
use crate::check::loops::Follows;
use crate::code::Code;
use crate::document::Dialect;
use crate::near::nearest;
use crate::problem::Severity;
use crate::report::{Draft, Place, Report};
use crate::yaml::Node;

/// What every part of the check needs: where problems go, by which rules, and what the file has.
#[derive(Debug)]
pub struct Checker<'a, 'r> {
    pub report: &'r mut Report<'a>,
    pub(crate) dialect: Dialect,
    pub(crate) index: Index,
    pub(crate) follows: Follows,
}

impl<'a, 'r> Checker<'a, 'r> {
    /// For documents of our own: what is not understood is an error.
    #[must_use]
    pub fn strict(report: &'r mut Report<'a>) -> Self {
        Self::new(report, Dialect::Seaway)
    }

    pub(crate) fn new(report: &'r mut Report<'a>, dialect: Dialect) -> Self {
        Self { report, dialect, index: Index::default(), follows: Follows::default() }
    }
}

impl Checker<'_, '_> {
    pub fn push(&mut self, draft: Draft) {
        self.report.push(draft);
    }

    /// A warning in a Keptn file, because Keptn let it pass; an error in ours.
    pub(crate) fn oddity(&self, code: Code, place: Place, message: String) -> Draft {
        let severity = match self.dialect {
            Dialect::Keptn => Severity::Warning,
            Dialect::Seaway => Severity::Error,
        };
        Draft::new(severity, code, place, message)
    }

    /// The text of a value, or a problem.
    pub fn text<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n str> {
        let text = node.text();
        if text.is_none() {
            let message = format!("{what} has to be a text, not {}", node.what());
            self.push(Draft::error(Code::WrongType, node.place, message));
        }
        text
    }

    /// `did you mean …?` where one of the words is close, and nothing otherwise.
    pub fn did_you_mean<'w>(
        &self,
        word: &str,
        words: impl IntoIterator<Item = &'w str>,
    ) -> Option<String> {
        if self.report.is_full() {
            return None;
        }
        nearest(word, words).map(|near| format!("did you mean `{near}`?"))
    }

    /// One of a few words, or a problem that lists them.
    pub fn word<T: Copy>(
        &mut self,
        node: &Node,
        what: &str,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let text = self.text(node, what)?;
        if let Some((_, found)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*found);
        }
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let near = self.did_you_mean(text, known.iter().copied());
        let hint = joined(near, format!("write {}", one_of(&known)));
        let message = format!("{what} cannot be {}", shown(text));
        self.push(Draft::error(Code::WrongValue, node.place, message).hint(hint));
        None
    }

    /// A whole number within bounds, or a problem that names them.
    pub fn count(&mut self, node: &Node, what: &str, bounds: (u32, u32)) -> Option<u32> {
        let (least, most) = bounds;
        let number = node.text().and_then(|text| text.parse::<u32>().ok());
        match number {
            Some(number) if (least..=most).contains(&number) => Some(number),
            _ => {
                let message = format!("{what} has to be a whole number from {least} to {most}");
                self.push(Draft::error(Code::OutOfRange, node.place, message));
                None
            }
        }
    }
}

/// Two sentences of a hint, the first of which may be missing.
pub fn joined(first: Option<String>, second: impl Into<String>) -> String {
    let second = second.into();
    let Some(first) = first else { return second };
    let mut letters = second.chars();
    let capital = letters.next().map(|it| it.to_ascii_uppercase());
    capital.map_or(first.clone(), |capital| format!("{first} {capital}{}", letters.as_str()))
}

/// A text of the file inside a message; long ones are cut.
pub fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut short: String = text.chars().take(MOST).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    format!("`{}`", short.escape_debug())
}

/// `a`, `b` or `c`.
pub fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => "nothing".to_owned(),
    }
}
