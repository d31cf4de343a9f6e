use std::sync::{Arc, OnceLock};

use seaway_kernel::{Actor, Command, Kernel, Refusal, Reply, Step, Taken};
use seaway_model::{Digest, ExecutorName, Fence, Name, Seq, Span};
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::time::Instant;

use crate::core::{Ask, Obstacle, Overloaded, RequestError, Seen, reply};
use crate::engine::Context;
use crate::mailbox::Message;
use crate::subscription::{Subscription, SubscriptionError};

/// The way to one project. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ProjectHandle {
    pub(crate) project: Arc<Name>,
    pub(crate) context: Arc<Context>,
    pub(crate) mailbox: mpsc::Sender<Message>,
    /// Bytes that requests without an answer may still take.
    pub(crate) budget: Arc<Semaphore>,
    pub(crate) head: watch::Receiver<Seq>,
    /// Why the task of the project ended, once it did.
    pub(crate) ended: Arc<OnceLock<RequestError>>,
}

impl ProjectHandle {
    /// How often the store is asked again about a deployment that starts, when too many others
    /// started meanwhile. What was asked before the project was loaded is never relied on.
    const LOOKUPS: u32 = 4;

    #[must_use]
    pub fn project(&self) -> &Name {
        &self.project
    }

    /// Carries a command out. The answer comes when everything that it rests on is durable.
    ///
    /// The `known` of a command that may start a deployment is filled in here.
    pub async fn send(&self, command: Command, by: Actor) -> Result<Reply, RequestError> {
        self.send_once(command, by, None).await
    }

    /// Like [`send`](Self::send); sent again with the same key it has no second effect, and gets
    /// the same answer.
    pub async fn send_once(
        &self,
        command: Command,
        by: Actor,
        key: Option<Digest>,
    ) -> Result<Reply, RequestError> {
        let may_start = matches!(
            command,
            Command::Start { .. } | Command::Trigger { .. } | Command::Happen { .. }
        );
        if !may_start && key.is_none() {
            return self.ask(Ask::command(command, by, self.durable())).await;
        }
        for _ in 1..Self::LOOKUPS {
            match self.look_up(command.clone(), by.clone(), key).await {
                Err(RequestError::StaleLookup) => {}
                answer => return answer,
            }
        }
        self.look_up(command, by, key).await
    }

    async fn look_up(
        &self,
        mut command: Command,
        by: Actor,
        key: Option<Digest>,
    ) -> Result<Reply, RequestError> {
        // Read first: what becomes durable while the store is asked may be missing in its answer.
        let as_of = self.durable();
        let only_new = matches!(command, Command::Start { .. });
        let store = &self.context.store;
        let declined = |error| self.context.declined(&error);
        let mut fresh = false;
        if let Command::Start { deployment, service, version, known }
        | Command::Trigger { deployment, service, version, known, .. }
        | Command::Happen { deployment, service, version, known, .. } = &mut command
        {
            let (project, key) = (&*self.project, key.as_ref());
            let found = store.precedents(project, *deployment, service, version, key).await;
            let found = found.map_err(declined)?;
            if let Some(answer) = found.answer {
                return Ok(reply(&answer));
            }
            if only_new && found.started.is_some() {
                return Err(Refusal::DeploymentExists(*deployment).into());
            }
            fresh = found.started.is_none();
            *known = found.revision;
        } else if let Some(key) = &key
            && let Some(answer) = store.kept_answer(&self.project, key).await.map_err(declined)?
        {
            return Ok(reply(&answer));
        }
        self.ask(Ask::Command { command, by, seen: Seen { as_of, fresh }, key }).await
    }

    /// Takes tasks for an executor, and waits for some while there are none. An empty answer means
    /// that there was nothing for so long. A caller that stops waiting gets nothing.
    pub async fn take(
        &self,
        executor: ExecutorName,
        max: usize,
        ttl: Span,
        patience: Span,
        by: Actor,
    ) -> Result<Vec<Taken>, RequestError> {
        match self.ask(Ask::Take { executor, max, ttl, patience, by }).await? {
            Reply::Taken { tasks, .. } => Ok(tasks),
            _ => Ok(Vec::new()),
        }
    }

    /// Keeps a lease alive. The position in the reply is the one as of which the lease is held.
    pub async fn renew(&self, step: Step, fence: Fence) -> Result<Reply, RequestError> {
        self.ask(Ask::Renew { step, fence }).await
    }

    /// Keeps an executor registered.
    pub async fn heartbeat(&self, executor: ExecutorName) -> Result<Reply, RequestError> {
        self.ask(Ask::Heartbeat { executor }).await
    }

    async fn ask(&self, ask: Ask) -> Result<Reply, RequestError> {
        let limits = &self.context.options.limits;
        // One that is larger than the whole budget is let in when there is no other.
        let bytes = ask.bytes().min(limits.bytes);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let retry_after = limits.retry_after;
        let Ok(_room) = self.budget.try_acquire_many(bytes) else {
            return Err(Overloaded { retry_after }.into());
        };
        let (caller, answer) = oneshot::channel();
        self.post(Message::Request { ask, caller })?;
        let mut waiting = Waiting { handle: self, answer };
        // The task of the project panicked while it had the request in its hands.
        (&mut waiting.answer).await.unwrap_or(Err(RequestError::Unknown))
    }

    /// Looks at the state when no append is outstanding, so that all of it is durable. Writing
    /// waits while `look` runs: keep it short, and take what is needed out of it.
    pub async fn inspect<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Kernel) -> T + Send + 'static,
    ) -> Result<T, RequestError> {
        let (tell, answer) = oneshot::channel();
        let inspection = move |kernel: Result<&Kernel, RequestError>| {
            // A caller that went away does not need its answer.
            drop(tell.send(kernel.map(look)));
        };
        self.post(Message::Inspect(Box::new(inspection)))?;
        answer.await.unwrap_or(Err(RequestError::Unknown))
    }

    fn post(&self, message: Message) -> Result<(), RequestError> {
        let retry_after = self.context.options.limits.retry_after;
        let stopping = RequestError::NotWritten { why: Obstacle::Stopping, retry_after };
        if self.context.held_until.borrow().is_some_and(|until| until < Instant::now()) {
            // Others may have taken it over meanwhile, and know better.
            return Err(RequestError::NotOwner);
        }
        self.mailbox.try_send(message).map_err(|error| match error {
            TrySendError::Full(_) => Overloaded { retry_after }.into(),
            TrySendError::Closed(_) => self.ended.get().cloned().unwrap_or(stopping),
        })
    }

    /// Position of the last record that this server knows to be durable.
    #[must_use]
    pub fn durable(&self) -> Seq {
        *self.head.borrow()
    }

    /// All records after `after`, in order, for ever: first those in the store, then each as it
    /// becomes durable. A position that the log has not reached is an error.
    pub async fn subscribe(&self, after: Seq) -> Result<Subscription, SubscriptionError> {
        Subscription::open(self, after).await
    }
}

/// A caller that may go away when its answer is on the way already.
struct Waiting<'a> {
    handle: &'a ProjectHandle,
    answer: oneshot::Receiver<Result<Reply, RequestError>>,
}

impl Drop for Waiting<'_> {
    /// Tasks that nobody got to know of are given back. Where that fails their leases run out.
    fn drop(&mut self) {
        self.answer.close();
        let Ok(Ok(Reply::Taken { at, tasks })) = self.answer.try_recv() else { return };
        for Taken { step, fence, .. } in tasks {
            let ask = Ask::command(Command::GiveBack { step, fence }, Actor::Seaway, at);
            let (caller, _) = oneshot::channel();
            drop(self.handle.post(Message::Request { ask, caller }));
        }
    }
}
