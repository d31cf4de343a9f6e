use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use http::StatusCode;
use seaway_api::{Retry, Skip, Verdict, Written};
use seaway_engine::RequestError;
use seaway_kernel::{Command, Refusal, Step};
use seaway_model::{DeploymentId, Digest, Kind, Outcome};

use super::executors::position;
use crate::app::App;
use crate::extract::{In, Json, Of, Once};
use crate::history;
use crate::problem::Failure;
use crate::view::path::within;
use crate::view::steps::{self, Open, Wish};

/// Holds the next tasks of a deployment; what is under way goes on.
#[utoipa::path(post, path = "/v1/projects/{project}/deployments/{deployment}/pause",
    tag = "deployments",
    params(("project" = String, Path), ("deployment" = uuid::Uuid, Path)),
    responses(
        (status = 200, body = Written),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn pause(
    here: In,
    Of(deployment): Of,
    Once(key): Once,
) -> Result<Answer<Written>, Failure> {
    send(&here, Command::Pause { deployment }, key).await
}

/// Goes on with a deployment that was paused.
#[utoipa::path(post, path = "/v1/projects/{project}/deployments/{deployment}/resume",
    tag = "deployments",
    params(("project" = String, Path), ("deployment" = uuid::Uuid, Path)),
    responses(
        (status = 200, body = Written),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn resume(
    here: In,
    Of(deployment): Of,
    Once(key): Once,
) -> Result<Answer<Written>, Failure> {
    send(&here, Command::Resume { deployment }, key).await
}

/// Ends a deployment. Executors are told, and nothing that would follow is triggered.
#[utoipa::path(post, path = "/v1/projects/{project}/deployments/{deployment}/abort",
    tag = "deployments",
    params(("project" = String, Path), ("deployment" = uuid::Uuid, Path)),
    responses(
        (status = 200, body = Written),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn abort(
    here: In,
    Of(deployment): Of,
    Once(key): Once,
) -> Result<Answer<Written>, Failure> {
    send(&here, Command::Abort { deployment }, key).await
}

/// Tries a task again that failed, with the same or with other data.
#[utoipa::path(post, path = "/v1/projects/{project}/deployments/{deployment}/retry",
    tag = "deployments",
    params(("project" = String, Path), ("deployment" = uuid::Uuid, Path)),
    request_body = Retry,
    responses(
        (status = 200, body = Written),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn retry(
    State(app): State<Arc<App>>,
    here: In,
    Of(deployment): Of,
    Once(key): Once,
    Json(retry): Json<Retry>,
) -> Result<Answer<Written>, Failure> {
    let data = retry.data.map(|data| serde_json::Value::Object(data).to_string().into());
    let about = About { wish: Wish::Retry, deployment, target: retry.target };
    about.carry_out(&app, &here, key, |step| Command::Retry { step, data }).await
}

/// Counts a task as done without doing it.
#[utoipa::path(post, path = "/v1/projects/{project}/deployments/{deployment}/skip",
    tag = "deployments",
    params(("project" = String, Path), ("deployment" = uuid::Uuid, Path)),
    request_body = Skip,
    responses(
        (status = 200, body = Written),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn skip(
    State(app): State<Arc<App>>,
    here: In,
    Of(deployment): Of,
    Once(key): Once,
    Json(skip): Json<Skip>,
) -> Result<Answer<Written>, Failure> {
    let about = About { wish: Wish::Skip, deployment, target: skip.target };
    let reason = skip.reason.into();
    about.carry_out(&app, &here, key, |step| Command::Skip { step, reason }).await
}

/// Says yes to a task that waits for a person.
#[utoipa::path(post, path = "/v1/projects/{project}/deployments/{deployment}/approve",
    tag = "deployments",
    params(("project" = String, Path), ("deployment" = uuid::Uuid, Path)),
    request_body = Verdict,
    responses(
        (status = 200, body = Written),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn approve(
    State(app): State<Arc<App>>,
    here: In,
    Of(deployment): Of,
    Once(key): Once,
    Json(verdict): Json<Verdict>,
) -> Result<Answer<Written>, Failure> {
    decide((&app, &here), deployment, key, (Outcome::Pass, verdict)).await
}

/// Says no to a task that waits for a person: it fails.
#[utoipa::path(post, path = "/v1/projects/{project}/deployments/{deployment}/reject",
    tag = "deployments",
    params(("project" = String, Path), ("deployment" = uuid::Uuid, Path)),
    request_body = Verdict,
    responses(
        (status = 200, body = Written),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn reject(
    State(app): State<Arc<App>>,
    here: In,
    Of(deployment): Of,
    Once(key): Once,
    Json(verdict): Json<Verdict>,
) -> Result<Answer<Written>, Failure> {
    decide((&app, &here), deployment, key, (Outcome::Fail, verdict)).await
}

async fn decide(
    (app, here): (&App, &In),
    deployment: DeploymentId,
    key: Option<Digest>,
    (outcome, verdict): (Outcome, Verdict),
) -> Result<Answer<Written>, Failure> {
    let about = About { wish: Wish::Decide, deployment, target: verdict.target };
    let comment = verdict.comment.map(Into::into);
    about.carry_out(app, here, key, |step| Command::Approve { step, outcome, comment }).await
}

async fn send(
    here: &In,
    command: Command,
    key: Option<Digest>,
) -> Result<Answer<Written>, Failure> {
    let reply = here.project.send_once(command, here.caller.actor(), key).await?;
    Ok(Answer(Written { at: position(&reply).0 }))
}

/// What somebody wants to do with which step.
#[derive(Debug)]
struct About {
    wish: Wish,
    deployment: DeploymentId,
    target: Option<String>,
}

impl About {
    async fn carry_out(
        self,
        app: &App,
        here: &In,
        key: Option<Digest>,
        command: impl FnOnce(Step) -> Command,
    ) -> Result<Answer<Written>, Failure> {
        // A step that was found the first time is no longer to be found the second time.
        if let Some(key) = &key
            && let Some(answer) = app.store.kept_answer(&here.name, key).await?
        {
            return Ok(Answer(Written { at: answer.at.0 }));
        }
        let (step, path) = self.find(app, here).await?;
        match here.project.send_once(command(step), here.caller.actor(), key).await {
            Ok(reply) => Ok(Answer(Written { at: position(&reply).0 })),
            // The kernel knows targets by their numbers only.
            Err(RequestError::Refused(Refusal::UnknownStep(_))) => Err(unknown_step(&path, &[])),
            Err(error) => Err(error.into()),
        }
    }

    async fn find(&self, app: &App, here: &In) -> Result<(Step, String), Failure> {
        let deployment = self.deployment;
        let path = self.target.as_deref().map(|path| within(here.name.as_str(), path));
        let wanted = path.clone();
        let look = move |kernel: &seaway_kernel::Kernel| {
            let target = wanted.and_then(|path| kernel.targets().find(&path));
            (steps::in_memory(kernel, deployment), target)
        };
        let (open, target) = here.project.inspect(look).await?;
        let open = match open {
            Some(open) => open,
            None => {
                // It has ended, or never was.
                let records = history::records(&app.store, &here.name, deployment).await?;
                steps::failed(&records)
            }
        };
        let step = |target, kind| Step { deployment, target, kind };
        let Some(path) = path else {
            let found = self.only(&open)?;
            return Ok((step(found.target, found.kind), found.path.clone()));
        };
        if let Some(found) = open.iter().find(|it| it.path == path) {
            return Ok((step(found.target, found.kind), path));
        }
        // It does not wait; the kernel says why nothing can be done about it.
        match target {
            Some(target) => Ok((step(target, Kind::TaskDone), path)),
            None => Err(unknown_step(&path, &open)),
        }
    }

    /// The step that is meant when none is named.
    fn only<'a>(&self, open: &'a [Open]) -> Result<&'a Open, Failure> {
        let found = steps::possible(open, self.wish);
        match &*found {
            [one] => Ok(one),
            [] => {
                let (code, nothing) = match self.wish {
                    Wish::Retry => ("not-failed", "no task of this deployment has failed"),
                    Wish::Skip => ("not-reached", "nothing of this deployment waits or failed"),
                    Wish::Decide => ("no-approval", "no approval of this deployment waits"),
                };
                Err(Failure::conflict(code, format!("{nothing}; {}", what_waits(open))))
            }
            several => {
                let detail = "several steps may be meant; name one of them as `target`";
                let invalid = several.iter().take(NAMED).map(|it| seaway_api::InvalidField {
                    at: it.path.clone(),
                    detail: it.text.clone(),
                });
                let refused = Failure::refused("which-step", detail);
                Err(refused.invalid(invalid.collect()))
            }
        }
    }
}

/// Steps that a problem names.
const NAMED: usize = 20;

fn unknown_step(path: &str, open: &[Open]) -> Failure {
    let detail = format!("{path} is not a step of this deployment; {}", what_waits(open));
    Failure::new(StatusCode::NOT_FOUND, "unknown-step", detail)
}

fn what_waits(open: &[Open]) -> String {
    let waiting: Vec<String> = open
        .iter()
        .filter(|it| it.standing != steps::Standing::Beyond)
        .take(NAMED)
        .map(|it| format!("{} ({})", it.path, it.text))
        .collect();
    match waiting.is_empty() {
        true => "look at its steps with `seaway get deployment`".to_owned(),
        false => format!("what waits is {}", waiting.join(", ")),
    }
}
