use std::collections::BTreeMap;

use seaway_kernel::Step;
use seaway_model::Span;
use serde_json::Value;

use crate::play::find::Spot;

/// One sentence of a transcript.
#[derive(Clone, Debug)]
pub struct Line {
    /// From the start.
    pub at: Span,
    /// The name of the deployment, if it is about one.
    pub deployment: Option<String>,
    pub(crate) ship: Option<usize>,
    pub(crate) spot: Option<Spot>,
    /// The run that it is inside of, as `<stage>.<sequence>#<number>`.
    pub run: Option<String>,
    /// How far it is indented: runs, their tasks, the executors of these.
    pub depth: usize,
    pub text: String,
    /// What a message carries.
    pub data: Option<Value>,
    pub grain: Grain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// A message or a decision, in words.
    Message,
    /// A record, as it is in the log.
    Record,
}

/// The lines so far, and what was said of those who wait.
#[derive(Debug, Default)]
pub(crate) struct Story {
    lines: Vec<Line>,
    pub(super) waits: BTreeMap<Step, String>,
    pub(super) joins: BTreeMap<(usize, String), String>,
}

impl Story {
    pub(super) fn push(&mut self, line: Line) {
        self.lines.push(line);
    }

    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub(crate) fn into_lines(self) -> Vec<Line> {
        self.lines
    }
}

/// A length of time as it is written in a scenario: `1h30m`, `45s`, `1.5s`.
#[must_use]
pub fn offset(span: Span) -> String {
    let Span(micros) = span;
    let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let mut text = String::new();
    if hours > 0 {
        text += &format!("{hours}h");
    }
    if minutes > 0 {
        text += &format!("{minutes}m");
    }
    if rest > 0 {
        let fraction = format!("{rest:06}");
        text += &format!("{seconds}.{}s", fraction.trim_end_matches('0'));
    } else if seconds > 0 || text.is_empty() {
        text += &format!("{seconds}s");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_read_as_they_are_written() {
        for (micros, text) in [
            (0, "0s"),
            (45_000_000, "45s"),
            (600_000_000, "10m"),
            (5_400_000_000, "1h30m"),
            (3_605_000_000, "1h5s"),
            (1_500_000, "1.5s"),
        ] {
            assert_eq!(offset(Span(micros)), text);
        }
    }
}
