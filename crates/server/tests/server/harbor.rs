use std::path::Path;

use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use seaway_server::{Server, Settings};
use seaway_store::Store;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A server of its own for one test, with an empty store in a directory that goes away with it.
pub(crate) struct Harbor {
    pub(crate) dir: TempDir,
    pub(crate) store: Store,
    pub(crate) http: Client,
    pub(crate) url: String,
    /// The secret of the first token.
    pub(crate) admin: String,
    stop: watch::Sender<bool>,
    running: JoinHandle<()>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
}

pub(crate) const SHIPYARD: &str = "
apiVersion: seaway.dev/v1
kind: Shipyard
metadata: {name: shop}
spec:
  stages:
  - name: staging
    sequences:
    - name: delivery
      tasks: [{name: deployment}, {name: test}]
    - name: cleanup
      tasks: [{name: action}]
  - name: beta
    sequences:
    - name: delivery
      triggeredOn: [{event: staging.delivery.finished}]
      tasks: [{name: deployment}]
";

impl Harbor {
    pub(crate) async fn open() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self::at(dir).await
    }

    /// On a directory that may have been used before.
    pub(crate) async fn at(dir: TempDir) -> Self {
        Self::set_up(dir, |_| ()).await
    }

    /// With settings of its own.
    pub(crate) async fn set_up(dir: TempDir, set: impl FnOnce(&mut Settings)) -> Self {
        // Another test of this process may have done so before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let store = Store::sqlite(dir.path()).unwrap();
        let mut settings = Settings::new(dir.path().to_owned(), "127.0.0.1:0".parse().unwrap());
        set(&mut settings);
        let server = Server::start(store.clone(), settings).await.unwrap();
        let url = format!("http://{}", server.address());
        let admin = admin(dir.path());
        let (stop, stopped) = watch::channel(false);
        let running = tokio::spawn(async move { server.run(stopped).await.unwrap() });
        Self { dir, store, http: Client::new(), url, admin, stop, running }
    }

    /// With the project `shop` and its pipeline.
    pub(crate) async fn with_shop() -> Self {
        let harbor = Self::open().await;
        harbor.apply("shop", &[("shipyard.yaml", SHIPYARD)]).await.ok();
        harbor
    }

    /// Stops the server, and gives back its directory.
    pub(crate) async fn close(self) -> TempDir {
        let Self { dir, store, http, stop, running, .. } = self;
        // Connections that are kept open for the next request would be waited for.
        drop(http);
        stop.send(true).unwrap();
        running.await.unwrap();
        drop(store);
        dir
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url))
    }

    /// Sends a request with a token.
    pub(crate) async fn send(&self, request: RequestBuilder, token: &str) -> Reply {
        Reply::of(request.bearer_auth(token).send().await.unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(self.request(Method::GET, path), &self.admin).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.send(self.request(Method::POST, path).json(&body), &self.admin).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.send(self.request(Method::DELETE, path), &self.admin).await
    }

    /// Applies files, each with its name and text.
    pub(crate) async fn apply(&self, project: &str, files: &[(&str, &str)]) -> Reply {
        let sources = files.iter().map(|(path, text)| json!({"path": path, "text": text}));
        let body = json!({"sources": sources.collect::<Vec<_>>()});
        self.post(&format!("/v1/projects/{project}/apply"), body).await
    }

    /// The secret of a new token; without a project it is for all of them.
    pub(crate) async fn token(&self, scopes: &[&str], project: Option<&str>) -> String {
        let name = format!("{} {}", scopes.join("+"), project.unwrap_or("all"));
        let mut body = json!({"name": name, "scopes": scopes});
        if let Some(project) = project {
            body["project"] = project.into();
        }
        let reply = self.post("/v1/tokens", body).await.ok();
        reply["secret"].as_str().unwrap().to_owned()
    }
}

fn admin(dir: &Path) -> String {
    std::fs::read_to_string(dir.join("admin.token")).unwrap().trim().to_owned()
}

impl Reply {
    async fn of(response: Response) -> Self {
        let status = response.status();
        let kind = response.headers().get("content-type").cloned();
        let bytes = response.bytes().await.unwrap();
        let body = match bytes.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into()),
        };
        if status.is_client_error() || status.is_server_error() {
            assert_eq!(kind.unwrap(), "application/problem+json", "{status} {body}");
            assert_eq!(body["status"], status.as_u16());
        }
        Self { status, body }
    }

    /// The body of a request that went well.
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!(self.status.is_success(), "{} {}", self.status, self.body);
        self.body
    }

    /// Status and code of a problem.
    #[track_caller]
    pub(crate) fn problem(&self) -> (u16, &str) {
        let code = self.body["code"].as_str();
        (self.status.as_u16(), code.unwrap_or_else(|| panic!("no problem: {self:?}")))
    }

    /// What a problem says.
    #[track_caller]
    pub(crate) fn detail(&self) -> &str {
        self.body["detail"].as_str().unwrap_or_else(|| panic!("no problem: {self:?}"))
    }
}
