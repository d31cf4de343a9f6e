use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use url::{Host, Url};

use crate::address::special;
use crate::error::{Denied, DestinationError, OutboundError};

/// Longer ones are refused, also where a redirect leads to.
const URL_BYTES: usize = 8 << 10;

/// A host, by name or address, and one port of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Destination {
    /// As a URL has it: lower case, IPv6 in brackets.
    host: String,
    port: u16,
}

/// What may be reached besides public addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub allowed: BTreeSet<Destination>,
}

/// Which addresses a connection may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Public,
    /// An admin allowed the destination, wherever it is.
    Anywhere,
}

impl Policy {
    /// Whether a request to this URL would be sent, as far as it can be said without looking up
    /// its host.
    pub fn check(&self, url: &Url) -> Result<(), OutboundError> {
        self.reach(url).map(drop)
    }

    pub(crate) fn reach(&self, url: &Url) -> Result<Reach, OutboundError> {
        if url.as_str().len() > URL_BYTES {
            return Err(OutboundError::LongUrl { most: URL_BYTES });
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(OutboundError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(OutboundError::Credentials);
        }
        let destination = Destination::of(url).ok_or(OutboundError::NoHost)?;
        if self.allowed.contains(&destination) {
            return Ok(Reach::Anywhere);
        }
        let address: IpAddr = match url.host() {
            Some(Host::Ipv4(address)) => address.into(),
            Some(Host::Ipv6(address)) => address.into(),
            Some(Host::Domain(_)) | None => return Ok(Reach::Public),
        };
        match special(address) {
            Some(range) => Err(Denied { destination, address, range }.into()),
            None => Ok(Reach::Public),
        }
    }
}

impl FromIterator<Destination> for Policy {
    fn from_iter<I: IntoIterator<Item = Destination>>(allowed: I) -> Self {
        Self { allowed: allowed.into_iter().collect() }
    }
}

impl Destination {
    /// Where a URL leads. Nothing for one without a host or a port.
    #[must_use]
    pub fn of(url: &Url) -> Option<Self> {
        Some(Self { host: url.host()?.to_string(), port: url.port_or_known_default()? })
    }

    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl FromStr for Destination {
    type Err = DestinationError;

    fn from_str(text: &str) -> Result<Self, DestinationError> {
        let wrong = || DestinationError(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let digits = !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit());
        let port = port.parse().ok().filter(|port| digits && *port != 0).ok_or_else(wrong)?;
        // A pattern would be taken for a name that no URL has, and allow nothing.
        let host = Some(host).filter(|it| !it.contains('*'));
        let host = host.and_then(|it| Host::parse(it).ok()).ok_or_else(wrong)?;
        Ok(Self { host: host.to_string(), port })
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        write!(f, "{host}:{port}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(allowed: &[&str]) -> Policy {
        allowed.iter().map(|it| it.parse::<Destination>().unwrap()).collect()
    }

    #[test]
    fn a_destination_is_read_in_the_form_that_urls_have() {
        for (text, shown) in [
            ("10.0.0.5:8080", "10.0.0.5:8080"),
            ("CI.Internal:443", "ci.internal:443"),
            ("[::1]:80", "[::1]:80"),
            ("[0:0:0:0:0:0:0:1]:80", "[::1]:80"),
            ("127.1:80", "127.0.0.1:80"),
            ("bücher.example:80", "xn--bcher-kva.example:80"),
        ] {
            assert_eq!(text.parse::<Destination>().unwrap().to_string(), shown);
        }
        for wrong in [
            "",
            "host",
            "host:",
            ":80",
            "host:0",
            "host:65536",
            "host:+80",
            "::1:80",
            "*.a.com:80",
            "http://host:80",
            "user@host:80",
            "a b:80",
            "host:80/path",
        ] {
            let error = wrong.parse::<Destination>().unwrap_err().to_string();
            assert!(error.contains("HOST:PORT"), "{wrong}: {error}");
        }
    }

    #[test]
    fn an_allowance_is_for_one_host_and_one_port() {
        let policy = policy(&["10.0.0.5:8080", "localhost:9000", "[::1]:80"]);
        let reach = |url: &str| policy.reach(&Url::parse(url).unwrap());
        for url in [
            "http://10.0.0.5:8080/a?b",
            "https://10.0.0.5:8080",
            "http://0xa000005:8080",
            "http://LOCALHOST:9000",
            "http://[::1]/",
        ] {
            assert!(matches!(reach(url), Ok(Reach::Anywhere)), "{url}");
        }
        for url in ["http://10.0.0.5", "http://10.0.0.6:8080", "http://[::1]:81", "http://127.1"] {
            assert!(matches!(reach(url), Err(OutboundError::Denied(_))), "{url}");
        }
        // What these lead to is seen when they are looked up.
        for url in ["http://localhost:9001", "http://localhost.:9000", "https://example.com"] {
            assert!(matches!(reach(url), Ok(Reach::Public)), "{url}");
        }
    }

    #[test]
    fn an_address_is_denied_however_it_is_written() {
        for url in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://127.0.0.1./",
            "http://①②⑦.0.0.1/",
            "http://0/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[fd00::1]/",
            "https://169.254.169.254/latest/meta-data/",
        ] {
            let error = Policy::default().check(&Url::parse(url).unwrap()).unwrap_err();
            assert!(matches!(error, OutboundError::Denied(_)), "{url}: {error}");
        }
    }

    #[test]
    fn other_schemes_and_passwords_are_refused() {
        let check = |url: &str| Policy::default().check(&Url::parse(url).unwrap()).unwrap_err();
        for url in ["file:///etc/passwd", "ftp://example.com", "gopher://example.com", "data:,a"] {
            assert!(matches!(check(url), OutboundError::Scheme(_)), "{url}");
        }
        for url in ["http://me@example.com", "https://me:secret@example.com", "http://:s@a.com"] {
            let error = check(url);
            assert!(matches!(error, OutboundError::Credentials), "{url}");
            assert!(!error.to_string().contains("secret"));
        }
        let long = format!("https://example.com/{}", "a".repeat(URL_BYTES));
        assert!(matches!(check(&long), OutboundError::LongUrl { .. }));
    }

    #[test]
    fn a_denial_says_what_an_admin_may_do() {
        let url = Url::parse("http://10.0.0.5:8080/hook?token=secret").unwrap();
        assert_eq!(
            Policy::default().check(&url).unwrap_err().to_string(),
            "10.0.0.5 is a private address; an admin may allow it with --allow-outbound \
             10.0.0.5:8080"
        );
        let url = Url::parse("http://[64:ff9b::a00:5]").unwrap();
        assert_eq!(
            Policy::default().check(&url).unwrap_err().to_string(),
            "64:ff9b::a00:5 leads to 10.0.0.5, which is a private address; an admin may allow it \
             with --allow-outbound [64:ff9b::a00:5]:80"
        );
    }
}
