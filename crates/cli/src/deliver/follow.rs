use std::time::Duration;

use anyhow::{Result, bail};
use seaway_api::{DeploymentState, DeploymentView, StepState, Why};
use seaway_client::{Client, ClientError, RecordStream};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::deliver::blocked;
use crate::deliver::progress::Progress;
use crate::deliver::tell::{Told, tell};
use crate::failure::Found;
use crate::look::show_why;
use crate::out::Out;
use crate::print::{Format, length, one_line, value, word};

/// When nothing came for so long, the server is asked whether anything will.
const QUIET: Duration = Duration::from_secs(3);

/// How often in a row it has to say that only somebody else can help.
const PATIENCE: u32 = 3;

/// A deployment that somebody waits for.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) client: Client,
    pub(super) project: String,
    pub(super) id: Uuid,
    /// The position of the log from which on it is interesting.
    pub(super) since: u64,
}

/// How the waiting ended.
#[derive(Debug)]
enum End {
    Over(Box<DeploymentView>),
    Blocked(Box<Why>),
    TimedOut,
}

/// Follows a deployment, and ends as it ends.
pub(super) async fn to_the_end(
    delivery: Delivery,
    limit: Duration,
    to: Format,
    out: &mut Out,
) -> Result<()> {
    let progress = Progress::begin("waiting for the first task");
    let end = wait(&delivery, Instant::now() + limit, &progress).await?;
    drop(progress);
    let id = delivery.id;
    match end {
        End::Over(view) => {
            value(out, to, &*view, |out, view| out.line(sentence(view)))?;
            verdict(&view)
        }
        End::Blocked(why) => {
            value(out, to, &*why, show_why)?;
            let advice = format!("nothing moves until somebody helps; it waits on as {id}");
            Err(Found::Blocked(advice).into())
        }
        End::TimedOut => {
            let limit = length(limit);
            let advice = format!("it is not over after {limit} and goes on; ask `seaway why {id}`");
            Err(Found::TimedOut(advice).into())
        }
    }
}

async fn wait(delivery: &Delivery, end: Instant, progress: &Progress) -> Result<End> {
    let Delivery { client, project, id, since } = delivery;
    let mut stream = client.stream(project, since.saturating_sub(1));
    let mut blocked = 0;
    loop {
        let quiet = Instant::now() + QUIET;
        match timeout_at(quiet.min(end), news(&mut stream, *id)).await {
            Ok(told) => {
                blocked = 0;
                match told? {
                    Told::Line(paint, text) => progress.line(paint, &text),
                    Told::Now(text) => progress.now(&text),
                    Told::End => {
                        if let Some(view) = over(delivery).await? {
                            return Ok(End::Over(view));
                        }
                    }
                }
            }
            Err(_) => {
                if let Some(view) = over(delivery).await? {
                    return Ok(End::Over(view));
                }
                let why = client.why(project, *id).await?;
                if let Some(line) = why.lines.first() {
                    progress.now(&format!("{}: {}", line.target, one_line(&line.text)));
                }
                match blocked::chain(client, why).await? {
                    Some(why) if blocked + 1 >= PATIENCE => return Ok(End::Blocked(Box::new(why))),
                    Some(_) => blocked += 1,
                    None => blocked = 0,
                }
            }
        }
        if Instant::now() >= end {
            return Ok(End::TimedOut);
        }
    }
}

/// The next record of a deployment that is worth telling.
async fn news(stream: &mut RecordStream, id: Uuid) -> Result<Told, ClientError> {
    loop {
        let record = stream.next().await?;
        if record.deployment == Some(id)
            && let Some(told) = tell(&record)
        {
            return Ok(told);
        }
    }
}

/// How a deployment ended, once it has.
async fn over(delivery: &Delivery) -> Result<Option<Box<DeploymentView>>> {
    let view = delivery.client.deployment(&delivery.project, delivery.id).await?;
    let goes_on =
        matches!(view.deployment.state, DeploymentState::InProgress | DeploymentState::Paused);
    Ok((!goes_on).then(|| Box::new(view)))
}

fn sentence(view: &DeploymentView) -> String {
    let it = &view.deployment;
    let result = view.result.as_ref().map_or(String::new(), |result| format!(" ({result})"));
    format!("{} {}: {}{result}", it.service, it.version, word(it.state))
}

fn verdict(view: &DeploymentView) -> Result<()> {
    let failed = view.result.as_deref() == Some("fail");
    if view.deployment.state == DeploymentState::Finished && !failed {
        return Ok(());
    }
    let tasks = view.runs.iter().flat_map(|run| &run.tasks);
    let reasons: String = tasks
        .filter(|task| task.state == StepState::Failed)
        .map(|task| {
            let said = task.message.as_deref().map(one_line);
            format!("\n  {}: {}", task.target, said.unwrap_or_else(|| "failed".to_owned()))
        })
        .collect();
    bail!("it was not delivered{reasons}")
}
