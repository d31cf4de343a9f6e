use std::collections::BTreeSet;

use seaway_api::{DeploymentState, WhyLine};
use seaway_kernel::{Kernel, Step, UnderWay, Waiting, WaitingJoin, WaitingStep};
use seaway_model::{DeploymentId, Level, Revision, Seq, TargetId, Timestamp};
use seaway_store::DeploymentStanding;

use super::deployment::ended;
use crate::clock;

/// Steps of one deployment that are looked at.
const LOOKED_AT: usize = 1_000;

/// Where a list of lines goes on: after so many lines of a deployment, or after all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) revision: Revision,
    pub(crate) started: Seq,
    /// Lines of it that were shown; none: all.
    pub(crate) lines: Option<usize>,
}

impl std::fmt::Display for Reached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.revision, self.started)?;
        self.lines.map_or(Ok(()), |lines| write!(f, ".{lines}"))
    }
}

impl std::str::FromStr for Reached {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.splitn(3, '.');
        let mut part = || parts.next().unwrap_or_default();
        let (revision, started) = (Revision(part().parse()?), Seq(part().parse()?));
        let lines = parts.next().map(str::parse).transpose()?;
        Ok(Self { revision, started, lines })
    }
}

/// What waits in a project, oldest revision first, and where the list goes on.
pub(crate) fn all(
    kernel: &Kernel,
    after: Option<Reached>,
    limit: usize,
) -> (Vec<WhyLine>, Option<Reached>) {
    let mut lines: Vec<WhyLine> = Vec::new();
    // What was shown in part comes again.
    let beyond = after.and_then(|it| match it.lines {
        Some(_) => before(it.revision, it.started),
        None => Some((it.revision, it.started)),
    });
    let found = kernel.oldest(beyond, limit + 1);
    let last = found.len().min(limit);
    for (position, it) in found.iter().take(limit).enumerate() {
        let (revision, started) = (it.revision, it.started);
        let shown = after.filter(|after| (after.revision, after.started) == (revision, started));
        let shown = shown.and_then(|after| after.lines).unwrap_or_default();
        let own: Vec<WhyLine> = of(kernel, it).into_iter().skip(shown).collect();
        let room = limit - lines.len();
        let more = own.len() > room;
        lines.extend(own.into_iter().take(room));
        if more {
            return (lines, Some(Reached { revision, started, lines: Some(shown + room) }));
        }
        let rest = position + 1 < last || found.len() > limit;
        if lines.len() == limit && rest {
            return (lines, Some(Reached { revision, started, lines: None }));
        }
    }
    let next = found.get(limit - 1).filter(|_| found.len() > limit);
    let next = next.map(|it| Reached { revision: it.revision, started: it.started, lines: None });
    (lines, next)
}

/// Right before a deployment, in the order in which they are listed.
fn before(revision: Revision, started: Seq) -> Option<(Revision, Seq)> {
    Some((revision, Seq(started.0.checked_sub(1)?)))
}

/// What waits in a deployment that is under way.
pub(crate) fn of(kernel: &Kernel, deployment: &UnderWay<'_>) -> Vec<WhyLine> {
    let waiting = kernel.waiting(deployment.id, LOOKED_AT);
    let steps = worth_telling(kernel, &waiting);
    let steps = steps.map(|it| step_line(kernel, deployment, it));
    let joins = kernel.waiting_joins(deployment.id);
    let joins = joins.iter().map(|it| join_line(kernel, deployment, it));
    steps.chain(joins).collect()
}

/// What is waited for explains those that wait for it, and what failed those that failed with it.
fn worth_telling<'a>(
    kernel: &'a Kernel,
    waiting: &'a [WaitingStep],
) -> impl Iterator<Item = &'a WaitingStep> {
    let is_root = |it: &&WaitingStep| !matches!(it.why, Waiting::Before { .. });
    let roots: BTreeSet<Step> = waiting.iter().filter(is_root).map(|it| it.step).collect();
    let failed = waiting.iter().filter(|it| it.why == Waiting::Failed && !it.step.kind.is_marker());
    let around: BTreeSet<TargetId> =
        failed.flat_map(|it| enclosing(kernel, it.step.target)).collect();
    waiting.iter().filter(move |it| match &it.why {
        Waiting::Before { open } => !open.iter().any(|step| roots.contains(step)),
        Waiting::Failed => !(it.step.kind.is_marker() && around.contains(&it.step.target)),
        _ => true,
    })
}

fn enclosing(kernel: &Kernel, target: TargetId) -> Vec<TargetId> {
    let mut all = Vec::new();
    let mut node = kernel.targets().get(target);
    while node.level != Level::Project {
        all.push(node.parent);
        node = kernel.targets().get(node.parent);
    }
    all
}

fn line(deployment: &UnderWay<'_>, target: String, reason: &str) -> WhyLine {
    WhyLine {
        deployment: deployment.id.0,
        service: deployment.service.to_string(),
        version: deployment.version.to_owned(),
        revision: deployment.revision.0,
        target,
        reason: reason.to_owned(),
        text: String::new(),
        ended_by: String::new(),
        since: None,
        until: None,
    }
}

fn step_line(kernel: &Kernel, deployment: &UnderWay<'_>, it: &WaitingStep) -> WhyLine {
    let target = kernel.targets().path(it.step.target).to_string();
    let (since, until) = times(&it.why);
    WhyLine {
        text: it.why.to_string(),
        ended_by: it.why.ended_by(),
        since: since.map(clock::show),
        until: until.map(clock::show),
        ..line(deployment, target, reason(&it.why))
    }
}

fn join_line(kernel: &Kernel, deployment: &UnderWay<'_>, join: &WaitingJoin) -> WhyLine {
    let target = format!("{}/{}/{}", kernel.project(), join.stage, join.sequence);
    let missing: Vec<String> = join.missing.iter().map(ToString::to_string).collect();
    WhyLine {
        text: format!("waiting for {}", missing.join(" and ")),
        ended_by: match missing.len() {
            1 => "that event".to_owned(),
            _ => "all of these events".to_owned(),
        },
        ..line(deployment, target, "join")
    }
}

/// Stable words for programs.
fn reason(why: &Waiting) -> &'static str {
    match why {
        Waiting::Scheduled => "scheduled",
        Waiting::Unclaimed => "unclaimed",
        Waiting::Working { .. } => "working",
        Waiting::Offered { working, .. } if working.is_empty() => "offered",
        Waiting::Offered { .. } => "working",
        Waiting::Approval { .. } => "approval",
        Waiting::NoExecutor { .. } => "no-executor",
        Waiting::Delayed { .. } => "delayed",
        Waiting::Retrying { .. } => "retrying",
        Waiting::Paused { .. } => "paused",
        Waiting::Aborting { .. } => "aborting",
        Waiting::Before { .. } => "before",
        Waiting::InLine { .. } => "in-line",
        Waiting::Failed => "failed",
        Waiting::Superseded => "superseded",
        Waiting::Overtaken => "overtaken",
    }
}

/// Since when, and until when, as far as that is known.
fn times(why: &Waiting) -> (Option<Timestamp>, Option<Timestamp>) {
    match why {
        Waiting::Working { since, .. }
        | Waiting::Approval { since }
        | Waiting::Paused { since, .. }
        | Waiting::Aborting { since, .. } => (Some(*since), None),
        Waiting::Offered { working, .. } => (working.iter().map(|(_, since)| *since).min(), None),
        Waiting::NoExecutor { until, .. }
        | Waiting::Delayed { until }
        | Waiting::Retrying { until, .. } => (None, Some(*until)),
        _ => (None, None),
    }
}

/// How a deployment ended that waits for nothing any more; none if it has not ended.
pub(crate) fn over(
    project: &str,
    standing: &DeploymentStanding,
    at: Option<Timestamp>,
) -> Option<WhyLine> {
    let start = &standing.start;
    let state = ended(standing.ended?.fact);
    let (reason, text, ended_by) = match state {
        DeploymentState::Failed => ("failed", "it failed".to_owned(), Waiting::Failed.ended_by()),
        DeploymentState::Superseded => {
            ("superseded", Waiting::Superseded.to_string(), Waiting::Superseded.ended_by())
        }
        DeploymentState::Aborted => {
            ("aborted", "it was aborted".to_owned(), "nothing; start a new one".to_owned())
        }
        _ => ("finished", "it has finished".to_owned(), "nothing; it is over".to_owned()),
    };
    Some(WhyLine {
        deployment: start.deployment.0,
        service: start.service.to_string(),
        version: start.version.to_string(),
        revision: start.revision.0,
        target: project.to_owned(),
        reason: reason.to_owned(),
        text,
        ended_by,
        since: at.map(clock::show),
        until: None,
    })
}

/// What waits in one deployment, if it is under way.
pub(crate) fn of_one(kernel: &Kernel, deployment: DeploymentId) -> Option<Vec<WhyLine>> {
    kernel.under_way(deployment).map(|it| of(kernel, &it))
}
