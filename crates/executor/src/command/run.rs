use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use seaway_api::Task;
use tokio::process::Child;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep, timeout};

use crate::command::capture::{self, Capture, Stream};
use crate::command::environment::Outer;
use crate::command::invocation::Invocation;
use crate::command::result_file;
use crate::command::room::Room;
use crate::command::verdict::{Exit, Verdict};
use crate::definition::Definition;
use crate::process::{Family, end};

/// How often it is looked who belongs to a command, in case somebody leaves.
const LOOK: Duration = Duration::from_secs(2);
/// How long the output may stay open after everybody who could write to it has ended.
const DRAIN: Duration = Duration::from_secs(2);

/// Why a command is ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// The task is somebody else's now, or nobody's.
    Lost,
    /// The worker is stopped by force.
    Stopped,
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    Done(Verdict),
    /// Nobody wants to know any more.
    Lost,
}

/// Carries out a task as a command. When this returns, nothing of the command runs any more.
///
/// It is ended when its time is over, or as soon as `cancel` is done.
pub async fn run(
    definition: &Definition,
    task: &Task,
    outer: &Outer,
    cancel: impl Future<Output = Cancelled>,
) -> Ended {
    let message = task.event.clone();
    let prepared = spawn_blocking(move || Room::prepare(&message)).await;
    let room = match prepared.expect("making a directory does not panic") {
        Ok(room) => room,
        Err(error) => {
            let why = format!("no directory could be made for the command: {error}");
            return Ended::Done(Verdict::errored(why));
        }
    };
    let ended = in_room(definition, task, &room, outer, cancel).await;
    spawn_blocking(move || room.clear()).await.expect("removing a directory does not panic");
    ended
}

async fn in_room(
    definition: &Definition,
    task: &Task,
    room: &Room,
    outer: &Outer,
    cancel: impl Future<Output = Cancelled>,
) -> Ended {
    let invocation = match Invocation::of(definition, task, room, outer) {
        Ok(invocation) => invocation,
        Err(missing) => return Ended::Done(Verdict::errored(missing.to_string())),
    };
    let (family, mut child) = match Family::start(invocation.command(), room.message()) {
        Ok(started) => started,
        Err(error) => return Ended::Done(Verdict::errored(invocation.failure(&error))),
    };
    let capture = Arc::new(Mutex::new(Capture::new(definition.output_limit)));
    let readers = readers(&mut child, &capture);
    let (finish, family) = watch(&mut child, family, definition.timeout, cancel).await;
    let left = end(family, definition.grace).await;
    if left > 0 {
        tracing::warn!(task = %task.target, left, "some processes of a command cannot be ended");
    }
    for mut reader in readers {
        if timeout(DRAIN, &mut reader).await.is_err() {
            reader.abort();
        }
    }
    // A command that was killed and cannot die is given up with the others.
    let _ = timeout(DRAIN, child.wait()).await;
    let exit = match finish {
        Finish::Exited(status) => exit_of(status),
        Finish::TimedOut => Exit::TimedOut(definition.timeout),
        Finish::Cancelled(Cancelled::Stopped) => Exit::Stopped,
        Finish::Cancelled(Cancelled::Lost) => return Ended::Lost,
    };
    let result = room.result();
    let written = spawn_blocking(move || result_file::read(&result)).await;
    let written = written.expect("reading a file does not panic");
    let capture = capture.lock().unwrap_or_else(PoisonError::into_inner);
    let verdict = Verdict::of(exit, written, capture.last_words());
    Ended::Done(Verdict { log: capture.log(), ..verdict })
}

fn readers(child: &mut Child, capture: &Arc<Mutex<Capture>>) -> Vec<JoinHandle<()>> {
    let mut readers = Vec::new();
    if let Some(output) = child.stdout.take() {
        readers.push(tokio::spawn(capture::read(output, Stream::Output, Arc::clone(capture))));
    }
    if let Some(errors) = child.stderr.take() {
        readers.push(tokio::spawn(capture::read(errors, Stream::Errors, Arc::clone(capture))));
    }
    readers
}

/// Why a command is over, before what it left behind is.
#[derive(Debug)]
enum Finish {
    Exited(ExitStatus),
    TimedOut,
    Cancelled(Cancelled),
}

async fn watch(
    child: &mut Child,
    mut family: Family,
    limit: Duration,
    cancel: impl Future<Output = Cancelled>,
) -> (Finish, Family) {
    let mut look = interval_at(Instant::now() + LOOK, LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let over = sleep(limit);
    tokio::pin!(cancel, over);
    loop {
        let finish = tokio::select! {
            biased;
            cancelled = &mut cancel => Finish::Cancelled(cancelled),
            status = child.wait() => match status {
                Ok(status) => Finish::Exited(status),
                Err(error) => {
                    tracing::error!(%error, "a command cannot be waited for");
                    Finish::Cancelled(Cancelled::Stopped)
                }
            },
            () = &mut over => Finish::TimedOut,
            _ = look.tick() => {
                family = family.look().await;
                continue;
            }
        };
        return (finish, family);
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}
