use std::time::Duration;

use seaway_api::Task;
use seaway_client::{Answer, ClientError};
use seaway_model::Outcome;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::command::{Cancelled, Ended, Verdict, run};
use crate::worker::answer::{finished, instead};
use crate::worker::backoff::Backoff;
use crate::worker::keep::keep;
use crate::worker::reaction::Reaction;
use crate::worker::stop::{Stop, reached};
use crate::worker::summary::Fate;
use crate::worker::supervise::Shared;

/// How long a worker that is stopped by force tries to say so.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Carries out one task, from `.started` to `.finished`, while its lease is kept.
pub(super) async fn attend(shared: &Shared, project: &str, task: &Task) -> Fate {
    let (cancel, cancelled) = watch::channel(None);
    let work = work(shared, task, cancelled);
    let mut stop = shared.stop();
    let stopped = reached(&mut stop, Stop::Now);
    let lost = keep(&shared.client, project, task);
    tokio::pin!(work, stopped, lost);
    let (mut held, mut stopping) = (true, false);
    // The work is never dropped: what it has started is to be ended in an orderly way.
    loop {
        tokio::select! {
            fate = &mut work => return fate,
            () = &mut lost, if held => {
                held = false;
                cancel.send_replace(Some(Cancelled::Lost));
            }
            () = &mut stopped, if !stopping => {
                stopping = true;
                cancel.send_if_modified(|why| why.is_none() && {
                    *why = Some(Cancelled::Stopped);
                    true
                });
            }
        }
    }
}

type Cancel = watch::Receiver<Option<Cancelled>>;

async fn work(shared: &Shared, task: &Task, cancel: Cancel) -> Fate {
    let Some(definition) = shared.options.definitions.choose(task) else {
        let why = "the worker has no definition for this task; look at its stages, services and \
                   expressions";
        return finish(shared, task, Verdict::errored(why), cancel).await;
    };
    let started = say(shared, task, (Answer::Started, Map::new()), cancel.clone()).await;
    match started {
        Said::Taken => {}
        Said::Gone => return Fate::Lost,
        Said::Refused(error) => {
            tracing::error!(task = %task.target, %error, "the start of a task was refused");
            return Fate::Lost;
        }
    }
    let told = |key: &str| task.event.data.get(key).and_then(Value::as_str).unwrap_or_default();
    let (service, version) = (told("service"), told("version"));
    tracing::info!(task = %task.target, service, version, definition = %definition.name, "started");
    let already = *cancel.borrow();
    let ended = match already {
        Some(Cancelled::Lost) => Ended::Lost,
        Some(Cancelled::Stopped) => Ended::Done(Verdict::errored("the worker was stopped")),
        None => run(definition, task, &shared.outer, why(cancel.clone())).await,
    };
    match ended {
        Ended::Done(verdict) => finish(shared, task, verdict, cancel).await,
        Ended::Lost => {
            tracing::info!(task = %task.target, "ended, because the task was lost");
            Fate::Lost
        }
    }
}

async fn finish(shared: &Shared, task: &Task, verdict: Verdict, cancel: Cancel) -> Fate {
    let Verdict { result, ref message, .. } = verdict;
    let message = message.as_deref().unwrap_or_default();
    tracing::info!(task = %task.target, result = result.as_str(), message, "finished");
    let data = finished(task, &verdict);
    match say(shared, task, (Answer::Finished, data), cancel).await {
        Said::Taken => Fate::Answered(result),
        Said::Gone => {
            tracing::warn!(task = %task.target, "the result does not count: the task was lost");
            Fate::Lost
        }
        Said::Refused(error) => {
            tracing::error!(task = %task.target, %error, "the answer was refused");
            let event = instead(task, &shared.source(), &error.to_string());
            match shared.client.send_event(&event).await {
                Ok(_) => Fate::Answered(Outcome::Fail),
                Err(error) => {
                    tracing::error!(task = %task.target, %error, "so was the one instead of it");
                    Fate::Lost
                }
            }
        }
    }
}

/// What the server thinks of an answer.
#[derive(Debug)]
enum Said {
    Taken,
    Gone,
    Refused(ClientError),
}

/// Says something until it is heard, or nobody wants to hear it any more.
async fn say(
    shared: &Shared,
    task: &Task,
    (answer, data): (Answer, Map<String, Value>),
    cancel: Cancel,
) -> Said {
    let mut backoff = Backoff::new();
    let saying = async {
        loop {
            let Err(error) = shared.client.answer(task, answer, data.clone()).await else {
                return Said::Taken;
            };
            let wait = match Reaction::to(&error) {
                Reaction::Gone => return Said::Gone,
                Reaction::Refused => return Said::Refused(error),
                Reaction::Again(asked) => backoff.wait(asked),
                Reaction::Denied => backoff.wait(None),
            };
            tracing::warn!(task = %task.target, %error, "an answer was not heard; trying again");
            sleep(wait).await;
        }
    };
    tokio::select! {
        said = saying => said,
        () = given_up(cancel) => Said::Gone,
    }
}

/// The lease is lost, or a worker that is stopped by force has tried long enough.
async fn given_up(cancel: Cancel) {
    if why(cancel.clone()).await == Cancelled::Stopped {
        let mut cancel = cancel;
        let lost = cancel.wait_for(|why| *why == Some(Cancelled::Lost));
        let _ = timeout(LAST_WORDS, lost).await;
    }
}

async fn why(mut cancel: Cancel) -> Cancelled {
    let why = cancel.wait_for(Option::is_some).await.map(|why| *why);
    match why {
        Ok(Some(why)) => why,
        // Nobody is left who could cancel it.
        _ => std::future::pending().await,
    }
}
