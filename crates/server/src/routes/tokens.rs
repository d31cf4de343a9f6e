use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::{FromRequestParts, State};
use http::StatusCode;
use http::request::Parts;
use seaway_api::{CreateToken, NewToken, Page, Scope, Token};
use seaway_model::{Name, Timestamp};
use seaway_store::{Store, StoreError, StoredToken};

use crate::app::App;
use crate::auth::{Caller, Scopes, hash, new_secret};
use crate::clock;
use crate::extract::{Asking, Json, param};
use crate::paging::{Paged, cursor};
use crate::problem::Failure;
use crate::query::Ask;
use crate::view::token::{may_go, token};

/// The tokens, by their ids: those of one project for whoever may see only that.
#[utoipa::path(get, path = "/v1/tokens", tag = "tokens", params(Paged), responses(
    (status = 200, body = Page<Token>),
    (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Asking(caller): Asking,
    Ask(paged): Ask<Paged>,
) -> Result<Answer<Page<Token>>, Failure> {
    let piece = paged.piece()?;
    let found = app.store.tokens(piece.after(), piece.limit).await?;
    // The piece is measured before tokens of others are left out, so that it is never searched on.
    let next = found.last().filter(|_| found.len() == piece.limit).map(|it| cursor(&it.id));
    let items = found.iter().filter(|it| sees(&caller, it)).map(token).collect();
    Ok(Answer(Page { items, next }))
}

fn sees(caller: &Caller, token: &StoredToken) -> bool {
    caller.project.is_none() || caller.project == token.project
}

/// Makes a token. Its secret is in the answer, and is never told again.
///
/// With a token for one project, tokens for that project can be made.
#[utoipa::path(post, path = "/v1/tokens", tag = "tokens",
    request_body = CreateToken,
    responses(
        (status = 200, body = NewToken),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Asking(caller): Asking,
    Json(wanted): Json<CreateToken>,
) -> Result<Answer<NewToken>, Failure> {
    caller.authorise(Scope::Admin, wanted.project.as_deref())?;
    let project = wanted.project.as_deref().map(Name::new).transpose();
    let project = project.map_err(|error| Failure::refused("bad-name", error.to_string()))?;
    check_name(&wanted.name)?;
    let scopes = scopes(&wanted.scopes, &caller)?;
    let secret = new_secret();
    let now = clock::now();
    let stored = StoredToken {
        id: clock::new_id().to_string().into(),
        name: wanted.name.into(),
        hash: hash(&secret),
        scopes: scopes.0,
        project,
        created: now,
        expires: wanted.expires_in_seconds.map(|seconds| end(now, seconds)).transpose()?,
        revoked: None,
    };
    app.store.add_token(&stored).await?;
    Ok(Answer(NewToken { secret, token: token(&stored) }))
}

/// The log names it, so that it must be fit to read and nobody but Seaway may be called so.
fn check_name(name: &str) -> Result<(), Failure> {
    let fits = !name.trim().is_empty() && name.chars().count() <= 100 && name.len() <= 200;
    if fits && !name.contains(char::is_control) && !name.eq_ignore_ascii_case("seaway") {
        return Ok(());
    }
    let detail = "a token is named after who uses it, in 1 to 100 characters (200 bytes) without \
                  control characters, and not \"seaway\"";
    Err(Failure::refused("bad-name", detail))
}

fn scopes(wanted: &[Scope], caller: &Caller) -> Result<Scopes, Failure> {
    if wanted.is_empty() {
        let detail = "a token needs a scope: read, deliver, execute or admin";
        return Err(Failure::refused("no-scope", detail));
    }
    for scope in wanted {
        caller.authorise(*scope, caller.project.as_ref().map(Name::as_str))?;
    }
    Ok(Scopes::of(wanted))
}

/// A hundred years, which is longer than anybody means.
const LONGEST: u64 = 100 * 366 * 24 * 60 * 60;

fn end(now: Timestamp, seconds: u64) -> Result<Timestamp, Failure> {
    match i64::try_from(seconds) {
        Ok(whole) if (1..=LONGEST).contains(&seconds) => Ok(Timestamp(now.0 + whole * 1_000_000)),
        _ => {
            let detail = format!("expiresInSeconds is {seconds}; say 1 to {LONGEST}, or nothing");
            Err(Failure::refused("bad-expiry", detail))
        }
    }
}

/// The token that a path names.
#[derive(Debug)]
pub(crate) struct This(String);

impl FromRequestParts<Arc<App>> for This {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        param(parts, app, "token").await.map(Self)
    }
}

/// Revokes a token: here at once, on other servers of the same database within two seconds.
///
/// The last token that can make others for all projects stays.
#[utoipa::path(delete, path = "/v1/tokens/{token}", tag = "tokens",
    params(("token" = String, Path)),
    responses(
        (status = 204, description = "it is good for nothing any more"),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    Asking(caller): Asking,
    This(id): This,
) -> Result<StatusCode, Failure> {
    let _alone = app.tokens.change().await;
    let all = all(&app.store).await?;
    let Some(token) = all.iter().find(|it| *it.id == *id && sees(&caller, it)) else {
        let detail = format!("there is no token {id:?}; list those there are");
        return Err(Failure::not_found("unknown-token", detail));
    };
    let now = clock::now();
    if !may_go(token, &all, now) {
        let detail = "nobody could make tokens any more; make another admin token for all \
                      projects first, which lasts as long";
        return Err(Failure::conflict("last-admin", detail));
    }
    app.store.revoke_token(&id, now).await?;
    app.tokens.forget();
    Ok(StatusCode::NO_CONTENT)
}

async fn all(store: &Store) -> Result<Vec<StoredToken>, StoreError> {
    const PAGE: usize = 1_000;
    let mut all: Vec<StoredToken> = Vec::new();
    loop {
        let page = store.tokens(all.last().map(|it| &*it.id), PAGE).await?;
        let full = page.len() == PAGE;
        all.extend(page);
        if !full {
            return Ok(all);
        }
    }
}
