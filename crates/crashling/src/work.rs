use std::collections::BTreeSet;

use seaway_kernel::{
    Batch, Command, Edit, Entry, Kernel, Policy, Range, Sequence, Step, StructureChange, Task,
    Waiting,
};
use seaway_model::{DeploymentId, ExecutorName, Fact, Fence, Kind, Name, Seq};
use seaway_store::{Store, StoreError};
use uuid::Uuid;

pub(crate) const PROJECT: &str = "crash";

/// Few enough that deployments of one service wait for each other, and many enough that those whose
/// executor was killed do not stop everything until their leases end.
const SERVICES: u128 = 200;

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).expect("the names of this program are valid")
}

/// Two stages; in each, deployment and test are one batch for a few.
pub(crate) fn structure() -> Command {
    let task = |text, groups: &[&str]| Task {
        groups: groups.iter().map(|group| name(group)).collect(),
        ..Task::new(name(text))
    };
    let chain = vec![Kind::MemberStarted, Kind::MemberDeployed, Kind::MemberFinished];
    let mut edits = Vec::new();
    for (stage, after) in [("beta", None), ("prod", Some("beta"))] {
        let after: BTreeSet<Name> = after.into_iter().map(name).collect();
        let (stage, group) = (name(stage), name("hosts"));
        let members = ["a", "b", "c"].map(name).into();
        let batch = Batch { capacity: 40, policy: Policy::Queue };
        let range = Some(Range { first: 0, last: 1, batch });
        let tasks = vec![task("deploy", &["hosts"]), task("test", &[])];
        edits.push(Edit::PutStage {
            stage: stage.clone(),
            entry: Entry::Ordered,
            after,
            batch: None,
        });
        let (put, chain) = (stage.clone(), chain.clone());
        edits.push(Edit::PutGroup { stage: put, group: group.clone(), chain });
        edits.push(Edit::AddMembers { stage: stage.clone(), group, members });
        let definition = Sequence { tasks, range, ..Sequence::default() };
        edits.push(Edit::PutSequence { stage, sequence: name("delivery"), definition });
    }
    Command::ChangeStructure(StructureChange(edits))
}

/// A version that nobody has deployed before.
#[expect(clippy::disallowed_methods, reason = "the edge at which ids are made")]
pub(crate) fn start() -> Command {
    let id = Uuid::now_v7();
    Command::Start {
        deployment: DeploymentId(id),
        service: name(&format!("service-{}", id.as_u128() % SERVICES)),
        version: id.to_string().into(),
        known: None,
    }
}

/// A step that somebody has to do something about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Todo {
    Claim(Step),
    /// A process that was killed has claimed it, and can no longer answer.
    TakeOver(Step),
}

/// Everything that `me` could go on with. What was offered to a process that was killed is found
/// again this way only.
pub(crate) fn todo(kernel: &Kernel, me: &ExecutorName) -> Vec<Todo> {
    const STEPS: usize = 100;
    let waiting = kernel.deployments().flat_map(|(id, _)| kernel.waiting(id, STEPS));
    let todo = waiting.filter_map(|it| match &it.why {
        Waiting::Unclaimed => Some(Todo::Claim(it.step)),
        Waiting::Working { executor, .. } if executor != me => Some(Todo::TakeOver(it.step)),
        _ => None,
    });
    todo.collect()
}

/// The fence of the newest claim of a step, from the log: an executor that writes its claims down
/// would know it, too.
pub(crate) async fn fence(store: &Store, step: Step) -> Result<Option<Fence>, StoreError> {
    const ALL: usize = 10_000;
    let rows = store.deployment_rows(&name(PROJECT), step.deployment, Seq(0), ALL).await?;
    let claims = rows.iter().map(|it| &it.row).rev().filter(|row| row.fact == Fact::Claimed);
    let mut mine = claims.filter(|row| row.target == step.target && row.kind == step.kind);
    Ok(mine.next().map(|row| Fence { attempt: row.attempt, lease: row.n }))
}
