use std::collections::BTreeMap;

use seaway_model::Name;
use seaway_outbound::{OutboundError, Policy};
use seaway_shipyard::reading::{self, Checker, Draft, Node, Place, Report, Shape, Subject, shown};
use seaway_shipyard::{Code, Problems, limits};
use url::Url;

use super::pattern::Pattern;

const SUBJECT: Subject = Subject { what: "webhook", begin: "apiVersion: seaway.dev/v1" };
const DOCUMENT: Shape =
    Shape { what: "a webhook", keys: &["apiVersion", "kind", "metadata", "spec"], old: &[] };
const METADATA: Shape = Shape { what: "`metadata`", keys: &["name"], old: &[] };
const SPEC: Shape = Shape { what: "`spec`", keys: &["url", "events"], old: &[] };

const MAX_EVENTS: usize = 100;

/// What a `Webhook` document says: who wants to be told, and of what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebhookDocument {
    pub(crate) name: Name,
    /// Where it is may be denied; that is known only to whoever sends.
    pub(crate) url: Url,
    pub(crate) events: Vec<Pattern>,
}

impl WebhookDocument {
    /// The text of one document, such as one that was stored.
    pub(crate) fn parse(text: &str, file: &str) -> Result<Self, Problems> {
        let mut report = Report::new(text);
        let root = reading::read(text, SUBJECT, &mut report);
        let document = root.and_then(|root| Self::read(&root, &mut report));
        match document {
            Some(document) if !report.has_errors() => Ok(document),
            _ => Err(Problems::new(text, file, report.into_problems())),
        }
    }

    /// Good to use only when no errors were reported; all of them are.
    pub(crate) fn read(root: &Node, report: &mut Report<'_>) -> Option<Self> {
        let mut checker = Checker::strict(report);
        let fields = checker.fields(root, &DOCUMENT)?;
        let version = checker.required(&fields, "apiVersion");
        let version =
            version.and_then(|it| checker.word(it, "`apiVersion`", &[("seaway.dev/v1", ())]));
        let kind = checker.required(&fields, "kind");
        let kind = kind.and_then(|it| checker.word(it, "`kind`", &[("Webhook", ())]));
        let metadata = checker.required(&fields, "metadata");
        let metadata = metadata.and_then(|it| checker.fields(it, &METADATA));
        let name = metadata.and_then(|it| checker.required(&it, "name"));
        let name = name.and_then(|it| checker.plain_name(it, "the name of a webhook"));
        let spec = checker.required(&fields, "spec");
        let spec = spec.and_then(|it| checker.fields(it, &SPEC))?;
        let url = checker.required(&spec, "url").and_then(|it| url(&mut checker, it));
        let events = checker.required(&spec, "events").and_then(|it| events(&mut checker, it));
        version.and(kind)?;
        Some(Self { name: name?, url: url?, events: events? })
    }

    /// Whether it is to be told of an event, by its name without prefix.
    pub(crate) fn wants(&self, event: &str) -> bool {
        self.events.iter().any(|it| it.matches(event))
    }
}

/// The URL itself is not repeated in problems, because it is often a secret.
fn url(checker: &mut Checker<'_, '_>, node: &Node) -> Option<Url> {
    let text = checker.text(node, "`url`")?;
    let wrong = match Url::parse(text) {
        Err(error) => format!("`url` is no URL: {error}"),
        // Nothing is allowed here, so that a denial says nothing about what the server allows.
        Ok(url) => match Policy::default().check(&url) {
            Ok(()) | Err(OutboundError::Denied(_)) => return Some(url),
            Err(error) => error.to_string(),
        },
    };
    let draft = Draft::error(Code::WrongValue, node.place, wrong);
    checker.push(draft.hint("write where messages go, such as `https://ci.example.com/hook`"));
    None
}

fn events(checker: &mut Checker<'_, '_>, node: &Node) -> Option<Vec<Pattern>> {
    let items = checker.items(node, "events", (MAX_EVENTS, "events"))?;
    if items.is_empty() {
        let draft = Draft::error(Code::Empty, node.place, "`events` is empty");
        checker.push(draft.hint("name events, or write `\"*\"` for all of them"));
        return None;
    }
    let mut given: BTreeMap<Pattern, Place> = BTreeMap::new();
    let events = items.iter().map(|item| {
        let pattern = pattern(checker, item)?;
        if let Some(first) = given.insert(pattern.clone(), item.place) {
            let message = format!("`{pattern}` is there twice");
            let draft = Draft::error(Code::DuplicateName, item.place, message);
            checker.push(draft.also(first, "the first is here"));
        }
        Some(pattern)
    });
    // Each one is looked at, also after one that is wrong.
    let events: Vec<Option<Pattern>> = events.collect();
    events.into_iter().collect()
}

fn pattern(checker: &mut Checker<'_, '_>, node: &Node) -> Option<Pattern> {
    let text = checker.text(node, "an event")?;
    let pattern = Pattern::new(text);
    if pattern.is_none() {
        let message = format!("{} is not the name of an event", shown(text));
        let hint = format!(
            "write parts of letters, digits, `-`, `_` and `*` with dots between them, such as \
             `beta.delivery.finished`, `\"*.finished\"` or `test.*`; {} characters at most",
            limits::EVENT_CHARS
        );
        checker.push(Draft::error(Code::EventName, node.place, message).hint(hint));
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
apiVersion: seaway.dev/v1
kind: Webhook
metadata: {name: ci}
spec:
  url: https://ci.example.com/hook?token=t
  events: [beta.delivery.finished, "*.triggered", test.*]
"#;

    #[track_caller]
    fn problems(text: &str) -> Vec<String> {
        let problems = WebhookDocument::parse(text, "hook.yaml").unwrap_err();
        let lines = problems.all().iter();
        lines
            .map(|it| format!("{}:{} {} {}", it.at.line, it.at.column, it.code, it.message))
            .collect()
    }

    #[test]
    fn a_webhook_says_who_wants_to_be_told_of_what() {
        let webhook = WebhookDocument::parse(GOOD, "hook.yaml").unwrap();
        assert_eq!(webhook.name.as_str(), "ci");
        assert_eq!(webhook.url.as_str(), "https://ci.example.com/hook?token=t");
        let events: Vec<String> = webhook.events.iter().map(ToString::to_string).collect();
        assert_eq!(events, ["beta.delivery.finished", "*.triggered", "test.*"]);
        for event in ["beta.delivery.finished", "deployment.triggered", "test.status.changed"] {
            assert!(webhook.wants(event), "{event}");
        }
        assert!(!webhook.wants("deployment.finished"));
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let text = r#"
apiVersion: seaway.dev/v2
kind: Webhok
metadata: {name: a.b, labels: {}}
spec:
  url: ftp://ci.example.com
  event: []
  events: [a b, "*.finished", 7..8, "*.finished"]
"#;
        assert_eq!(
            problems(text),
            [
                "2:13 wrong-value `apiVersion` cannot be `seaway.dev/v2`",
                "3:7 wrong-value `kind` cannot be `Webhok`",
                "4:18 invalid-name `a.b` cannot be the name of a webhook",
                "4:23 unknown-key `labels` is not a key of `metadata`",
                "6:8 wrong-value `ftp` URLs are not requested; use `https` or `http`",
                "7:3 unknown-key `event` is not a key of `spec`",
                "8:12 event-name `a b` is not the name of an event",
                "8:31 event-name `7..8` is not the name of an event",
                "8:37 duplicate-name `*.finished` is there twice",
            ]
        );
    }

    #[test]
    fn what_is_missing_is_told_by_name() {
        assert_eq!(
            problems("kind: Webhook\nspec: {}\n"),
            [
                "1:1 missing-key a webhook needs a `apiVersion`",
                "1:1 missing-key a webhook needs a `metadata`",
                "2:7 missing-key `spec` needs a `url`",
                "2:7 missing-key `spec` needs a `events`",
            ]
        );
        let empty = GOOD.replace("[beta.delivery.finished, \"*.triggered\", test.*]", "[]");
        assert_eq!(problems(&empty), ["7:11 empty `events` is empty"]);
        let many = GOOD.replace("test.*", &vec!["x.*"; MAX_EVENTS].join(","));
        assert!(problems(&many).iter().any(|it| it.contains("there are 102 events; 100 are the")));
    }

    #[test]
    fn a_url_is_checked_without_being_told() {
        for (url, expected) in [
            ("https://me:secret@a.com", "the URL has a user name or a password"),
            ("secret", "`url` is no URL"),
            ("https:///secret hook:x", "`url` is no URL"),
        ] {
            let text = GOOD.replace("https://ci.example.com/hook?token=t", url);
            let [problem] = &problems(&text)[..] else { panic!("one problem for {url}") };
            assert!(problem.contains(expected) && !problem.contains("secret"), "{problem}");
        }
        // Whether it may be reached is a matter of the server that sends.
        let local = GOOD.replace("https://ci.example.com/hook?token=t", "http://127.0.0.1:8080/");
        assert!(WebhookDocument::parse(&local, "hook.yaml").is_ok());
    }
}
