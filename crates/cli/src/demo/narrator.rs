use std::collections::BTreeMap;

use anyhow::{Result, bail};
use seaway_api::{Record, Triggered};
use seaway_client::RecordStream;
use serde_json::Value;
use tokio::time::Instant;
use uuid::Uuid;

use crate::deliver::{Told, tell};
use crate::demo::example::Release;
use crate::out::Out;

/// Tells what happens, a line at a time, as it comes from the server.
pub(super) struct Narrator {
    records: RecordStream,
    began: Instant,
    releases: BTreeMap<Uuid, Release>,
    /// What executors said about tasks that are not over yet.
    said: BTreeMap<String, String>,
}

impl Narrator {
    pub(super) fn new(records: RecordStream) -> Self {
        Self { records, began: Instant::now(), releases: BTreeMap::new(), said: BTreeMap::new() }
    }

    pub(super) fn expect(&mut self, release: Release, triggered: &Triggered) {
        self.releases.insert(triggered.deployment, release);
    }

    /// Tells everything until something has happened to each of these deployments.
    pub(super) async fn tell_until(
        &mut self,
        out: &mut Out,
        deployments: &[Uuid],
        happened: impl Fn(&Record) -> bool,
    ) -> Result<()> {
        let mut open = deployments.to_vec();
        while !open.is_empty() {
            let record = self.records.next().await?;
            self.tell(out, &record)?;
            let Some(deployment) = record.deployment else { continue };
            if happened(&record) {
                open.retain(|it| *it != deployment);
            } else if is_over(&record) && open.contains(&deployment) {
                bail!("deployment {deployment} ended before it came as far as it should");
            }
        }
        out.flush()
    }

    /// An executor says how its share of a task went; the task is told when all are done.
    fn note_said(&mut self, record: &Record) {
        let Some((task, _)) = record.target.split_once('@') else { return };
        let answer = record.data.as_ref().and_then(|data| data.get("answer")?.as_str());
        let answer = answer.and_then(|text| serde_json::from_str::<Value>(text).ok());
        if let Some(said) = answer.as_ref().and_then(|answer| answer.get("message")?.as_str()) {
            self.said.insert(task.to_owned(), said.to_owned());
        }
    }

    fn tell(&mut self, out: &mut Out, record: &Record) -> Result<()> {
        self.note_said(record);
        let release = record.deployment.and_then(|id| self.releases.get(&id));
        let (Some(Told::Line(paint, text)), Some(release)) = (tell(record), release) else {
            return Ok(());
        };
        let seconds = self.began.elapsed().as_secs_f64();
        let who = format!("{} {}", release.service, release.version);
        let said = self.said.remove(&record.target);
        let said = said.map_or(String::new(), |said| format!(": {said}"));
        let text = paint.on(out.has_colours(), format!("{text}{said}"));
        out.line(format_args!("{seconds:6.2} s  {who:<12} {text}"))?;
        out.flush()
    }
}

pub(super) fn waits_for_approval(record: &Record) -> bool {
    record.kind == "task-done"
        && record.fact == "dispatched"
        && record.target.ends_with("/approval")
}

pub(super) fn is_over(record: &Record) -> bool {
    let ends = ["finished", "failed", "superseded", "cancelled"];
    record.kind == "pipeline-finished" && ends.contains(&&*record.fact)
}
