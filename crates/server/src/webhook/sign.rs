use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use http::header::InvalidHeaderValue;
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;

/// How long a new key is.
pub(crate) const KEY_BYTES: usize = 32;

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// How a key is told to whoever checks signatures with it.
pub(crate) fn key_text(key: &[u8]) -> String {
    format!("whsec_{}", STANDARD.encode(key))
}

/// The headers of a message by which its receiver knows who sent it, when, and whether it came
/// before: signatures of Standard Webhooks. The time is of this attempt, in seconds; the id is the
/// same for every attempt and has no dot, because dots separate what is signed.
pub(crate) fn signed_headers(
    key: &[u8],
    id: &str,
    seconds: i64,
    body: &[u8],
) -> Result<HeaderMap, InvalidHeaderValue> {
    let mut signature = HeaderValue::from_str(&signature(key, id, seconds, body))?;
    signature.set_sensitive(true);
    let id = HeaderValue::from_str(id)?;
    Ok([(ID, id), (TIMESTAMP, seconds.into()), (SIGNATURE, signature)].into_iter().collect())
}

fn signature(key: &[u8], id: &str, seconds: i64, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length is taken");
    mac.update(format!("{id}.{seconds}.").as_bytes());
    mac.update(body);
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example that the libraries of Standard Webhooks are tested with.
    #[test]
    fn the_example_of_the_standard_is_signed_as_it_says() {
        let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        assert_eq!(key_text(&key), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", br#"{"test": 2432232314}"#);
        let headers = signed_headers(&key, id, 1_614_265_330, body).unwrap();
        assert_eq!(headers.len(), 3);
        assert_eq!(headers["webhook-id"], id);
        assert_eq!(headers["webhook-timestamp"], "1614265330");
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(headers["webhook-signature"], expected);
        assert!(!format!("{headers:?}").contains("g0hM9SsE"), "a log shows no signatures");
    }

    #[test]
    fn whatever_is_changed_changes_the_signature() {
        let signed = signature(b"key", "id", 1, b"body");
        for other in [
            signature(b"kez", "id", 1, b"body"),
            signature(b"key", "ie", 1, b"body"),
            signature(b"key", "id", 2, b"body"),
            signature(b"key", "id", 1, b"bodz"),
            signature(b"key", "id", 1, b""),
        ] {
            assert_ne!(other, signed);
        }
        assert!(signed_headers(b"key", "a\nb", 1, b"").is_err());
    }
}
