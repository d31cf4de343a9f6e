use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue};
use seaway_engine::{Subscription, SubscriptionError};
use seaway_model::{Name, Seq};
use seaway_wire::Row;
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;
use utoipa::IntoParams;

use crate::app::App;
use crate::extract::In;
use crate::history::gone;
use crate::paths::Paths;
use crate::problem::Failure;
use crate::query::{Ask, bad};
use crate::view::record::record;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How often something is said while nothing happens, so that nobody takes the stream for dead.
const STILL_HERE: Duration = Duration::from_secs(15);

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct From {
    /// The last record that is known already; 0: from the beginning; none: only new ones.
    after: Option<u64>,
}

/// The records of a project as they are written, as server-sent events that never end.
///
/// The `id` of each is its position. Who sends the last one as `Last-Event-ID` gets what follows,
/// without gap or duplicate.
#[utoipa::path(get, path = "/v1/projects/{project}/stream", tag = "log",
    params(
        ("project" = String, Path),
        From,
        ("Last-Event-ID" = Option<String>, Header, description = "counts more than `after`"),
    ),
    responses(
        (status = 200, body = String, content_type = "text/event-stream"),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
        (status = 503, body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn stream(
    State(app): State<Arc<App>>,
    here: In,
    Ask(from): Ask<From>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let after = match last_event_id(&headers)?.or(from.after.map(Seq)) {
        Some(after) => after,
        None => app.store.head(&here.name).await?.seq,
    };
    let base = app.store.archived(&here.name).await?.seq;
    if after < base {
        return Err(gone(&format!("what follows record {after}"), base));
    }
    let seat = app.streams.clone().try_acquire_owned().ok().ok_or_else(|| {
        let detail = "too many streams are open already; close some, or ask for records instead";
        Failure::unavailable("too-many-streams", detail)
    })?;
    let subscription = here.project.subscribe(after).await.map_err(refused)?;
    let feed = Feed {
        app,
        project: here.name,
        subscription,
        paths: Paths::default(),
        ready: VecDeque::new(),
        _seat: seat,
    };
    let events = futures::stream::unfold(feed, |mut feed| async move {
        let event = feed.next().await?;
        Some((Ok::<Event, Infallible>(event), feed))
    });
    let mut response =
        Sse::new(events).keep_alive(KeepAlive::new().interval(STILL_HERE)).into_response();
    // Proxies that collect answers before they pass them on would hold it back for ever.
    let unbuffered = HeaderName::from_static("x-accel-buffering");
    response.headers_mut().insert(unbuffered, HeaderValue::from_static("no"));
    Ok(response)
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<Seq>, Failure> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    // Browsers send none, or an empty one, before the first event.
    match value.to_str().unwrap_or("?") {
        "" => Ok(None),
        text => match text.parse() {
            Ok(seq) => Ok(Some(Seq(seq))),
            Err(_) => Err(bad(format!("Last-Event-ID is {text:?}, which is no position"))),
        },
    }
}

fn refused(error: SubscriptionError) -> Failure {
    let text = error.to_string();
    match error {
        SubscriptionError::AheadOfLog { .. } => Failure::refused("not-reached", text),
        SubscriptionError::Store(error) => error.into(),
        SubscriptionError::Ended { .. } => Failure::unavailable("not-owner", text),
    }
}

/// Reads as fast as its reader: nothing is read ahead but the piece that is being sent.
#[derive(Debug)]
struct Feed {
    app: Arc<App>,
    project: Name,
    subscription: Subscription,
    paths: Paths,
    ready: VecDeque<Row>,
    _seat: OwnedSemaphorePermit,
}

impl Feed {
    /// The next event; none when the server stops, or cannot go on: then a client comes again.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(row) = self.ready.pop_front() {
                let shown = record(&row, self.paths.of(row.target));
                let data = serde_json::to_string(&shown).expect("records are plain data");
                let id = row.seq.to_string();
                return Some(Event::default().id(id).event("record").data(data));
            }
            if let Err(error) = self.read().await {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(error, project = %self.project, "a stream ends");
                return None;
            }
            if self.ready.is_empty() {
                return None;
            }
        }
    }

    async fn read(&mut self) -> Result<(), SubscriptionError> {
        let rows = tokio::select! {
            rows = self.subscription.next() => rows?,
            () = self.app.stopped() => return Ok(()),
        };
        self.paths.learn((&self.app.store, &self.project), &rows).await?;
        self.ready = rows.into();
        Ok(())
    }
}
