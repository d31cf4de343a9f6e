use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use seaway_model::{DeploymentId, Digest, Name};
use seaway_store::Store;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tokio::sync::{mpsc, oneshot};

use super::answers::{self, Accepted, Claim, Claimed, Scope, Task, held};
use super::request::{Event, Request, What};
use crate::identity::{name, new_id};
use crate::serve::work::PROJECT;

/// What every request may use.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) token: Digest,
    pub(super) ledger: mpsc::Sender<Request>,
    pub(super) store: Store,
}

pub(super) fn router(desk: Desk) -> Router {
    Router::new()
        .route("/v1/events", post(event))
        .route("/v1/projects/{project}/apply", post(nothing))
        .route("/v1/projects/{project}/executors/{name}", put(nothing))
        .route("/v1/projects/{project}/executors/{name}/claim", post(claim))
        .route("/v1/projects/{project}/verify", get(verify))
        .with_state(Arc::new(desk))
}

type Answered = Result<Response, StatusCode>;

impl Desk {
    fn admit(&self, headers: &HeaderMap) -> Result<(), StatusCode> {
        let token =
            headers.get(AUTHORIZATION).and_then(|it| it.as_bytes().strip_prefix(b"Bearer "));
        let digest = token.map(|token| Digest(Sha256::digest(token).into()));
        if digest == Some(self.token) { Ok(()) } else { Err(StatusCode::UNAUTHORIZED) }
    }

    /// Hands a request to the ledger, and waits for what that has to say.
    async fn ask<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<T>) -> Request,
    ) -> Result<T, StatusCode> {
        let (caller, answer) = oneshot::channel();
        let sent = self.ledger.send(request(caller)).await;
        sent.map_err(|_closed| StatusCode::SERVICE_UNAVAILABLE)?;
        answer.await.map_err(|_closed| StatusCode::SERVICE_UNAVAILABLE)
    }
}

/// The pipeline and the executor are part of the pattern.
async fn nothing(State(desk): State<Arc<Desk>>, headers: HeaderMap) -> Answered {
    desk.admit(&headers)?;
    Ok(StatusCode::OK.into_response())
}

async fn event(State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Bytes) -> Answered {
    desk.admit(&headers)?;
    let read: answers::Event<'_> = serde_json::from_slice(&body).map_err(bad)?;
    let scope: Scope<'_> = serde_json::from_str(read.data.get()).map_err(bad)?;
    if scope.project != PROJECT || read.id.is_empty() || read.source.is_empty() {
        return Err(StatusCode::NOT_FOUND);
    }
    let (context, what) = match read.triggeredid {
        None => {
            let service = Name::new(scope.service.unwrap_or_default()).map_err(bad)?;
            let version = scope.version.unwrap_or_default().into();
            (new_id(), What::Triggered { service, version })
        }
        Some(id) => {
            let (context, task) = held(id).ok_or(StatusCode::CONFLICT)?;
            match read.ty.rsplit('.').next() {
                Some("started") => (context, What::Started(task)),
                Some("finished") => (context, What::Finished(task)),
                _ => return Err(StatusCode::BAD_REQUEST),
            }
        }
    };
    // The server keeps its answers to what starts something; a task's answers have a fence.
    let key = read.triggeredid.is_none().then(|| key(&read));
    let event = Event { deployment: DeploymentId(context), what, data: read.data.get().into() };
    let at = desk.ask(|caller| Request::Event { event, key, caller }).await?.0;
    json(&Accepted { context, at })
}

async fn claim(State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Bytes) -> Answered {
    desk.admit(&headers)?;
    let claim: Claim = serde_json::from_slice(&body).map_err(bad)?;
    let offers = desk.ask(|caller| Request::Claim { max: claim.max, caller }).await?;
    let tasks = offers.iter().filter_map(|offer| Task::of(offer, claim.lease_seconds)).collect();
    json(&Claimed { tasks })
}

async fn verify(State(desk): State<Arc<Desk>>, headers: HeaderMap) -> Answered {
    desk.admit(&headers)?;
    let verified = desk.store.verify(&name(PROJECT), |_| {}).await;
    let verified = verified.map_err(|_error| StatusCode::INTERNAL_SERVER_ERROR)?;
    json(&verified.records)
}

/// What an event is known by.
fn key(event: &answers::Event<'_>) -> Digest {
    let parts = Sha256::new().chain_update(event.source).chain_update([0]).chain_update(event.id);
    Digest(parts.finalize().into())
}

fn json(value: &impl Serialize) -> Answered {
    let body = serde_json::to_vec(value).map_err(bad)?;
    Ok(([(CONTENT_TYPE, "application/json")], body).into_response())
}

fn bad(_why: impl std::error::Error) -> StatusCode {
    StatusCode::BAD_REQUEST
}
