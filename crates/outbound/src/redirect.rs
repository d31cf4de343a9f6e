use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, StatusCode, header};

use crate::error::OutboundError;
use crate::message::{Request, origin};

/// What another host may see as well. Anything else may be a secret between us and the first one:
/// services have many names for theirs.
const SHARED: [HeaderName; 4] =
    [header::ACCEPT, header::ACCEPT_LANGUAGE, header::CONTENT_TYPE, header::USER_AGENT];

/// Headers about the body.
const OF_BODY: [HeaderName; 3] =
    [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CONTENT_LANGUAGE];

/// The request to make after this response; none when it is the answer.
pub(crate) fn next(
    request: &Request,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Option<Request>, OutboundError> {
    let keeps_body = match status {
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => false,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        _ => return Ok(None),
    };
    let Some(location) = headers.get(header::LOCATION) else { return Ok(None) };
    let from = origin(&request.url);
    let url = location.to_str().ok().and_then(|it| request.url.join(it).ok());
    let url = url.ok_or_else(|| OutboundError::Location { origin: from.clone() })?;
    if request.url.scheme() == "https" && url.scheme() == "http" {
        return Err(OutboundError::Downgrade { from, to: origin(&url) });
    }
    let mut next = Request { url, ..request.clone() };
    if !keeps_body {
        if next.method != Method::HEAD {
            next.method = Method::GET;
        }
        next.body = Bytes::new();
        OF_BODY.iter().for_each(|name| drop(next.headers.remove(name)));
    }
    if origin(&next.url) != from {
        let shared = SHARED.into_iter();
        let shared =
            shared.filter_map(|name| Some((name.clone(), next.headers.get(name)?.clone())));
        next.headers = shared.collect();
    }
    Ok(Some(next))
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn request(url: &str) -> Request {
        let mut request = Request::new(Method::POST, Url::parse(url).unwrap());
        request.body = Bytes::from_static(b"body");
        for name in ["authorization", "webhook-signature", "x-api-key", "content-type", "accept"] {
            request.headers.insert(name, "x".parse().unwrap());
        }
        request
    }

    fn redirected(from: &str, status: u16, to: &str) -> Result<Option<Request>, OutboundError> {
        let headers = [(header::LOCATION, to.parse().unwrap())].into_iter().collect();
        next(&request(from), StatusCode::from_u16(status).unwrap(), &headers)
    }

    fn names(request: &Request) -> Vec<&str> {
        let mut names: Vec<&str> = request.headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn method_and_body_are_kept_only_where_the_status_says_so() {
        for status in [307, 308] {
            let next = redirected("https://a.com/x", status, "/y").unwrap().unwrap();
            assert_eq!((next.url.as_str(), next.method), ("https://a.com/y", Method::POST));
            assert_eq!((next.body.len(), next.headers.len()), (4, 5));
        }
        for status in [301, 302, 303] {
            let next = redirected("https://a.com/x", status, "y?z").unwrap().unwrap();
            assert_eq!((next.url.as_str(), &next.method), ("https://a.com/y?z", &Method::GET));
            assert!(next.body.is_empty());
            assert_eq!(names(&next), ["accept", "authorization", "webhook-signature", "x-api-key"]);
        }
        for status in [200, 300, 304, 404] {
            assert!(redirected("https://a.com/x", status, "/y").unwrap().is_none(), "{status}");
        }
        let unsaid = next(&request("https://a.com"), StatusCode::FOUND, &HeaderMap::new());
        assert!(unsaid.unwrap().is_none());
    }

    #[test]
    fn another_host_or_port_sees_no_secrets() {
        for to in ["https://b.com/", "https://a.com:444/", "//b.com/", "https://a.com.b.com/"] {
            let next = redirected("https://a.com/x", 307, to).unwrap().unwrap();
            assert_eq!(names(&next), ["accept", "content-type"], "{to}");
        }
        let next = redirected("http://a.com", 307, "https://a.com").unwrap().unwrap();
        assert_eq!(names(&next), ["accept", "content-type"]);
    }

    #[test]
    fn a_redirect_never_leaves_https() {
        let error = redirected("https://a.com/secret", 302, "http://a.com/secret").unwrap_err();
        let (from, to) = ("https://a.com".to_owned(), "http://a.com".to_owned());
        assert_eq!(error, OutboundError::Downgrade { from, to });
        assert!(matches!(
            redirected("https://a.com", 302, "https://["),
            Err(OutboundError::Location { .. })
        ));
    }
}
