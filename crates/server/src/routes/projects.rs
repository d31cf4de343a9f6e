use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use seaway_api::{Located, Page, Project};
use seaway_model::Name;
use seaway_store::{StoreError, VerifyError};

use crate::app::App;
use crate::documents::SHIPYARD;
use crate::extract::{Asking, In, Of};
use crate::paging::Paged;
use crate::problem::{Failure, chain};
use crate::query::Ask;
use crate::view::project::{stages, stages_by_name, summary};

/// Names that one answer lists at most: as many as a project document may.
const MAX_SERVICES: usize = 10_000;

/// The projects that the token may see, in the order of their names.
#[utoipa::path(get, path = "/v1/projects", tag = "projects", params(Paged), responses(
    (status = 200, body = Page<Project>),
    (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Asking(caller): Asking,
    Ask(paged): Ask<Paged>,
) -> Result<Answer<Page<Project>>, Failure> {
    let piece = paged.piece()?;
    let after = piece.name()?;
    let names = match &caller.project {
        None => app.store.projects(after.as_ref(), piece.limit + 1).await?,
        Some(only) if after.as_ref().is_some_and(|after| after >= only) => Vec::new(),
        Some(only) => vec![only.clone()],
    };
    let mut projects = Vec::with_capacity(names.len());
    for name in &names {
        match short(&app, name).await {
            Ok(project) => projects.push(project),
            // A token may be for a project that is still to be made.
            Err(StoreError::UnknownProject(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Answer(piece.page(projects, |it| it.name.clone(), |it| it)))
}

async fn short(app: &App, name: &Name) -> Result<Project, StoreError> {
    let head = app.store.head(name).await?;
    let stats = app.store.stats(name).await?;
    Ok(summary(name, &head, stats.deployments))
}

/// A project, with its stages in the order of the shipyard, and its services.
#[utoipa::path(get, path = "/v1/projects/{project}", tag = "projects",
    params(("project" = String, Path)),
    responses(
        (status = 200, body = Project),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn get(State(app): State<Arc<App>>, here: In) -> Result<Answer<Project>, Failure> {
    let name = here.name.clone();
    let look = move |kernel: &seaway_kernel::Kernel| {
        let shipyard = kernel.document(SHIPYARD, name.as_str()).map(|(digest, _)| digest);
        (shipyard, stages_by_name(kernel.structure()), kernel.services().cloned())
    };
    let (shipyard, by_name, declared) = here.project.inspect(look).await?;
    let text = match shipyard {
        Some(digest) => app.store.content(&here.name, &digest).await?,
        None => None,
    };
    let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
    let mut project = short(&app, &here.name).await?;
    project.stages = text.and_then(|text| stages(&text)).unwrap_or(by_name);
    let auto_services = declared.as_ref().is_none_or(|it| it.auto);
    project.auto_services = Some(auto_services);
    let mut services: BTreeSet<Name> = declared.map(|it| it.names).unwrap_or_default();
    if auto_services {
        services.extend(app.store.services(&here.name, None, MAX_SERVICES).await?);
    }
    project.services = services.iter().map(Name::to_string).collect();
    Ok(Answer(project))
}

/// Which project a deployment belongs to.
#[utoipa::path(get, path = "/v1/deployments/{deployment}", tag = "deployments",
    params(("deployment" = uuid::Uuid, Path)),
    responses(
        (status = 200, body = Located),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn locate(
    State(app): State<Arc<App>>,
    Asking(caller): Asking,
    Of(deployment): Of,
) -> Result<Answer<Located>, Failure> {
    let found = app.store.find_deployment(deployment).await?;
    let found = found.filter(|name| caller.project.as_ref().is_none_or(|only| only == name));
    let Some(project) = found else {
        let detail = format!("there is no deployment {}; check the id", deployment.0);
        return Err(Failure::not_found("unknown-deployment", detail));
    };
    Ok(Answer(Located { project: project.to_string(), deployment: deployment.0 }))
}

/// Reads the whole log and checks it against its hashes. The answer names the end of what was
/// checked; a log that is not what was written is a problem `log-broken`.
#[utoipa::path(get, path = "/v1/projects/{project}/verify", tag = "projects",
    params(("project" = String, Path)),
    responses(
        (status = 200, body = Project),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn verify(
    State(app): State<Arc<App>>,
    here: In,
) -> Result<Answer<Project>, Failure> {
    let _alone = app.gate.enter().await?;
    let verified = app.store.verify(&here.name, |_| {}).await.map_err(broken)?;
    let stats = app.store.stats(&here.name).await?;
    Ok(Answer(summary(&here.name, &verified.head, stats.deployments)))
}

fn broken(error: VerifyError) -> Failure {
    match error {
        VerifyError::Store(error) if !matches!(error, StoreError::Corrupt(_)) => error.into(),
        error => {
            let detail = format!("the log is not what was written: {}", chain(&error));
            Failure::conflict("log-broken", detail)
        }
    }
}
