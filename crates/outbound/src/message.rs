use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, StatusCode, header};
use url::Url;

use crate::error::OutboundError;

/// Where nothing else is asked for.
const TIMEOUT: Duration = Duration::from_secs(30);
const RESPONSE_BYTES: usize = 1 << 20;

/// Headers that say how a message is transferred, or to whom; the connection makes them.
const OWN: [HeaderName; 11] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::EXPECT,
    header::PROXY_AUTHORIZATION,
    header::PROXY_AUTHENTICATE,
    HeaderName::from_static("keep-alive"),
];

/// The headers of a response that callers use.
const KEPT: [HeaderName; 6] = [
    header::CONTENT_TYPE,
    header::DATE,
    header::ETAG,
    header::LAST_MODIFIED,
    header::LOCATION,
    header::RETRY_AFTER,
];

/// What is asked for, and how long and how much of it.
#[derive(Clone)]
pub struct Request {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// From the first lookup to the last byte, redirects included.
    pub timeout: Duration,
    /// What comes after these is not read.
    pub max_response_bytes: usize,
    pub redirects: Redirects,
}

/// What happens when the answer is elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redirects {
    /// Each place is checked like the first one.
    #[default]
    Follow,
    /// The redirect itself is the response.
    Return,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub status: StatusCode,
    /// Only some, such as the type of the content and when to try again.
    pub headers: HeaderMap,
    pub body: Bytes,
    /// There was more than was asked for.
    pub truncated: bool,
}

impl Request {
    #[must_use]
    pub fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            timeout: TIMEOUT,
            max_response_bytes: RESPONSE_BYTES,
            redirects: Redirects::default(),
        }
    }

    /// What does not depend on where the request goes.
    pub(crate) fn check(&self) -> Result<(), OutboundError> {
        if matches!(self.method, Method::CONNECT | Method::TRACE) {
            return Err(OutboundError::Method(self.method.clone()));
        }
        match OWN.iter().find(|name| self.headers.contains_key(*name)) {
            Some(name) => Err(OutboundError::Header(name.clone())),
            None => Ok(()),
        }
    }
}

/// Headers and most of the URL may be secrets.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("origin", &origin(&self.url))
            .finish_non_exhaustive()
    }
}

/// As much of a URL as may be told: `https://host:port`.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

pub(crate) fn kept(headers: &HeaderMap) -> HeaderMap {
    KEPT.into_iter().filter_map(|name| Some((name.clone(), headers.get(name)?.clone()))).collect()
}
