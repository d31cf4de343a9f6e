use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use http::StatusCode;
use http_body_util::LengthLimitError;
use seaway_model::Span;
use tokio::time::timeout;

use crate::extract::{broken_body, too_large};
use crate::problem::Failure;

/// Room for the bodies of all requests under way. What does not fit any more is refused before it
/// is read, so that many large requests at once cost their senders time and not the server memory.
#[derive(Debug)]
pub(crate) struct Bodies {
    bytes: usize,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// What each token takes; one that takes nothing is not in it.
    by: BTreeMap<Arc<str>, usize>,
}

/// What a client is told to wait that finds no room.
const RETRY_AFTER: Span = Span::from_secs(1);

impl Bodies {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes, taken: Arc::default() }
    }

    /// Reads a body, and takes room for it until the request is answered. While it comes, that is
    /// as much as it says it is long, or else as its route allows; then as much as it is.
    pub(crate) async fn read(
        &self,
        token: &Arc<str>,
        body: Body,
        (limit, patience): (usize, Duration),
    ) -> Result<(Bytes, Room), Failure> {
        let said = body.size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
        let mut room = self.admit(token, said.unwrap_or(limit).min(limit))?;
        let Ok(read) = timeout(patience, to_bytes(body, limit)).await else {
            let detail = "the body did not come in time; send it again";
            return Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "too-slow", detail));
        };
        let bytes = read.map_err(|error| {
            let long = error.source().is_some_and(|cause| cause.is::<LengthLimitError>());
            if long { too_large() } else { broken_body() }
        })?;
        room.give_back(room.bytes.saturating_sub(bytes.len()));
        Ok((bytes, room))
    }

    /// Nobody gets more than half of all there is, so that one sender cannot keep out the others.
    fn admit(&self, token: &Arc<str>, bytes: usize) -> Result<Room, Failure> {
        // Most requests have no body, and need not wait for each other here.
        if bytes > 0 {
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            let own = taken.by.get(token).copied().unwrap_or(0) + bytes;
            if own > self.bytes / 2 {
                return Err(full("of other requests with this token take all the room it gets"));
            }
            if taken.all + bytes > self.bytes {
                return Err(full("of other requests take all the room that there is"));
            }
            taken.all += bytes;
            taken.by.insert(token.clone(), own);
        }
        Ok(Room { taken: self.taken.clone(), token: token.clone(), bytes })
    }
}

fn full(whose: &str) -> Failure {
    let detail = format!("the bodies {whose}");
    Failure::new(StatusCode::TOO_MANY_REQUESTS, "overloaded", detail).retry_after(RETRY_AFTER)
}

/// Room that a request takes. It is given back when this goes.
#[derive(Debug)]
pub(crate) struct Room {
    taken: Arc<Mutex<Taken>>,
    token: Arc<str>,
    bytes: usize,
}

impl Room {
    fn give_back(&mut self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.bytes -= bytes;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= bytes;
        if let Some(own) = taken.by.get_mut(&self.token) {
            *own -= bytes;
            if *own == 0 {
                taken.by.remove(&self.token);
            }
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    /// A body that does not say how long it is.
    fn chunked(bytes: usize) -> Body {
        let chunks = (0..bytes).map(|_| Ok::<_, std::io::Error>(Bytes::from_static(b"x")));
        Body::from_stream(stream::iter(chunks))
    }

    /// What became of a body in a route that takes 40 bytes.
    async fn read(bodies: &Bodies, token: &str, body: Body) -> Result<Room, (u16, String)> {
        let read = bodies.read(&token.into(), body, (40, PATIENCE)).await;
        read.map(|(_, room)| room).map_err(|failure| {
            let problem = failure.problem();
            (problem.status, problem.code)
        })
    }

    #[tokio::test]
    async fn a_body_takes_the_room_of_its_true_length_once_that_is_known() {
        let bodies = Bodies::new(100);
        let mut rooms = Vec::new();
        for _ in 0..2 {
            rooms.push(read(&bodies, "a", chunked(10)).await.unwrap());
        }
        let full = read(&bodies, "a", Body::from([0; 31].as_slice())).await.unwrap_err();
        assert_eq!(full, (429, "overloaded".to_owned()));
        rooms.push(read(&bodies, "a", Body::from([0; 30].as_slice())).await.unwrap());
        rooms.push(read(&bodies, "a", Body::empty()).await.unwrap());
        // The other half is for others.
        rooms.push(read(&bodies, "b", chunked(40)).await.unwrap());
        assert_eq!(bodies.taken.lock().unwrap().all, 90);
        assert!(read(&bodies, "c", chunked(1)).await.is_err());
        rooms.clear();
        let taken = bodies.taken.lock().unwrap();
        assert_eq!((taken.all, taken.by.len()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_too_long_broken_or_never_comes_leaves_nothing_taken() {
        let bodies = Bodies::new(100);
        let broken = stream::iter([Err::<Bytes, _>(std::io::Error::other("cut"))]);
        let never = stream::pending::<Result<Bytes, std::io::Error>>();
        for (body, status, code) in [
            (chunked(41), 413, "too-large"),
            (Body::from([0; 41].as_slice()), 413, "too-large"),
            (Body::from_stream(broken), 400, "broken-body"),
            (Body::from_stream(never), 408, "too-slow"),
        ] {
            let failed = read(&bodies, "a", body).await.unwrap_err();
            assert_eq!(failed, (status, code.to_owned()));
            assert_eq!(bodies.taken.lock().unwrap().all, 0);
        }
    }
}
