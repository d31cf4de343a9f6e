use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use super::line::{Grain, Line, offset};
use crate::play::{MOST_RECORDS, Played, Stopped};

/// A play as text, or as JSON.
#[derive(Clone, Copy, Debug)]
pub struct Transcript<'p> {
    pub played: &'p Played,
    /// With every record.
    pub records: bool,
    /// With what the messages carry.
    pub data: bool,
}

impl fmt::Display for Transcript<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines(f)?;
        self.deployments(f)?;
        self.waits(f)?;
        self.expectations(f)
    }
}

impl Transcript<'_> {
    fn shown(&self) -> impl Iterator<Item = &Line> {
        let records = self.records;
        self.played.lines.iter().filter(move |line| records || line.grain == Grain::Message)
    }

    fn lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.played.ended.iter().map(|it| it.ship.name.len());
        let width = names.max().unwrap_or(0);
        // What is inside of a run follows a line that names it.
        let mut inside: BTreeMap<Option<&str>, &str> = BTreeMap::new();
        for line in self.shown() {
            let name = line.deployment.as_deref();
            let head = format!("{:>8}  {:<width$}  ", offset(line.at), name.unwrap_or(""));
            if let Some(run) = line.run.as_deref() {
                let before = inside.insert(name, run);
                if before != Some(run) && line.depth > 0 && line.grain == Grain::Message {
                    writeln!(f, "{head}{run} ...")?;
                }
            }
            let indent = "  ".repeat(line.depth);
            writeln!(f, "{head}{indent}{}", line.text)?;
            if let Some(data) = line.data.as_ref().filter(|_| self.data) {
                writeln!(f, "{}{indent}   {data}", " ".repeat(head.len()))?;
            }
        }
        match self.played.stopped {
            Stopped::AtRest => Ok(()),
            Stopped::OutOfTime => {
                writeln!(f, "{:>8}  the time of the scenario is over", offset(self.played.took))
            }
            Stopped::TooLong => {
                writeln!(
                    f,
                    "{:>8}  cut off: a play writes at most {MOST_RECORDS} records",
                    offset(self.played.took)
                )
            }
        }
    }

    fn deployments(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nDeployments")?;
        let name = self.played.ended.iter().map(|it| it.ship.name.len()).max().unwrap_or(0);
        for ended in &self.played.ended {
            let ship = &ended.ship;
            let at = ended.at.map_or(String::new(), |at| format!(" at {}", offset(at)));
            let what = format!("{} {}", ship.service, ship.version);
            writeln!(f, "  {:<name$}  {what}  {}{at}", ship.name, ended.verdict)?;
        }
        Ok(())
    }

    fn waits(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.played.waits.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nStill waiting")?;
        for waits in &self.played.waits {
            writeln!(f, "  {} {}: {}", waits.ship, waits.place, waits.why)?;
            writeln!(f, "      ended by: {}", waits.ended_by)?;
        }
        Ok(())
    }

    fn expectations(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.played.held.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nExpectations")?;
        for held in &self.played.held {
            match held.holds {
                true => writeln!(f, "  ok    {}", held.text)?,
                false => writeln!(f, "  WRONG {}, but {}", held.text, held.but)?,
            }
        }
        Ok(())
    }

    /// The same for machines.
    #[must_use]
    pub fn json(&self) -> Value {
        let lines: Vec<Value> = self.shown().map(|line| self.line_json(line)).collect();
        let deployments = self.played.ended.iter().map(|it| {
            json!({
                "name": it.ship.name,
                "service": it.ship.service,
                "version": it.ship.version,
                "revision": it.revision,
                "result": it.verdict.as_str(),
                "at": it.at.map(offset),
            })
        });
        let waiting = self.played.waits.iter().map(|it| {
            json!({
                "deployment": it.ship,
                "place": it.place,
                "why": it.why,
                "endedBy": it.ended_by,
            })
        });
        let expectations = self
            .played
            .held
            .iter()
            .map(|it| json!({ "text": it.text, "holds": it.holds, "but": it.but }));
        json!({
            "ok": self.played.holds(),
            "took": offset(self.played.took),
            "stopped": self.played.stopped.as_str(),
            "atRest": self.played.stopped == Stopped::AtRest,
            "lines": lines,
            "deployments": deployments.collect::<Vec<_>>(),
            "waiting": waiting.collect::<Vec<_>>(),
            "expectations": expectations.collect::<Vec<_>>(),
        })
    }

    fn line_json(&self, line: &Line) -> Value {
        json!({
            "at": offset(line.at),
            "deployment": line.deployment,
            "run": line.run,
            "record": line.grain == Grain::Record,
            "text": line.text,
            "data": line.data.as_ref().filter(|_| self.data),
        })
    }
}
