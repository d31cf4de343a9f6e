use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use seaway_model::{Name, Span};
use seaway_shipyard::reading::{
    Checker, Draft, Entry, Fields, Node, Place, Report, Shape, Subject, Value, read_all,
};
use seaway_shipyard::{Code, Problems};

use crate::definition::model::Definition;
use crate::definition::sizes;

/// Definitions of one worker: as many subscriptions as an executor may have.
const MOST: usize = 1_000;
pub(super) const PARTS: usize = 100;
const OUTPUT_LIMIT: u64 = 1 << 20;
const MOST_OUTPUT: u64 = 64 << 20;
const TIMEOUT: Span = Span::from_secs(600);
const GRACE: Span = Span::from_secs(10);

const SUBJECT: Subject = Subject { what: "definition", begin: "apiVersion: seaway.dev/v1" };

const DOCUMENT: Shape = Shape {
    what: "a task definition",
    keys: &["apiVersion", "kind", "metadata", "spec"],
    old: &[],
};
const METADATA: Shape = Shape { what: "`metadata`", keys: &["name"], old: &[] };
const SPEC: Shape = Shape {
    what: "`spec`",
    keys: &[
        "task",
        "stages",
        "services",
        "matchExpressions",
        "command",
        "env",
        "workDir",
        "timeout",
        "grace",
        "outputLimit",
        "inheritEnv",
    ],
    old: &[],
};

const KIND: &str = "TaskDefinition";
/// Documents that may stand beside definitions, and are for others.
const OTHERS: [&str; 3] = ["Project", "Shipyard", "Webhook"];

/// What was found in the files so far.
#[derive(Debug, Default)]
pub(super) struct Checking {
    pub(super) definitions: Vec<Definition>,
    /// Of the files that have any.
    pub(super) problems: Vec<Problems>,
    /// Where each name was given first.
    given: BTreeMap<Name, (String, Place)>,
}

impl Checking {
    /// `base` is where the scripts of the file are.
    pub(super) fn file(&mut self, text: &str, file: &str, base: &Path) {
        let mut report = Report::new(text);
        let roots = read_all(text, SUBJECT, &mut report).unwrap_or_default();
        for root in &roots {
            let mut reader = Reader { check: Checker::strict(&mut report), file, base };
            if !reader.is_for_us(root) {
                continue;
            }
            let Some((definition, place)) = reader.document(root) else { continue };
            match self.given.get(&definition.name) {
                Some((before, first)) => reader.twice(&definition.name, place, (before, *first)),
                None => {
                    self.given.insert(definition.name.clone(), (file.to_owned(), place));
                }
            }
            if self.definitions.len() == MOST {
                let message = format!("there are more than {MOST} task definitions");
                report.push(Draft::error(Code::TooLarge, place, message));
                break;
            }
            self.definitions.push(definition);
        }
        let problems = report.into_problems();
        if !problems.is_empty() {
            self.problems.push(Problems::new(text, file, problems));
        }
    }
}

/// What every part of the reading needs.
#[derive(Debug)]
pub(super) struct Reader<'a, 'r> {
    pub(super) check: Checker<'a, 'r>,
    file: &'r str,
    pub(super) base: &'r Path,
}

impl Reader<'_, '_> {
    fn is_for_us(&self, root: &Node) -> bool {
        let Value::Map(entries) = &root.value else { return true };
        let kind = entries.iter().find(|Entry { key, .. }| key.text == "kind");
        let kind = kind.and_then(|entry| entry.value.text());
        !kind.is_some_and(|kind| OTHERS.contains(&kind))
    }

    fn document(&mut self, root: &Node) -> Option<(Definition, Place)> {
        let fields = self.check.fields(root, &DOCUMENT)?;
        let version = self.check.required(&fields, "apiVersion");
        let version = version
            .and_then(|node| self.check.word(node, "`apiVersion`", &[("seaway.dev/v1", ())]));
        let kind = self.check.required(&fields, "kind");
        let kind = kind.and_then(|node| self.check.word(node, "`kind`", &[(KIND, ())]));
        let name = self.check.required(&fields, "metadata").and_then(|node| {
            let metadata = self.check.fields(node, &METADATA)?;
            let node = self.check.required(&metadata, "name")?;
            Some((self.check.plain_name(node, "the name of a definition")?, node.place))
        });
        let spec = self.check.required(&fields, "spec");
        let spec = spec.and_then(|node| self.check.fields(node, &SPEC));
        let (name, place) = name.unzip();
        let definition = spec.and_then(|spec| self.spec(&spec, name));
        version.and(kind)?;
        Some((definition?, place?))
    }

    fn spec(&mut self, spec: &Fields<'_>, name: Option<Name>) -> Option<Definition> {
        let subscription = self.subscription(spec);
        let work_dir = match spec.get("workDir") {
            Some(node) => self.work_dir(node).map(Some),
            None => Some(None),
        };
        let base = work_dir.clone().flatten().unwrap_or_else(|| self.base.to_owned());
        let command = self.check.required(spec, "command");
        let command = command.and_then(|node| self.command(node, &base));
        let env = match spec.get("env") {
            Some(node) => self.env(node),
            None => Some(BTreeMap::new()),
        };
        let timeout = self.span(spec, "timeout", (Span::from_secs(1), TIMEOUT));
        let grace = self.span(spec, "grace", (Span(0), GRACE));
        let output_limit = match spec.get("outputLimit") {
            Some(node) => sizes::bytes(&mut self.check, node, "`outputLimit`", MOST_OUTPUT),
            None => Some(OUTPUT_LIMIT),
        };
        let inherit_env = match spec.get("inheritEnv") {
            Some(node) => {
                self.check.word(node, "`inheritEnv`", &[("true", true), ("false", false)])
            }
            None => Some(false),
        };
        let (program, arguments) = command?;
        Some(Definition {
            name: name?,
            file: self.file.to_owned(),
            subscription: subscription?,
            program,
            arguments,
            env: env?,
            work_dir: work_dir?,
            timeout: timeout?,
            grace: grace?,
            output_limit: output_limit?,
            inherit_env: inherit_env?,
        })
    }

    fn span(&mut self, spec: &Fields<'_>, key: &str, bounds: (Span, Span)) -> Option<Duration> {
        let (least, default) = bounds;
        let span = match spec.get(key) {
            Some(node) => self.check.duration(node, &format!("`{key}`"), least)?,
            None => default,
        };
        Some(Duration::from_micros(span.0.unsigned_abs()))
    }

    fn twice(&mut self, name: &Name, place: Place, first: (&str, Place)) {
        let (file, at) = first;
        let draft = match file == self.file {
            true => {
                let message = format!("there is already a definition `{name}`");
                Draft::error(Code::DuplicateName, place, message).also(at, "the first is here")
            }
            false => {
                let message = format!("there is already a definition `{name}` in {file}");
                Draft::error(Code::DuplicateName, place, message)
            }
        };
        self.check.push(draft.hint("give one of them another name"));
    }
}
