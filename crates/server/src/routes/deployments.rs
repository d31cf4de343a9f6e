use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use seaway_api::{Deployment, DeploymentState, DeploymentView, Page, Trigger, Triggered};
use seaway_kernel::{Command, Kernel, Reply};
use seaway_model::{DeploymentId, Name};
use seaway_store::DeploymentStanding;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::clock;
use crate::extract::{In, Json, Of, Once};
use crate::history;
use crate::paging::{Piece, cursor};
use crate::problem::Failure;
use crate::query::{Ask, bad};
use crate::view::deployment::{Story, deployment, ended};

/// Starts a sequence, in a deployment that is new or not.
#[utoipa::path(post, path = "/v1/projects/{project}/trigger", tag = "deployments",
    params(("project" = String, Path)),
    request_body = Trigger,
    responses(
        (status = 200, body = Triggered),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn trigger(
    here: In,
    Once(key): Once,
    Json(trigger): Json<Trigger>,
) -> Result<Answer<Triggered>, Failure> {
    let name = |what: &str, text: &str| {
        Name::new(text).map_err(|error| Failure::refused("bad-name", format!("{what}: {error}")))
    };
    let data = trigger.data.map(|data| serde_json::Value::Object(data).to_string().into());
    let command = Command::Trigger {
        deployment: DeploymentId(trigger.deployment.unwrap_or_else(clock::new_id)),
        stage: name("stage", &trigger.stage)?,
        sequence: name("sequence", &trigger.sequence)?,
        service: name("service", &trigger.service)?,
        version: trigger.version.into(),
        known: None,
        data,
    };
    match here.project.send_once(command, here.caller.actor(), key).await? {
        Reply::Started { at, deployment, revision } => {
            Ok(Answer(Triggered { deployment: deployment.0, revision: revision.0, at: at.0 }))
        }
        _ => Err(Failure::conflict("other-request", "this key was used for another request")),
    }
}

/// Which deployments are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    service: Option<String>,
    /// `in-progress`, `paused`, `finished`, `failed`, `aborted` or `superseded`.
    #[param(value_type = Option<String>)]
    state: Option<DeploymentState>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u32>,
    /// The `next` of the piece before.
    #[param(max_length = 400)]
    cursor: Option<String>,
}

/// Deployments that one answer looks at. What comes after them is in the next piece.
const LOOKED_AT: usize = 10_000;
const AT_ONCE: usize = 1_000;

/// Deployments, newest first. A piece may be short, or empty, although more follows.
#[utoipa::path(get, path = "/v1/projects/{project}/deployments", tag = "deployments",
    params(("project" = String, Path), Wanted),
    responses(
        (status = 200, body = Page<Deployment>),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    here: In,
    Ask(wanted): Ask<Wanted>,
) -> Result<Answer<Page<Deployment>>, Failure> {
    let piece = Piece::new(wanted.limit, wanted.cursor.as_deref())?;
    let service = wanted.service.as_deref().map(Name::new).transpose();
    let service = service.map_err(|error| bad(format!("service: {error}")))?;
    let mut after = piece.seq()?;
    let mut items: Vec<Deployment> = Vec::new();
    for _ in 0..LOOKED_AT / AT_ONCE {
        let room = piece.limit - items.len();
        let size = if wanted.state.is_some() { AT_ONCE } else { room };
        let page = app.store.deployments(&here.name, service.as_ref(), after, size).await?;
        after = page.next;
        let states = states(&here, &page.items).await?;
        for standing in &page.items {
            let state = state(standing, &states);
            if wanted.state.is_none_or(|wanted| wanted == state) {
                items.push(deployment(&standing.start, state));
            }
            if items.len() == piece.limit {
                // The rest of the page is looked at again.
                let whole = page.items.last().map(|it| it.start.seq) == Some(standing.start.seq);
                after = if whole { page.next } else { Some(standing.start.seq) };
                return Ok(Answer(Page { items, next: after.map(cursor) }));
            }
        }
        if after.is_none() {
            break;
        }
    }
    Ok(Answer(Page { items, next: after.map(cursor) }))
}

/// What the project knows about those that are under way: whether they are paused.
type UnderWay = BTreeMap<DeploymentId, bool>;

async fn states(here: &In, page: &[DeploymentStanding]) -> Result<UnderWay, Failure> {
    let ids: Vec<DeploymentId> = page.iter().map(|it| it.start.deployment).collect();
    let look = move |kernel: &Kernel| {
        let known = ids.into_iter().filter_map(|id| kernel.under_way(id));
        known.map(|it| (it.id, it.paused)).collect()
    };
    Ok(here.project.inspect(look).await?)
}

/// What is in memory is under way, also if it had ended once and was triggered again.
fn state(standing: &DeploymentStanding, under_way: &UnderWay) -> DeploymentState {
    match (under_way.get(&standing.start.deployment), standing.ended) {
        (Some(true), _) => DeploymentState::Paused,
        (Some(false), _) | (None, None) => DeploymentState::InProgress,
        (None, Some(end)) => ended(end.fact),
    }
}

/// A deployment with its runs and their tasks, as its records tell it.
#[utoipa::path(get, path = "/v1/projects/{project}/deployments/{deployment}",
    tag = "deployments",
    params(("project" = String, Path), ("deployment" = uuid::Uuid, Path)),
    responses(
        (status = 200, body = DeploymentView),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    here: In,
    Of(deployment): Of,
) -> Result<Answer<DeploymentView>, Failure> {
    let start = history::start(&app.store, &here.name, deployment).await?;
    // Read first: what is written meanwhile may or may not be part of the answer.
    let head = app.store.head(&here.name).await?.seq;
    let mut story = Story::new(&start);
    history::each((&app.store, &here.name), &start, |record| story.add(&record)).await?;
    Ok(Answer(story.end(head)))
}
