use std::io::Write;

use serde::{Deserialize, Serialize};

/// A server, and the token that it knows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Target {
    pub(crate) address: std::net::SocketAddr,
    pub(crate) token: String,
}

/// A request whose head is put together once; only its body differs from time to time.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    head: Vec<u8>,
}

impl Request {
    pub(crate) fn new(target: &Target, method: &str, path: &str, content_type: &str) -> Self {
        let Target { address, token } = target;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: {content_type}\r\ncontent-length: "
        );
        Self { head: head.into_bytes() }
    }

    /// A CloudEvent in its structured form.
    pub(crate) fn event(target: &Target) -> Self {
        Self::new(target, "POST", "/v1/events", "application/cloudevents+json")
    }

    pub(crate) fn json(target: &Target, method: &str, path: &str) -> Self {
        Self::new(target, method, path, "application/json")
    }

    /// Puts all of it behind each other, for a single write.
    pub(crate) fn put(&self, body: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        write!(out, "{}\r\n\r\n", body.len()).expect("writing to memory does not fail");
        out.extend_from_slice(body);
    }
}
