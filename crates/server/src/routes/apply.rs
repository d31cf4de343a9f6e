use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use seaway_api::{Applied, Apply, ChangeKind};
use seaway_kernel::DocumentEdit;
use seaway_store::StoreError;
use serde::Deserialize;

use crate::app::App;
use crate::change::{CarriedOut, Changes, ServicesChange, carry_out, change};
use crate::documents::{self, Reading, content_digest};
use crate::extract::{Asking, Json, NewIn, Once};
use crate::plan_view::plan_view;
use crate::problem::Failure;
use crate::query::Ask;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct How {
    #[serde(default)]
    dry_run: bool,
}

/// Applies documents: all of them, or none. A project that does not exist is made.
///
/// With `dryRun` nothing is changed; the answer says what would be, and what it means for what is
/// under way.
#[utoipa::path(post, path = "/v1/projects/{project}/apply", tag = "documents",
    params(("project" = String, Path), ("dryRun" = Option<bool>, Query)),
    request_body = Apply,
    responses(
        (status = 200, body = Applied),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn apply(
    State(app): State<Arc<App>>,
    Asking(caller): Asking,
    NewIn(name): NewIn,
    Ask(how): Ask<How>,
    Once(key): Once,
    Json(apply): Json<Apply>,
) -> Result<Answer<Applied>, Failure> {
    let reading = documents::read(&name, &apply.sources)?;
    let known = match app.store.head(&name).await {
        Ok(_) => true,
        Err(StoreError::UnknownProject(_)) => false,
        Err(error) => return Err(error.into()),
    };
    if !known && reading.structure.is_none() {
        let detail = "a new project needs a shipyard; apply its Shipyard document, too";
        return Err(Failure::refused("no-shipyard", detail));
    }
    let project = name.to_string();
    let changes = changes(&reading);
    if !known && how.dry_run {
        let new = changes.documents.iter().map(|edit| change(edit, ChangeKind::Created));
        let (changes, warnings) = (new.collect(), reading.warnings);
        return Ok(Answer(Applied { project, at: None, changes, plan: None, warnings }));
    }
    if !known {
        app.store.create_project(&name).await?;
        app.note(&name);
    }
    let handle = app.project(&project).await?;
    if how.dry_run {
        let look = move |kernel: &_| {
            plan_view(kernel, changes.structure.as_ref())
                .map(|plan| (changes.foresee(kernel), plan))
        };
        let (changes, plan) = handle.inspect(look).await??;
        let warnings = reading.warnings;
        return Ok(Answer(Applied { project, at: None, changes, plan, warnings }));
    }
    let contents = reading.texts.into_iter().map(|(_, _, text)| text.into_bytes()).collect();
    let done = carry_out((&app, &handle), (&caller, key), changes, contents).await?;
    let CarriedOut { changes, at } = done;
    let at = at.map(|at| at.0);
    Ok(Answer(Applied { project, at, changes, plan: None, warnings: reading.warnings }))
}

fn changes(reading: &Reading) -> Changes {
    let edits = reading.texts.iter().map(|(kind, name, text)| DocumentEdit {
        kind: (*kind).into(),
        name: name.as_str().into(),
        digest: Some(content_digest(text.as_bytes())),
    });
    let services = reading.services.clone();
    let services = services.map(|it| ServicesChange::Become(Some(it)));
    Changes {
        structure: reading.structure.clone(),
        services: services.unwrap_or(ServicesChange::Keep),
        documents: edits.collect(),
    }
}
