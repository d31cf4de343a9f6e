use std::sync::Arc;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Url};

use crate::error::ClientError;
use crate::options::Options;

/// Speaks to one server with one token. Copies share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) url: Url,
    pub(crate) options: Options,
}

impl Client {
    /// Prepares a client. Nothing is sent yet.
    ///
    /// # Errors
    /// If the address is none, or the token or the certificates cannot be used.
    pub fn new(url: &str, token: Option<&str>, options: Options) -> Result<Self, ClientError> {
        // A provider that somebody else has chosen for this process is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = parse(url)?;
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("seaway/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers(token)?)
            .connect_timeout(options.connect_timeout)
            // A token is for the server that was named, and for no other.
            .redirect(Policy::none());
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        if let Some(pem) = &options.certificates {
            let certificates = Certificate::from_pem_bundle(pem).map_err(ClientError::Setup)?;
            builder = builder.tls_certs_merge(certificates);
        }
        let http = builder.build().map_err(ClientError::Setup)?;
        Ok(Self { http, inner: Arc::new(Inner { url, options }) })
    }

    /// The address of the server.
    #[must_use]
    pub fn url(&self) -> &str {
        self.inner.url.as_str().trim_end_matches('/')
    }
}

fn parse(text: &str) -> Result<Url, ClientError> {
    let wrong = || ClientError::BadUrl(text.to_owned());
    let Ok(url) = text.parse::<Url>() else { return Err(wrong()) };
    let usable = matches!(url.scheme(), "http" | "https") && url.has_host();
    // Whoever writes a password into an address finds it in logs later.
    let plain = url.username().is_empty() && url.password().is_none();
    let bare = url.query().is_none() && url.fragment().is_none();
    if usable && plain && bare { Ok(url) } else { Err(wrong()) }
}

fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

fn headers(token: Option<&str>) -> Result<HeaderMap, ClientError> {
    let mut headers = HeaderMap::new();
    if let Some(token) = token {
        let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {token}")) else {
            return Err(ClientError::BadToken);
        };
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_a_host_and_no_secrets() {
        for good in ["http://127.0.0.1:8080", "https://seaway.example/shop/", "http://[::1]:1"] {
            Client::new(good, None, Options::default()).expect(good);
        }
        for bad in ["", "localhost:8080", "ftp://a", "http://a:b@c", "http://a?b=c", "file:///a"] {
            let refused = Client::new(bad, None, Options::default());
            assert!(matches!(refused, Err(ClientError::BadUrl(_))), "{bad}");
        }
    }

    #[test]
    fn a_token_is_never_shown() {
        let client = Client::new("http://a", Some("swy_secret"), Options::default());
        let shown = format!("{:?}", client.expect("it is an address"));
        assert!(!shown.contains("swy_secret"), "{shown}");
        let broken = Client::new("http://a", Some("swy_\nsecret"), Options::default());
        assert!(matches!(broken, Err(ClientError::BadToken)));
    }

    #[test]
    fn this_machine_is_asked_without_a_proxy() {
        let local = |text: &str| is_loopback(&text.parse().expect("it is an address"));
        assert!(local("http://127.8.0.1") && local("http://[::1]:8080"));
        assert!(local("https://localhost"));
        assert!(!local("http://10.0.0.1") && !local("http://localhost.example"));
    }
}
