use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use seaway_kernel::{Actor, Command, Refusal, Reply, Taken};
use seaway_model::{DeploymentId, Epoch, FastMap, Seq};
use seaway_store::{AppendError, Checkpoint, StoreError};
use seaway_wire::Linked;
use tokio::time::Instant;

use crate::checkpoints::Due;
use crate::core::{AppendFailure, Ask, Obstacle, Output, Request, RequestError, Ticket, Writer};
use crate::engine::Notice;
use crate::loading::deployment_rows;
use crate::loss;
use crate::mailbox::{Caller, Inspection, Message};
use crate::outbox::Outbox;
use crate::project::{Hold, ProjectTask, Turn, stopped};

/// A project in memory: drives its [`Writer`] until an append fails, nobody needs it, or the engine
/// stops.
pub(crate) struct Live<'a> {
    task: &'a mut ProjectTask,
    writer: Writer,
    epoch: Epoch,
    hold: Option<Hold>,
    callers: FastMap<Ticket, Caller>,
    tickets: u64,
    inspections: Vec<Inspection>,
    outbox: Outbox,
    revivals: FuturesUnordered<BoxFuture<'static, Revival>>,
    out: Vec<Output>,
    /// To be kept as soon as all of it is durable.
    checkpoint: Option<Checkpoint>,
    stopping: bool,
    used: Instant,
}

type Revival = (DeploymentId, Result<Vec<Linked>, StoreError>);

impl<'a> Live<'a> {
    pub(crate) fn new(
        task: &'a mut ProjectTask,
        (epoch, writer): (Epoch, Writer),
        hold: Option<Hold>,
    ) -> Self {
        let outbox = Outbox::new(task.context.store.clone());
        Self {
            task,
            writer,
            epoch,
            hold,
            callers: FastMap::default(),
            tickets: 0,
            inspections: Vec::new(),
            outbox,
            revivals: FuturesUnordered::new(),
            out: Vec::new(),
            checkpoint: None,
            stopping: false,
            used: Instant::now(),
        }
    }

    pub(crate) async fn run(mut self) -> Turn {
        loop {
            // The store has its next append before anyone is told about the last one.
            self.outbox.submit().await;
            self.tell();
            self.hold = self.hold.filter(|hold| hold.until > Instant::now());
            self.take_in();
            self.look();
            self.decide();
            if self.stopping {
                // Whoever asked for work last waits as little as those who waited already.
                self.writer.dismiss(&mut self.out);
            }
            self.outbox.submit().await;
            self.tell();
            if self.stopping && self.writer.is_settled() && self.task.mailbox.is_empty() {
                return Turn::End(self.task.not_written(Obstacle::Stopping));
            }
            let deadline = self.deadline();
            let listening = self.is_listening() && !self.stopping;
            let task = &mut *self.task;
            tokio::select! {
                biased;
                result = self.outbox.written() => match result {
                    Ok(()) => self.committed(),
                    Err(error) => return self.lost(&error).await,
                },
                Some((deployment, rows)) = self.revivals.next() => self.revive(deployment, rows),
                () = stopped(&mut task.ends.revoked) => return self.revoked().await,
                () = stopped(&mut task.ends.stop), if !self.stopping => {
                    self.stopping = true;
                    task.mailbox.close();
                }
                _ = task.mailbox.recv_many(&mut task.inbox, 64), if listening => {}
                () = sleep(deadline) => if self.is_idle() {
                    return Turn::Asleep { epoch: self.epoch };
                },
            }
        }
    }

    /// While nothing could be decided before an append ends, requests stay in the mailbox: it is
    /// their only queue, and a full one refuses.
    fn is_listening(&self) -> bool {
        let limits = &self.task.context.options.limits;
        let ahead = self.writer.outstanding();
        let look = !self.inspections.is_empty() && ahead > 0;
        ahead < limits.outstanding && self.writer.queued() < limits.requests && !look
    }

    fn take_in(&mut self) {
        let mut inbox = std::mem::take(&mut self.task.inbox);
        inbox.drain(..).for_each(|message| self.accept(message));
        self.task.inbox = inbox;
        while self.is_listening() {
            let Ok(message) = self.task.mailbox.try_recv() else { break };
            self.accept(message);
        }
    }

    fn accept(&mut self, message: Message) {
        self.used = Instant::now();
        match (message, self.hold) {
            (Message::Inspect(inspection), _) => self.inspections.push(inspection),
            (message, Some(hold)) => message.decline(self.task.not_written(hold.why)),
            (Message::Request { ask, caller }, None) => self.offer(ask, caller),
        }
    }

    fn offer(&mut self, ask: Ask, caller: Caller) {
        let ticket = Ticket(self.tickets);
        self.tickets += 1;
        match self.writer.offer(Request { ticket, ask }) {
            Ok(()) => drop(self.callers.insert(ticket, caller)),
            // A caller that went away does not need its answer.
            Err(overloaded) => drop(caller.send(Err(overloaded.into()))),
        }
    }

    /// Who wants to look at the state does so as soon as all of it is durable.
    fn look(&mut self) {
        if self.writer.outstanding() == 0 {
            let kernel = self.writer.kernel();
            self.inspections.drain(..).for_each(|inspection| inspection(Ok(kernel)));
        }
    }

    fn decide(&mut self) {
        let done = self.stopping && self.writer.queued() == 0;
        if self.hold.is_some() || done || !self.inspections.is_empty() {
            return;
        }
        let now = self.task.now();
        while let Some(append) = self.writer.poll_append(now, &mut self.out) {
            self.outbox.push(append);
        }
    }

    fn tell(&mut self) {
        let mut out = std::mem::take(&mut self.out);
        for output in out.drain(..) {
            match output {
                Output::Durable { head } => self.advance(head),
                Output::Reply { ticket, result } => {
                    if let Some(caller) = self.callers.remove(&ticket)
                        && let Err(unheard) = caller.send(result)
                    {
                        self.give_back(unheard);
                    }
                }
                Output::Effect(effect) => {
                    if let Some(effects) = &self.task.context.options.effects {
                        let project = self.task.project.clone();
                        drop(effects.try_send(Notice { project, effect }));
                    }
                }
                Output::Load { deployment } => {
                    let store = self.task.context.store.clone();
                    let project = self.task.project.clone();
                    self.revivals.push(Box::pin(async move {
                        (deployment, deployment_rows(&store, &project, deployment).await)
                    }));
                }
            }
        }
        self.out = out;
    }

    /// Whoever asked for work went away while it waited; others should not wait for its leases.
    fn give_back(&mut self, unheard: Result<Reply, RequestError>) {
        let Ok(Reply::Taken { at, tasks }) = unheard else { return };
        for Taken { step, fence, .. } in tasks {
            let command = Command::GiveBack { step, fence };
            let ask = Ask::command(command, Actor::Seaway, at);
            let ticket = Ticket(self.tickets);
            self.tickets += 1;
            // Where there is no room the lease runs out.
            let _ = self.writer.offer(Request { ticket, ask });
        }
    }

    fn advance(&mut self, head: Seq) {
        self.task.head.send_replace(head);
        let ready = self.checkpoint.take_if(|checkpoint| checkpoint.seq <= head);
        if ready.is_some() {
            self.hand_in_checkpoint(ready);
        }
        let since = head.0.saturating_sub(self.task.checkpointed.0);
        if since >= self.task.context.options.checkpoint_every {
            self.task.checkpointed = head;
            match self.writer.checkpoint() {
                Some(made) if made.seq > head => self.checkpoint = Some(made),
                made => self.hand_in_checkpoint(made),
            }
        }
    }

    /// Where many wait for theirs already, there is one the next time.
    fn hand_in_checkpoint(&self, made: Option<Checkpoint>) {
        let due = Due { project: self.task.project.clone(), made };
        drop(self.task.context.checkpoints.try_send(due));
    }

    fn committed(&mut self) {
        self.writer.committed(&mut self.out);
        self.task.failures = 0;
        self.used = Instant::now();
    }

    fn revive(&mut self, deployment: DeploymentId, rows: Result<Vec<Linked>, StoreError>) {
        match rows {
            Ok(rows) => self.writer.revive(deployment, &rows, &mut self.out),
            Err(StoreError::Archived { .. }) => {
                let archived = Refusal::Archived(deployment).into();
                self.writer.decline(deployment, &archived, &mut self.out);
            }
            Err(error) => {
                let project = &self.task.project;
                tracing::warn!(%project, %deployment, %error, "deployment cannot be read");
                self.writer.abandon(deployment, Obstacle::Unavailable, &mut self.out);
            }
        }
    }

    /// An append did not become durable: everyone is told, and the state is dropped.
    async fn lost(mut self, error: &AppendError) -> Turn {
        // The log must stand still while it is read again.
        self.outbox.rest().await;
        let failure = loss::failure(error);
        for (ticket, error) in self.writer.failed(failure) {
            if let Some(caller) = self.callers.remove(&ticket) {
                drop(caller.send(Err(error)));
            }
        }
        self.task.inbox.extend(self.inspections.into_iter().map(Message::Inspect));
        let certain = failure != AppendFailure::Unknown;
        loss::turn(self.task, error, certain.then_some(self.epoch))
    }

    /// Another process owns the project: everyone is told.
    async fn revoked(mut self) -> Turn {
        self.outbox.rest().await;
        for (ticket, error) in self.writer.failed(AppendFailure::Fenced) {
            if let Some(caller) = self.callers.remove(&ticket) {
                drop(caller.send(Err(error)));
            }
        }
        self.task.inbox.extend(self.inspections.into_iter().map(Message::Inspect));
        Turn::End(RequestError::NotOwner)
    }

    /// When to go on although nothing happened.
    fn deadline(&self) -> Option<Instant> {
        if let Some(hold) = self.hold {
            return Some(hold.until);
        }
        if self.stopping || !self.inspections.is_empty() {
            return None;
        }
        let wakeup = self.writer.next_wakeup().map(|time| self.task.instant(time));
        wakeup.or_else(|| self.writer.is_settled().then(|| self.rest_at()))
    }

    fn rest_at(&self) -> Instant {
        self.used + self.task.context.options.idle_after
    }

    fn is_idle(&self) -> bool {
        let waits = self.hold.is_some() || self.writer.next_wakeup().is_some();
        !waits && self.writer.is_settled() && self.rest_at() <= Instant::now()
    }
}

/// Without a deadline it never ends.
async fn sleep(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
