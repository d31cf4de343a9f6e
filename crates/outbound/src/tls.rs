use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use rustls_platform_verifier::Verifier;

/// How certificates are checked, and why none can be trusted where that is so.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    pub(crate) config: ClientConfig,
    pub(crate) missing: Option<String>,
}

impl Tls {
    /// Trusts what the system trusts. A machine without any authorities may still use http.
    pub(crate) fn of_system() -> Self {
        let provider = Arc::new(ring::default_provider());
        let (config, missing) = match Verifier::new(Arc::clone(&provider)) {
            Ok(verifier) => {
                let checked = builder(provider).dangerous();
                (checked.with_custom_certificate_verifier(Arc::new(verifier)), None)
            }
            Err(error) => {
                let nothing = builder(provider).with_root_certificates(RootCertStore::empty());
                (nothing, Some(error.to_string()))
            }
        };
        Self { config: with_protocols(config.with_no_client_auth()), missing }
    }

    #[cfg(test)]
    pub(crate) fn trusting(roots: RootCertStore) -> Self {
        let builder = builder(Arc::new(ring::default_provider()));
        let config = builder.with_root_certificates(roots).with_no_client_auth();
        Self { config: with_protocols(config), missing: None }
    }
}

fn builder(provider: Arc<CryptoProvider>) -> ConfigBuilder<ClientConfig, WantsVerifier> {
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has what the default versions need")
}

fn with_protocols(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

#[cfg(test)]
mod tests {
    use http::Method;
    use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
    use rustls::ServerConfig;
    use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;
    use url::Url;

    use super::*;
    use crate::error::OutboundError;
    use crate::message::{Request, Response};
    use crate::outbound::Outbound;
    use crate::policy::Policy;

    const FINE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nfine";
    const TO_HTTP: &str =
        "HTTP/1.1 302 Found\r\nlocation: http://localhost/\r\nconnection: close\r\n\r\n";

    fn certificate() -> CertifiedKey<KeyPair> {
        generate_simple_self_signed(["localhost".to_owned()]).unwrap()
    }

    fn trusting(certificate: &CertificateDer<'static>) -> Tls {
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        Tls::trusting(roots)
    }

    /// A server with this certificate that gives everybody the same answer.
    async fn serve(certified: &CertifiedKey<KeyPair>, answer: &'static str) -> u16 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certified.cert.der().clone()], key.into())
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                // Those who do not trust the certificate leave here.
                let Ok(mut socket) = acceptor.accept(socket).await else { continue };
                let read = socket.read(&mut [0; 4_096]).await;
                assert!(read.is_ok_and(|bytes| bytes > 0));
                socket.write_all(answer.as_bytes()).await.unwrap();
                socket.shutdown().await.unwrap();
            }
        });
        port
    }

    async fn ask(tls: &Tls, host: &str, port: u16) -> Result<Response, OutboundError> {
        let allowed = format!("{host}:{port}").parse().unwrap();
        let outbound = Outbound::with_tls(Policy::from_iter([allowed]), tls);
        let url = Url::parse(&format!("https://{host}:{port}/")).unwrap();
        outbound.send(Request::new(Method::GET, url)).await
    }

    #[tokio::test]
    async fn a_certificate_has_to_be_trusted_and_to_fit_the_host() {
        let (ours, other) = (certificate(), certificate());
        let port = serve(&ours, FINE).await;
        let answer = ask(&trusting(ours.cert.der()), "localhost", port).await.unwrap();
        assert_eq!(&answer.body[..], b"fine");
        let strange = ask(&trusting(other.cert.der()), "localhost", port).await.unwrap_err();
        assert!(matches!(strange, OutboundError::Untrusted { .. }), "{strange}");
        let misnamed = ask(&trusting(ours.cert.der()), "127.0.0.1", port).await.unwrap_err();
        assert!(matches!(misnamed, OutboundError::Untrusted { .. }), "{misnamed}");
    }

    #[tokio::test]
    async fn a_redirect_out_of_https_is_refused() {
        let ours = certificate();
        let port = serve(&ours, TO_HTTP).await;
        let error = ask(&trusting(ours.cert.der()), "localhost", port).await.unwrap_err();
        assert!(matches!(error, OutboundError::Downgrade { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_machine_without_authorities_says_so() {
        let tls = Tls { missing: Some("none".to_owned()), ..Tls::trusting(RootCertStore::empty()) };
        let error = ask(&tls, "localhost", 443).await.unwrap_err();
        assert_eq!(error, OutboundError::NoAuthorities("none".to_owned()));
    }
}
