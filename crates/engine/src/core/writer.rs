use std::collections::{BTreeSet, VecDeque};

use seaway_kernel::{Command, Kernel, Pace, Record, Refusal, Reply};
use seaway_model::planted::{Bug, planted};
use seaway_model::{DeploymentId, Digest, ExecutorName, Seq, Timestamp};
use seaway_store::Checkpoint;
use seaway_wire::{Append, KeptAnswer};

use super::batch::{Batch, Sealer};
use super::registrations::Registrations;
use super::takers::Takers;
use super::{
    AppendFailure, Ask, Limits, Obstacle, Output, Overloaded, Request, RequestError, Ticket,
    envelope,
};

/// The only one who writes the log of a project.
///
/// Requests are decided in order, on a state that runs ahead of the store by the appends that are
/// outstanding. What was decided is told to nobody before everything it rests on is durable.
#[derive(Debug)]
pub struct Writer {
    pub(super) kernel: Kernel,
    sealer: Sealer,
    pub(super) limits: Limits,
    pub(super) queue: VecDeque<Waiting>,
    /// Requests that wait until a deployment is brought back.
    pub(super) parked: Vec<(DeploymentId, Waiting)>,
    pub(super) takers: Takers,
    /// Executors with something new to take, for whom nobody has asked the kernel yet.
    pub(super) woken: BTreeSet<ExecutorName>,
    outstanding: VecDeque<Batch>,
    pace: Pace,
    durable: Seq,
    registrations: Registrations,
    records: Vec<Record>,
}

const MAX_LOADS: u32 = 100;

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) request: Request,
    /// How often its deployment was brought back for it. What others do with it may make it leave
    /// again before this request is decided; but that cannot go on for ever.
    pub(super) loads: u32,
    /// Its deployment has no records.
    pub(super) fresh: bool,
}

/// What deciding a request led to.
pub(super) enum Decided {
    Answer(Ticket, Result<Reply, RequestError>),
    /// It needs a deployment that left memory; nobody asked for that one yet.
    Load(DeploymentId),
    Parked,
}

impl Writer {
    pub(super) fn new(kernel: Kernel, sealer: Sealer, limits: Limits) -> Self {
        let durable = kernel.head();
        Self {
            kernel,
            sealer,
            limits,
            queue: VecDeque::new(),
            parked: Vec::new(),
            takers: Takers::default(),
            woken: BTreeSet::new(),
            outstanding: VecDeque::new(),
            // What the last owner had no time to dispatch is dispatched by the first poll.
            pace: Pace::More,
            durable,
            registrations: Registrations::new(durable),
            records: Vec::new(),
        }
    }

    /// Puts a request in line; call [`poll_append`](Self::poll_append) next. A full mailbox refuses
    /// it, and the caller is told when to come back; nothing that was accepted is ever dropped.
    pub fn offer(&mut self, request: Request) -> Result<(), Overloaded> {
        if self.room() == 0 {
            return Err(Overloaded { retry_after: self.limits.retry_after });
        }
        self.queue.push_back(Waiting { request, loads: 0, fresh: false });
        Ok(())
    }

    /// How many more requests [`offer`](Self::offer) accepts now.
    #[must_use]
    pub fn room(&self) -> usize {
        self.limits.mailbox.saturating_sub(self.queue.len() + self.parked.len())
    }

    /// Decides what is queued, and dispatches what became doable. Call again until it is `None`,
    /// and hand the appends to the store in this order: one that does not keep the order of
    /// appends that it has at the same time gets the next one when the former has ended.
    ///
    /// Answers that rest on nothing but durable records go to `out` at once.
    pub fn poll_append(&mut self, now: Timestamp, out: &mut Vec<Output>) -> Option<Append> {
        if self.outstanding.len() >= self.limits.outstanding {
            return None;
        }
        let now = now.max(self.kernel.time());
        let mut records = std::mem::take(&mut self.records);
        let mut batch = Batch {
            head: self.kernel.head(),
            replies: Vec::new(),
            effects: Vec::new(),
            loads: Vec::new(),
            answers: Vec::new(),
        };
        for _ in 0..self.limits.requests {
            if records.len() >= self.limits.records {
                break;
            }
            let Some(waiting) = self.queue.pop_front() else { break };
            match self.decide(waiting, now, &mut records, &mut batch.answers) {
                Decided::Answer(ticket, result) => batch.replies.push((ticket, result)),
                Decided::Load(deployment) => batch.loads.push(Output::Load { deployment }),
                Decided::Parked => {}
            }
        }
        // Even behind a flood of commands some dispatching gets done.
        let left = self.limits.records.saturating_sub(records.len());
        self.dispatch(now, left.max(self.limits.records / 4).max(1), &mut records);
        self.serve(now, &mut records, &mut batch);
        let append = self.close(batch, &records, out);
        records.clear();
        self.records = records;
        append
    }

    /// Dispatches what became doable, as far as the size of an append goes: an event with much data
    /// that starts many runs is many times as large in the log.
    fn dispatch(&mut self, now: Timestamp, mut left: usize, records: &mut Vec<Record>) {
        const CHUNK: usize = 64;
        let mut bytes = 0;
        loop {
            let before = records.len();
            self.pace = self.kernel.tick(now, left.min(CHUNK), records);
            let made = &records[before..];
            left = left.saturating_sub(made.len());
            bytes += made.iter().map(Record::data_len).sum::<usize>();
            if self.pace == Pace::Idle || left == 0 || bytes >= self.limits.append_bytes {
                return;
            }
        }
    }

    fn decide(
        &mut self,
        waiting: Waiting,
        now: Timestamp,
        records: &mut Vec<Record>,
        answers: &mut Vec<KeptAnswer>,
    ) -> Decided {
        let ticket = waiting.request.ticket;
        match self.registrations.admit(&waiting.request.ask) {
            Ok(None) => {}
            Ok(Some(answer)) => return Decided::Answer(ticket, Ok(answer)),
            Err(error) => return Decided::Answer(ticket, Err(error)),
        }
        let result = match &waiting.request.ask {
            Ask::Command { command, by, seen, key } => {
                match self.unread(command, waiting.fresh || seen.fresh) {
                    Some(deployment) => Err(Refusal::NotLoaded(deployment)),
                    None => {
                        let decided = self.kernel.decide(command, now, by, records);
                        if let Some(answer) = key.and_then(|key| kept(key, decided.as_ref().ok()?))
                        {
                            // The same request may be next in this very batch.
                            self.registrations.keep(&answer);
                            answers.push(answer);
                        }
                        decided
                    }
                }
            }
            Ask::Take { executor, max, ttl, patience, by } => {
                return self.take(ticket, executor, (*max, *ttl, *patience), by, (now, records));
            }
            Ask::Renew { step, fence } => {
                let renewed = self.kernel.renew(*step, *fence, now);
                renewed.map(|()| Reply::Done { at: self.kernel.head() })
            }
            Ask::Heartbeat { executor } => {
                let alive = self.kernel.heartbeat(executor, now);
                alive.map(|()| Reply::Done { at: self.kernel.head() })
            }
        };
        match result {
            Err(Refusal::NotLoaded(_)) if waiting.loads == MAX_LOADS => {
                let (why, retry_after) = (Obstacle::Contended, self.limits.retry_after);
                Decided::Answer(ticket, Err(RequestError::NotWritten { why, retry_after }))
            }
            Err(Refusal::NotLoaded(deployment)) => {
                let asked = self.parked.iter().any(|(parked, _)| *parked == deployment);
                self.parked.push((deployment, waiting));
                if asked { Decided::Parked } else { Decided::Load(deployment) }
            }
            result => Decided::Answer(ticket, result.map_err(RequestError::Refused)),
        }
    }

    /// What is triggered may be new, or may have left memory: as long as it is not known which, its
    /// records are asked for. A new one has none.
    fn unread(&self, command: &Command, fresh: bool) -> Option<DeploymentId> {
        let deployment = launched(command)?;
        let unread = !fresh || self.registrations.knows(deployment);
        (unread && !self.kernel.is_loaded(deployment)).then_some(deployment)
    }

    /// Ends a batch: with records it becomes an append; without, its answers follow the last append
    /// that is outstanding, because they may rest on it.
    fn close(
        &mut self,
        mut batch: Batch,
        records: &[Record],
        out: &mut Vec<Output>,
    ) -> Option<Append> {
        if records.is_empty() {
            self.kernel.sweep();
            match self.outstanding.back_mut() {
                Some(last) => {
                    last.replies.append(&mut batch.replies);
                    last.loads.append(&mut batch.loads);
                }
                None => batch.tell(out),
            }
            return None;
        }
        let mut append = self.sealer.seal(&self.kernel, records);
        append.answers = std::mem::take(&mut batch.answers);
        if planted(Bug::AnswerNotKept) {
            append.answers.clear();
        }
        append.starts.iter().for_each(|start| self.registrations.note(start));
        batch.head = self.kernel.head();
        batch.effects = records.iter().filter_map(|record| self.kernel.effect(record)).collect();
        self.kernel.sweep();
        if planted(Bug::ReplyBeforeDurable) {
            let reply = |(ticket, result)| Output::Reply { ticket, result };
            out.extend(batch.replies.drain(..).map(reply));
        }
        self.outstanding.push_back(batch);
        Some(append)
    }

    /// The oldest outstanding append is durable. Tell what is in `out`, then poll again.
    pub fn committed(&mut self, out: &mut Vec<Output>) {
        let batch = self.outstanding.pop_front().expect("only an append that was handed out ends");
        self.durable = batch.head;
        out.push(Output::Durable { head: batch.head });
        batch.tell(out);
    }

    /// The oldest outstanding append failed, or nobody knows. The state ran ahead of the log, so it
    /// is dropped and must be loaded again (never, after [`AppendFailure::Fenced`]). If the store
    /// has the next append already, wait for it first: the log must stand still while it is read.
    #[must_use]
    pub fn failed(mut self, failure: AppendFailure) -> Vec<(Ticket, RequestError)> {
        let retry_after = self.limits.retry_after;
        let (granted, others) = match failure {
            AppendFailure::Fenced => (RequestError::NotOwner, RequestError::NotOwner),
            AppendFailure::NotWritten(why) => {
                let error = RequestError::NotWritten { why, retry_after };
                (error.clone(), error)
            }
            AppendFailure::Unknown => {
                let why = Obstacle::Unavailable;
                (RequestError::Unknown, RequestError::NotWritten { why, retry_after })
            }
        };
        let decided = self.outstanding.into_iter().flat_map(|batch| batch.replies);
        // A refusal that rested on an append that is gone is void, and certainly wrote nothing.
        let decided = decided.map(|(ticket, result)| match result {
            Ok(_) => (ticket, granted.clone()),
            Err(_) => (ticket, others.clone()),
        });
        let parked = self.parked.into_iter().map(|(_, waiting)| waiting);
        let waiting = parked.chain(self.queue);
        let waiting = waiting.map(|waiting| waiting.request.ticket);
        let waiting = waiting.chain(self.takers.dismiss());
        decided.chain(waiting.map(|ticket| (ticket, others.clone()))).collect()
    }

    /// When to poll although nothing arrived. A time that has passed means at once; `None` while
    /// nothing can be done before an append ends or a request arrives.
    #[must_use]
    pub fn next_wakeup(&self) -> Option<Timestamp> {
        if self.outstanding.len() >= self.limits.outstanding {
            return None;
        }
        if self.pace == Pace::More || !self.queue.is_empty() || !self.woken.is_empty() {
            return Some(self.kernel.time());
        }
        [self.kernel.next_wakeup(), self.takers.first_deadline()].into_iter().flatten().min()
    }

    /// Requests that the next [`poll_append`](Self::poll_append) will decide.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Whether every request was answered and every append is durable: what a graceful stop waits
    /// for.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.outstanding.is_empty() && self.queue.is_empty() && self.parked.is_empty()
    }

    /// Appends that the store has not answered yet.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// Position of the last record that is durable.
    #[must_use]
    pub fn durable(&self) -> Seq {
        self.durable
    }

    /// A checkpoint of the state, unless making it would take so long that callers notice. It may
    /// have records that are not durable yet.
    #[must_use]
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        let small = self.kernel.weight() <= self.limits.checkpointed;
        small.then(|| envelope::checkpoint(&self.kernel, self.sealer.hash))
    }

    /// The state, which is ahead of the log while an append is outstanding.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }
}

/// What a request with a key is told when it comes again.
fn kept(key: Digest, reply: &Reply) -> Option<KeptAnswer> {
    let (at, started) = match reply {
        Reply::Done { at } => (*at, None),
        Reply::Started { at, deployment, revision } => (*at, Some((*deployment, *revision))),
        Reply::Claimed { .. } | Reply::Taken { .. } => return None,
    };
    let (deployment, revision) = started.unzip();
    Some(KeptAnswer { key, at, deployment, revision })
}

/// The deployment of a command that starts it unless it is there already.
pub(super) fn launched(command: &Command) -> Option<DeploymentId> {
    match command {
        Command::Trigger { deployment, .. } | Command::Happen { deployment, .. } => {
            Some(*deployment)
        }
        _ => None,
    }
}
