use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Json, Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{post, put};
use axum::{Router, body::Bytes};
use seaway_api::{Claim, CloudEvent, Register, Task};
use seaway_client::{Client, Options};
use seaway_executor::{Definitions, Projects, WorkerOptions};
use serde_json::json;
use tokio::sync::Notify;
use uuid::Uuid;

/// A server that speaks the executor protocol on a real socket, and does as it is told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Harbor {
    pub(crate) log: Arc<Mutex<Logbook>>,
    changed: Arc<Notify>,
}

#[derive(Debug, Default)]
pub(crate) struct Logbook {
    pub(crate) waiting: VecDeque<Task>,
    pub(crate) registered: Vec<Register>,
    pub(crate) claims: Vec<Claim>,
    /// How many claims wait for tasks.
    pub(crate) polls: usize,
    pub(crate) events: Vec<CloudEvent>,
    pub(crate) renewals: usize,
    pub(crate) left: usize,
    /// How the next events with such an ending are answered instead of being taken.
    pub(crate) refusals: VecDeque<(&'static str, u16)>,
    /// What claims and renewals are answered with.
    pub(crate) claims_refused: VecDeque<u16>,
    pub(crate) renewals_refused: Option<u16>,
}

impl Logbook {
    /// The types of the events that were taken, without their prefix, with whose they are.
    pub(crate) fn told(&self) -> Vec<String> {
        let tell = |it: &CloudEvent| {
            let ty = it.ty.strip_prefix("sh.keptn.event.").unwrap_or(&it.ty);
            format!("{} {ty}", it.triggeredid.as_deref().unwrap_or_default())
        };
        self.events.iter().map(tell).collect()
    }
}

impl Harbor {
    pub(crate) async fn open(self) -> Client {
        let listener =
            tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let project = "/v1/projects/{project}";
        let router = Router::new()
            .route(&format!("{project}/executors/{{name}}"), put(register).delete(leave))
            .route(&format!("{project}/executors/{{name}}/claim"), post(claim))
            .route(&format!("{project}/executors/{{name}}/heartbeat"), post(written))
            .route(&format!("{project}/tasks/{{id}}/renew"), post(renew))
            .route("/v1/events", post(event))
            .with_state(self);
        tokio::spawn(async move { axum::serve(listener, router).await });
        let options = Options { retries: 0, ..Options::default() };
        Client::new(&url, Some("swy_test"), options).expect("it is an address")
    }

    pub(crate) fn log(&self) -> std::sync::MutexGuard<'_, Logbook> {
        self.log.lock().expect("no test panics with it")
    }

    pub(crate) fn offer(&self, task: Task) {
        self.log().waiting.push_back(task);
        self.changed.notify_waiters();
    }
}

pub(crate) fn options(definitions: Definitions) -> WorkerOptions {
    WorkerOptions {
        projects: Projects::Named(vec!["shop".to_owned()]),
        lease: Duration::from_secs(3),
        drain: Duration::from_secs(30),
        ..WorkerOptions::new(definitions)
    }
}

async fn register(State(harbor): State<Harbor>, Json(register): Json<Register>) -> Response {
    harbor.log().registered.push(register);
    Json(json!({"executor": "worker", "at": 1})).into_response()
}

async fn leave(State(harbor): State<Harbor>) -> Response {
    harbor.log().left += 1;
    Json(json!({"at": 1})).into_response()
}

async fn written() -> Response {
    Json(json!({"at": 1})).into_response()
}

async fn claim(State(harbor): State<Harbor>, Json(claim): Json<Claim>) -> Response {
    let wait = Duration::from_secs(claim.wait_seconds.into());
    let max = claim.max as usize;
    let lease = claim.lease_seconds;
    let refused = {
        let mut log = harbor.log();
        log.claims.push(claim);
        log.claims_refused.pop_front()
    };
    if let Some(status) = refused {
        return problem(status);
    }
    let _poll = Poll::begin(&harbor);
    let waiting = tokio::time::timeout(wait, async {
        loop {
            let changed = harbor.changed.notified();
            let some = {
                let mut log = harbor.log();
                let count = max.min(log.waiting.len());
                log.waiting.drain(..count).collect::<Vec<Task>>()
            };
            if !some.is_empty() {
                return some;
            }
            changed.await;
        }
    });
    let tasks = waiting.await.unwrap_or_default().into_iter();
    let tasks: Vec<Task> = tasks.map(|it| Task { lease_seconds: lease, ..it }).collect();
    Json(json!({"tasks": tasks})).into_response()
}

/// A claim that waits, until it is answered or its client has gone away.
struct Poll(Harbor);

impl Poll {
    fn begin(harbor: &Harbor) -> Self {
        harbor.log().polls += 1;
        Self(harbor.clone())
    }
}

impl Drop for Poll {
    fn drop(&mut self) {
        self.0.log().polls -= 1;
    }
}

async fn renew(State(harbor): State<Harbor>, Path(_): Path<(String, String)>) -> Response {
    let refused = {
        let mut log = harbor.log();
        log.renewals += 1;
        log.renewals_refused
    };
    refused.map_or_else(|| Json(json!({"at": 1})).into_response(), problem)
}

async fn event(State(harbor): State<Harbor>, body: Bytes) -> Response {
    let event: CloudEvent = serde_json::from_slice(&body).expect("it is an event");
    let mut log = harbor.log();
    if let Some((_, status)) = log.refusals.pop_front_if(|(ending, _)| event.ty.ends_with(*ending))
    {
        return problem(status);
    }
    log.events.push(event);
    Json(json!({"context": Uuid::from_u128(7), "at": 1})).into_response()
}

fn problem(status: u16) -> Response {
    let body = json!({
        "type": "about:blank", "title": "no", "status": status, "code": "no", "detail": "no",
    });
    let status = StatusCode::from_u16(status).expect("it is a status");
    (status, [(CONTENT_TYPE, "application/problem+json")], body.to_string()).into_response()
}
