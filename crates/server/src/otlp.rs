use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;
use url::Url;

/// Where traces go: a collector that takes OTLP over HTTP.
#[derive(Clone, Debug)]
pub struct Otlp {
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
}

/// Why a collector cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OtlpError {
    #[error("the address of the collector is no URL: {0}; write it as http://HOST:4318")]
    NoUrl(url::ParseError),
    #[error("the address of the collector begins with {0}:; write it as http://HOST:4318")]
    Scheme(String),
    /// The headers are not repeated, because they are secrets more often than not.
    #[error("header {0} for the collector is not of the form NAME=VALUE; separate them by commas")]
    Header(usize),
}

impl Otlp {
    /// The address and the headers in the form that OpenTelemetry has for its variables: the paths
    /// of all signals are below the address, and headers are `name=value,name=value`, with values
    /// in percent encoding.
    pub fn new(endpoint: &str, headers: &str) -> Result<Self, OtlpError> {
        let mut url = Url::parse(endpoint.trim()).map_err(OtlpError::NoUrl)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(OtlpError::Scheme(url.scheme().to_owned()));
        }
        url.path_segments_mut()
            .expect("URLs of this scheme have a path")
            .pop_if_empty()
            .extend(["v1", "traces"]);
        let given = headers.split(',').map(str::trim).filter(|it| !it.is_empty());
        let headers = given.enumerate().map(|(at, it)| header(it).ok_or(OtlpError::Header(at + 1)));
        Ok(Self { url, headers: headers.collect::<Result<_, _>>()? })
    }
}

fn header(text: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = text.split_once('=')?;
    let name = name.trim().parse().ok()?;
    let value: Vec<u8> = percent_decode_str(value.trim()).collect();
    let mut value = HeaderValue::from_bytes(&value).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_traces_is_below_the_address() {
        for (endpoint, url) in [
            ("http://collector:4318", "http://collector:4318/v1/traces"),
            (" https://otel.example.com/in/ ", "https://otel.example.com/in/v1/traces"),
        ] {
            assert_eq!(Otlp::new(endpoint, "").unwrap().url.as_str(), url);
        }
        for wrong in ["collector:4318", "grpc://collector", "", "http://"] {
            let error = Otlp::new(wrong, "").unwrap_err().to_string();
            assert!(error.ends_with("write it as http://HOST:4318"), "{wrong}: {error}");
        }
    }

    #[test]
    fn headers_are_read_and_never_shown() {
        let otlp = Otlp::new("http://c:1", "authorization=Bearer%20s3cret, x-team = a+b,").unwrap();
        assert_eq!(otlp.headers["authorization"], "Bearer s3cret");
        assert_eq!(otlp.headers["x-team"], "a+b");
        assert!(!format!("{otlp:?}").contains("s3cret"));
        for wrong in ["a", "a=1,b", "a=1,b c=2", "=1", "a=1,b=%0a"] {
            let error = Otlp::new("http://c:1", wrong).unwrap_err();
            assert!(matches!(error, OtlpError::Header(_)), "{wrong}: {error}");
        }
    }
}
