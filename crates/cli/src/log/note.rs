use seaway_kernel::{Detail, StructureChange};
use seaway_wire::Row;

/// Longer notes are cut; the JSON form has all of it.
const LONGEST: usize = 60;

/// What a record says beyond its columns, in a few words for people.
pub(crate) fn of(row: &Row) -> String {
    let Ok(record) = row.open() else { return "(its data cannot be read)".to_owned() };
    let text = match record.detail.as_deref() {
        None => String::new(),
        Some(Detail::Deploys { service, version }) => format!("{service} {version}"),
        Some(Detail::Because(reason)) => reason.to_string(),
        Some(Detail::Lease { ttl, .. }) => format!("for {ttl}"),
        Some(Detail::Change(StructureChange(edits))) => match edits.len() {
            1 => "1 edit".to_owned(),
            edits => format!("{edits} edits"),
        },
        Some(Detail::Answer(answer)) => one_line(answer),
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
    };
    shortened(&text)
}

/// What an executor answered with a record, if it did.
pub(crate) fn answer(row: &Row) -> Option<String> {
    match row.open().ok()?.detail.as_deref()? {
        Detail::Answer(answer) => Some(one_line(answer)),
        _ => None,
    }
}

/// Answers come from outside: control characters would reach the terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
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
        assert_eq!(shortened(&"é".repeat(LONGEST)), "é".repeat(LONGEST));
        assert_eq!(shortened(&"é".repeat(LONGEST + 1)).chars().count(), LONGEST);
    }
}
