use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// With its noun, in one or several.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// A deployment, from what a person typed.
pub(crate) fn deployment_id(text: &str) -> Result<Uuid, String> {
    let advice =
        || format!("{text:?} is no deployment; its id is a UUID: see `seaway get deployments`");
    text.parse().ok().ok_or_else(advice)
}

/// What is not there is a dash in a table.
pub(crate) fn maybe(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Texts come from outside: control characters would reach the terminal.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A word of the interface, as JSON spells it.
pub(crate) fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => "-".to_owned(),
    }
}
