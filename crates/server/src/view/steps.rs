use std::collections::BTreeMap;

use seaway_kernel::{Kernel, Step, Waiting};
use seaway_model::{DeploymentId, Fact, Kind, Level, TargetId};
use seaway_store::Listed;

use super::path::Path;

/// A step that a person may do something about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) target: TargetId,
    pub(crate) kind: Kind,
    pub(crate) path: String,
    pub(crate) standing: Standing,
    /// Why it does not move, in words.
    pub(crate) text: String,
}

/// How a step stands, as far as a person is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Failed,
    /// A person has to say yes or no.
    Asks,
    Waits,
    /// Others have to end before, or it ends by itself.
    Beyond,
}

/// What a person wants to do with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Retry,
    Skip,
    Decide,
}

/// Steps of one deployment that are looked at.
const LOOKED_AT: usize = 1_000;

impl Wish {
    fn fits(self, standing: Standing) -> bool {
        match self {
            Self::Retry => standing == Standing::Failed,
            Self::Skip => standing != Standing::Beyond,
            Self::Decide => standing == Standing::Asks,
        }
    }
}

/// The steps with work of a deployment that do not move; none if it is not in memory.
pub(crate) fn in_memory(kernel: &Kernel, deployment: DeploymentId) -> Option<Vec<Open>> {
    if !kernel.is_loaded(deployment) {
        return None;
    }
    let waiting = kernel.waiting(deployment, LOOKED_AT).into_iter();
    let work = waiting.filter(|it| !is_end(kernel, &it.step));
    let open = work.map(|it| Open {
        target: it.step.target,
        kind: it.step.kind,
        path: kernel.targets().path(it.step.target).to_string(),
        standing: match it.why {
            Waiting::Failed | Waiting::Retrying { .. } => Standing::Failed,
            Waiting::Approval { .. } => Standing::Asks,
            Waiting::Before { .. } | Waiting::Superseded | Waiting::Aborting { .. } => {
                Standing::Beyond
            }
            _ => Standing::Waits,
        },
        text: it.why.to_string(),
    });
    Some(open.collect())
}

/// Whether a step has no work of its own: a task whose members do it ends with them.
fn is_end(kernel: &Kernel, step: &Step) -> bool {
    let level = kernel.targets().get(step.target).level;
    step.kind.is_marker() || level == Level::Executor
}

/// The tasks of a deployment that failed, from its records in their order.
pub(crate) fn failed<'a>(records: impl IntoIterator<Item = &'a Listed>) -> Vec<Open> {
    let mut last: BTreeMap<(TargetId, Kind), (Fact, &str)> = BTreeMap::new();
    for Listed { row, path } in records {
        let ends = matches!(
            row.fact,
            Fact::Dispatched
                | Fact::Finished
                | Fact::Failed
                | Fact::Skipped
                | Fact::Retried
                | Fact::Cancelled
                | Fact::Superseded
        );
        if ends && !row.kind.is_marker() && Path::of(path).executor.is_none() {
            last.insert((row.target, row.kind), (row.fact, path));
        }
    }
    let failed = last.into_iter().filter(|(_, (fact, _))| *fact == Fact::Failed);
    let open = failed.map(|((target, kind), (_, path))| Open {
        target,
        kind,
        path: path.to_owned(),
        standing: Standing::Failed,
        text: Waiting::Failed.to_string(),
    });
    open.collect()
}

/// Those that a wish may be about.
pub(crate) fn possible(open: &[Open], wish: Wish) -> Vec<&Open> {
    open.iter().filter(|it| wish.fits(it.standing)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::listed::Log;

    #[test]
    fn a_task_has_failed_if_that_is_the_last_that_happened_to_it() {
        let mut log = Log::default();
        let task = |name: &str| format!("shop/beta/delivery#1/{name}");
        for (name, facts) in [
            ("a", vec![Fact::Dispatched, Fact::Failed]),
            ("b", vec![Fact::Dispatched, Fact::Failed, Fact::Retried]),
            ("c", vec![Fact::Dispatched, Fact::Failed, Fact::Skipped]),
            ("d", vec![Fact::Dispatched, Fact::Finished]),
            (
                "e",
                vec![Fact::Dispatched, Fact::Failed, Fact::Retried, Fact::Dispatched, Fact::Failed],
            ),
            ("f@jmeter", vec![Fact::Claimed, Fact::Failed]),
        ] {
            facts.into_iter().for_each(|fact| log.add(&task(name), Kind::TaskDone, fact));
        }
        log.add("shop/beta/delivery#1", Kind::SequenceFinished, Fact::Failed);
        let failed = failed(&log.records);
        let paths: Vec<&str> = failed.iter().map(|it| &*it.path).collect();
        assert_eq!(paths, [task("a"), task("e")]);
        assert_eq!(possible(&failed, Wish::Retry).len(), 2);
        assert_eq!(possible(&failed, Wish::Skip).len(), 2);
        assert_eq!(possible(&failed, Wish::Decide).len(), 0);
    }
}
