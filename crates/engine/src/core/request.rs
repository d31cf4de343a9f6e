use std::sync::Arc;

use seaway_kernel::{Actor, Command, Edit, Effect, Refusal, Reply, Step, Subscription};
use seaway_model::{DeploymentId, Digest, ExecutorName, Fence, Seq, Span};

/// Names a request, so that its answer finds the caller. Drivers never use one twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Something that a caller wants from a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub ticket: Ticket,
    pub ask: Ask,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Before a command that may start a deployment the driver asks the store for its version (that
    /// is `known`), before a [`Command::Start`] also whether it has the deployment (then it is
    /// refused), and says in `seen` up to where the log was durable before it asked. What
    /// started since then the writer knows, unless it was too much: then the request is told that
    /// it is [stale](RequestError::StaleLookup). Other commands do not use it.
    ///
    /// With a `key` the same request, sent again, gets the answer that it got before. The driver
    /// asks the store for that, too.
    Command { command: Command, by: Actor, seen: Seen, key: Option<Digest> },
    /// An executor takes tasks, and waits for some while there are none.
    Take { executor: ExecutorName, max: usize, ttl: Span, patience: Span, by: Actor },
    /// A holder says that it is alive. Nothing is written; the reply names the position as of which
    /// the lease is held.
    Renew { step: Step, fence: Fence },
    /// An executor says that it is there. Nothing is written.
    Heartbeat { executor: ExecutorName },
}

/// What the store was asked before a command that may start a deployment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Up to where the log was durable before it was asked.
    pub as_of: Seq,
    /// It has no records of the deployment.
    pub fresh: bool,
}

impl Ask {
    /// A command without a key, for which the store was not asked.
    #[must_use]
    pub fn command(command: Command, by: Actor, as_of: Seq) -> Self {
        Self::Command { command, by, seen: Seen { as_of, fresh: false }, key: None }
    }

    /// How much memory it takes, about, until it is answered.
    #[must_use]
    pub fn bytes(&self) -> usize {
        const SMALL: usize = 512;
        let Self::Command { command, .. } = self else { return SMALL };
        let text = |data: &Option<Box<str>>| data.as_ref().map_or(0, |data| data.len());
        let large = match command {
            Command::Report { answer: data, .. }
            | Command::Trigger { data, .. }
            | Command::Happen { data, .. }
            | Command::Retry { data, .. } => text(data),
            Command::ChangeStructure(change) => change.0.iter().map(edit_bytes).sum::<usize>(),
            Command::Apply { documents, .. } => documents.len() * 2 * NAME + APPLIED,
            Command::Register { subscriptions, .. } => {
                subscriptions.iter().map(subscription_bytes).sum::<usize>()
            }
            _ => 0,
        };
        large.saturating_add(SMALL)
    }
}

const NAME: usize = 64;
/// A structure as a whole; what is applied is bounded by the size of the documents.
const APPLIED: usize = 1 << 20;

fn edit_bytes(edit: &Edit) -> usize {
    match edit {
        Edit::AddMembers { members, .. } | Edit::RemoveMembers { members, .. } => {
            members.len() * NAME
        }
        Edit::PutSequence { definition, .. } => {
            let properties = definition.tasks.iter().filter_map(|task| task.properties.as_ref());
            let selected = definition.triggers.iter().flat_map(|it| &it.selector.data);
            let named: usize = definition.triggers.iter().map(|it| it.events().len()).sum();
            let tasks = definition.tasks.len() * 4;
            (tasks + named) * NAME
                + properties.map(|text| text.len()).sum::<usize>()
                + selected.map(|(path, text)| path.len() + text.len()).sum::<usize>()
        }
        _ => NAME,
    }
}

fn subscription_bytes(subscription: &Subscription) -> usize {
    let values = subscription.expressions.iter().flat_map(|it| &it.values);
    let names = 1 + subscription.stages.len() + subscription.services.len();
    (names + subscription.expressions.len()) * NAME + values.map(|it| it.len()).sum::<usize>()
}

/// What a driver must tell someone, or do, now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// The log is durable up to here. It comes before the replies of the same append, so that who
    /// got a reply also finds its records.
    Durable {
        head: Seq,
    },
    Reply {
        ticket: Ticket,
        result: Result<Reply, RequestError>,
    },
    Effect(Effect),
    /// Requests wait for a deployment that left memory: read all its records and hand them to
    /// [`Writer::revive`](super::Writer::revive).
    Load {
        deployment: DeploymentId,
    },
}

/// How much a writer takes on.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Requests that wait to be decided; one more is refused.
    pub mailbox: usize,
    /// Executors that wait for work; one more is refused.
    pub takers: usize,
    /// Bytes of requests that have no answer yet, about; one more is refused.
    pub bytes: usize,
    /// Requests that are decided in one append.
    pub requests: usize,
    /// Records of one append, about.
    pub records: usize,
    /// Bytes of data that one append dispatches, about.
    pub append_bytes: usize,
    /// Appends that were decided and are not durable yet: one that the store is working on, and
    /// one that is ready when it has finished.
    pub outstanding: usize,
    /// State of up to this [weight](seaway_kernel::Kernel::weight) is put into a checkpoint while
    /// callers wait, which takes milliseconds; larger state is folded again beside them.
    pub checkpointed: usize,
    /// What a refused caller is told.
    pub retry_after: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            mailbox: 4_096,
            takers: 10_000,
            bytes: 64 * 1024 * 1024,
            requests: 1_024,
            records: 4_096,
            append_bytes: 8 * 1024 * 1024,
            outstanding: 2,
            checkpointed: 50_000,
            retry_after: Span::from_secs(1),
        }
    }
}

/// The mailbox is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests wait already; try again in {retry_after}")]
pub struct Overloaded {
    pub retry_after: Span,
}

/// Why a request was not carried out, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Overloaded(#[from] Overloaded),
    #[error("too many deployments started while this one was looked up; send it again")]
    StaleLookup,
    #[error("nothing was written, because {why}; send it again in {retry_after}")]
    NotWritten { why: Obstacle, retry_after: Span },
    /// The append may or may not have become durable.
    #[error("it is not known whether this was written; look at the log before sending it again")]
    Unknown,
    #[error("another server owns this project now; send it there")]
    NotOwner,
    #[error("deployment {deployment} cannot be brought back: {why}; run `seaway log verify`")]
    Unreadable { deployment: DeploymentId, why: Box<str> },
    /// The log of the project cannot be used. Other projects go on.
    #[error("the project is stopped: {0}")]
    Broken(Arc<str>),
}

/// Why an append was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    #[error("the disk is full")]
    DiskFull,
    #[error("the store cannot be reached")]
    Unavailable,
    #[error("the log did not end where it should")]
    Conflict,
    #[error("too many others want the same deployment at once")]
    Contended,
    #[error("the server is stopping")]
    Stopping,
    #[error("of a bug, which the server has logged")]
    Bug,
}

/// What the store said about an append that did not become durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendFailure {
    /// Another owner has the project. This one must not write again.
    Fenced,
    /// Certainly nothing of it was written.
    NotWritten(Obstacle),
    /// Nobody knows. The next load must take ownership anew, so that a late write is refused.
    Unknown,
}
