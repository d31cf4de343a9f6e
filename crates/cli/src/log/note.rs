use seaway_kernel::{Detail, StructureChange};
use seaway_wire::Row;
use serde::Deserialize;
use serde_json::Value;

use crate::print::{counted, one_line};

/// Longer notes are cut; the JSON form has all of it.
const LONGEST: usize = 60;

const UNREADABLE: &str = "(its data cannot be read)";

/// What a record says beyond its columns, in a few words for people.
pub(super) fn of(row: &Row) -> String {
    match row.open() {
        Ok(record) => of_detail(record.detail.as_deref()),
        Err(_) => UNREADABLE.to_owned(),
    }
}

/// The same for a record as the server tells it.
pub(super) fn of_data(data: Option<&Value>) -> String {
    match data.map(Detail::deserialize).transpose() {
        Ok(detail) => of_detail(detail.as_ref()),
        Err(_) => UNREADABLE.to_owned(),
    }
}

fn of_detail(detail: Option<&Detail>) -> String {
    let text = match detail {
        None => String::new(),
        Some(Detail::Deploys { service, version }) => format!("{service} {version}"),
        Some(Detail::Because(reason)) => reason.to_string(),
        Some(Detail::Lease { ttl, .. }) => format!("for {ttl}"),
        Some(Detail::Change(StructureChange(edits))) => counted(edits.len(), "edit"),
        Some(Detail::Answer(answer)) => said(answer),
        Some(Detail::Pins { definition }) => format!("definition {definition}"),
        Some(Detail::Triggered { on: None, .. }) => "by command".to_owned(),
        Some(Detail::Triggered { on: Some(on), .. }) => format!("on {on}"),
        Some(Detail::Refused { on, because }) => format!("on {on}: {because}"),
        Some(Detail::Happened { name, stage: None, .. }) => name.to_string(),
        Some(Detail::Happened { name, stage: Some(stage), .. }) => format!("{name} in {stage}"),
        Some(Detail::Offered { to }) if to.is_empty() => "nobody subscribed".to_owned(),
        Some(Detail::Offered { to }) => {
            let names: Vec<String> = to.iter().map(ToString::to_string).collect();
            format!("to {}", names.join(", "))
        }
        Some(Detail::Registers { executor, subscriptions, .. }) => {
            let tasks: Vec<&str> = subscriptions.iter().map(|it| it.task.as_str()).collect();
            format!("{executor}: {}", tasks.join(", "))
        }
        Some(Detail::Leaves { executor }) => executor.to_string(),
        Some(Detail::Edits(text)) => one_line(text),
        Some(Detail::Applies { documents, .. }) => {
            let names = documents.iter().map(|it| match it.digest {
                Some(_) => format!("{} {}", it.kind, it.name),
                None => format!("without {} {}", it.kind, it.name),
            });
            names.collect::<Vec<String>>().join(", ")
        }
    };
    shortened(&text)
}

/// What an executor has to say for itself, or else all that it sent.
fn said(answer: &str) -> String {
    let sent: Option<Value> = serde_json::from_str(answer).ok();
    let message = sent.as_ref().and_then(|sent| sent.get("message")?.as_str());
    one_line(message.unwrap_or(answer))
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let kept: String = text.chars().take(LONGEST - 1).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_one_short_line() {
        assert_eq!(one_line("a\n\u{1b}[31mb"), "a  [31mb");
        assert_eq!(said("{\"result\": \"fail\", \"message\": \"a\\nb\"}"), "a b");
        assert_eq!(said("2 of 9\nfailed"), "2 of 9 failed");
        assert_eq!(shortened(&"é".repeat(LONGEST)), "é".repeat(LONGEST));
        assert_eq!(shortened(&"é".repeat(LONGEST + 1)).chars().count(), LONGEST);
    }
}
