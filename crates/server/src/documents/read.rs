use seaway_api::{InvalidField, Source};
use seaway_kernel::{Services, Structure};
use seaway_model::Name;
use seaway_shipyard::reading::{self, Checker, Draft, Node, Report, Subject, Value};
use seaway_shipyard::{Code, Problem, Severity};
use seaway_store::Store;

use super::kind::{PROJECT, SHIPYARD, WEBHOOK};
use super::project::{self, Pipeline};
use super::{content, inline, kind};
use crate::problem::Failure;
use crate::webhook::WebhookDocument;

/// What several files say together.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The services of a `Project`.
    pub(crate) services: Option<Services>,
    pub(crate) structure: Option<Structure>,
    /// Kind, name and text of each document.
    pub(crate) texts: Vec<(&'static str, String, String)>,
    pub(crate) warnings: Vec<String>,
    /// The file that a `Project` names for its shipyard.
    named: Option<String>,
    /// Where the shipyard stands.
    found: Option<Found>,
}

#[derive(Debug)]
enum Found {
    In(String),
    Inline,
}

const SUBJECT: Subject = Subject { what: "document", begin: "apiVersion: seaway.dev/v1" };
const MAX_SOURCES: usize = 1_000;

/// Reads everything that is applied together. All that is wrong is told at once.
pub(crate) fn read(project: &Name, sources: &[Source]) -> Result<Reading, Failure> {
    if sources.is_empty() || sources.len() > MAX_SOURCES {
        let detail = format!("apply between 1 and {MAX_SOURCES} files");
        return Err(Failure::refused("no-documents", detail));
    }
    let mut reading = Reading::default();
    let mut invalid = Vec::new();
    for source in sources {
        let mut report = Report::new(&source.text);
        let roots = reading::read_all(&source.text, SUBJECT, &mut report).unwrap_or_default();
        for root in &roots {
            Files { project, sources, source }.document(root, &mut report, &mut reading);
        }
        for problem in report.into_problems() {
            match problem.severity {
                Severity::Error => invalid.push(field(&source.path, &problem)),
                Severity::Warning => reading.warnings.push(line(&source.path, &problem)),
            }
        }
    }
    if invalid.is_empty() {
        invalid.extend(reading.other_shipyard());
    }
    if invalid.is_empty() {
        return Ok(reading);
    }
    let detail = match invalid.len() {
        1 => "there is a problem in the documents; nothing was applied".to_owned(),
        count => format!("there are {count} problems in the documents; nothing was applied"),
    };
    Err(Failure::refused("invalid-documents", detail).invalid(invalid))
}

/// The file that is being read, among those that are applied with it.
#[derive(Clone, Copy, Debug)]
struct Files<'a> {
    project: &'a Name,
    sources: &'a [Source],
    source: &'a Source,
}

impl Files<'_> {
    fn document(self, root: &Node, report: &mut Report<'_>, reading: &mut Reading) {
        match kind_of(root) {
            Some(PROJECT) => self.project(root, report, reading),
            Some(WEBHOOK) => self.webhook(root, report, reading),
            // What says nothing is checked as a shipyard, which knows the old formats.
            Some(SHIPYARD) | None => {
                let shipyard = reading::shipyard(root, &self.source.path, report);
                let Some(shipyard) = shipyard else { return };
                if matches!(reading.found, Some(Found::Inline)) {
                    report.push(two_shipyards(root));
                    return;
                }
                reading.structure = Some(Structure::from(&shipyard));
                reading.found = Some(Found::In(self.source.path.clone()));
                self.keep(SHIPYARD, root, report, reading);
            }
            Some(other) => {
                let message = format!("there are no documents of kind `{other}`");
                let draft = Draft::error(Code::DocumentKind, root.place, message);
                let worker = match other {
                    "TaskDefinition" => "; a worker reads it: `seaway worker -f FILE`",
                    _ => "",
                };
                report.push(draft.hint(format!("known are {}{worker}", kind::known())));
            }
        }
    }

    fn project(self, root: &Node, report: &mut Report<'_>, reading: &mut Reading) {
        let document = project::check(root, &mut Checker::strict(report));
        let Some(document) = document else { return };
        if document.name != *self.project {
            let message = format!("this is project `{}`, not `{}`", document.name, self.project);
            report.push(Draft::error(Code::WrongValue, root.place, message));
            return;
        }
        reading.services = Some(document.services);
        self.keep(PROJECT, root, report, reading);
        match document.shipyard {
            Some(Pipeline::File(file)) if self.sources.iter().any(|it| is(&it.path, file)) => {
                reading.named = Some(file.to_owned());
            }
            Some(Pipeline::File(file)) => {
                let message = format!("`shipyard` names {file}, which is not applied with it");
                let draft = Draft::error(Code::WrongValue, root.place, message);
                report.push(draft.hint("name it with -f, or apply the directory"));
            }
            Some(Pipeline::Inline(spec)) => self.inline(spec, report, reading),
            None => {}
        }
    }

    fn webhook(self, root: &Node, report: &mut Report<'_>, reading: &mut Reading) {
        let Some(document) = WebhookDocument::read(root, report) else { return };
        let name = document.name.to_string();
        if reading.texts.iter().any(|(kind, known, _)| *kind == WEBHOOK && *known == name) {
            let message = format!("there is a second webhook `{name}`; keep one of them");
            report.push(Draft::error(Code::DuplicateName, root.place, message));
        }
        let text = content::part(&self.source.text, root.place.offset).to_owned();
        reading.texts.push((WEBHOOK, name, text));
    }

    fn inline(self, spec: &Node, report: &mut Report<'_>, reading: &mut Reading) {
        let root = inline::document(self.project, spec);
        let shipyard = reading::shipyard(&root, &self.source.path, report);
        let Some(shipyard) = shipyard else { return };
        if reading.found.is_some() {
            report.push(two_shipyards(spec));
            return;
        }
        let text = inline::yaml(&root);
        if text.len() > Store::CONTENT_LIMIT {
            let message = "the shipyard is larger than 1 MiB with its aliases written out";
            report.push(Draft::error(Code::TooLarge, spec.place, message));
        }
        reading.structure = Some(Structure::from(&shipyard));
        reading.found = Some(Found::Inline);
        reading.texts.push((SHIPYARD, self.project.to_string(), text));
    }

    /// There is one of each kind, and it has the name of the project.
    fn keep(self, kind: &'static str, root: &Node, report: &mut Report<'_>, reading: &mut Reading) {
        let text = content::part(&self.source.text, root.place.offset).to_owned();
        if reading.texts.iter().any(|(known, ..)| *known == kind) {
            let message = format!("there is a second {kind}; keep one of them");
            report.push(Draft::error(Code::DuplicateName, root.place, message));
        }
        reading.texts.push((kind, self.project.to_string(), text));
    }
}

impl Reading {
    /// The shipyard must stand where the project says.
    fn other_shipyard(&self) -> Option<InvalidField> {
        let named = self.named.as_deref()?;
        let detail = match &self.found {
            Some(Found::In(path)) if is(path, named) => return None,
            Some(Found::In(path)) => format!("`shipyard` names it, but the shipyard is in {path}"),
            Some(Found::Inline) | None => {
                "`shipyard` names it, but it holds no shipyard".to_owned()
            }
        };
        Some(InvalidField { at: named.to_owned(), detail })
    }
}

/// Whether a path is the file that is meant, which may be named from where the project stands.
fn is(path: &str, file: &str) -> bool {
    let plain = |path: &str| path.trim_start_matches("./").to_owned();
    let (path, file) = (plain(path), plain(file));
    path == file || path.strip_suffix(&file).is_some_and(|before| before.ends_with('/'))
}

fn two_shipyards(at: &Node) -> Draft {
    let message = "the project has a shipyard inside and another beside it; keep one of them";
    Draft::error(Code::DuplicateName, at.place, message)
}

fn kind_of(root: &Node) -> Option<&str> {
    let Value::Map(entries) = &root.value else { return None };
    let found = entries.iter().find(|entry| entry.key.text == "kind")?;
    found.value.text()
}

fn field(path: &str, problem: &Problem) -> InvalidField {
    let at = format!("{path}:{}:{}", problem.at.line, problem.at.column);
    let detail = match problem.hint.is_empty() {
        true => problem.message.clone(),
        false => format!("{}; {}", problem.message, problem.hint),
    };
    InvalidField { at, detail }
}

fn line(path: &str, problem: &Problem) -> String {
    let InvalidField { at, detail } = field(path, problem);
    format!("{at}: {detail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECT_HEAD: &str = "apiVersion: seaway.dev/v1\nkind: Project\nmetadata: {name: shop}\n";
    const SHIPYARD_TEXT: &str = "\
apiVersion: seaway.dev/v1
kind: Shipyard
metadata: {name: shop}
spec:
  stages:
  - name: beta
    sequences: [{name: delivery, tasks: [{name: test}]}]
";
    const INLINE: &str = "\
spec:
  services: [cart, {name: web, dependsOn: [cart]}]
  shipyard:
    stages:
    - name: beta
      sequences: [{name: delivery, tasks: [{name: test}]}]
";

    fn reading(files: &[(&str, &str)]) -> Result<Reading, Vec<String>> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source { path: (*path).to_owned(), text: (*text).to_owned() })
            .collect();
        read(&Name::new("shop").unwrap(), &sources).map_err(|failure| {
            let problem = failure.problem();
            assert_eq!((problem.status, &*problem.code), (422, "invalid-documents"));
            let invalid = problem.invalid.into_iter();
            invalid.map(|it| format!("{}: {}", it.at, it.detail)).collect()
        })
    }

    #[track_caller]
    fn refused(files: &[(&str, &str)], expected: &[&str]) {
        let found = reading(files).unwrap_err();
        let fits = found.len() == expected.len()
            && found.iter().zip(expected).all(|(found, part)| found.starts_with(part));
        assert!(fits, "{found:#?}");
    }

    fn project(spec: &str) -> String {
        format!("{PROJECT_HEAD}{spec}")
    }

    #[test]
    fn documents_of_several_files_are_kept_as_they_were_written() {
        let one = format!("{}---\n{SHIPYARD_TEXT}", project("spec: {autoServices: true}\n"));
        let two = project("spec: {shipyard: ./shipyard.yaml, services: [cart]}\n");
        let together = reading(&[("all.yaml", &one)]).unwrap();
        let apart =
            reading(&[("a/project.yaml", &two), ("a/shipyard.yaml", SHIPYARD_TEXT)]).unwrap();
        for (reading, project) in [(&together, one.split("---").next().unwrap()), (&apart, &*two)] {
            let expected = [
                (PROJECT, "shop".to_owned(), project.to_owned()),
                (SHIPYARD, "shop".to_owned(), SHIPYARD_TEXT.to_owned()),
            ];
            assert_eq!(reading.texts, expected);
            assert_eq!(reading.structure.as_ref().unwrap().stages.len(), 1);
        }
        let services = |auto, names: &[&str]| {
            let names = names.iter().map(|it| Name::new(it).unwrap()).collect();
            Some(Services { auto, names })
        };
        assert_eq!(together.services, services(true, &[]));
        assert_eq!(apart.services, services(false, &["cart"]));
    }

    #[test]
    fn a_shipyard_inside_a_project_is_a_document_of_its_own() {
        let inside = reading(&[("project.yaml", &project(INLINE))]).unwrap();
        let beside = reading(&[("shipyard.yaml", SHIPYARD_TEXT)]).unwrap();
        assert_eq!(inside.structure, beside.structure);
        let [project, (kind, name, text)] = &inside.texts[..] else { panic!("{inside:?}") };
        assert_eq!((project.0, *kind, &**name), (PROJECT, SHIPYARD, "shop"));
        let again = reading(&[("shipyard.yaml", text)]).unwrap();
        assert_eq!(again.structure, beside.structure);
        assert_eq!(inside.services.as_ref().map(|it| (it.auto, it.names.len())), Some((false, 2)));
    }

    #[test]
    fn webhooks_have_names_of_their_own() {
        let hook = |name: &str| {
            format!(
                "apiVersion: seaway.dev/v1\nkind: Webhook\nmetadata: {{name: {name}}}\n\
                 spec: {{url: https://ci.example.com, events: [\"*\"]}}\n"
            )
        };
        let (ci, cd) = (hook("ci"), hook("cd"));
        let two = reading(&[("hooks.yaml", &format!("{ci}---\n{cd}"))]).unwrap();
        let expected = [(WEBHOOK, "ci".to_owned(), ci.clone()), (WEBHOOK, "cd".to_owned(), cd)];
        assert_eq!(two.texts, expected);
        refused(
            &[("a.yaml", &ci), ("b.yaml", &ci)],
            &["b.yaml:1:1: there is a second webhook `ci`"],
        );
        refused(&[("a.yaml", &ci.replace("https", "ftp"))], &["a.yaml:4:13: `ftp` URLs are not"]);
    }

    #[test]
    fn problems_inside_have_the_place_where_they_are_written() {
        let wrong = INLINE.replace("tasks: [{name: test}]", "tasks: [{nam: test}]");
        refused(
            &[("project.yaml", &project(&wrong))],
            &["project.yaml:9:45: `nam` is not a key of a task", "project.yaml:9:45: a task needs"],
        );
        let empty = project("spec:\n  shipyard: {}\n");
        refused(&[("p.yaml", &empty)], &["p.yaml:5:13: `spec` needs a `stages`"]);
        let list = project("spec:\n  shipyard: []\n");
        refused(&[("p.yaml", &list)], &["p.yaml:5:13: `shipyard` has to be a file or a mapping"]);
    }

    #[test]
    fn there_is_one_shipyard_and_it_is_where_the_project_says() {
        let (inside, outside) = (project(INLINE), ("shipyard.yaml", SHIPYARD_TEXT));
        let two = "the project has a shipyard inside and another beside it";
        let here = format!("shipyard.yaml:1:1: {two}");
        refused(&[("p.yaml", &inside), outside], &[&here]);
        refused(&[outside, ("p.yaml", &inside)], &[&format!("p.yaml:7:5: {two}")]);
        let names = project("spec: {shipyard: other.yaml}\n");
        refused(
            &[("p.yaml", &names), outside],
            &["p.yaml:1:1: `shipyard` names other.yaml, which"],
        );
        let elsewhere = format!("{names}---\n{SHIPYARD_TEXT}");
        refused(
            &[("p.yaml", &elsewhere), ("a/other.yaml", "kind: Secret\n")],
            &["a/other.yaml:1:1: there are no documents of kind `Secret`; known are Project, \
                 Shipyard and Webhook"],
        );
        refused(
            &[("other.yaml", &names), outside],
            &["other.yaml: `shipyard` names it, but the shipyard is in shipyard.yaml"],
        );
        let twice = format!("{SHIPYARD_TEXT}---\n{SHIPYARD_TEXT}");
        refused(&[("s.yaml", &twice)], &["s.yaml:9:1: there is a second Shipyard"]);
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let wrong = "\
apiVersion: seaway.dev/v2
kind: Project
metadata: {name: shop, labels: {}}
spec:
  services: [cart, cart, {name: web, dependsOn: [db], needs: x}, {dependsOn: []}, a b]
  autoServices: maybe
";
        refused(
            &[
                ("p.yaml", wrong),
                ("q.yaml", "a: [\n"),
                ("r.yaml", &PROJECT_HEAD.replace("shop", "b")),
            ],
            &[
                "p.yaml:1:13: `apiVersion` cannot be `seaway.dev/v2`",
                "p.yaml:3:24: `labels` is not a key",
                "p.yaml:5:20: there is already a service `cart`",
                "p.yaml:5:50: `dependsOn` names `db`",
                "p.yaml:5:55: `needs` is not a key of a service",
                "p.yaml:5:67: a service needs a `name`",
                "p.yaml:5:83: \"a b\" is not a valid name",
                "p.yaml:6:17: `autoServices` cannot be `maybe`",
                "q.yaml:1:4: this is not valid YAML",
                "r.yaml:1:1: this is project `b`, not `shop`",
            ],
        );
    }

    #[test]
    fn files_of_keptn_are_taken_with_what_it_let_pass() {
        let keptn = SHIPYARD_TEXT.replace("seaway.dev/v1", "spec.keptn.sh/0.2.3");
        let keptn = keptn.replace("  stages:", "  color: red\n  stages:");
        let reading = reading(&[("shipyard.yaml", &keptn)]).unwrap();
        let [warning] = &reading.warnings[..] else { panic!("{reading:?}") };
        assert!(warning.starts_with("shipyard.yaml:5:3: `color` is not a key"), "{warning}");
        assert_eq!(reading.services, None);
    }
}
