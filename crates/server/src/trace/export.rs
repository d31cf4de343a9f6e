use std::time::Duration;

use http::{HeaderMap, StatusCode};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode as SpanStatus;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Status, span};
use prost::Message as _;
use seaway_model::Timestamp;
use url::Url;

use super::span::{Ending, Event, Span, Value};
use crate::clock;
use crate::otlp::Otlp;
use crate::webhook::retry_after;

/// Sends spans to a collector, as OTLP over HTTP.
///
/// The exporter that OpenTelemetry has for this does not tell whether a collector refuses spans or
/// is not there. These must be told apart: the log is read on after the one, and not after the
/// other.
#[derive(Debug)]
pub(crate) struct Exporter {
    client: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    resource: Resource,
}

/// What a collector says to spans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Taken,
    /// They are wrong, and would be so again.
    Refused(String),
    /// It cannot take them now, and may say for how long.
    Later {
        why: String,
        after: Option<Duration>,
    },
}

const TIMEOUT: Duration = Duration::from_secs(10);
const BATCH: usize = 512;
/// A response says how many spans were refused and why.
const RESPONSE_BYTES: usize = 64 << 10;
/// No collector is left alone for longer than this.
const LONGEST: Duration = Duration::from_secs(5 * 60);

impl Exporter {
    /// `replica` is the name of this process.
    pub(crate) fn new(otlp: &Otlp, replica: &str) -> Result<Self, reqwest::Error> {
        // Another part of the process may have installed it; it is the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let about = [
            ("service.name", "seaway"),
            ("service.version", env!("CARGO_PKG_VERSION")),
            ("service.instance.id", replica),
        ];
        let attributes = about.map(|(key, value)| attribute(key, &value.into()));
        let resource = Resource { attributes: attributes.to_vec(), ..Resource::default() };
        let (url, headers) = (otlp.url.clone(), otlp.headers.clone());
        Ok(Self { client, url, headers, resource })
    }

    /// All of them, in batches. After one that fails the others are not sent.
    pub(crate) async fn export(&self, spans: &[Span]) -> Answer {
        let mut answer = Answer::Taken;
        for batch in spans.chunks(BATCH) {
            match self.post(batch).await {
                Answer::Taken => {}
                later @ Answer::Later { .. } => return later,
                refused => answer = refused,
            }
        }
        answer
    }

    async fn post(&self, spans: &[Span]) -> Answer {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone());
        let request = request.header(http::header::CONTENT_TYPE, "application/x-protobuf");
        let sent = request.body(self.request(spans).encode_to_vec()).send().await;
        let mut response = match sent {
            Ok(response) => response,
            Err(error) => return later(error),
        };
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() <= RESPONSE_BYTES => {
                    body.extend_from_slice(&chunk);
                }
                Ok(_) => break,
                Err(error) => return later(error),
            }
        }
        judge(status, retry_after(&headers, clock::now()), &body)
    }

    fn request(&self, spans: &[Span]) -> ExportTraceServiceRequest {
        let scope = InstrumentationScope {
            name: "seaway".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..InstrumentationScope::default()
        };
        let spans = spans.iter().map(wire_span).collect();
        let scope_spans = ScopeSpans { scope: Some(scope), spans, schema_url: String::new() };
        let resource_spans = vec![ResourceSpans {
            resource: Some(self.resource.clone()),
            scope_spans: vec![scope_spans],
            schema_url: String::new(),
        }];
        ExportTraceServiceRequest { resource_spans }
    }
}

/// The URL may hold a secret, and is not told.
fn later(error: reqwest::Error) -> Answer {
    let error = error.without_url();
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
    Answer::Later { why: format!("{error}{}", cause.unwrap_or_default()), after: None }
}

/// As OTLP has it: a collector that is busy or away is asked again, any other is not.
fn judge(status: StatusCode, after: Option<Duration>, body: &[u8]) -> Answer {
    let busy = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    if busy && status != StatusCode::NOT_IMPLEMENTED {
        let after = after.map(|after| after.min(LONGEST));
        return Answer::Later { why: status.to_string(), after };
    }
    if !status.is_success() {
        return Answer::Refused(status.to_string());
    }
    let told = ExportTraceServiceResponse::decode(body).ok().and_then(|it| it.partial_success);
    match told {
        Some(told) if told.rejected_spans > 0 => {
            Answer::Refused(format!("{} spans: {}", told.rejected_spans, told.error_message))
        }
        _ => Answer::Taken,
    }
}

fn wire_span(span: &Span) -> opentelemetry_proto::tonic::trace::v1::Span {
    let (code, message) = match &span.ending {
        Ending::Fine => (SpanStatus::Ok, String::new()),
        Ending::Failed(why) => (SpanStatus::Error, why.clone()),
        Ending::Other => (SpanStatus::Unset, String::new()),
    };
    opentelemetry_proto::tonic::trace::v1::Span {
        trace_id: span.deployment.0.as_bytes().to_vec(),
        span_id: span.id.0.to_vec(),
        parent_span_id: span.parent.map(|id| id.0.to_vec()).unwrap_or_default(),
        name: span.name.clone(),
        kind: span::SpanKind::Internal.into(),
        start_time_unix_nano: nanos(span.start),
        end_time_unix_nano: nanos(span.end),
        attributes: attributes(&span.attributes),
        events: span.events.iter().map(wire_event).collect(),
        dropped_events_count: span.dropped_events,
        status: Some(Status { message, code: code.into() }),
        ..Default::default()
    }
}

fn wire_event(event: &Event) -> span::Event {
    span::Event {
        time_unix_nano: nanos(event.at),
        name: event.name.clone(),
        attributes: attributes(&event.attributes),
        dropped_attributes_count: 0,
    }
}

fn attributes(given: &[(&'static str, Value)]) -> Vec<KeyValue> {
    given.iter().map(|(key, value)| attribute(key, value)).collect()
}

fn attribute(key: &str, value: &Value) -> KeyValue {
    let value = match value {
        Value::Text(text) => any_value::Value::StringValue(text.clone()),
        Value::Number(number) => any_value::Value::IntValue(*number),
    };
    let value = Some(AnyValue { value: Some(value) });
    KeyValue { key: key.to_owned(), value, ..KeyValue::default() }
}

fn nanos(time: Timestamp) -> u64 {
    time.0.max(0).unsigned_abs().saturating_mul(1_000)
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTracePartialSuccess;

    use super::*;

    #[test]
    fn a_collector_that_is_away_is_asked_again_and_one_that_refuses_is_not() {
        let later = |status: u16, after: Option<u64>| {
            let status = StatusCode::from_u16(status).unwrap();
            match judge(status, after.map(Duration::from_secs), b"") {
                Answer::Later { after, .. } => Some(after.map(|after| after.as_secs())),
                Answer::Taken | Answer::Refused(_) => None,
            }
        };
        for status in [429, 500, 502, 503, 504] {
            assert_eq!(later(status, None), Some(None), "{status}");
        }
        assert_eq!(later(503, Some(7)), Some(Some(7)));
        assert_eq!(later(503, Some(1_000_000)), Some(Some(300)));
        for status in [301, 400, 401, 404, 413, 501] {
            let status = StatusCode::from_u16(status).unwrap();
            assert!(matches!(judge(status, None, b""), Answer::Refused(_)), "{status}");
        }
    }

    #[test]
    fn spans_that_were_refused_among_others_are_told() {
        let told = |rejected_spans| {
            let error_message = "too old".to_owned();
            let partial_success = Some(ExportTracePartialSuccess { rejected_spans, error_message });
            let body = ExportTraceServiceResponse { partial_success }.encode_to_vec();
            judge(StatusCode::OK, None, &body)
        };
        assert_eq!(told(0), Answer::Taken);
        assert_eq!(told(3), Answer::Refused("3 spans: too old".to_owned()));
        assert_eq!(judge(StatusCode::ACCEPTED, None, b"?"), Answer::Taken);
    }
}
