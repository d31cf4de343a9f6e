//! Requests over real sockets: where they go, where they do not, and how much they take.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod denied;
mod redirects;
mod server;

use std::time::Duration;

use http::Method;
use seaway_outbound::{Destination, Outbound, Policy, Request};
use url::Url;

/// One that reaches these as well.
fn allowing(destinations: impl IntoIterator<Item = Destination>) -> Outbound {
    Outbound::new(destinations.into_iter().collect::<Policy>())
}

fn get(url: &str) -> Request {
    let mut request = Request::new(Method::GET, Url::parse(url).unwrap());
    request.timeout = Duration::from_secs(20);
    request
}
