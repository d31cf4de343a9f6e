use seaway_model::{Fact, Kind};

/// What a record is called when others are told of it, and whom it is about, as far as that follows
/// from its target and its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordEvent<'a> {
    /// The type of the message without its prefix, such as `beta.delivery.finished`.
    pub name: String,
    pub stage: Option<&'a str>,
    /// The executor whose share of a task it is about.
    pub executor: Option<&'a str>,
}

impl<'a> RecordEvent<'a> {
    /// What everybody types before the name.
    pub const PREFIX: &'static str = "sh.keptn.event.";

    /// `path` is the text of the record's target. What ends a run or a task without a result has no
    /// `finished`: it is told as the record that it is.
    #[must_use]
    pub fn of(path: &'a str, kind: Kind, fact: Fact) -> Self {
        let Parts { stage, sequence, task, executor } = Parts::of(path);
        let run = match (kind, fact) {
            (Kind::SequenceTriggered, Fact::Finished) => Some("triggered"),
            (Kind::SequenceStarted, Fact::Finished) => Some("started"),
            (Kind::SequenceFinished, Fact::Finished | Fact::Failed) => Some("finished"),
            _ => None,
        };
        let work = match (kind, fact) {
            (Kind::TaskDone, Fact::Dispatched) => Some("triggered"),
            (Kind::TaskDone, Fact::Started) => Some("started"),
            (Kind::TaskDone, Fact::Changed) => Some("status.changed"),
            (Kind::TaskDone, Fact::Finished | Fact::Failed) => Some("finished"),
            _ => None,
        };
        let name = match (stage, sequence, task) {
            (Some(stage), Some(sequence), None) => {
                run.map(|what| format!("{stage}.{sequence}.{what}"))
            }
            (_, _, Some(task)) => work.map(|what| format!("{task}.{what}")),
            _ => None,
        };
        let name = name.unwrap_or_else(|| format!("record.{kind}.{fact}"));
        Self { name, stage, executor }
    }
}

/// The parts of a path that events are named after, without the numbers of runs and of tasks that
/// occur several times.
#[derive(Clone, Copy, Debug, Default)]
struct Parts<'a> {
    stage: Option<&'a str>,
    sequence: Option<&'a str>,
    task: Option<&'a str>,
    executor: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(path: &'a str) -> Self {
        // The name of an executor is last and may have slashes itself.
        let (path, executor) = match path.split_once('@') {
            Some((path, executor)) => (path, Some(executor)),
            None => (path, None),
        };
        let mut parts = path.split('/').skip(1);
        let mut next = |mark: char| {
            let part = parts.next()?;
            Some(part.split_once(mark).map_or(part, |(name, _)| name))
        };
        let (stage, sequence, task) = (next('/'), next('#'), next(':'));
        Self { stage, sequence, task, executor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "shop/beta/delivery#2";
    const TASK: &str = "shop/beta/delivery#1/test";

    #[test]
    fn records_of_runs_and_tasks_have_the_names_that_shipyards_know() {
        for (path, kind, fact, name) in [
            (RUN, Kind::SequenceTriggered, Fact::Finished, "beta.delivery.triggered"),
            (RUN, Kind::SequenceStarted, Fact::Finished, "beta.delivery.started"),
            (RUN, Kind::SequenceFinished, Fact::Finished, "beta.delivery.finished"),
            (RUN, Kind::SequenceFinished, Fact::Failed, "beta.delivery.finished"),
            (TASK, Kind::TaskDone, Fact::Dispatched, "test.triggered"),
            (TASK, Kind::TaskDone, Fact::Started, "test.started"),
            (TASK, Kind::TaskDone, Fact::Changed, "test.status.changed"),
            (TASK, Kind::TaskDone, Fact::Finished, "test.finished"),
            (TASK, Kind::TaskDone, Fact::Failed, "test.finished"),
            ("shop/beta/delivery#1/test:2", Kind::TaskDone, Fact::Finished, "test.finished"),
        ] {
            let event = RecordEvent::of(path, kind, fact);
            assert_eq!(event.name, name, "{path} {kind} {fact}");
            assert_eq!((event.stage, event.executor), (Some("beta"), None));
        }
    }

    #[test]
    fn the_share_of_an_executor_is_about_the_executor() {
        let path = "shop/beta/delivery#1/test:2@acme.com/jmeter/eu";
        let event = RecordEvent::of(path, Kind::TaskDone, Fact::Started);
        assert_eq!(event.name, "test.started");
        assert_eq!((event.stage, event.executor), (Some("beta"), Some("acme.com/jmeter/eu")));
    }

    #[test]
    fn everything_else_is_told_as_the_record_that_it_is() {
        for (path, kind, fact, name) in [
            ("shop", Kind::Deployment, Fact::Paused, "record.deployment.paused"),
            ("shop", Kind::PipelineFinished, Fact::Failed, "record.pipeline-finished.failed"),
            ("shop", Kind::Documents, Fact::Changed, "record.documents.changed"),
            ("shop", Kind::Executor, Fact::ExecutorLeft, "record.executor.executor-left"),
            ("shop/beta", Kind::StageStarted, Fact::Finished, "record.stage-started.finished"),
            (RUN, Kind::SequenceTriggered, Fact::Failed, "record.sequence-triggered.failed"),
            (RUN, Kind::SequenceFinished, Fact::Superseded, "record.sequence-finished.superseded"),
            (TASK, Kind::TaskDone, Fact::Claimed, "record.task-done.claimed"),
            (TASK, Kind::TaskDone, Fact::LeaseExpired, "record.task-done.lease-expired"),
            (TASK, Kind::TaskDone, Fact::Cancelled, "record.task-done.cancelled"),
        ] {
            assert_eq!(RecordEvent::of(path, kind, fact).name, name, "{path} {kind} {fact}");
        }
        let member = "shop/beta/delivery#1/deployment/eu/host-7";
        let event = RecordEvent::of(member, Kind::MemberDeployed, Fact::Started);
        assert_eq!(event.name, "record.member-deployed.started");
        assert_eq!(RecordEvent::of("shop", Kind::Documents, Fact::Changed).stage, None);
    }

    /// No two facts about one kind of step share a name, except that an end with a failure is an
    /// end, too.
    #[test]
    fn a_name_says_what_happened() {
        for path in ["shop", "shop/beta", RUN, TASK] {
            for &kind in Kind::ALL {
                let mut names = std::collections::BTreeMap::new();
                for &fact in Fact::ALL {
                    let name = RecordEvent::of(path, kind, fact).name;
                    if let Some(other) = names.insert(name.clone(), fact) {
                        assert_eq!((other, fact), (Fact::Finished, Fact::Failed), "{name}");
                    }
                }
            }
        }
    }
}
