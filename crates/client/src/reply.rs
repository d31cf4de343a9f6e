use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, StatusCode};
use seaway_api::Problem;
use serde::de::DeserializeOwned;

use crate::error::ClientError;
use crate::retry;

/// The most that is read of an answer.
pub(crate) const MOST: usize = 256 << 20;

/// The most of an unknown answer that is told to people.
const SHOWN: usize = 120;

/// Takes an answer apart that may be a refusal.
pub(crate) async fn refusal(url: &str, response: Response) -> Result<Response, ClientError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let after = retry::after(response.headers());
    let ours = content_type(&response).starts_with("application/problem+json");
    let body = body(url, response).await?;
    let problem: Option<Problem> = ours.then(|| serde_json::from_slice(&body).ok()).flatten();
    Err(match problem.map(Box::new) {
        Some(problem) if is_busy(status) => ClientError::Busy { problem, after },
        Some(problem) => ClientError::Problem(problem),
        None => not_seaway(url, status, shown(&body)),
    })
}

pub(crate) async fn json<T: DeserializeOwned>(
    url: &str,
    response: Response,
) -> Result<T, ClientError> {
    let status = response.status();
    let body = body(url, response).await?;
    serde_json::from_slice(&body)
        .map_err(|error| not_seaway(url, status, format!("{} ({error})", shown(&body))))
}

pub(crate) fn not_seaway(url: &str, status: StatusCode, what: String) -> ClientError {
    let what = format!("it answers {status} with {what}");
    ClientError::NotSeaway { url: url.to_owned(), status: status.as_u16(), what }
}

/// All of an answer, up to a bound.
pub(crate) async fn body(url: &str, mut response: Response) -> Result<Vec<u8>, ClientError> {
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await;
        let chunk = chunk.map_err(|source| ClientError::Broken { url: url.to_owned(), source })?;
        let Some(chunk) = chunk else { return Ok(body) };
        if body.len() + chunk.len() > MOST {
            return Err(ClientError::TooLarge { url: url.to_owned(), most: MOST });
        }
        body.extend_from_slice(&chunk);
    }
}

pub(crate) fn content_type(response: &Response) -> &str {
    response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default()
}

fn is_busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]);
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.trim() {
        "" => "nothing else".to_owned(),
        line => format!("{line:?}"),
    }
}
