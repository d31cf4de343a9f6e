use std::collections::{BTreeSet, VecDeque};

use anyhow::Result;
use seaway_engine::Subscription;
use seaway_kernel::Reason;
use seaway_model::{DeploymentId, Fact, Kind, Name, TargetId, TargetTable, Timestamp};
use seaway_store::Store;
use seaway_wire::Row;

use crate::demo::example::Example;
use crate::log;
use crate::out::Out;

/// Follows the log and tells the interesting part of it, one short line per record.
#[derive(Debug)]
pub(super) struct Narrator<'a> {
    store: &'a Store,
    project: Name,
    example: &'a Example,
    records: Subscription,
    targets: TargetTable,
    /// Read from the log and not yet told.
    ahead: VecDeque<Row>,
    began: Option<Timestamp>,
    ended: BTreeSet<DeploymentId>,
}

/// A record with the path of its target.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) row: Row,
    pub(super) path: String,
}

impl Told {
    pub(super) fn is(&self, deployment: DeploymentId, kind: Kind) -> bool {
        self.row.deployment == Some(deployment) && self.row.kind == kind
    }

    fn last(&self) -> &str {
        self.path.rsplit_once('/').map_or(&*self.path, |(_, last)| last)
    }

    fn stage(&self) -> &str {
        self.path.split('/').nth(1).unwrap_or_default()
    }
}

impl<'a> Narrator<'a> {
    pub(super) fn new(
        store: &'a Store,
        example: &'a Example,
        project: &Name,
        records: Subscription,
    ) -> Self {
        let targets = TargetTable::new(project.as_str());
        let (project, ahead) = (project.clone(), VecDeque::new());
        Self {
            store,
            project,
            example,
            records,
            targets,
            ahead,
            began: None,
            ended: BTreeSet::new(),
        }
    }

    /// Tells what happens until `done` says that it was enough.
    pub(super) async fn tell_until(
        &mut self,
        out: &mut Out,
        mut done: impl FnMut(&Told) -> bool,
    ) -> Result<()> {
        loop {
            let told = self.next().await?;
            let began = *self.began.get_or_insert(told.row.at);
            if let Some(text) = text(&told) {
                let seconds = (told.row.at - began).0 as f64 / 1e6;
                let release = told.row.deployment.and_then(|id| self.example.release(id));
                let who =
                    release.map_or(String::new(), |it| format!("{} {}", it.service, it.version));
                out.line(format_args!("{seconds:6.2} s  {who:<12} {text}"))?;
                out.flush()?;
            }
            if told.row.kind == Kind::PipelineFinished {
                self.ended.extend(told.row.deployment);
            }
            if done(&told) {
                return Ok(());
            }
        }
    }

    /// Tells what happens until all of these have ended.
    pub(super) async fn tell_until_ended(
        &mut self,
        out: &mut Out,
        deployments: &[DeploymentId],
    ) -> Result<()> {
        while !deployments.iter().all(|deployment| self.ended.contains(deployment)) {
            self.tell_until(out, |told| told.row.kind == Kind::PipelineFinished).await?;
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<Told> {
        let row = loop {
            match self.ahead.pop_front() {
                Some(row) => break row,
                None => self.ahead.extend(self.records.next().await?),
            }
        };
        if self.targets.try_get(row.target).is_none() {
            self.learn_targets().await?;
        }
        let path = self.targets.path(row.target).to_string();
        Ok(Told { row, path })
    }

    async fn learn_targets(&mut self) -> Result<()> {
        const ALL: usize = 10_000;
        let from = TargetId(u32::try_from(self.targets.len())?);
        for target in self.store.targets(&self.project, from, ALL).await? {
            self.targets.define(&target.def)?;
        }
        Ok(())
    }
}

/// What a record is worth telling, if anything.
fn text(told: &Told) -> Option<String> {
    let (row, stage, last) = (&told.row, told.stage(), told.last());
    let by_executor = &*row.by != "seaway";
    let answer = || log::answer(row).map_or(String::new(), |answer| format!(": {answer}"));
    Some(match (row.kind, row.fact) {
        (Kind::Structure, _) => format!("the structure was changed by {}", row.by),
        (Kind::PipelineStarted, Fact::Finished) => {
            format!("started as revision {}", row.revision.unwrap_or_default())
        }
        (Kind::StageStarted, Fact::Finished) => format!("entered {stage}"),
        (Kind::StageFinished, Fact::Finished) => format!("left {stage}"),
        (Kind::StageFinished, Fact::Failed) => format!("stage-failed: {stage}"),
        (Kind::PipelineFinished, Fact::Finished) => "delivered".to_owned(),
        (Kind::PipelineFinished, Fact::Failed) => "pipeline-failed: it goes no further".to_owned(),
        (_, Fact::Skipped) => {
            let record = row.open().ok()?;
            let why = record.reason().map_or(String::new(), Reason::to_string);
            format!("{} on {last} in {stage} is skipped: {why}", row.kind)
        }
        (Kind::TaskDone, Fact::Finished) if by_executor => {
            format!("{last} passed in {stage}{}", answer())
        }
        (Kind::TaskDone, Fact::Failed) if by_executor => {
            format!("{last} failed in {stage}{}", answer())
        }
        (Kind::ArtifactRegistered, Fact::Finished) => format!("artifact for {last} is registered"),
        (Kind::MemberDeployed, Fact::Finished) => format!("{last} {}", log::answer(row)?),
        (Kind::MemberTested, Fact::Finished) => format!("{last} {}", log::answer(row)?),
        _ => return None,
    })
}
