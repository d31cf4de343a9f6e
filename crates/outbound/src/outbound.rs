use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use reqwest::Client;

use crate::error::{Denied, OutboundError};
use crate::message::{Redirects, Request, Response, kept, origin};
use crate::policy::{Destination, Policy, Reach};
use crate::redirect;
use crate::resolve::{Lookup, LookupError};
use crate::tls::Tls;

/// Redirects of one request that are followed.
const REDIRECTS: usize = 5;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections that are kept for the next request to the same place.
const IDLE: usize = 4;
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
const USER_AGENT: &str = concat!("seaway/", env!("CARGO_PKG_VERSION"));

/// Sends requests to where they may go. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Outbound {
    inner: Arc<Inner>,
}

/// Two clients, because whoever looks up a name does not know for which port: one that reaches
/// nothing but public addresses, and one for the destinations that an admin allowed. Connections of
/// the one are never used by the other.
#[derive(Debug)]
struct Inner {
    policy: Policy,
    public: Client,
    anywhere: Client,
    /// Why https cannot work on this machine.
    no_authorities: Option<String>,
}

impl Outbound {
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self::with_tls(policy, &Tls::of_system())
    }

    pub(crate) fn with_tls(policy: Policy, tls: &Tls) -> Self {
        let public = client(Reach::Public, tls);
        let anywhere = client(Reach::Anywhere, tls);
        let no_authorities = tls.missing.clone();
        Self { inner: Arc::new(Inner { policy, public, anywhere, no_authorities }) }
    }

    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.inner.policy
    }

    /// The response of any status, or why there is none.
    pub async fn send(&self, request: Request) -> Result<Response, OutboundError> {
        request.check()?;
        let (after, first) = (request.timeout, origin(&request.url));
        match tokio::time::timeout(after, self.follow(request)).await {
            Ok(answered) => answered,
            Err(_) => Err(OutboundError::TimedOut { origin: first, after }),
        }
    }

    async fn follow(&self, mut request: Request) -> Result<Response, OutboundError> {
        let first = origin(&request.url);
        for _ in 0..=REDIRECTS {
            let response = self.ask(&request).await?;
            let next = match request.redirects {
                Redirects::Follow => {
                    redirect::next(&request, response.status(), response.headers())?
                }
                Redirects::Return => None,
            };
            match next {
                Some(next) => request = next,
                None => return read(response, &request).await,
            }
        }
        Err(OutboundError::Redirects { origin: first, most: REDIRECTS })
    }

    async fn ask(&self, request: &Request) -> Result<reqwest::Response, OutboundError> {
        let Request { method, url, headers, body, .. } = request;
        let client = match self.inner.policy.reach(url)? {
            Reach::Public => &self.inner.public,
            Reach::Anywhere => &self.inner.anywhere,
        };
        if let Some(reason) = self.inner.no_authorities.as_ref().filter(|_| url.scheme() == "https")
        {
            return Err(OutboundError::NoAuthorities(reason.clone()));
        }
        let mut asked = client.request(method.clone(), url.clone()).headers(headers.clone());
        if !body.is_empty() {
            asked = asked.body(body.clone());
        }
        asked.send().await.map_err(|error| failure(&error, request))
    }
}

fn client(reach: Reach, tls: &Tls) -> Client {
    Client::builder()
        .tls_backend_preconfigured(tls.config.clone())
        .dns_resolver(Lookup::new(reach))
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_max_idle_per_host(IDLE)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .user_agent(USER_AGENT)
        .build()
        .expect("a client that reads no files and no environment can be made")
}

async fn read(mut from: reqwest::Response, request: &Request) -> Result<Response, OutboundError> {
    let (status, headers) = (from.status(), kept(from.headers()));
    let mut body = BytesMut::new();
    let mut truncated = false;
    while let Some(chunk) = from.chunk().await.map_err(|error| failure(&error, request))? {
        let room = request.max_response_bytes - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            truncated = true;
            break;
        }
    }
    Ok(Response { status, headers, body: body.freeze(), truncated })
}

fn failure(error: &reqwest::Error, request: &Request) -> OutboundError {
    let (url, origin) = (&request.url, origin(&request.url));
    if let Some(error) = cause::<LookupError>(error) {
        return match (error, Destination::of(url)) {
            (LookupError::Denied { address, range }, Some(destination)) => {
                Denied { destination, address: *address, range: *range }.into()
            }
            (error, _) => OutboundError::Unresolved {
                host: url.host_str().unwrap_or_default().to_owned(),
                reason: error.to_string(),
            },
        };
    }
    if error.is_timeout() {
        return OutboundError::TimedOut { origin, after: CONNECT_TIMEOUT.min(request.timeout) };
    }
    if let Some(rustls::Error::InvalidCertificate(reason)) = cause::<rustls::Error>(error) {
        return OutboundError::Untrusted { origin, reason: reason.to_string() };
    }
    let reason = deepest(error).to_string();
    match error.is_connect() {
        true => OutboundError::Unreachable { origin, reason },
        false => OutboundError::BrokeOff { origin, reason },
    }
}

/// The first of its kind among an error and its causes.
fn cause<T: Error + 'static>(error: &reqwest::Error) -> Option<&T> {
    causes(error).find_map(|it| it.downcast_ref::<T>())
}

fn deepest(error: &reqwest::Error) -> &(dyn Error + 'static) {
    causes(error).last().unwrap_or(error)
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(Some(error as &(dyn Error + 'static)), |it| below(*it))
}

/// An error of the system that wraps another one passes it over when it is asked for its source.
fn below<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    inner.map(|it| it as &(dyn Error + 'static)).or_else(|| error.source())
}
