use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::extract::malformed;
use crate::problem::Failure;

/// What existing clients put before the names of events.
const PREFIX: &str = "sh.keptn.event.";

/// A CloudEvent as it came, with its data unread.
#[derive(Debug, Deserialize)]
pub(crate) struct Incoming<'a> {
    #[serde(borrow, default)]
    pub(crate) specversion: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) source: Cow<'a, str>,
    #[serde(borrow, default, rename = "type")]
    pub(crate) ty: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) triggeredid: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) shkeptncontext: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) data: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) data_base64: Option<serde::de::IgnoredAny>,
}

impl<'a> Incoming<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Self, Failure> {
        let read = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map(Some)
        } else {
            // Fields would otherwise be taken from a list by their order.
            serde_json::from_str(text).map(|_: serde::de::IgnoredAny| None)
        };
        read.map_err(|error| malformed(&error))?.ok_or_else(|| {
            Failure::bad_request("not-a-cloudevent", "an event is a JSON object; send one")
        })
    }
}

impl Incoming<'_> {
    /// What every event must have.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let bad = |detail: &str| Err(Failure::bad_request("not-a-cloudevent", detail));
        let fits = |text: &str| !text.is_empty() && text.len() <= 1_000;
        if self.specversion != "1.0" {
            return bad("an event needs specversion \"1.0\"; send a CloudEvent");
        }
        if !fits(&self.id) || !fits(&self.source) || !fits(&self.ty) {
            return bad("an event needs an id, a source and a type, of at most 1000 characters");
        }
        if self.data_base64.is_some() {
            return bad("the data of an event is JSON here; send data, not data_base64");
        }
        Ok(())
    }

    /// The name of the event: its type without what existing clients put before it.
    pub(crate) fn name(&self) -> &str {
        self.ty.strip_prefix(PREFIX).unwrap_or(&self.ty)
    }

    pub(crate) fn context(&self) -> Result<Option<Uuid>, Failure> {
        let Some(text) = self.shkeptncontext.as_deref().filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        Uuid::try_parse(text).map(Some).map_err(|_not| {
            let detail = format!("shkeptncontext is {text:?}, which is no UUID; leave it out");
            Failure::bad_request("not-a-cloudevent", detail)
        })
    }

    pub(crate) fn text(&self) -> &str {
        self.data.map_or("{}", RawValue::get)
    }
}

/// The part of an event's data that says what it is about.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct About<'a> {
    #[serde(borrow, default)]
    pub(crate) project: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) stage: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) service: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) version: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) result: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) status: Option<Cow<'a, str>>,
}

impl<'a> About<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Self, Failure> {
        serde_json::from_str(text).map_err(|error| {
            let detail = format!(
                "the data of the event does not fit: {error}; project, stage, service, version, \
                 result and status are texts"
            );
            Failure::refused("invalid-data", detail)
        })
    }

    pub(crate) fn project(&self) -> Result<&str, Failure> {
        let missing = "data.project is missing; name the project that the event is about";
        self.project.as_deref().ok_or_else(|| Failure::refused("missing-project", missing))
    }
}
