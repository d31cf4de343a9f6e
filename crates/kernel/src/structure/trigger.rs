use seaway_model::{Name, Outcome};
use serde::{Deserialize, Serialize};

/// Something that starts a sequence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trigger {
    pub on: On,
    #[serde(default)]
    pub selector: Selector,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum On {
    Event(Event),
    /// A join: fires once all of them happened since it last fired.
    All(Vec<Event>),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// A run of this sequence ended.
    Finished { stage: Name, sequence: Name },
    /// Something outside, by its name. The name of a stage may stand before it.
    Domain(Box<str>),
}

/// Which of the events fire.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Selector {
    /// Alternatives: the result, with a task only if that was the last to run. None: anything but
    /// a failure.
    #[serde(default)]
    pub results: Vec<(Option<Name>, Outcome)>,
    /// Dotted paths into the data, and the text that must be there.
    #[serde(default)]
    pub data: Vec<(Box<str>, Box<str>)>,
}

impl Trigger {
    #[must_use]
    pub fn events(&self) -> &[Event] {
        match &self.on {
            On::Event(event) => std::slice::from_ref(event),
            On::All(events) => events,
        }
    }
}

impl Selector {
    /// Whether it takes a result.
    #[must_use]
    pub fn takes(&self, outcome: Outcome, last_task: Option<&Name>) -> bool {
        if self.results.is_empty() {
            return outcome != Outcome::Fail;
        }
        self.results.iter().any(|(task, wanted)| {
            *wanted == outcome && (task.is_none() || task.as_ref() == last_task)
        })
    }
}

impl std::fmt::Display for Trigger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let events: Vec<String> = self.events().iter().map(ToString::to_string).collect();
        f.write_str(&events.join(" and "))
    }
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Finished { stage, sequence } => write!(f, "{stage}.{sequence}.finished"),
            Self::Domain(name) => f.write_str(name),
        }
    }
}
