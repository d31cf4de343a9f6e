use seaway_model::{Attempt, DeploymentId, Fact, Kind, Outcome, Timestamp};
use sha2::{Digest as _, Sha256};

/// Identity of a span within its trace, the same whenever it is made from the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpanId(pub(crate) [u8; 8]);

impl SpanId {
    pub(crate) fn new(deployment: DeploymentId, path: &str, kind: Kind, attempt: Attempt) -> Self {
        let mut hash = Sha256::new();
        hash.update(deployment.0.as_bytes());
        hash.update([kind.code()]);
        hash.update(attempt.0.to_le_bytes());
        hash.update(path);
        let mut id = [0; 8];
        id.copy_from_slice(&hash.finalize()[..8]);
        Self(id)
    }
}

/// Something that took a while and is over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    /// Whose trace it belongs to.
    pub(crate) deployment: DeploymentId,
    pub(crate) id: SpanId,
    pub(crate) parent: Option<SpanId>,
    pub(crate) name: String,
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
    pub(crate) attributes: Vec<(&'static str, Value)>,
    pub(crate) events: Vec<Event>,
    /// How many more there were.
    pub(crate) dropped_events: u32,
    pub(crate) ending: Ending,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) at: Timestamp,
    pub(crate) name: String,
    pub(crate) attributes: Vec<(&'static str, Value)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(i64),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

/// How a span ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Fine,
    Failed(String),
    /// It was given up for something else, which is neither good nor bad.
    Other,
}

impl Ending {
    /// Nothing for a fact that ends nothing.
    pub(crate) fn of(fact: Fact, why: impl FnOnce() -> Option<String>) -> Option<Self> {
        match fact {
            Fact::Finished => Some(Self::Fine),
            Fact::Failed => Some(Self::Failed(why().unwrap_or_else(|| "failed".to_owned()))),
            Fact::Skipped | Fact::Cancelled | Fact::Superseded | Fact::RolledBack => {
                Some(Self::Other)
            }
            _ => None,
        }
    }
}

/// A span that is not over.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub(crate) span: Span,
    executors: Vec<String>,
}

/// What a record ends something with.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) at: Timestamp,
    pub(crate) fact: Fact,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) ending: Ending,
}

/// More events than this are only counted, and so are more executors than anybody reads.
const EVENTS: usize = 100;
const EXECUTORS: usize = 20;

impl Open {
    pub(crate) fn new(
        (deployment, id, parent): (DeploymentId, SpanId, Option<SpanId>),
        name: String,
        start: Timestamp,
        attributes: Vec<(&'static str, Value)>,
    ) -> Self {
        let (events, dropped_events, ending) = (Vec::new(), 0, Ending::Other);
        let end = start;
        let span = Span {
            deployment,
            id,
            parent,
            name,
            start,
            end,
            attributes,
            events,
            dropped_events,
            ending,
        };
        Self { span, executors: Vec::new() }
    }

    pub(crate) fn note(
        &mut self,
        (at, name): (Timestamp, &str),
        attributes: Vec<(&'static str, Value)>,
    ) {
        if self.span.events.len() < EVENTS {
            self.span.events.push(Event { at, name: name.to_owned(), attributes });
        } else {
            self.span.dropped_events += 1;
        }
    }

    pub(crate) fn by(&mut self, executor: &str) {
        let known = self.executors.iter().any(|it| it == executor);
        if !known && self.executors.len() < EXECUTORS {
            self.executors.push(executor.to_owned());
        }
    }

    pub(crate) fn close(self, end: &End) -> Span {
        let Self { mut span, executors } = self;
        if !executors.is_empty() {
            span.attributes.push(("seaway.executor", Value::Text(executors.join(", "))));
        }
        let outcome = end.outcome.map_or(end.fact.as_str(), Outcome::as_str);
        span.attributes.push(("seaway.outcome", outcome.into()));
        Span { end: end.at, ending: end.ending.clone(), ..span }
    }
}

/// What is known about a deployment from its first record.
#[derive(Clone, Debug)]
pub(crate) struct Cargo {
    pub(crate) project: String,
    pub(crate) deployment: DeploymentId,
    pub(crate) service: String,
    pub(crate) version: String,
    pub(crate) revision: u64,
}

impl Cargo {
    pub(crate) fn attributes(
        &self,
        stage: Option<&str>,
        target: &str,
        attempt: Attempt,
    ) -> Vec<(&'static str, Value)> {
        let stage = stage.map(|stage| ("seaway.stage", stage.into()));
        let mut attributes = vec![("seaway.project", (&*self.project).into())];
        attributes.extend(stage);
        attributes.extend([
            ("seaway.service", (&*self.service).into()),
            ("seaway.version", (&*self.version).into()),
            ("seaway.revision", self.revision.into()),
            ("seaway.target", target.into()),
            ("seaway.attempt", u64::from(attempt.0).into()),
        ]);
        attributes
    }
}
