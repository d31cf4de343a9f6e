use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::runtime;

use crate::serve::work::{EXECUTOR, PROJECT, TASKS, shipyard};
use crate::web::{Connection, Request, Target};

/// Makes the project.
pub(crate) async fn apply(connection: &mut Connection, target: &Target) -> Result<()> {
    let body = json!({"sources": [{"path": "shipyard.yaml", "text": shipyard()}]});
    let path = format!("/v1/projects/{PROJECT}/apply");
    ask(connection, &Request::json(target, "POST", &path), &body).await.context("applying")
}

pub(super) async fn register(connection: &mut Connection, target: &Target) -> Result<()> {
    let subscriptions = TASKS.map(|task| json!({"task": task}));
    let body = json!({"subscriptions": subscriptions, "ttlSeconds": 600});
    let path = format!("/v1/projects/{PROJECT}/executors/{EXECUTOR}");
    ask(connection, &Request::json(target, "PUT", &path), &body).await.context("registering")
}

/// Lets the server check that its log is what was written.
pub(crate) fn verify(target: &Target) -> Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let path = format!("/v1/projects/{PROJECT}/verify");
    let verified = runtime.context("starting the runtime")?.block_on(async {
        let mut connection = Connection::open(target.address).await?;
        let answer = connection.send(&Request::json(target, "GET", &path), b"").await?;
        answer.accepted().map(|_| ())
    });
    verified.context("verifying the log")
}

async fn ask(connection: &mut Connection, request: &Request, body: &Value) -> Result<()> {
    connection.send(request, body.to_string().as_bytes()).await?.accepted().map(|_| ())
}
