use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::{FromRequestParts, State};
use http::request::Parts;
use seaway_api::{Delivery, Page, SigningKey, Webhook};
use seaway_kernel::Kernel;
use seaway_model::{Digest, Name, Seq};

use crate::app::App;
use crate::documents::WEBHOOK;
use crate::extract::{In, param};
use crate::paging::Paged;
use crate::problem::Failure;
use crate::query::Ask;
use crate::view;
use crate::webhook::{WebhookDocument, key_text, new_signing_key};

/// The webhook that a path names.
#[derive(Debug)]
pub(crate) struct This(String);

impl FromRequestParts<Arc<App>> for This {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        Ok(Self(param(parts, app, "webhook").await?))
    }
}

impl This {
    /// Its name, if the project has it.
    async fn find(self, here: &In) -> Result<Name, Failure> {
        let Self(text) = self;
        let name = Name::new(&text).ok();
        let looked = name.clone();
        let look = move |kernel: &Kernel| {
            looked.is_some_and(|name| kernel.document(WEBHOOK, name.as_str()).is_some())
        };
        let known = here.project.inspect(look).await?;
        name.filter(|_| known).ok_or_else(|| {
            let detail = format!("there is no webhook {text:?}; apply a Webhook document first");
            Failure::not_found("unknown-webhook", detail)
        })
    }
}

/// The webhooks of a project in the order of their names, and how far each has come.
#[utoipa::path(get, path = "/v1/projects/{project}/webhooks", tag = "webhooks",
    params(("project" = String, Path), Paged),
    responses(
        (status = 200, body = Page<Webhook>),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    here: In,
    Ask(paged): Ask<Paged>,
) -> Result<Answer<Page<Webhook>>, Failure> {
    let piece = paged.piece()?;
    let (after, limit) = (piece.name()?, piece.limit + 1);
    let look = move |kernel: &Kernel| {
        let known = kernel.documents().filter(|(kind, ..)| *kind == WEBHOOK);
        let rest =
            known.filter(|(_, name, ..)| after.as_ref().is_none_or(|it| *name > it.as_str()));
        let rest = rest.map(|(_, name, digest, seq)| (name.to_owned(), digest, seq));
        rest.take(limit).collect::<Vec<_>>()
    };
    let found = here.project.inspect(look).await?;
    let Page { items, next } = piece.page(found, |(name, ..)| name.clone(), |it| it);
    let mut webhooks = Vec::with_capacity(items.len());
    for (_, digest, applied) in items {
        webhooks.extend(read(&app, &here.name, digest, applied).await?);
    }
    Ok(Answer(Page { items: webhooks, next }))
}

/// Nothing for one that this version cannot read; `get` shows its text.
async fn read(
    app: &App,
    project: &Name,
    digest: Digest,
    applied: Seq,
) -> Result<Option<Webhook>, Failure> {
    let content = app.store.content(project, &digest).await?;
    let text = content.and_then(|bytes| String::from_utf8(bytes).ok());
    let document = text.and_then(|text| WebhookDocument::parse(&text, "webhook").ok());
    let Some(document) = document else { return Ok(None) };
    let position = app.store.webhook_position(project, &document.name).await?;
    Ok(Some(view::webhook::webhook(&document, position.unwrap_or(applied))))
}

/// The last attempts to deliver messages to a webhook, newest first.
#[utoipa::path(get, path = "/v1/projects/{project}/webhooks/{webhook}/deliveries",
    tag = "webhooks",
    params(("project" = String, Path), ("webhook" = String, Path), Paged),
    responses(
        (status = 200, body = Page<Delivery>),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn deliveries(
    State(app): State<Arc<App>>,
    here: In,
    this: This,
    Ask(paged): Ask<Paged>,
) -> Result<Answer<Page<Delivery>>, Failure> {
    let piece = paged.piece()?;
    let before: Option<u64> = piece.parsed()?;
    let name = this.find(&here).await?;
    let found = app.store.deliveries(&here.name, &name, before, piece.limit + 1).await?;
    let number = |(number, _): &(u64, _)| number.to_string();
    Ok(Answer(piece.page(found, number, |(_, it)| view::webhook::delivery(&it))))
}

/// Makes a new key to sign messages with, which counts at once. It is in the answer, and is never
/// told again.
#[utoipa::path(post, path = "/v1/projects/{project}/webhooks/{webhook}/key", tag = "webhooks",
    params(("project" = String, Path), ("webhook" = String, Path)),
    responses(
        (status = 200, body = SigningKey),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn new_key(
    State(app): State<Arc<App>>,
    here: In,
    this: This,
) -> Result<Answer<SigningKey>, Failure> {
    let name = this.find(&here).await?;
    let key = new_signing_key(&app, &here.name, &name).await?;
    Ok(Answer(SigningKey { key: key_text(key.expose()) }))
}
