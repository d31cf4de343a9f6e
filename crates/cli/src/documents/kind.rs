/// The kinds of documents that have a short way to write them.
const KNOWN: [(&str, &str); 5] = [
    ("project", "Project"),
    ("shipyard", "Shipyard"),
    ("taskdefinition", "TaskDefinition"),
    ("definition", "TaskDefinition"),
    ("webhook", "Webhook"),
];

/// A kind as documents write it, from what a person typed.
pub(crate) fn document_kind(text: &str) -> String {
    let plain = text.to_lowercase().replace(['-', '_'], "");
    let one = plain.strip_suffix('s').unwrap_or(&plain);
    let known = KNOWN.iter().find(|(short, _)| *short == plain || *short == one);
    known.map_or(text, |(_, kind)| kind).to_owned()
}

#[cfg(test)]
mod tests {
    use super::document_kind;

    #[test]
    fn kinds_may_be_written_as_people_do() {
        for text in ["TaskDefinition", "taskdefinitions", "task-definition", "definitions"] {
            assert_eq!(document_kind(text), "TaskDefinition");
        }
        assert_eq!(document_kind("webhooks"), "Webhook");
        assert_eq!(document_kind("Provider"), "Provider");
    }
}
