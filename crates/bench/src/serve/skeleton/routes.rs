use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use seaway_model::{DeploymentId, Digest, Name, Seq};
use seaway_store::Store;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tokio::sync::{mpsc, oneshot};

use super::answers::{Accepted, Claim, Claimed, Event, Scope, Task, held};
use super::ledger::{Entry, Request};
use super::offers::Offers;
use crate::identity::{name, new_id};
use crate::serve::work::PROJECT;

/// What every request may use.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) token: Digest,
    pub(super) ledger: mpsc::Sender<Request>,
    pub(super) offers: Arc<Offers>,
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

    async fn write(&self, entry: Entry, key: Option<Digest>) -> Result<Seq, StatusCode> {
        let (caller, written) = oneshot::channel();
        let sent = self.ledger.send(Request { entry, key, caller }).await;
        sent.map_err(|_closed| StatusCode::SERVICE_UNAVAILABLE)?;
        written.await.map_err(|_closed| StatusCode::SERVICE_UNAVAILABLE)
    }
}

/// The pipeline and the executor are part of the pattern.
async fn nothing(State(desk): State<Arc<Desk>>, headers: HeaderMap) -> Answered {
    desk.admit(&headers)?;
    Ok(StatusCode::OK.into_response())
}

async fn event(State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Bytes) -> Answered {
    desk.admit(&headers)?;
    let event: Event<'_> = serde_json::from_slice(&body).map_err(bad)?;
    let scope: Scope<'_> = serde_json::from_str(event.data.get()).map_err(bad)?;
    if scope.project != PROJECT || event.id.is_empty() || event.source.is_empty() {
        return Err(StatusCode::NOT_FOUND);
    }
    let data = event.data.get().into();
    let (deployment, entry) = match event.triggeredid {
        None => {
            let deployment = DeploymentId(new_id());
            let service = Name::new(scope.service.unwrap_or_default()).map_err(bad)?;
            let version = scope.version.unwrap_or_default().into();
            (deployment, Entry::Trigger { deployment, service, version, data })
        }
        Some(id) => {
            let (deployment, task) = held(id).ok_or(StatusCode::CONFLICT)?;
            let deployment = DeploymentId(deployment);
            let entry = match event.ty.rsplit('.').next() {
                Some("started") => Entry::Started { deployment, task, data },
                Some("finished") => Entry::Finished { deployment, task, data },
                _ => return Err(StatusCode::BAD_REQUEST),
            };
            (deployment, entry)
        }
    };
    // The server keeps its answers to what starts something; a task's answers have a fence.
    let key = event.triggeredid.is_none().then(|| key(&event));
    let at = desk.write(entry, key).await?.0;
    json(&Accepted { context: deployment.0, at })
}

async fn claim(State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Bytes) -> Answered {
    desk.admit(&headers)?;
    let claim: Claim = serde_json::from_slice(&body).map_err(bad)?;
    let offers = desk.offers.take(claim.max, Duration::from_secs(claim.wait_seconds)).await;
    if !offers.is_empty() {
        let tasks = offers.iter().map(|offer| (offer.deployment, offer.task)).collect();
        desk.write(Entry::Claim { tasks }, None).await?;
    }
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
fn key(event: &Event<'_>) -> Digest {
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
