use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::{FromRequestParts, State};
use axum::response::{IntoResponse, Response};
use http::header;
use http::request::Parts;
use seaway_api::{Claim, Executor, Heartbeat, Page, Register, Registered, Renewed, Written};
use seaway_kernel::{Command, Expression, Kernel, Operator, Reply, Subscription};
use seaway_model::{ExecutorName, Name, Seq, Span};

use crate::app::App;
use crate::extract::{In, Json, Once, param};
use crate::handout::handout;
use crate::intake::TaskId;
use crate::paging::Paged;
use crate::problem::Failure;
use crate::query::Ask;
use crate::view::executor::executor;

/// The executor that a path names.
#[derive(Debug)]
pub(crate) struct Named(ExecutorName);

impl FromRequestParts<Arc<App>> for Named {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        Ok(Self(ExecutorName(param(parts, app, "executor").await?.into())))
    }
}

/// The executors that are registered, in the order of their names.
#[utoipa::path(get, path = "/v1/projects/{project}/executors", tag = "executors",
    params(("project" = String, Path), Paged),
    responses(
        (status = 200, body = Page<Executor>),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn list(
    here: In,
    Ask(paged): Ask<Paged>,
) -> Result<Answer<Page<Executor>>, Failure> {
    let piece = paged.piece()?;
    let after = piece.after().map(|name| ExecutorName(name.into()));
    let limit = piece.limit;
    let look = move |kernel: &Kernel| -> Vec<Executor> {
        let known = kernel.executors(after.as_ref()).take(limit + 1);
        known.map(|it| executor(&it)).collect()
    };
    let known = here.project.inspect(look).await?;
    Ok(Answer(piece.page(known, |it| it.name.clone(), |it| it)))
}

/// Registers an executor, or changes its subscriptions.
#[utoipa::path(put, path = "/v1/projects/{project}/executors/{executor}", tag = "executors",
    params(("project" = String, Path), ("executor" = String, Path)),
    request_body = Register,
    responses(
        (status = 200, body = Registered),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn register(
    here: In,
    Named(executor): Named,
    Json(register): Json<Register>,
) -> Result<Answer<Registered>, Failure> {
    let subscriptions: Result<Vec<Subscription>, Failure> =
        register.subscriptions.into_iter().map(subscription).collect();
    let name = executor.0.to_string();
    let ttl = Span::from_secs(i64::from(register.ttl_seconds));
    let command = Command::Register { executor, subscriptions: subscriptions?, ttl };
    let reply = here.project.send(command, here.caller.actor()).await?;
    Ok(Answer(Registered { executor: name, at: position(&reply).0 }))
}

fn subscription(given: seaway_api::Subscription) -> Result<Subscription, Failure> {
    let task = given.task.strip_prefix("sh.keptn.event.").unwrap_or(&given.task);
    let task = task.strip_suffix(".triggered").unwrap_or(task);
    let names = |given: &[String]| given.iter().map(|it| name(it)).collect::<Result<_, _>>();
    Ok(Subscription {
        task: name(task)?,
        stages: names(&given.stages)?,
        services: names(&given.services)?,
        expressions: given.match_expressions.into_iter().map(expression).collect(),
    })
}

fn expression(given: seaway_api::Expression) -> Expression {
    Expression {
        key: given.key.into(),
        operator: match given.operator {
            seaway_api::Operator::In => Operator::In,
            seaway_api::Operator::NotIn => Operator::NotIn,
            seaway_api::Operator::Exists => Operator::Exists,
            seaway_api::Operator::DoesNotExist => Operator::DoesNotExist,
        },
        values: given.values.into_iter().map(Into::into).collect(),
    }
}

fn name(text: &str) -> Result<Name, Failure> {
    Name::new(text).map_err(|error| Failure::refused("bad-name", error.to_string()))
}

/// An executor leaves: nobody waits for it any more.
#[utoipa::path(delete, path = "/v1/projects/{project}/executors/{executor}", tag = "executors",
    params(("project" = String, Path), ("executor" = String, Path)),
    responses(
        (status = 200, body = Written),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn leave(
    here: In,
    Named(executor): Named,
    Once(key): Once,
) -> Result<Answer<Written>, Failure> {
    let command = Command::Leave { executor };
    let reply = here.project.send_once(command, here.caller.actor(), key).await?;
    Ok(Answer(Written { at: position(&reply).0 }))
}

/// An executor says that it is there. A claim says so, too.
#[utoipa::path(post, path = "/v1/projects/{project}/executors/{executor}/heartbeat",
    tag = "executors",
    params(("project" = String, Path), ("executor" = String, Path)),
    responses(
        (status = 200, body = Heartbeat),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn heartbeat(
    here: In,
    Named(executor): Named,
) -> Result<Answer<Heartbeat>, Failure> {
    let reply = here.project.heartbeat(executor).await?;
    Ok(Answer(Heartbeat { at: position(&reply).0 }))
}

/// Takes tasks, and waits for some while there are none. What is handed out is durable.
#[utoipa::path(post, path = "/v1/projects/{project}/executors/{executor}/claim",
    tag = "executors",
    params(("project" = String, Path), ("executor" = String, Path)),
    request_body = Claim,
    responses(
        (status = 200, body = seaway_api::Claimed),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn claim(
    State(app): State<Arc<App>>,
    here: In,
    Named(executor): Named,
    Json(claim): Json<Claim>,
) -> Result<Response, Failure> {
    if !(1..=100).contains(&claim.max) || claim.wait_seconds > 60 {
        let detail = "a claim asks for 1 to 100 tasks and waits for 0 to 60 seconds";
        return Err(Failure::refused("bad-claim", detail));
    }
    let ttl = Span::from_secs(i64::from(claim.lease_seconds));
    let patience = Span::from_secs(i64::from(claim.wait_seconds));
    let by = here.caller.actor();
    let taking = here.project.take(executor, claim.max as usize, ttl, patience, by);
    // A server that stops sends those away who wait; they find another, or come again.
    let tasks = tokio::select! {
        tasks = taking => tasks?,
        () = app.stopped() => Vec::new(),
    };
    app.metrics.claimed.inc_by(tasks.len() as u64);
    let body = handout(&here.name, &tasks, claim.lease_seconds);
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// Keeps the lease of a task. Refused when it is no longer held: then the task should stop.
#[utoipa::path(post, path = "/v1/projects/{project}/tasks/{task}/renew", tag = "executors",
    params(("project" = String, Path), ("task" = String, Path)),
    responses(
        (status = 200, body = Renewed),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn renew(here: In, Task(id): Task) -> Result<Answer<Renewed>, Failure> {
    let reply = here.project.renew(id.step, id.fence).await?;
    Ok(Answer(Renewed { at: position(&reply).0 }))
}

/// The task that a path names.
#[derive(Debug)]
pub(crate) struct Task(TaskId);

impl FromRequestParts<Arc<App>> for Task {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        let text = param(parts, app, "task").await?;
        let unknown = |()| {
            let detail = format!("{text:?} is not the id of a task; send the one it came with");
            Failure::not_found("unknown-task", detail)
        };
        text.parse().map(Self).map_err(unknown)
    }
}

pub(crate) fn position(reply: &Reply) -> Seq {
    match reply {
        Reply::Done { at }
        | Reply::Started { at, .. }
        | Reply::Claimed { at, .. }
        | Reply::Taken { at, .. } => *at,
    }
}
