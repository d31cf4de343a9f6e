use seaway_model::{DeploymentId, Digest, Name, Seq};
use tokio::sync::oneshot;

/// A request on its way to the ledger.
#[derive(Debug)]
pub(super) enum Request {
    Event {
        event: Event,
        /// Under which its answer is kept.
        key: Option<Digest>,
        /// Told its position in the log once that is durable; or nothing, when it was not written.
        caller: oneshot::Sender<Seq>,
    },
    /// Waits until there are tasks, and gets as many as `max` of them.
    Claim { max: usize, caller: oneshot::Sender<Vec<Offer>> },
}

/// What happened to a deployment.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) deployment: DeploymentId,
    pub(super) what: What,
    /// What came with it, as the text of a JSON object.
    pub(super) data: Box<str>,
}

#[derive(Debug)]
pub(super) enum What {
    Triggered {
        service: Name,
        version: Box<str>,
    },
    /// With the number of the task in the sequence.
    Started(usize),
    Finished(usize),
}

/// A task that waits for the executor, or that it has.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) deployment: DeploymentId,
    /// Its number in the sequence.
    pub(super) task: usize,
    pub(super) service: Name,
    /// What its message says, as the text of a JSON object.
    pub(super) data: Box<str>,
}
