use axum::extract::{FromRequestParts, Query};
use http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problem::Failure;

/// The query of a request. Its type refuses what it does not know, so that a word that is
/// misspelled is not silently left out.
#[derive(Debug)]
pub(crate) struct Ask<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Ask<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let read = Query::<T>::try_from_uri(&parts.uri).map(|Query(query)| Self(query));
        read.map_err(|rejection| {
            let text = rejection.body_text();
            let what = text.rsplit_once("query string: ").map_or(&*text, |(_, what)| what);
            bad(format!("the query does not fit: {what}"))
        })
    }
}

/// A query that cannot be answered as it is.
pub(crate) fn bad(detail: impl Into<String>) -> Failure {
    Failure::bad_request("bad-query", detail)
}

#[cfg(test)]
mod tests {
    use http::Request;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wanted {
        limit: Option<u32>,
    }

    async fn ask(query: &str) -> Result<Option<u32>, Failure> {
        let request = Request::get(format!("/v1/things?{query}")).body(()).unwrap();
        let (mut parts, ()) = request.into_parts();
        Ask::<Wanted>::from_request_parts(&mut parts, &()).await.map(|Ask(wanted)| wanted.limit)
    }

    #[tokio::test]
    async fn a_bad_query_is_told_what_is_wrong_with_it() {
        assert_eq!(ask("").await.unwrap(), None);
        assert_eq!(ask("limit=7").await.unwrap(), Some(7));
        for (query, word) in
            [("limit=x", "limit"), ("limmit=7", "limmit"), ("limit=1&limit=2", "limit")]
        {
            let problem = ask(query).await.unwrap_err().problem();
            assert_eq!((problem.status, &*problem.code), (400, "bad-query"), "{query}");
            assert!(problem.detail.contains(word), "{query}: {}", problem.detail);
            assert!(!problem.detail.contains("deserialize"), "{}", problem.detail);
        }
    }
}
