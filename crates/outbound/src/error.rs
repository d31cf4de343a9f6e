use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use http::{HeaderName, Method};

use crate::address::{Range, embedded};
use crate::policy::Destination;

/// A text that names no destination.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not of the form HOST:PORT; name one host and one port, such as ci.internal:8080, \
     10.0.0.5:8080 or [fd00::5]:8080"
)]
pub struct DestinationError(pub String);

/// Why there is no response. Of a URL only the scheme, host and port are told, because the rest is
/// often a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutboundError {
    #[error("`{0}` URLs are not requested; use `https` or `http`")]
    Scheme(String),
    #[error("the URL has no host; write it as https://HOST/PATH")]
    NoHost,
    #[error("the URL is longer than {most} bytes; shorten it")]
    LongUrl { most: usize },
    #[error("the URL has a user name or a password; send them in a header instead")]
    Credentials,
    #[error("{0} requests are not sent; use another method")]
    Method(Method),
    #[error("the header `{0}` is made by the connection; leave it out")]
    Header(HeaderName),
    #[error(transparent)]
    Denied(#[from] Denied),
    #[error("{host} has no address: {reason}; check the name")]
    Unresolved { host: String, reason: String },
    #[error("{origin} cannot be reached: {reason}; check the URL, and that the service runs")]
    Unreachable { origin: String, reason: String },
    #[error(
        "{origin} has no certificate that this machine trusts: {reason}; check it, or add its \
         authority to the certificates of this machine"
    )]
    Untrusted { origin: String, reason: String },
    #[error(
        "https needs certificates to trust, and this machine has none: {0}; install \
         ca-certificates, or name a file with SSL_CERT_FILE"
    )]
    NoAuthorities(String),
    #[error("{origin} did not answer completely within {after:?}")]
    TimedOut { origin: String, after: Duration },
    #[error("{origin} broke off: {reason}")]
    BrokeOff { origin: String, reason: String },
    #[error("{origin} redirects more than {most} times; use the URL that it leads to")]
    Redirects { origin: String, most: usize },
    #[error("{origin} redirects to something that is no URL")]
    Location { origin: String },
    #[error("{from} redirects to {to}, where everybody could read along; use https all the way")]
    Downgrade { from: String, to: String },
}

/// An address that is not public, and that no admin allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Denied {
    pub destination: Destination,
    /// What the host of the destination is, or where it leads.
    pub address: IpAddr,
    pub range: Range,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { destination, address, range } = self;
        let host = destination.host().trim_matches(['[', ']']);
        let inner = match address {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => embedded(*address),
        };
        let end = inner.map_or(*address, IpAddr::V4).to_string();
        match host == end {
            true => write!(f, "{host} is {range}")?,
            false => write!(f, "{host} leads to {end}, which is {range}")?,
        }
        write!(f, "; an admin may allow it with --allow-outbound {destination}")
    }
}
