use seaway_engine::RequestError;
use seaway_engine::core::{AppendFailure, Ask, Ticket};
use seaway_kernel::{Command, Reply, Report, Step};
use seaway_model::{DeploymentId, Epoch, ExecutorName, Fence, Name, Span};
use seaway_wire::Append;

use super::wishes::Wish;

/// What happens next, at its time.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// A request arrives, and the store is asked what has to be known about it.
    Arrive(Errand),
    /// A request reaches whoever owns the project.
    Offer(Errand, Ask),
    /// An answer reaches who asked.
    Heard(Errand, Result<Reply, RequestError>),
    /// An append reaches the store.
    Land(u64),
    Sync,
    /// The store's answer reaches the owner.
    Told(u64),
    /// The records of a deployment reach the owner that asked for them.
    Revive {
        owner: u32,
        deployment: DeploymentId,
    },
    Wake {
        owner: u32,
    },
    Job(u64, Act),
    /// An executor of a shipyard says that it is there; in which of its lives.
    Pulse(ExecutorName, u32),
    /// An executor of a shipyard asks for work; in which of its lives.
    Seek(ExecutorName, u32),
    /// Somebody stops waiting for the answer of an owner.
    GoAway {
        owner: u32,
        ticket: Ticket,
    },
    Boot {
        keep: Option<Epoch>,
    },
    /// The machine stops.
    Crash,
    /// Chance does something.
    Chaos,
    /// In the heal phase, people and executors look around.
    Round,
}

/// A request and what is needed to make sense of its answer.
#[derive(Clone, Debug)]
pub(super) enum Errand {
    Start {
        deployment: DeploymentId,
        service: Name,
        version: Box<str>,
    },
    Claim {
        step: Step,
        executor: ExecutorName,
        ttl: Span,
    },
    Report {
        job: u64,
        report: Report,
        again: bool,
        tries: u32,
    },
    Renew {
        job: u64,
    },
    /// An executor takes whatever waits for it; in which of its lives, and since when it wants to.
    Take {
        executor: ExecutorName,
        life: u32,
        max: usize,
        ttl: Span,
        patience: Span,
        since: i64,
    },
    Person(Wish),
    /// Something is triggered, or happens outside; under an id that nobody used before, or not.
    Ship {
        wish: Wish,
        fresh: bool,
    },
    /// An executor registers or leaves.
    Crew(ExecutorName, Command),
    /// An executor says that it is there.
    Alive(ExecutorName),
}

/// What an executor does with a task that it holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Say(Report),
    SayAgain(Report),
    Renew,
}

/// A task in the hands of an executor.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) step: Step,
    pub(super) fence: Fence,
    pub(super) executor: ExecutorName,
    /// What it adds to the data when it ends.
    pub(super) answer: Option<Box<str>>,
}

/// An append on its way.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) owner: u32,
    pub(super) append: Append,
    pub(super) fate: Fate,
    /// It has reached the store.
    pub(super) landed: bool,
    pub(super) result: Result<(), AppendFailure>,
}

/// What the store does with an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Written,
    DiskFull,
    /// Never arrives, and the owner is told that nobody knows.
    Lost,
    /// Becomes durable, and the owner is told that nobody knows.
    AnswerLost,
    /// Arrives long after the owner was told that nobody knows.
    Late,
}
