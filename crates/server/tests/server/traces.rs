use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;
use seaway_server::Otlp;
use tempfile::TempDir;
use uuid::Uuid;

use crate::harbor::{Harbor, SHIPYARD};
use crate::receiver::{Answer, Received, Receiver};

async fn harbor(dir: TempDir, collector: &Receiver) -> Harbor {
    let otlp = Otlp::new(&collector.url(), "authorization=Bearer%20t0ken").unwrap();
    Harbor::set_up(dir, |settings| settings.otlp = Some(otlp)).await
}

/// The spans that were taken, as a collector reads them.
fn spans(received: &[Received]) -> Vec<Span> {
    let taken = received.iter().filter(|it| it.taken);
    let requests = taken.map(|it| {
        assert_eq!((&*it.path, it.headers["content-type"].as_bytes()), PROTOBUF);
        assert_eq!(it.headers["authorization"], "Bearer t0ken");
        ExportTraceServiceRequest::decode(it.body.clone()).unwrap()
    });
    let resources = requests.flat_map(|it| it.resource_spans);
    let scopes = resources.flat_map(|it| it.scope_spans);
    scopes.flat_map(|it| it.spans).collect()
}

const PROTOBUF: (&str, &[u8]) = ("/v1/traces", b"application/x-protobuf");

fn attribute<'a>(span: &'a Span, key: &str) -> Option<&'a str> {
    let found = span.attributes.iter().find(|it| it.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Any::StringValue(text) => Some(text),
        _ => None,
    }
}

/// The collector is away at first, and the server is another one in the middle.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deployment_becomes_a_trace_whose_spans_each_come_once() {
    let collector = Receiver::open([Answer::Status(503), Answer::Status(503)]).await;
    let first = harbor(tempfile::tempdir().unwrap(), &collector).await;
    first.apply("shop", &[("shipyard.yaml", SHIPYARD)]).await.ok();
    first.register("helm", &["deployment", "test"]).await;
    let id = first.trigger("staging.delivery", "cart", "1.2").await;
    first.work("helm", "pass").await;
    collector.until(|received| spans(received).len() == 1).await;
    let second = harbor(first.close().await, &collector).await;
    second.work("helm", "pass").await;
    second.work("helm", "fail").await;
    second.until_state(&id, "failed").await;
    let received = collector.until(|received| spans(received).len() >= 6).await;
    let spans = spans(&received);
    assert_eq!(spans.len(), 6, "{spans:#?}");
    let deployment: Uuid = id.parse().unwrap();
    assert!(spans.iter().all(|it| it.trace_id == deployment.as_bytes()));

    let by_name: BTreeMap<(&str, &str), &Span> = spans
        .iter()
        .map(|it| ((attribute(it, "seaway.stage").unwrap_or_default(), &*it.name), it))
        .collect();
    let root = by_name[&("", "deploy cart")];
    assert!(root.parent_span_id.is_empty());
    for (stage, run, tasks) in [
        ("staging", "staging.delivery", &["deployment", "test"][..]),
        ("beta", "beta.delivery", &["deployment"]),
    ] {
        let run = by_name[&(stage, run)];
        assert_eq!(run.parent_span_id, root.span_id);
        for task in tasks {
            let task = by_name[&(stage, *task)];
            assert_eq!(task.parent_span_id, run.span_id);
            assert_eq!(attribute(task, "seaway.executor"), Some("helm"));
        }
    }
    let code = |span: &Span| span.status.as_ref().unwrap().code();
    assert_eq!(code(by_name[&("staging", "test")]), StatusCode::Ok);
    assert_eq!(code(by_name[&("beta", "deployment")]), StatusCode::Error);
    assert_eq!(code(root), StatusCode::Error);

    // Times are those of the records, also of those that the first server wrote.
    let path = format!("/v1/projects/shop/records?deployment={id}&order=oldest&limit=1000");
    let records = second.get(&path).await.ok();
    let records = records["items"].as_array().unwrap();
    let nanos = |at: &str| {
        let at: jiff::Timestamp = at.parse().unwrap();
        u64::try_from(at.as_nanosecond()).unwrap()
    };
    let at = |position: usize| nanos(records[position]["at"].as_str().unwrap());
    let ends = (root.start_time_unix_nano, root.end_time_unix_nano);
    assert_eq!(ends, (at(0), at(records.len() - 1)));
    second.close().await;
}
