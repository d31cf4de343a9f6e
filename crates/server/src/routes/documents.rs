use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::{FromRequestParts, State};
use http::request::Parts;
use seaway_api::{Applied, Change, ChangeKind, Document, DocumentContent, Page};
use seaway_kernel::{DocumentEdit, Kernel};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::change::{CarriedOut, Changes, ServicesChange, carry_out, change};
use crate::documents::{self, PROJECT, SHIPYARD};
use crate::extract::{In, Once, param};
use crate::paging::{Piece, bad_cursor};
use crate::problem::Failure;
use crate::query::{Ask, bad};
use crate::view;

/// The document that a path names.
#[derive(Debug)]
pub(crate) struct This {
    kind: &'static str,
    name: String,
}

impl FromRequestParts<Arc<App>> for This {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        let kind = documents::kind(&param(parts, app, "kind").await?)?;
        Ok(Self { kind, name: param(parts, app, "document").await? })
    }
}

impl This {
    fn unknown(&self) -> Failure {
        let detail = format!("there is no {} {:?}; list those there are", self.kind, self.name);
        Failure::not_found("unknown-document", detail)
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only documents of this kind, such as `Shipyard`.
    kind: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u32>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

/// The documents of a project, in the order of their kinds and names.
#[utoipa::path(get, path = "/v1/projects/{project}/documents", tag = "documents",
    params(("project" = String, Path), Which),
    responses(
        (status = 200, body = Page<Document>),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn list(
    here: In,
    Ask(which): Ask<Which>,
) -> Result<Answer<Page<Document>>, Failure> {
    let piece = Piece::new(which.limit, which.cursor.as_deref())?;
    let kind = which.kind.as_deref().map(documents::kind).transpose();
    let kind = kind.map_err(|failure| bad(failure.problem().detail))?;
    let after = piece.after().map(|text| match text.split_once('/') {
        Some((kind, name)) => Ok((kind.to_owned(), name.to_owned())),
        None => Err(bad_cursor()),
    });
    let (after, limit) = (after.transpose()?, piece.limit + 1);
    let look = move |kernel: &Kernel| {
        let after = after.as_ref().map(|(kind, name)| (&**kind, &**name));
        view::documents::list(kernel.documents(), kind, after, limit)
    };
    let found = here.project.inspect(look).await?;
    Ok(Answer(piece.page(found, |it| format!("{}/{}", it.kind, it.name), |it| it)))
}

/// A document as it was applied. The kind may be written in any case, and of many.
#[utoipa::path(get, path = "/v1/projects/{project}/documents/{kind}/{document}", tag = "documents",
    params(("project" = String, Path), ("kind" = String, Path), ("document" = String, Path)),
    responses(
        (status = 200, body = DocumentContent),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    here: In,
    this: This,
) -> Result<Answer<DocumentContent>, Failure> {
    let (kind, name) = (this.kind, this.name.clone());
    let known = here.project.inspect(move |kernel| kernel.document(kind, &name)).await?;
    let Some((digest, since)) = known else { return Err(this.unknown()) };
    let content = app.store.content(&here.name, &digest).await?;
    let text = content.and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(text) = text else {
        let detail = format!("the content {digest} is missing in the store; restore a backup");
        return Err(Failure::conflict("no-content", detail));
    };
    let document = view::documents::document((kind, &this.name, digest, since));
    Ok(Answer(DocumentContent { document, text }))
}

/// Takes a document away. Without its `Project` document, a project takes every service.
///
/// A shipyard stays, because what is under way goes by it: apply another one instead.
#[utoipa::path(delete, path = "/v1/projects/{project}/documents/{kind}/{document}",
    tag = "documents",
    params(("project" = String, Path), ("kind" = String, Path), ("document" = String, Path)),
    responses(
        (status = 200, body = Applied),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    here: In,
    this: This,
    Once(key): Once,
) -> Result<Answer<Applied>, Failure> {
    let edit =
        DocumentEdit { kind: this.kind.into(), name: this.name.as_str().into(), digest: None };
    let (kind, name) = (this.kind, this.name.clone());
    let known = here.project.inspect(move |kernel| kernel.document(kind, &name)).await?;
    let project = here.name.to_string();
    let applied = |changes: Vec<Change>, at: Option<u64>| {
        Answer(Applied { project, at, changes, plan: None, warnings: Vec::new() })
    };
    if known.is_none() {
        let kept = match key {
            Some(key) => app.store.kept_answer(&here.name, &key).await?,
            None => None,
        };
        let Some(kept) = kept else { return Err(this.unknown()) };
        return Ok(applied(vec![change(&edit, ChangeKind::Deleted)], Some(kept.at.0)));
    }
    if this.kind == SHIPYARD {
        let detail = "a project cannot be without a shipyard, because what is under way goes by \
                      it; apply another one instead";
        return Err(Failure::refused("shipyard-stays", detail));
    }
    let mut changes = Changes::of(edit);
    if this.kind == PROJECT {
        changes.services = ServicesChange::Become(None);
    }
    let by = (&*here.caller, key);
    let CarriedOut { changes, at } = carry_out((&app, &here.project), by, changes, vec![]).await?;
    Ok(applied(changes, at.map(|at| at.0)))
}
