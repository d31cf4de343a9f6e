use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::{FromRequestParts, Request, State};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::request::Parts;
use seaway_api::{Change, ChangeKind, Page, Resource, ResourceContent};
use seaway_kernel::{DocumentEdit, Kernel};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::change::{Changes, carry_out};
use crate::documents::{Level, RESOURCE, check_path, content_digest};
use crate::extract::{In, Once, body, param};
use crate::paging::Piece;
use crate::problem::Failure;
use crate::query::Ask;
use crate::view;

/// The path of the resource that a request is about.
#[derive(Debug)]
pub(crate) struct At(String);

impl FromRequestParts<Arc<App>> for At {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        let path = param(parts, app, "path").await?;
        check_path(&path)?;
        Ok(Self(path))
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only those of this stage, and of services in it.
    stage: Option<String>,
    /// Only those of this service, in all stages and in none.
    service: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u32>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Whose {
    /// The stage that it belongs to; none: all of them.
    stage: Option<String>,
    /// The service that it belongs to; none: all of them.
    service: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Where {
    /// The stage that it belongs to; none: all of them.
    stage: Option<String>,
    /// The service that it belongs to; none: all of them.
    service: Option<String>,
    /// Look further where it is not: at the service in the stage, then at the stage, then at the
    /// service in all stages, then at the project.
    #[serde(default)]
    #[param(required = false)]
    lookup: bool,
}

/// The resources of a project, at all levels unless a stage or a service is named.
#[utoipa::path(get, path = "/v1/projects/{project}/resources", tag = "resources",
    params(("project" = String, Path), Which),
    responses(
        (status = 200, body = Page<Resource>),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn list(
    here: In,
    Ask(which): Ask<Which>,
) -> Result<Answer<Page<Resource>>, Failure> {
    let piece = Piece::new(which.limit, which.cursor.as_deref())?;
    let level = Level::read(which.stage.as_deref(), which.service.as_deref())?;
    let (after, limit) = (piece.after().map(str::to_owned), piece.limit + 1);
    let look = move |kernel: &Kernel| {
        view::resources::list(kernel.documents(), &level, after.as_deref(), limit)
    };
    let found = here.project.inspect(look).await?;
    Ok(Answer(piece.page(found, |(name, _)| name.clone(), |(_, it)| it)))
}

/// A resource with its content, exactly at the level that is named unless `lookup` is asked for.
#[utoipa::path(get, path = "/v1/projects/{project}/resources/{*path}", tag = "resources",
    params(("project" = String, Path), ("path" = String, Path), Where),
    responses(
        (status = 200, body = ResourceContent),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    here: In,
    At(path): At,
    Ask(at): Ask<Where>,
) -> Result<Answer<ResourceContent>, Failure> {
    let level = Level::read(at.stage.as_deref(), at.service.as_deref())?;
    let levels = if at.lookup { level.wider() } else { vec![level] };
    let wanted = path.clone();
    let look = move |kernel: &Kernel| {
        levels.into_iter().find_map(|level| {
            let (digest, since) = kernel.document(RESOURCE, &level.document(&wanted))?;
            Some((level, digest, since))
        })
    };
    let found = here.project.inspect(look).await?;
    let Some((level, digest, since)) = found else { return Err(unknown(&path, at.lookup)) };
    let Some(content) = app.store.content(&here.name, &digest).await? else {
        let detail = format!("the content {digest} is missing in the store; restore a backup");
        return Err(Failure::conflict("no-content", detail));
    };
    let resource = view::resources::resource(&level, &path, digest, since);
    Ok(Answer(ResourceContent { resource, content: STANDARD.encode(content) }))
}

fn unknown(path: &str, lookup: bool) -> Failure {
    let hint = match lookup {
        true => "list those there are",
        false => "list those there are, or ask with lookup=true for one of a wider level",
    };
    Failure::not_found("unknown-resource", format!("there is no resource {path:?} here; {hint}"))
}

/// Puts a resource: its content is the body, of at most 1 MiB.
#[utoipa::path(put, path = "/v1/projects/{project}/resources/{*path}", tag = "resources",
    params(("project" = String, Path), ("path" = String, Path), Whose),
    request_body(content = String, content_type = "application/octet-stream",
        description = "any bytes"),
    responses(
        (status = 200, body = Change),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn put(
    State(app): State<Arc<App>>,
    here: In,
    At(path): At,
    Ask(whose): Ask<Whose>,
    Once(key): Once,
    request: Request,
) -> Result<Answer<Change>, Failure> {
    let level = Level::read(whose.stage.as_deref(), whose.service.as_deref())?;
    let content = body(request, &()).await?;
    let name = level.document(&path);
    here.project.inspect(move |kernel| known(kernel, &level)).await??;
    let digest = Some(content_digest(&content));
    let edit = DocumentEdit { kind: RESOURCE.into(), name: name.as_str().into(), digest };
    let (by, contents) = ((&*here.caller, key), vec![content.into()]);
    let done = carry_out((&app, &here.project), by, Changes::of(edit), contents).await?;
    let change = done.changes.first().map_or(ChangeKind::Unchanged, |it| it.change);
    Ok(Answer(shown(path, change, digest.map(|it| it.to_string()))))
}

/// What nobody would ever look for is most likely a typing error.
fn known(kernel: &Kernel, level: &Level) -> Result<(), Failure> {
    let stages = &kernel.structure().stages;
    if let Some(stage) = level.stage.as_ref().filter(|it| !stages.contains_key(*it)) {
        let known: Vec<&str> = stages.keys().map(|it| it.as_str()).take(20).collect();
        let detail = format!("there is no stage {stage}; the shipyard has {}", known.join(", "));
        return Err(Failure::refused("unknown-stage", detail));
    }
    if let Some(service) = level.service.as_ref().filter(|it| !kernel.takes(it)) {
        let detail = format!(
            "service {service} is not part of the project; add it to the Project document first"
        );
        return Err(Failure::refused("unknown-service", detail));
    }
    Ok(())
}

fn shown(path: String, change: ChangeKind, digest: Option<String>) -> Change {
    Change { kind: RESOURCE.to_owned(), name: path, change, digest }
}

/// Takes a resource away, exactly at the level that is named.
#[utoipa::path(delete, path = "/v1/projects/{project}/resources/{*path}", tag = "resources",
    params(("project" = String, Path), ("path" = String, Path), Whose),
    responses(
        (status = 200, body = Change),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    here: In,
    At(path): At,
    Ask(whose): Ask<Whose>,
    Once(key): Once,
) -> Result<Answer<Change>, Failure> {
    let level = Level::read(whose.stage.as_deref(), whose.service.as_deref())?;
    let name: Box<str> = level.document(&path).into();
    let edit = DocumentEdit { kind: RESOURCE.into(), name: name.clone(), digest: None };
    let there = here.project.inspect(move |kernel| kernel.document(RESOURCE, &name)).await?;
    if there.is_none() {
        let kept = match key {
            Some(key) => app.store.kept_answer(&here.name, &key).await?,
            None => None,
        };
        kept.ok_or_else(|| unknown(&path, true))?;
    } else {
        let by = (&*here.caller, key);
        carry_out((&app, &here.project), by, Changes::of(edit), vec![]).await?;
    }
    Ok(Answer(shown(path, ChangeKind::Deleted, None)))
}
