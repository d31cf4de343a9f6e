use std::fmt::{self, Write as _};
use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use seaway_store::Figures;

/// What is counted, without names of projects: these are for everybody who can reach the server.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    durations: Family<Answered, Histogram>,
    pub(crate) events: Counter,
    pub(crate) claimed: Counter,
    projects: Gauge,
    in_progress: Gauge,
    store: Gauge,
    memory: Gauge,
}

/// Routes as the table has them, so that there are only so many.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: &'static str,
    path: String,
    status: Class,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Class(u16);

impl EncodeLabelValue for Class {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        write!(encoder, "{}xx", self.0)
    }
}

/// From half a millisecond to the longest wait for a task.
const BUCKETS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0, 60.0];

impl Default for Metrics {
    fn default() -> Self {
        let mut whole = Registry::default();
        let memory = Gauge::default();
        whole.register_with_unit(
            "process_resident_memory",
            "Memory that the process takes up",
            Unit::Bytes,
            memory.clone(),
        );
        let own = whole.sub_registry_with_prefix("seaway");
        let requests = Family::default();
        let durations: Family<Answered, Histogram> =
            Family::new_with_constructor(|| Histogram::new(BUCKETS));
        let (events, claimed) = (Counter::default(), Counter::default());
        let (projects, in_progress, store) = (Gauge::default(), Gauge::default(), Gauge::default());
        own.register("requests", "HTTP requests that were answered", requests.clone());
        own.register_with_unit(
            "request_duration",
            "Time from the head of a request to the head of its answer",
            Unit::Seconds,
            durations.clone(),
        );
        own.register("events", "CloudEvents that were taken in", events.clone());
        own.register("tasks_claimed", "Tasks handed out to executors", claimed.clone());
        own.register("projects", "Projects in the store", projects.clone());
        let what = "Deployments in progress";
        own.register("deployments_in_progress", what, in_progress.clone());
        own.register_with_unit("store", "Size of the store", Unit::Bytes, store.clone());
        Self {
            registry: whole,
            requests,
            durations,
            events,
            claimed,
            projects,
            in_progress,
            store,
            memory,
        }
    }
}

impl Metrics {
    /// A request was answered. What is at none of the routes has no path.
    pub(crate) fn answered(&self, method: &Method, path: &str, status: StatusCode, took: Duration) {
        let answered = Answered {
            method: word(method),
            path: path.to_owned(),
            status: Class(status.as_u16() / 100),
        };
        self.requests.get_or_create(&answered).inc();
        self.durations.get_or_create(&answered).observe(took.as_secs_f64());
    }

    /// What the store says about everything.
    pub(crate) fn figures(&self, figures: Figures) {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.projects.set(number(figures.projects));
        self.in_progress.set(number(figures.in_progress));
        self.store.set(number(figures.bytes));
    }

    pub(crate) fn text(&self) -> String {
        self.memory.set(resident_bytes().unwrap_or_default());
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("writing to memory does not fail");
        text
    }
}

/// Clients may make up any number of methods.
fn word(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::PUT => "PUT",
        Method::POST => "POST",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

/// Memory of this process, where the system tells it in a file.
fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_route_and_class() {
        let metrics = Metrics::default();
        let path = "/v1/projects/{project}";
        for status in [200, 204, 404] {
            let status = StatusCode::from_u16(status).unwrap();
            metrics.answered(&Method::GET, path, status, Duration::from_millis(2));
        }
        metrics.figures(Figures { projects: 2, in_progress: 7, bytes: 4_096 });
        let text = metrics.text();
        let labels = r#"{method="GET",path="/v1/projects/{project}",status="2xx"}"#;
        for line in [
            format!("seaway_requests_total{labels} 2"),
            format!("seaway_request_duration_seconds_count{labels} 2"),
            "seaway_deployments_in_progress 7".to_owned(),
            "seaway_store_bytes 4096".to_owned(),
        ] {
            assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
        }
        assert!(text.contains("process_resident_memory_bytes"), "{text}");
        assert!(text.ends_with("# EOF\n"));
    }
}
