use std::collections::BTreeMap;

use seaway_model::{DeploymentId, Kind, Name, Seq};
use seaway_store::Listed;

use super::journey::Journey;
use super::span::Span;

/// The deployments of a project that are under way, from which spans are made as they end.
///
/// It holds nothing that is not in the log. Whatever it does not know, because it was forgotten or
/// because it began before this process did, is recalled from there.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    project: Name,
    journeys: BTreeMap<DeploymentId, Journey>,
}

/// Deployments that are remembered at the same time.
const MOST: usize = 10_000;

impl Fold {
    pub(crate) fn new(project: Name) -> Self {
        Self { project, journeys: BTreeMap::new() }
    }

    /// The deployment whose earlier records have to be recalled before this one is taken.
    pub(crate) fn missing(&self, listed: &Listed) -> Option<DeploymentId> {
        let id = listed.row.deployment?;
        let known = listed.row.kind == Kind::PipelineStarted || self.journeys.contains_key(&id);
        (!known).then_some(id)
    }

    /// A record of before, whose spans have been handed out already.
    pub(crate) fn recall(&mut self, listed: &Listed) {
        self.fold(listed, &mut Vec::new());
    }

    /// The next record of the log; spans that end with it are handed out.
    pub(crate) fn take(&mut self, listed: &Listed, out: &mut Vec<Span>) {
        self.fold(listed, out);
        if let Some(id) = listed.row.deployment
            && self.journeys.get(&id).is_some_and(Journey::is_over)
        {
            self.journeys.remove(&id);
        }
    }

    fn fold(&mut self, listed: &Listed, out: &mut Vec<Span>) {
        let Listed { row, path } = listed;
        let Some(id) = row.deployment else { return };
        if row.kind == Kind::PipelineStarted
            && let Some(journey) = Journey::begin(&self.project, row)
        {
            self.journeys.insert(id, journey);
        }
        if let Some(journey) = self.journeys.get_mut(&id) {
            journey.take(row, path, out);
        }
    }

    /// Forgets those that nothing was heard of for longest, where there are too many.
    pub(crate) fn trim(&mut self) {
        if self.journeys.len() <= MOST {
            return;
        }
        let mut last: Vec<Seq> = self.journeys.values().map(|it| it.last).collect();
        last.sort_unstable();
        let middle = last[last.len() / 2];
        self.journeys.retain(|_, journey| journey.last >= middle);
    }

    pub(crate) fn forget(&mut self) {
        self.journeys.clear();
    }
}

#[cfg(test)]
mod tests {
    use seaway_kernel::{Actor, Detail, Reason};
    use seaway_model::{Attempt, ExecutorName, Fact, Span as Length};

    use super::super::span::{Ending, Value};
    use super::*;
    use crate::view::listed::Log;

    const RUN: &str = "shop/beta/delivery#1";
    const TASK: &str = "shop/beta/delivery#1/test";
    const SHARE: &str = "shop/beta/delivery#1/test@acme/jmeter";

    /// A deployment up to the first task of its first run; each record takes a second.
    fn started() -> Log {
        let mut log = Log::default();
        let (service, version) = (Name::new("cart").unwrap(), "1.2".into());
        let deploys = Detail::Deploys { service, version };
        log.say("shop", Kind::PipelineStarted, Fact::Finished, deploys);
        log.add("shop/beta", Kind::StageStarted, Fact::Finished);
        log.add(RUN, Kind::SequenceTriggered, Fact::Finished);
        log.add(RUN, Kind::SequenceStarted, Fact::Finished);
        log.add(TASK, Kind::TaskDone, Fact::Dispatched);
        log
    }

    fn claim(log: &mut Log, lease: u32) {
        let (executor, ttl) = (ExecutorName("acme/jmeter".into()), Length::from_secs(60));
        let detail = Detail::Lease { executor, ttl };
        log.put(SHARE, Kind::TaskDone, Fact::Claimed, |record| {
            (record.n, record.detail) = (lease, Some(Box::new(detail)));
        });
    }

    fn finish(log: &mut Log, fact: Fact) {
        log.add(RUN, Kind::SequenceFinished, fact);
        log.add("shop", Kind::PipelineFinished, fact);
    }

    fn spans(log: &Log) -> Vec<Span> {
        let mut fold = Fold::new(Name::new("shop").unwrap());
        let mut out = Vec::new();
        log.records.iter().for_each(|listed| fold.take(listed, &mut out));
        assert!(fold.journeys.is_empty(), "what has ended is forgotten");
        out
    }

    /// Name, and from which second to which.
    fn times(spans: &[Span]) -> Vec<(&str, i64, i64)> {
        let second = 1_000_000;
        let times = |it: &Span| (it.start.0 / second, it.end.0 / second);
        spans.iter().map(|it| (&*it.name, times(it).0, times(it).1)).collect()
    }

    fn attribute(span: &Span, key: &str) -> Option<String> {
        let found = span.attributes.iter().find(|(known, _)| *known == key);
        found.map(|(_, value)| match value {
            Value::Text(text) => text.clone(),
            Value::Number(number) => number.to_string(),
        })
    }

    #[test]
    fn a_deployment_is_a_trace_with_a_span_for_each_run_and_task() {
        let mut log = started();
        claim(&mut log, 1);
        log.put(SHARE, Kind::TaskDone, Fact::LeaseExpired, |record| record.n = 1);
        claim(&mut log, 2);
        log.put(SHARE, Kind::TaskDone, Fact::Started, |record| record.n = 2);
        log.add(SHARE, Kind::TaskDone, Fact::Changed);
        log.add(SHARE, Kind::TaskDone, Fact::Finished);
        log.add(TASK, Kind::TaskDone, Fact::Finished);
        finish(&mut log, Fact::Finished);
        let spans = spans(&log);
        let expected = [("test", 5, 12), ("beta.delivery", 3, 13), ("deploy cart", 1, 14)];
        assert_eq!(times(&spans), expected);
        let [test, run, whole] = &spans[..] else { panic!("{spans:#?}") };
        assert_eq!((test.parent, run.parent, whole.parent), (Some(run.id), Some(whole.id), None));
        let events: Vec<&str> = test.events.iter().map(|it| &*it.name).collect();
        let expected = ["claimed", "lease-expired", "claimed", "started", "changed", "finished"];
        assert_eq!(events, expected);
        assert_eq!(run.events[0].name, "started");
        for (key, value) in [
            ("seaway.project", "shop"),
            ("seaway.stage", "beta"),
            ("seaway.service", "cart"),
            ("seaway.version", "1.2"),
            ("seaway.revision", "3"),
            ("seaway.target", TASK),
            ("seaway.attempt", "1"),
            ("seaway.executor", "acme/jmeter"),
            ("seaway.outcome", "pass"),
        ] {
            assert_eq!(attribute(test, key).as_deref(), Some(value), "{key}");
        }
        assert_eq!(attribute(whole, "seaway.stage"), None);
        assert!(spans.iter().all(|it| it.ending == Ending::Fine));
    }

    #[test]
    fn each_attempt_is_a_span_and_says_why_it_failed() {
        let mut log = started();
        let timed_out = Detail::Because(Reason::TimedOut);
        log.say(TASK, Kind::TaskDone, Fact::Failed, timed_out);
        for fact in [Fact::Retried, Fact::Dispatched, Fact::Failed] {
            log.put(TASK, Kind::TaskDone, fact, |record| record.attempt = Attempt(2));
        }
        finish(&mut log, Fact::Failed);
        let spans = spans(&log);
        let [first, second, run, whole] = &spans[..] else { panic!("{spans:#?}") };
        assert_eq!(times(&spans)[..2], [("test", 5, 6), ("test", 8, 9)]);
        assert_ne!(first.id, second.id);
        assert_eq!((first.parent, second.parent), (Some(run.id), Some(run.id)));
        assert_eq!(attribute(second, "seaway.attempt").as_deref(), Some("2"));
        assert_eq!(first.ending, Ending::Failed("timed out".to_owned()));
        assert_eq!(whole.ending, Ending::Failed("failed".to_owned()));
        assert_eq!(run.events.last().map(|it| &*it.name), Some("retried"));
    }

    /// A person tries the failed task again: run and deployment go on, in spans of their own.
    #[test]
    fn what_goes_on_after_its_end_becomes_another_span() {
        let mut log = started();
        log.add(TASK, Kind::TaskDone, Fact::Failed);
        finish(&mut log, Fact::Failed);
        let before = log.records.len();
        for fact in [Fact::Retried, Fact::Dispatched, Fact::Finished] {
            log.put(TASK, Kind::TaskDone, fact, |record| {
                record.attempt = Attempt(2);
                record.by = Actor::named("me");
            });
        }
        finish(&mut log, Fact::Finished);
        let mut fold = Fold::new(Name::new("shop").unwrap());
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let (early, late) = log.records.split_at(before);
        early.iter().for_each(|listed| fold.take(listed, &mut first));
        let forgotten = fold.missing(&late[0]);
        assert_eq!(forgotten, late[0].row.deployment);
        early.iter().for_each(|listed| fold.recall(listed));
        late.iter().for_each(|listed| fold.take(listed, &mut second));
        let expected = [("test", 10, 11), ("beta.delivery", 9, 12), ("deploy cart", 9, 13)];
        assert_eq!(times(&second), expected);
        let (root, again) = (&first[2], &second[2]);
        assert_eq!((root.parent, again.parent), (None, Some(root.id)));
        let mut ids: Vec<[u8; 8]> = first.iter().chain(&second).map(|it| it.id.0).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 6);
    }

    /// Wherever the process stops, the next one makes the same spans from there on.
    #[test]
    fn nothing_is_lost_or_doubled_by_beginning_in_the_middle() {
        let mut log = started();
        claim(&mut log, 1);
        log.add(SHARE, Kind::TaskDone, Fact::Finished);
        log.add(TASK, Kind::TaskDone, Fact::Finished);
        log.add("shop", Kind::Deployment, Fact::Paused);
        log.add("shop", Kind::Deployment, Fact::Resumed);
        finish(&mut log, Fact::Finished);
        let whole = spans(&log);
        assert_eq!(whole.len(), 3);
        let noted: Vec<&str> = whole[2].events.iter().map(|it| &*it.name).collect();
        assert_eq!(noted, ["paused", "resumed"]);
        for cut in 0..=log.records.len() {
            let (before, after) = log.records.split_at(cut);
            let (mut fold, mut out) = (Fold::new(Name::new("shop").unwrap()), Vec::new());
            before.iter().for_each(|listed| fold.take(listed, &mut out));
            fold.forget();
            for listed in after {
                if fold.missing(listed).is_some() {
                    before.iter().for_each(|listed| fold.recall(listed));
                }
                fold.take(listed, &mut out);
            }
            assert_eq!(out, whole, "cut after {cut}");
        }
    }

    #[test]
    fn what_was_left_behind_ends_with_the_deployment() {
        let mut log = started();
        claim(&mut log, 1);
        log.say("shop", Kind::PipelineFinished, Fact::Cancelled, Detail::Because(Reason::Aborted));
        let spans = spans(&log);
        assert_eq!(times(&spans).len(), 3);
        assert!(spans.iter().all(|it| it.end.0 == 7_000_000 && it.ending == Ending::Other));
        assert_eq!(attribute(&spans[2], "seaway.outcome").as_deref(), Some("cancelled"));
    }

    #[test]
    fn those_that_nothing_was_heard_of_are_forgotten_first() {
        let mut fold = Fold::new(Name::new("shop").unwrap());
        let first = started().records.swap_remove(0);
        for number in 0..=MOST as u64 {
            let mut listed = first.clone();
            listed.row.seq = Seq(number + 1);
            listed.row.deployment = Some(DeploymentId(uuid::Uuid::from_u128(number.into())));
            fold.take(&listed, &mut Vec::new());
        }
        fold.trim();
        assert!(fold.journeys.len() <= MOST);
        assert!(fold.journeys.values().all(|it| it.last.0 > MOST as u64 / 2));
    }
}
