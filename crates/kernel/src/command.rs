use seaway_model::{
    DeploymentId, ExecutorName, Fence, Name, Outcome, Revision, Seq, Span, TargetId,
};

use crate::record::{Detail, DocumentEdit, Services, Step, Subscription};
use crate::structure::{Structure, StructureChange, StructureError};

/// A request that may be refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    ChangeStructure(StructureChange),
    /// Changes documents, and with them the whole structure, at once.
    Apply {
        /// The structure from now on; none: as it is.
        structure: Option<Structure>,
        /// The services that may be deployed from now on; none: all.
        services: Option<Services>,
        documents: Vec<DocumentEdit>,
    },
    /// Registers the version if it is new, and sends it into the pipeline. `known` is the number
    /// that the store has for the version, if it has one.
    Start {
        deployment: DeploymentId,
        service: Name,
        version: Box<str>,
        known: Option<Revision>,
    },
    /// Starts a sequence of a triggered stage, in a deployment that is new or not.
    Trigger {
        deployment: DeploymentId,
        stage: Name,
        sequence: Name,
        service: Name,
        version: Box<str>,
        known: Option<Revision>,
        /// The text of a JSON object.
        data: Option<Box<str>>,
    },
    /// Something happened outside; whatever is triggered on it starts, in a deployment that is
    /// new or not.
    Happen {
        deployment: DeploymentId,
        name: Box<str>,
        /// Where it happened: only sequences of this stage start.
        stage: Option<Name>,
        service: Name,
        version: Box<str>,
        known: Option<Revision>,
        data: Option<Box<str>>,
    },
    /// An executor says what it can do. Said again with other subscriptions, the last counts.
    Register {
        executor: ExecutorName,
        subscriptions: Vec<Subscription>,
        ttl: Span,
    },
    Leave {
        executor: ExecutorName,
    },
    /// Takes a task for a while. The reply carries the fence for all answers.
    Claim {
        step: Step,
        executor: ExecutorName,
        ttl: Span,
    },
    /// Takes whatever waits for an executor, up to `max` tasks; perhaps none.
    Take {
        executor: ExecutorName,
        max: usize,
        ttl: Span,
    },
    /// Ends a lease before its time: nobody got to know of it.
    GiveBack {
        step: Step,
        fence: Fence,
    },
    /// A person answers a task that waits for one.
    Approve {
        step: Step,
        outcome: Outcome,
        comment: Option<Box<str>>,
    },
    Report {
        step: Step,
        fence: Fence,
        report: Report,
        answer: Option<Box<str>>,
    },
    /// Opens the next attempt of a failed step and of everything after it in its run.
    Retry {
        step: Step,
        /// Laid over the data before the task, as the text of a JSON object.
        data: Option<Box<str>>,
    },
    /// Counts a step as done without doing it.
    Skip {
        step: Step,
        reason: Box<str>,
    },
    Pause {
        deployment: DeploymentId,
    },
    Resume {
        deployment: DeploymentId,
    },
    Abort {
        deployment: DeploymentId,
    },
}

/// What an executor says about its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    Started,
    Changed,
    Ended(Outcome),
}

/// What a command that was carried out tells its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Done {
        at: Seq,
    },
    Started {
        at: Seq,
        deployment: DeploymentId,
        revision: Revision,
    },
    /// `step` is the one to report on: the share of this executor.
    Claimed {
        at: Seq,
        step: Step,
        fence: Fence,
    },
    /// What an executor holds from now on.
    Taken {
        at: Seq,
        tasks: Vec<Taken>,
    },
}

/// A task that an executor has just taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The one to report on: the share of this executor.
    pub step: Step,
    pub fence: Fence,
    pub task: Name,
    pub path: String,
    /// The data of its message, as the text of a JSON object.
    pub data: Box<str>,
}

/// Why a command was not carried out, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("deployment {0} is not known; check the id")]
    UnknownDeployment(DeploymentId),
    #[error("deployment {0} is not in memory; load its records and ask again")]
    NotLoaded(DeploymentId),
    #[error("deployment {0} exists already; use a new id")]
    DeploymentExists(DeploymentId),
    #[error("deployment {0} has ended; start a new one")]
    Ended(DeploymentId),
    #[error("deployment {0} was superseded by a newer revision; deploy that one, or roll back")]
    Superseded(DeploymentId),
    #[error("deployment {0} is being aborted; only waiting for what is in flight")]
    Aborting(DeploymentId),
    #[error("deployment {0} was aborted; start a new one")]
    Aborted(DeploymentId),
    #[error("deployment {0} was moved to an archive; start a new one")]
    Archived(DeploymentId),
    #[error("deployment {0} is paused already")]
    AlreadyPaused(DeploymentId),
    #[error("deployment {0} is not paused")]
    NotPaused(DeploymentId),
    #[error("target {0} is not a step of this deployment; list its steps")]
    UnknownStep(TargetId),
    #[error(
        "the step does not wait for this: it is over, or was never offered to this executor; drop \
         it and ask for work again"
    )]
    NotOffered,
    #[error("the step is held by {0}; wait until its lease ends")]
    HeldBy(ExecutorName),
    #[error(
        "the answer belongs to attempt {} lease {}, but attempt {} lease {} counts now; drop it",
        given.attempt, given.lease, current.attempt, current.lease
    )]
    StaleFence { given: Fence, current: Fence },
    #[error("only a failed step can be retried")]
    NotFailed,
    #[error("only steps with work can be retried or skipped; {0} ends by itself")]
    IsMarker(seaway_model::Kind),
    #[error("the step is complete already")]
    AlreadyComplete,
    #[error("the deployment has not reached this step; skip it when it waits there")]
    NotReached,
    #[error("a step after it is in flight; wait for it, or abort the deployment")]
    LaterInFlight,
    #[error("a reason is needed, of at most {max} characters", max = Refusal::MAX_REASON)]
    BadReason,
    #[error(
        "a version is needed, of at most {max} characters and without control characters",
        max = Refusal::MAX_VERSION
    )]
    BadVersion,
    #[error(
        "{0:?} cannot be an actor; a name of at most {max} characters is needed, without control \
         characters and other than \"seaway\"", max = Refusal::MAX_ACTOR
    )]
    BadActor(Box<str>),
    #[error("a lease lasts between 1 second and 1 day, and so does the patience with an executor")]
    BadTtl,
    #[error(
        "an answer has at most {max} bytes; keep the rest elsewhere and send a link",
        max = Refusal::MAX_ANSWER
    )]
    AnswerTooLong,
    #[error("there is no stage yet; define the structure first")]
    NoStructure,
    #[error(
        "at most {max} deployments may be in progress; wait for some to end",
        max = Refusal::MAX_IN_PROGRESS
    )]
    TooManyInProgress,
    #[error("there is no sequence {stage}.{sequence} to trigger; apply a shipyard that has it")]
    UnknownSequence { stage: Name, sequence: Name },
    #[error("no sequence is triggered on {0}; add it to a triggeredOn of the shipyard")]
    NothingTriggered(Box<str>),
    #[error("{0} is said by Seaway when the sequence ends; trigger the sequence instead")]
    EndOfSequence(Box<str>),
    #[error("{event} starts something only in a stage; say where it happened: {}", named(stages))]
    InNoStage { event: Box<str>, stages: Vec<Name> },
    #[error(
        "{event} starts nothing in {stage}; name another stage, or add it to a triggeredOn there"
    )]
    NotInStage { event: Box<str>, stage: Name },
    #[error("no selector takes this {0}, so that it would start nothing; look at its data")]
    NotSelected(Box<str>),
    #[error("deployment {id} is of {service} {version}; use a new id for anything else")]
    OtherRevision { id: DeploymentId, service: Name, version: Box<str> },
    #[error("the data is not a JSON object; send one, such as {{\"key\": \"value\"}}")]
    NotAnObject,
    #[error(
        "the data of a run has at most {max} bytes in all; keep the rest elsewhere and send a link",
        max = crate::flow::MAX_PAYLOAD
    )]
    TooMuchData,
    #[error("{0:?} cannot be the name of an event; use words with dots between them")]
    BadEvent(Box<str>),
    #[error("{0:?} cannot be the name of an executor; use up to 200 letters, digits, - _ . and /")]
    BadExecutor(ExecutorName),
    #[error(
        "an executor has between 1 and {max} subscriptions, each with at most {parts} stages, \
         services, expressions and values, none longer than {long} characters",
        max = Refusal::MAX_SUBSCRIPTIONS, parts = Refusal::MAX_PARTS, long = Refusal::MAX_ACTOR
    )]
    BadSubscriptions,
    #[error("a project has at most {max} executors; let some leave", max = Refusal::MAX_EXECUTORS)]
    TooManyExecutors,
    #[error(
        "names that begin with seaway/ belong to executors that are built in; use another than {0}"
    )]
    ReservedExecutor(ExecutorName),
    #[error(
        "service {service} is not part of the project{}; add it to the Project document and apply \
         that, or set autoServices there",
        listed(known)
    )]
    UnknownService { service: Name, known: Vec<Name> },
    #[error("no approval waits here; look at what does with `seaway why`")]
    NoApproval,
    #[error("{0:?} cannot be the name of a document; use up to 300 characters")]
    BadDocument(Box<str>),
    #[error("document {0:?} is there twice; keep one of them")]
    DocumentTwice(Box<str>),
    #[error(
        "a project has at most {documents} documents and resources, and {services} services; \
         delete some", documents = Refusal::MAX_DOCUMENTS, services = Refusal::MAX_SERVICES
    )]
    TooManyDocuments,
    #[error("executor {0} is not registered; register it first")]
    UnknownExecutor(ExecutorName),
    #[error("executor {0} is not subscribed to this task; change its subscriptions")]
    NotSubscribed(ExecutorName),
    #[error(
        "this sequence ran {max} times in the deployment; use a new one",
        max = Refusal::MAX_RUNS
    )]
    TooManyRuns,
    #[error(transparent)]
    Structure(#[from] StructureError),
}

impl Refusal {
    pub const MAX_REASON: usize = 1_000;
    pub const MAX_VERSION: usize = 200;
    pub const MAX_ACTOR: usize = 200;
    pub const MAX_ANSWER: usize = 1 << 20;
    pub const MAX_SUBSCRIPTIONS: usize = 1_000;
    /// Of one kind in one subscription.
    pub const MAX_PARTS: usize = 100;
    pub const MAX_EXECUTORS: usize = 10_000;
    /// Of one sequence in one deployment: what bounds a loop.
    pub const MAX_RUNS: u32 = 100;
    /// Tasks that are taken at once; no further one follows when their data has so many bytes.
    pub const MAX_TAKEN: usize = 100;
    pub const MAX_TAKEN_BYTES: usize = 4 << 20;
    pub const MAX_DOCUMENT_NAME: usize = 300;
    pub const MAX_DOCUMENTS: usize = 10_000;
    pub const MAX_SERVICES: usize = 10_000;
    /// Bounds the memory of one project.
    pub const MAX_IN_PROGRESS: usize = 1_000_000;
}

/// An instruction to the outside, to be carried out once its record is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A task may be claimed.
    Offer { step: Step, attempt: seaway_model::Attempt },
    /// Whoever holds the task should stop; its answer no longer counts.
    Cancel { step: Step, fence: Fence },
    /// A deployment ended and left memory.
    Ended { deployment: DeploymentId },
}

pub(crate) fn answer_detail(answer: &Option<Box<str>>) -> Option<Box<Detail>> {
    answer.as_ref().map(|text| Box::new(Detail::Answer(text.clone())))
}

fn named(stages: &[Name]) -> String {
    stages.iter().map(Name::as_str).collect::<Vec<&str>>().join(", ")
}

fn listed(known: &[Name]) -> String {
    if known.is_empty() { String::new() } else { format!(", which has {}", named(known)) }
}
