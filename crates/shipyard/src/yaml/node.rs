use serde_json::Value as Json;

use crate::report::Place;
use crate::yaml::scalar::{Resolved, Scalar};

#[derive(Clone, Debug)]
pub struct Node {
    pub value: Value,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub enum Value {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub key: Key,
    pub value: Node,
}

#[derive(Clone, Debug)]
pub struct Key {
    pub text: String,
    pub place: Place,
}

/// A number that JSON has no form for.
#[derive(Clone, Copy, Debug)]
pub struct NotJson(pub Place);

impl Node {
    pub fn resolved(&self) -> Option<Resolved> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar.resolve()),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.resolved(), Some(Resolved::Null))
    }

    /// What was written, also where YAML would take it for a number or a truth value.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) if !self.is_null() => Some(&scalar.text),
            _ => None,
        }
    }

    /// What it is, for a sentence.
    pub fn what(&self) -> &'static str {
        match (&self.value, self.resolved()) {
            (Value::List(_), _) => "a list",
            (Value::Map(_), _) => "a mapping",
            (_, Some(Resolved::Null)) => "nothing",
            (_, Some(Resolved::Bool(_))) => "true or false",
            (_, Some(Resolved::Number(_) | Resolved::NotANumber)) => "a number",
            _ => "a text",
        }
    }

    pub fn json(&self) -> Result<Json, NotJson> {
        match &self.value {
            Value::List(items) => items.iter().map(Self::json).collect(),
            Value::Map(entries) => entries
                .iter()
                .map(|Entry { key, value }| Ok((key.text.clone(), value.json()?)))
                .collect::<Result<_, _>>()
                .map(Json::Object),
            Value::Scalar(scalar) => match scalar.resolve() {
                Resolved::Null => Ok(Json::Null),
                Resolved::Bool(truth) => Ok(Json::Bool(truth)),
                Resolved::Number(number) => Ok(Json::Number(number)),
                Resolved::NotANumber => Err(NotJson(self.place)),
                Resolved::Text => Ok(Json::String(scalar.text.clone())),
            },
        }
    }

    /// How many nodes there are from here down, and how many bytes of text.
    pub fn size(&self) -> (usize, usize) {
        let add = |(a, b): (usize, usize), (c, d): (usize, usize)| (a + c, b + d);
        match &self.value {
            Value::Scalar(scalar) => (1, scalar.text.len()),
            Value::List(items) => items.iter().map(Self::size).fold((1, 0), add),
            Value::Map(entries) => {
                let sizes = entries.iter().map(|it| add(it.value.size(), (1, it.key.text.len())));
                sizes.fold((1, 0), add)
            }
        }
    }
}
