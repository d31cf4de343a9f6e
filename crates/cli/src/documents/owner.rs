use std::collections::BTreeSet;
use std::io::{IsTerminal, stderr};

use anyhow::{Result, bail};
use seaway_api::{Apply, Source};
use seaway_model::Name;
use seaway_shipyard::Problems;
use seaway_shipyard::reading::{Node, Report, Subject, Value, read_all};

use crate::connection::Server;
use crate::failure::WrongUsage;
use crate::out::aside;
use crate::shipyard::View;

const SUBJECT: Subject = Subject { what: "document", begin: "apiVersion: seaway.dev/v1" };

/// What a document says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Heading {
    kind: String,
    name: String,
}

/// The project that documents are for: the one that they are, or that is named, or that of the
/// context, or the one that a shipyard is named after.
pub(super) async fn find(server: &Server, named: Option<&Name>, apply: &Apply) -> Result<String> {
    let mut headings = Vec::new();
    for source in &apply.sources {
        headings.extend(headings_of(source)?);
    }
    let named = named.map(Name::as_str);
    match choose(&headings, named, server.usual_project())? {
        Some(project) => Ok(project),
        None => server.project(None).await,
    }
}

fn choose(
    headings: &[Heading],
    named: Option<&str>,
    usual: Option<&str>,
) -> Result<Option<String>> {
    let of = |kind: &str| -> BTreeSet<&str> {
        headings.iter().filter(|it| it.kind == kind).map(|it| &*it.name).collect()
    };
    let projects = of("Project");
    if projects.len() > 1 {
        let all: Vec<&str> = projects.into_iter().collect();
        let advice =
            format!("these are documents of {}; apply each project for itself", all.join(" and "));
        return Err(WrongUsage(advice).into());
    }
    if let (Some(project), Some(named)) = (projects.first(), named)
        && *project != named
    {
        let advice = format!("the documents are of the project {project}, not of {named}");
        return Err(WrongUsage(advice).into());
    }
    let shipyards = of("Shipyard");
    let shipyard = shipyards.first().filter(|_| shipyards.len() == 1).copied();
    let found = projects.first().copied().or(named).or(usual).or(shipyard);
    Ok(found.map(str::to_owned))
}

fn headings_of(source: &Source) -> Result<Vec<Heading>> {
    let mut report = Report::new(&source.text);
    match read_all(&source.text, SUBJECT, &mut report) {
        Some(documents) if !report.has_errors() => {
            Ok(documents.iter().filter_map(heading).collect())
        }
        _ => {
            let problems = Problems::new(&source.text, &source.path, report.into_problems());
            aside(View { problems: &problems, terminal: stderr().is_terminal() });
            bail!("{} cannot be read", source.path)
        }
    }
}

/// Whatever else is wrong with a document, the server says.
fn heading(document: &Node) -> Option<Heading> {
    let kind = get(document, "kind")?.text()?.to_owned();
    let name = get(get(document, "metadata")?, "name")?.text()?.to_owned();
    Some(Heading { kind, name })
}

fn get<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    let Value::Map(entries) = &node.value else { return None };
    entries.iter().find(|entry| entry.key.text == key).map(|entry| &entry.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headings(text: &str) -> Vec<Heading> {
        let source = Source { path: "a.yaml".into(), text: text.into() };
        headings_of(&source).expect("it is YAML")
    }

    const SHIPYARD: &str = "kind: Shipyard\nmetadata: {name: yard}\n";
    const PROJECT: &str = "---\nkind: Project\nmetadata: {name: shop}\n---\n";

    #[track_caller]
    fn check(text: &str, named: Option<&str>, usual: Option<&str>, expected: Option<&str>) {
        let chosen = choose(&headings(text), named, usual).expect("it is clear");
        assert_eq!(chosen.as_deref(), expected);
    }

    #[test]
    fn documents_find_their_project() {
        let both = format!("{SHIPYARD}{PROJECT}");
        check(&both, None, Some("usual"), Some("shop"));
        check(&both, Some("shop"), None, Some("shop"));
        check(SHIPYARD, Some("named"), Some("usual"), Some("named"));
        check(SHIPYARD, None, Some("usual"), Some("usual"));
        check(SHIPYARD, None, None, Some("yard"));
        check("kind: Webhook\nmetadata: {name: x}\n", None, None, None);
        check("kind: [Project]\n", None, None, None);
    }

    #[test]
    fn contradictions_are_refused() {
        let two = format!("{PROJECT}kind: Project\nmetadata: {{name: bank}}\n");
        assert!(choose(&headings(&two), None, None).is_err());
        assert!(choose(&headings(PROJECT), Some("bank"), None).is_err());
    }
}
