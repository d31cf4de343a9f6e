use std::collections::BTreeMap;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A JSON Schema (draft 2020-12) of the document, for editors. Tools that know it complete keys and
/// mark mistakes; [`crate::parse`] knows more, such as which sequences there are.
#[must_use]
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    generator.into_root_schema_for::<Document>().to_value()
}

/// A pipeline: stages, each with sequences of tasks.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Shipyard")]
struct Document {
    api_version: ApiVersion,
    kind: DocumentKind,
    metadata: Metadata,
    spec: Spec,
}

/// The format of the file, which decides how strictly it is read.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum ApiVersion {
    #[serde(rename = "seaway.dev/v1")]
    Seaway,
    #[serde(rename = "spec.keptn.sh/0.2.0")]
    Keptn0,
    #[serde(rename = "spec.keptn.sh/0.2.1")]
    Keptn1,
    #[serde(rename = "spec.keptn.sh/0.2.2")]
    Keptn2,
    #[serde(rename = "spec.keptn.sh/0.2.3")]
    Keptn3,
    #[serde(rename = "spec.keptn.sh/0.2.4")]
    Keptn4,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum DocumentKind {
    Shipyard,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Metadata {
    /// How the shipyard is called.
    #[schemars(length(min = 1, max = 200))]
    name: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Spec {
    /// What moves from stage to stage.
    #[serde(default)]
    promotion_strategy: ServiceScope,
    #[schemars(length(min = 1, max = 1000))]
    stages: Vec<Stage>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum ServiceScope {
    #[default]
    Service,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Stage {
    #[schemars(length(max = 63), regex(pattern = r"^[a-z]([a-z0-9-]*[a-z0-9])?$"))]
    name: String,
    /// Bounds how many revisions are in the stage at a time.
    #[serde(default)]
    batch: StageBatch,
    #[serde(default)]
    #[schemars(length(max = 100))]
    sequences: Vec<Sequence>,
}

/// `true` is one revision at a time, in a queue.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum StageBatch {
    Switch(bool),
    Rules(BatchRules),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BatchRules {
    #[serde(default)]
    policy: Policy,
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    capacity: u32,
    /// Only with the policy `supersede`: replacements in a row.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 10_000))]
    max_replaced: u32,
}

/// What happens to those who wait.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Policy {
    #[default]
    Queue,
    Supersede,
    Parallel,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Sequence {
    name: PlainName,
    #[serde(default)]
    scope: ServiceScope,
    /// Alternatives, each of which starts a run.
    #[serde(default)]
    #[schemars(length(max = 100))]
    triggered_on: Vec<Trigger>,
    #[schemars(length(min = 1, max = 1000))]
    tasks: Vec<Task>,
    timeout: Option<Duration>,
    #[serde(default)]
    batch: SequenceBatch,
}

/// `true` goes around all tasks.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum SequenceBatch {
    Switch(bool),
    Range(BatchRange),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BatchRange {
    /// The name or id of the first task inside; of several with the name, the first.
    from: Option<PlainName>,
    /// The name or id of the last task inside; of several with the name, the last.
    to: Option<PlainName>,
    #[serde(default)]
    policy: Policy,
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    capacity: u32,
    /// Only with the policy `supersede`: replacements in a row.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 10_000))]
    max_replaced: u32,
}

/// One event, or several that all have to occur.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Trigger {
    Short(EventName),
    One(OneEvent),
    Join(AllEvents),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneEvent {
    event: EventName,
    selector: Option<Selector>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AllEvents {
    #[schemars(length(min = 2, max = 50), extend("uniqueItems" = true))]
    all: Vec<EventName>,
    selector: Option<Selector>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Selector {
    /// `result` and `<task>.result`, and paths into the data of the event.
    r#match: BTreeMap<String, Matched>,
}

/// A value, or a list of alternatives.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Matched {
    One(Scalar),
    Alternatives(Vec<Scalar>),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(f64),
    Truth(bool),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Task {
    name: PlainName,
    /// Keeps the identity of the task when the list is edited.
    id: Option<PlainName>,
    /// Passed on to whoever does the task.
    #[serde(default)]
    properties: BTreeMap<String, Value>,
    /// How long to wait before the task.
    triggered_after: Option<Duration>,
    timeout: Option<Duration>,
    retries: Option<Retries>,
    #[serde(default)]
    when: When,
    #[serde(default)]
    scope: ServiceScope,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Retries {
    #[schemars(range(max = 20))]
    limit: u32,
    /// `10s` where `limit` is not 0.
    backoff: Option<Duration>,
}

/// Whether the task runs, given how the run went so far.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum When {
    #[default]
    Succeeded,
    Failed,
    Always,
}

/// Letters and digits with `-` or `_` between them.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct PlainName(
    #[schemars(length(max = 63), regex(pattern = r"^[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?$"))]
    String,
);

/// `<stage>.<sequence>.finished`, or a domain event such as `problem.open`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct EventName(
    #[schemars(length(max = 215), regex(pattern = r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$"))] String,
);

/// Numbers with a unit, such as `1h30m`, `45s`, `1.5h` or `500ms`; 30 days at most.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Duration(
    #[schemars(regex(pattern = r"^\+?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"))]
    String,
);

impl Default for StageBatch {
    fn default() -> Self {
        Self::Switch(false)
    }
}

impl Default for SequenceBatch {
    fn default() -> Self {
        Self::Switch(false)
    }
}

fn one() -> u32 {
    1
}

fn ten() -> u32 {
    crate::limits::DEFAULT_REPLACED
}
