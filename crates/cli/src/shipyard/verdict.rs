use std::path::Path;

use anyhow::Result;
use seaway_shipyard::{Checked, Problems, Totals, parse};
use serde_json::{Value, json};

use crate::print::counted;
use crate::shipyard::source;

/// What is to be said about one file.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) problems: Problems,
    /// Missing where there are errors.
    totals: Option<Totals>,
}

impl Verdict {
    pub(super) fn of(file: &Path) -> Result<Self> {
        let text = source::read(file)?;
        let name = file.display().to_string();
        Ok(match parse(&text, &name) {
            Ok(Checked { shipyard, warnings }) => {
                let problems = Problems::new(&text, &name, warnings);
                Self { problems, totals: Some(shipyard.totals()) }
            }
            Err(problems) => Self::refusal(problems),
        })
    }

    /// Of a file that cannot be used.
    pub(super) fn refusal(problems: Problems) -> Self {
        Self { problems, totals: None }
    }

    pub(super) fn passes(&self, strict: bool) -> bool {
        self.totals.is_some() && !(strict && self.problems.warnings() > 0)
    }

    /// In one line.
    pub(super) fn summary(&self, strict: bool) -> String {
        let mut parts = Vec::new();
        if let Some(Totals { stages, sequences, tasks }) = self.totals {
            if self.passes(strict) {
                parts.push("ok".to_owned());
            }
            parts.push(counted(stages, "stage"));
            parts.push(counted(sequences, "sequence"));
            parts.push(counted(tasks, "task"));
        }
        let (errors, warnings) = (self.problems.errors(), self.problems.warnings());
        // The line that says how many are not shown counts as one of them, and stands for more.
        let least = if self.problems.are_cut() { "at least " } else { "" };
        let found = [(errors, "error"), (warnings, "warning")].into_iter().filter(|it| it.0 > 0);
        parts.extend(found.map(|(count, what)| format!("{least}{}", counted(count, what))));
        format!("{}: {}", self.problems.file(), parts.join(", "))
    }

    pub(super) fn json(&self, strict: bool) -> Value {
        json!({
            "file": self.problems.file(),
            "ok": self.passes(strict),
            "stages": self.totals.map(|it| it.stages),
            "sequences": self.totals.map(|it| it.sequences),
            "tasks": self.totals.map(|it| it.tasks),
            "errors": self.problems.errors(),
            "warnings": self.problems.warnings(),
            "problems": self.problems.all(),
        })
    }
}

/// For machines: why a file could not even be read.
pub(super) fn unreadable(file: &Path, why: &str) -> Value {
    json!({ "file": file.display().to_string(), "ok": false, "unreadable": why })
}
