use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use seaway_api::Why;
use seaway_model::Timestamp;
use seaway_store::DeploymentStanding;

use crate::app::App;
use crate::extract::{In, Of};
use crate::history;
use crate::paging::{Paged, cursor};
use crate::problem::Failure;
use crate::query::Ask;
use crate::view::why;

/// Why things do not move in a project: what waits, on what, and who can end it.
#[utoipa::path(get, path = "/v1/projects/{project}/why", tag = "deployments",
    params(("project" = String, Path), Paged),
    responses(
        (status = 200, body = Why),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn of_project(here: In, Ask(paged): Ask<Paged>) -> Result<Answer<Why>, Failure> {
    let piece = paged.piece()?;
    let (after, limit) = (piece.parsed()?, piece.limit);
    let look =
        move |kernel: &seaway_kernel::Kernel| (kernel.head(), why::all(kernel, after, limit));
    let (at, (lines, next)) = here.project.inspect(look).await?;
    let project = here.name.to_string();
    Ok(Answer(Why { project, at: at.0, lines, next: next.map(cursor) }))
}

/// Why a deployment does not move, or how it ended.
#[utoipa::path(get, path = "/v1/projects/{project}/deployments/{deployment}/why",
    tag = "deployments",
    params(("project" = String, Path), ("deployment" = uuid::Uuid, Path)),
    responses(
        (status = 200, body = Why),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn of_deployment(
    State(app): State<Arc<App>>,
    here: In,
    Of(deployment): Of,
) -> Result<Answer<Why>, Failure> {
    let look =
        move |kernel: &seaway_kernel::Kernel| (kernel.head(), why::of_one(kernel, deployment));
    let (at, lines) = here.project.inspect(look).await?;
    let project = here.name.to_string();
    let lines = match lines {
        Some(lines) => lines,
        None => {
            history::start(&app.store, &here.name, deployment).await?;
            let standing = app.store.deployment_standing(&here.name, deployment).await?;
            let ended = match &standing {
                Some(standing) => end_of(&app, &here, standing).await?,
                None => None,
            };
            standing.and_then(|it| why::over(&project, &it, ended)).into_iter().collect()
        }
    };
    Ok(Answer(Why { project, at: at.0, lines, next: None }))
}

/// When a deployment ended, unless that was archived.
async fn end_of(
    app: &App,
    here: &In,
    standing: &DeploymentStanding,
) -> Result<Option<Timestamp>, Failure> {
    let Some(ended) = standing.ended else { return Ok(None) };
    let before = seaway_model::Seq(ended.seq.0.saturating_sub(1));
    let rows = app.store.rows(&here.name, before, 1).await?;
    Ok(rows.first().filter(|row| row.seq == ended.seq).map(|row| row.at))
}
