use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use seaway_api::Status;
use seaway_model::{Name, Seq};
use seaway_store::StoreError;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::clock;
use crate::documents::SHIPYARD;
use crate::extract::In;
use crate::moment::Moment;
use crate::paging::{Piece, cursor};
use crate::problem::Failure;
use crate::query::Ask;
use crate::view::project::{stages, stages_by_name};
use crate::view::status::{Column, piece, rows};

/// Services of one project that are looked for.
const MAX_SERVICES: usize = 20_000;

/// Stages that the store is asked about at once.
const AT_ONCE: usize = 4;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// As it was at a time, or at a position of the log.
    #[param(example = "2026-03-01T12:00:00Z")]
    as_of: Option<String>,
    /// At most so many services.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u32>,
    /// The `next` of the piece before.
    #[param(max_length = 400)]
    cursor: Option<String>,
}

/// What is where: services by stages, now or at any time.
#[utoipa::path(get, path = "/v1/projects/{project}/status", tag = "projects",
    params(("project" = String, Path), Wanted),
    responses(
        (status = 200, body = Status),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    here: In,
    Ask(wanted): Ask<Wanted>,
) -> Result<Answer<Status>, Failure> {
    let asked = Moment::asked("asOf", wanted.as_of.as_deref())?;
    let wanted = Piece::new(wanted.limit, wanted.cursor.as_deref())?;
    let after = wanted.name()?;
    let at = match asked {
        Some(moment) => moment.reached(&app.store, &here.name).await?,
        None => app.store.head(&here.name).await?.seq,
    };
    let (mut stages, mut services) = known(&app, &here).await?;
    if asked.is_some() {
        // Stages that left may have been there then.
        let used = app.store.stages_used(&here.name, at).await?;
        stages.extend(used.into_iter().filter(|it| !stages.contains(it)).collect::<Vec<_>>());
    }
    services.extend(app.store.services(&here.name, None, MAX_SERVICES).await?);
    let (services, next) = piece(&services, after.as_ref(), wanted.limit);
    let mut asked = Vec::with_capacity(stages.len());
    for stage in &stages {
        asked.push(column(&app, &here.name, stage, &services, at));
    }
    let columns: Vec<Column> = stream::iter(asked).buffered(AT_ONCE).try_collect().await?;
    Ok(Answer(Status {
        project: here.name.to_string(),
        at: at.0,
        time: time_of(&app, &here.name, at).await?,
        stages: stages.iter().map(Name::to_string).collect(),
        rows: rows(&services, &columns),
        next: next.map(cursor),
    }))
}

async fn column(
    app: &App,
    project: &Name,
    stage: &Name,
    services: &[Name],
    at: Seq,
) -> Result<Column, StoreError> {
    app.store.board(project, &format!("{project}/{stage}"), services, at).await
}

/// The stages in the order of the shipyard, and the services that the project names.
async fn known(app: &App, here: &In) -> Result<(Vec<Name>, BTreeSet<Name>), Failure> {
    let name = here.name.clone();
    let look = move |kernel: &seaway_kernel::Kernel| {
        let shipyard = kernel.document(SHIPYARD, name.as_str()).map(|(digest, _)| digest);
        let services = kernel.services().map(|it| it.names.clone()).unwrap_or_default();
        (shipyard, stages_by_name(kernel.structure()), services)
    };
    let (shipyard, by_name, services) = here.project.inspect(look).await?;
    let text = match shipyard {
        Some(digest) => app.store.content(&here.name, &digest).await?,
        None => None,
    };
    let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
    let ordered = text.and_then(|text| stages(&text)).unwrap_or(by_name);
    let names = ordered.iter().filter_map(|stage| Name::new(&stage.name).ok());
    Ok((names.collect(), services))
}

/// The time of a record, or of the first one after it that is still in the log.
async fn time_of(app: &App, project: &Name, at: Seq) -> Result<String, Failure> {
    let before = Seq(at.0.saturating_sub(1));
    let rows = app.store.rows(project, before, 1).await?;
    Ok(clock::show(rows.first().map_or_else(Default::default, |row| row.at)))
}
