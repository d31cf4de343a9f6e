use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::FutureExt;
use seaway_model::{Epoch, Name, Seq, Span, Timestamp};
use seaway_store::{Lease, StoreError};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::core::{EngineClock, Obstacle, RequestError, Writer};
use crate::engine::{Context, chain};
use crate::handle::ProjectHandle;
use crate::live::Live;
use crate::loading::{ReadError, fold};
use crate::mailbox::Message;

/// The owner of one project: a task that outlives its state. When an append fails, or a panic ends
/// a turn, the state is dropped and loaded again; only the mailbox and the clock stay.
pub(crate) struct ProjectTask {
    pub(crate) project: Arc<Name>,
    pub(crate) context: Arc<Context>,
    pub(crate) mailbox: mpsc::Receiver<Message>,
    /// Taken from the mailbox and not yet looked at.
    pub(crate) inbox: Vec<Message>,
    pub(crate) head: watch::Sender<Seq>,
    pub(crate) ends: Ends,
    /// Since when it is leased, once it is.
    pub(crate) leased: Arc<OnceLock<Instant>>,
    pub(crate) clock: Option<EngineClock>,
    /// Up to where checkpoints exist or were asked for.
    pub(crate) checkpointed: Seq,
    /// Failures since the last append that became durable.
    pub(crate) failures: u32,
}

/// What ends a project from outside.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    pub(crate) stop: watch::Receiver<bool>,
    /// Another process owns it now.
    pub(crate) revoked: watch::Receiver<bool>,
}

/// What the task does next.
#[derive(Debug)]
pub(crate) enum Turn {
    /// Folds the log and writes on. With `keep` the ownership is still good: nothing can be under
    /// way that was written under it.
    Load { keep: Option<Epoch>, hold: Option<Hold> },
    /// Declines everything until then.
    Down(Hold),
    /// Out of memory until someone asks for it. Ownership is kept, not taken anew: if another
    /// server has it by then, the first append finds out.
    Asleep { epoch: Epoch },
    /// For good.
    End(RequestError),
}

/// Writing pauses, so that a store in trouble is not asked all the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub(crate) until: Instant,
    pub(crate) why: Obstacle,
}

impl ProjectTask {
    /// A project that meets bugs this often without writing anything in between is given up.
    const MAX_BUGS: u32 = 5;

    pub(crate) fn new(
        handle: &ProjectHandle,
        mailbox: mpsc::Receiver<Message>,
        head: watch::Sender<Seq>,
        ends: Ends,
    ) -> Self {
        Self {
            project: handle.project.clone(),
            context: handle.context.clone(),
            mailbox,
            inbox: Vec::new(),
            head,
            ends,
            leased: Arc::new(OnceLock::new()),
            clock: None,
            checkpointed: Seq(0),
            failures: 0,
        }
    }

    pub(crate) async fn run(mut self, ended: Arc<OnceLock<RequestError>>) {
        let mut turn = Turn::Load { keep: None, hold: None };
        let error = loop {
            turn = match turn {
                Turn::End(error) => break error,
                turn => match AssertUnwindSafe(self.take(turn)).catch_unwind().await {
                    Ok(next) => next,
                    Err(panic) => self.after_panic(&*panic),
                },
            };
        };
        if matches!(error, RequestError::NotWritten { why: Obstacle::Stopping, .. }) {
            tracing::debug!(project = %self.project, "project closed");
        } else {
            tracing::info!(project = %self.project, why = %error, "project closed");
        }
        ended.set(error.clone()).expect("a task ends once");
        self.mailbox.close();
        while let Some(message) = self.mailbox.recv().await {
            self.inbox.push(message);
        }
        self.inbox.drain(..).for_each(|message| message.decline(error.clone()));
    }

    async fn take(&mut self, turn: Turn) -> Turn {
        match turn {
            Turn::Load { keep, hold } => match self.load(keep).await {
                Ok(writer) => Live::new(self, writer, hold).run().await,
                Err(error) => self.unreadable(&error),
            },
            Turn::Down(hold) => self.wait_out(hold).await,
            Turn::Asleep { epoch } => self.sleep(epoch).await,
            Turn::End(error) => Turn::End(error),
        }
    }

    async fn load(&mut self, keep: Option<Epoch>) -> Result<(Epoch, Writer), ReadError> {
        let (store, project) = (self.context.store.clone(), self.project.clone());
        let epoch = match keep {
            Some(epoch) => epoch,
            None => acquire(&self.context.clone(), &project, self.leased.clone()).await?,
        };
        let folded = fold(&store, &project).await?;
        let head = folded.replay.head();
        let time = folded.replay.resumes_at(wall_clock());
        let monotonic = self.context.monotonic();
        let clock = self.clock.get_or_insert_with(|| EngineClock::new(time, monotonic));
        clock.not_before(time);
        let now = clock.now(monotonic);
        self.head.send_replace(head);
        self.checkpointed = folded.checkpoint;
        Ok((epoch, folded.replay.finish(epoch, now, self.context.options.limits)))
    }

    fn unreadable(&mut self, error: &ReadError) -> Turn {
        if let ReadError::Elsewhere = error {
            return Turn::End(RequestError::NotOwner);
        }
        let why = chain(error);
        tracing::error!(project = %self.project, why, "project cannot be loaded");
        match error {
            ReadError::Store(StoreError::Unavailable(_)) => {
                Turn::Down(self.hold(Obstacle::Unavailable))
            }
            ReadError::Store(StoreError::DiskFull) => Turn::Down(self.hold(Obstacle::DiskFull)),
            ReadError::Store(StoreError::Failed(_)) => {
                self.context.store_failed.send_replace(Some(why.clone().into()));
                Turn::End(RequestError::Broken(why.into()))
            }
            _ => Turn::End(RequestError::Broken(why.into())),
        }
    }

    fn after_panic(&mut self, panic: &(dyn std::any::Any + Send)) -> Turn {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("no message");
        tracing::error!(project = %self.project, text, "panic in a project; loading it again");
        self.after_bug(text)
    }

    /// Loading again helps if a request was the cause, which is gone; not if the log itself is.
    pub(crate) fn after_bug(&mut self, text: &str) -> Turn {
        let hold = self.hold(Obstacle::Bug);
        if self.failures < Self::MAX_BUGS {
            Turn::Down(hold)
        } else {
            Turn::End(RequestError::Broken(format!("a bug, please report it: {text}").into()))
        }
    }

    /// Each failure in a row doubles the pause.
    pub(crate) fn hold(&mut self, why: Obstacle) -> Hold {
        let (first, longest) = self.context.options.backoff;
        let pause = first.saturating_mul(2_u32.saturating_pow(self.failures)).min(longest);
        self.failures += 1;
        Hold { until: Instant::now() + pause, why }
    }

    async fn wait_out(&mut self, hold: Hold) -> Turn {
        let error = self.not_written(hold.why);
        loop {
            self.inbox.drain(..).for_each(|message| message.decline(error.clone()));
            tokio::select! {
                () = stopped(&mut self.ends.stop) => {
                    return Turn::End(self.not_written(Obstacle::Stopping));
                }
                () = stopped(&mut self.ends.revoked) => return Turn::End(RequestError::NotOwner),
                () = tokio::time::sleep_until(hold.until) => {
                    return Turn::Load { keep: None, hold: None };
                }
                count = self.mailbox.recv_many(&mut self.inbox, 64) => if count == 0 {
                    return Turn::End(self.not_written(Obstacle::Stopping));
                },
            }
        }
    }

    async fn sleep(&mut self, epoch: Epoch) -> Turn {
        tokio::select! {
            () = stopped(&mut self.ends.stop) => {
                Turn::End(self.not_written(Obstacle::Stopping))
            }
            () = stopped(&mut self.ends.revoked) => Turn::End(RequestError::NotOwner),
            count = self.mailbox.recv_many(&mut self.inbox, 64) => match count {
                0 => Turn::End(self.not_written(Obstacle::Stopping)),
                _ => Turn::Load { keep: Some(epoch), hold: None },
            },
        }
    }

    pub(crate) fn not_written(&self, why: Obstacle) -> RequestError {
        let retry_after = self.context.options.limits.retry_after;
        RequestError::NotWritten { why, retry_after }
    }

    /// Engine time now.
    pub(crate) fn now(&mut self) -> Timestamp {
        let clock = self.clock.as_mut().expect("a project that was loaded has a clock");
        clock.now(self.context.monotonic())
    }

    /// When engine time will be `time`.
    pub(crate) fn instant(&self, time: Timestamp) -> Instant {
        let clock = self.clock.as_ref().expect("a project that was loaded has a clock");
        let Span(micros) = clock.until(time);
        Instant::now() + Duration::from_micros(micros.unsigned_abs())
    }
}

/// Takes ownership anew, so that whatever was written under an earlier one is refused.
async fn acquire(
    context: &Context,
    project: &Name,
    leased: Arc<OnceLock<Instant>>,
) -> Result<Epoch, ReadError> {
    let (store, owner) = (&context.store, &context.options.owner);
    let Some(ttl) = context.options.lease else {
        return Ok(store.acquire(project, owner).await?);
    };
    match store.lease(project, owner, ttl).await? {
        Lease::Held { epoch } => {
            leased.get_or_init(Instant::now);
            Ok(epoch)
        }
        Lease::Elsewhere { .. } => Err(ReadError::Elsewhere),
    }
}

/// Waits until the engine stops, or is gone.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stop| *stop).await);
}

/// The only reading of the wall clock: where a log may go on with the time of day.
#[expect(clippy::disallowed_methods, reason = "time is an argument of what is decided from it")]
fn wall_clock() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let micros = since.map_or(0, |since| since.as_micros());
    Timestamp(i64::try_from(micros).expect("the year 294,000 is far away"))
}
