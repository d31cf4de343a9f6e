use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderName};
use reqwest::{Method, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::client::Client;
use crate::error::ClientError;
use crate::path::Path;
use crate::reply;
use crate::retry;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// One call of one route, before it is made.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    client: &'a Client,
    request: RequestBuilder,
    timeout: Duration,
    again: Again,
}

/// Whether a call may be made a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    /// It has no second effect.
    Harmless,
    /// Who calls decides.
    No,
}

impl Client {
    pub(crate) fn path(&self) -> Path {
        Path::v1(&self.inner.url)
    }

    /// The routes of one project.
    pub(crate) fn project_path(&self, project: &str) -> Result<Path, ClientError> {
        self.path().then("projects").named("project", project)
    }

    pub(crate) fn get(&self, path: Path) -> Call<'_> {
        self.call(Method::GET, path)
    }

    /// A write whose repetition changes nothing by itself.
    pub(crate) fn put(&self, path: Path) -> Call<'_> {
        self.call(Method::PUT, path).keyed()
    }

    pub(crate) fn delete(&self, path: Path) -> Call<'_> {
        self.call(Method::DELETE, path).keyed()
    }

    /// A write that the server knows again by its key.
    pub(crate) fn post(&self, path: Path) -> Call<'_> {
        self.call(Method::POST, path).keyed()
    }

    /// A write that needs no key: its body names it, or a second one does no harm.
    pub(crate) fn post_unkeyed(&self, path: Path) -> Call<'_> {
        self.call(Method::POST, path)
    }

    fn call(&self, method: Method, path: Path) -> Call<'_> {
        let request = self.http.request(method, path.into_url());
        let timeout = self.inner.options.timeout;
        Call { client: self, request, timeout, again: Again::Harmless }
    }
}

impl Call<'_> {
    fn keyed(mut self) -> Self {
        self.request = self.request.header(IDEMPOTENCY_KEY, fresh().to_string());
        self
    }

    /// Without another try, whatever happens.
    pub(crate) fn once(mut self) -> Self {
        self.again = Again::No;
        self
    }

    /// Adds to the query what is there.
    pub(crate) fn ask(mut self, key: &str, value: Option<impl ToString>) -> Self {
        if let Some(value) = value {
            self.request = self.request.query(&[(key, value.to_string())]);
        }
        self
    }

    pub(crate) fn body(mut self, body: &impl Serialize) -> Self {
        self.request = self.request.json(body);
        self
    }

    pub(crate) fn bytes(mut self, content_type: &str, bytes: Vec<u8>) -> Self {
        self.request = self.request.header(CONTENT_TYPE, content_type).body(bytes);
        self
    }

    pub(crate) fn header(mut self, name: HeaderName, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    pub(crate) fn content_type(self, value: &str) -> Self {
        self.header(CONTENT_TYPE, value)
    }

    pub(crate) fn longer(mut self, by: Duration) -> Self {
        self.timeout = self.timeout.saturating_add(by);
        self
    }

    /// Makes the call and reads its answer.
    pub(crate) async fn json<T: DeserializeOwned>(self) -> Result<T, ClientError> {
        let url = self.client.url().to_owned();
        let limit = self.timeout;
        let answer = async {
            let response = self.send().await?;
            reply::json(&url, response).await
        };
        answer.await.map_err(|error| late(error, limit))
    }

    /// Makes a call whose answer has nothing to say.
    pub(crate) async fn done(self) -> Result<(), ClientError> {
        self.send().await.map(|_| ())
    }

    /// Makes the call, more than once if the server is too busy for it and that does no harm.
    async fn send(self) -> Result<Response, ClientError> {
        let Self { client, request, timeout, again } = self;
        let mut tried = 0;
        loop {
            let copy = request.try_clone().expect("bodies here are in memory");
            tried += 1;
            let refused = match attempt(client, copy.timeout(timeout), timeout).await {
                Err(error @ ClientError::Busy { .. }) if again == Again::Harmless => error,
                done => return done,
            };
            let ClientError::Busy { after, .. } = &refused else { return Err(refused) };
            match retry::wait(&client.inner.options, tried, *after) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(refused),
            }
        }
    }

    /// Makes the call once, for an answer that goes on as long as somebody listens.
    pub(crate) async fn open(self) -> Result<Response, ClientError> {
        let limit = self.timeout;
        let opened = tokio::time::timeout(limit, attempt(self.client, self.request, limit)).await;
        opened.unwrap_or_else(|_| {
            Err(ClientError::TimedOut { url: self.client.url().to_owned(), limit })
        })
    }
}

async fn attempt(
    client: &Client,
    request: RequestBuilder,
    limit: Duration,
) -> Result<Response, ClientError> {
    let url = client.url();
    match request.send().await {
        Ok(response) => reply::refusal(url, response).await.map_err(|error| late(error, limit)),
        Err(source) => Err(failed(url.to_owned(), source, limit)),
    }
}

fn failed(url: String, source: reqwest::Error, limit: Duration) -> ClientError {
    if source.is_connect() {
        ClientError::Unreachable { url, source }
    } else {
        late(ClientError::Broken { url, source }, limit)
    }
}

/// An answer that breaks off because its time is over.
fn late(error: ClientError, limit: Duration) -> ClientError {
    match error {
        ClientError::Broken { url, source } if source.is_timeout() => {
            ClientError::TimedOut { url, limit }
        }
        error => error,
    }
}

/// An id that nobody has used before.
#[expect(clippy::disallowed_methods, reason = "a client is an edge: it names what it asks for")]
pub(crate) fn fresh() -> Uuid {
    Uuid::now_v7()
}
