use seaway_kernel::{Kernel, Reply};
use tokio::sync::oneshot;

use crate::core::{Ask, RequestError};

/// Where the answer to a request goes.
pub(crate) type Caller = oneshot::Sender<Result<Reply, RequestError>>;

/// Looks at the state, or is told why it cannot.
pub(crate) type Inspection = Box<dyn FnOnce(Result<&Kernel, RequestError>) + Send>;

/// What reaches the task of a project.
pub(crate) enum Message {
    Request { ask: Ask, caller: Caller },
    Inspect(Inspection),
}

impl Message {
    /// Answers without doing anything.
    pub(crate) fn decline(self, error: RequestError) {
        match self {
            // A caller that went away does not need its answer.
            Self::Request { caller, .. } => drop(caller.send(Err(error))),
            Self::Inspect(inspection) => inspection(Err(error)),
        }
    }
}
