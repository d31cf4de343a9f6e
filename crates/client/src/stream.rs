use std::collections::VecDeque;
use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderName};
use reqwest::{Response, StatusCode};
use seaway_api::Record;

use crate::client::Client;
use crate::error::ClientError;
use crate::reply::{content_type, not_seaway};
use crate::sse::{self, Event, Events, TooLarge};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const EVENT_STREAM: &str = "text/event-stream";

/// A server says something at least this often, if only that it is there.
const SILENT: Duration = Duration::from_secs(60);

/// How often in a row a connection may break before anything came through it.
const MOST_FAILURES: u32 = 12;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The records of a project as they are written. A connection that breaks is made again, and goes
/// on after the last record that came, without gap or duplicate.
#[derive(Debug)]
pub struct RecordStream {
    client: Client,
    project: String,
    after: u64,
    connection: Option<Connection>,
    ahead: VecDeque<Record>,
    failures: u32,
}

#[derive(Debug)]
struct Connection {
    response: Response,
    events: Events,
}

impl Client {
    /// Follows the records after a position. Connections are made when they are needed.
    #[must_use]
    pub fn stream(&self, project: &str, after: u64) -> RecordStream {
        RecordStream {
            client: self.clone(),
            project: project.to_owned(),
            after,
            connection: None,
            ahead: VecDeque::new(),
            failures: 0,
        }
    }
}

impl RecordStream {
    /// The last record that was handed out, or the position to begin after.
    #[must_use]
    pub fn after(&self) -> u64 {
        self.after
    }

    /// The next record, as soon as it is there. Dropping the future loses nothing.
    ///
    /// # Errors
    /// If the server refuses, or cannot be reached for a while.
    pub async fn next(&mut self) -> Result<Record, ClientError> {
        loop {
            if let Some(record) = self.ahead.pop_front() {
                // What a server says twice is told once.
                if record.seq <= self.after {
                    continue;
                }
                self.after = record.seq;
                return Ok(record);
            }
            match self.read().await {
                Ok(()) => {}
                Err(error) => {
                    self.connection = None;
                    self.failed(error).await?;
                }
            }
        }
    }

    /// Waits before the next try, unless there is none.
    async fn failed(&mut self, error: ClientError) -> Result<(), ClientError> {
        self.failures += 1;
        if !error.is_passing() || self.failures > MOST_FAILURES {
            return Err(error);
        }
        let pause = FIRST_PAUSE * 2_u32.saturating_pow(self.failures - 1);
        tokio::time::sleep(pause.min(LONGEST_PAUSE)).await;
        Ok(())
    }

    /// Reads a piece of what comes.
    async fn read(&mut self) -> Result<(), ClientError> {
        let url = || self.client.url().to_owned();
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(connect(&self.client, &self.project, self.after).await?),
        };
        let Ok(read) = tokio::time::timeout(SILENT, connection.response.chunk()).await else {
            return Err(ClientError::TimedOut { url: url(), limit: SILENT });
        };
        let piece = read.map_err(|source| ClientError::Broken { url: url(), source })?;
        let piece = piece.ok_or_else(|| ClientError::Ended { url: url() })?;
        let mut wrong = None;
        let (ahead, failures) = (&mut self.ahead, &mut self.failures);
        let fed = connection.events.feed(&piece, |event| match record(&event) {
            Ok(Some(record)) => {
                *failures = 0;
                ahead.push_back(record);
            }
            Ok(None) => {}
            Err(error) => wrong = Some(error),
        });
        if fed == Err(TooLarge) {
            return Err(ClientError::TooLarge { url: url(), most: sse::MOST });
        }
        match wrong {
            Some(error) => Err(not_seaway(&url(), StatusCode::OK, error.to_string())),
            None => Ok(()),
        }
    }
}

async fn connect(client: &Client, project: &str, after: u64) -> Result<Connection, ClientError> {
    let position = after.to_string();
    let call = client.get(client.project_path(project)?.then("stream")).ask("after", Some(after));
    let call = call.header(LAST_EVENT_ID, &position).header(ACCEPT, EVENT_STREAM);
    let response = call.open().await?;
    let found = content_type(&response);
    if !found.starts_with(EVENT_STREAM) {
        let what = format!("{found:?} instead of a stream");
        return Err(not_seaway(client.url(), response.status(), what));
    }
    Ok(Connection { response, events: Events::default() })
}

fn record(event: &Event) -> Result<Option<Record>, serde_json::Error> {
    match &*event.name {
        b"record" => serde_json::from_slice(&event.data).map(Some),
        _ => Ok(None),
    }
}
