use rcgen::{CertifiedKey, generate_simple_self_signed};

use crate::harbor::{Server, write};

/// Who trusts the certificate talks to the server; who does not is told so.
#[test]
fn a_server_with_tls_is_talked_to_by_who_trusts_its_certificate() {
    let dir = tempfile::tempdir().unwrap();
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = write(dir.path(), "cert.pem", &cert.pem());
    let key = write(dir.path(), "key.pem", &signing_key.serialize_pem());
    let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
    let data = dir.path().join("data");
    let mut server = Server::start_with(&data, &["--tls-cert", certificate, "--tls-key", key]);
    let port = server.url.strip_prefix("https://127.0.0.1:").expect("it says that it has TLS");
    server.url = format!("https://localhost:{port}");

    let trusting = server.command(&["get", "projects"]).env("SSL_CERT_FILE", certificate).output();
    let trusting = trusting.unwrap();
    assert!(trusting.status.success(), "{}", String::from_utf8_lossy(&trusting.stderr));
    let wary = server.fails(1, &["get", "projects"]);
    assert!(wary.contains("certificate"), "{wary}");
    let nothing = write(dir.path(), "nothing.pem", "");
    let nothing = nothing.to_str().unwrap();
    let other = dir.path().join("other");
    let args =
        ["serve", "--data", other.to_str().unwrap(), "--tls-cert", nothing, "--tls-key", key];
    assert!(server.fails(1, &args).contains("nothing.pem"));
}
