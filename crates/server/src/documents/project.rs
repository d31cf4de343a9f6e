use std::collections::BTreeSet;

use seaway_kernel::Services;
use seaway_model::Name;
use seaway_shipyard::Code;
use seaway_shipyard::reading::{Checker, Draft, Fields, Given, Node, Shape, Value};

/// What a `Project` document says.
#[derive(Clone, Debug)]
pub(crate) struct ProjectDocument<'n> {
    pub(crate) name: Name,
    pub(crate) shipyard: Option<Pipeline<'n>>,
    pub(crate) services: Services,
}

/// Where the shipyard of a project is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pipeline<'n> {
    /// In a file that is applied with it.
    File(&'n str),
    /// Here: what the `spec` of a shipyard holds.
    Inline(&'n Node),
}

const DOCUMENT: Shape =
    Shape { what: "a project", keys: &["apiVersion", "kind", "metadata", "spec"], old: &[] };
const METADATA: Shape = Shape { what: "`metadata`", keys: &["name"], old: &[] };
const SPEC: Shape =
    Shape { what: "`spec`", keys: &["shipyard", "services", "autoServices"], old: &[] };
const SERVICE: Shape = Shape { what: "a service", keys: &["name", "dependsOn"], old: &[] };

const MAX_SERVICES: usize = 10_000;

/// Good to use only when no errors were reported; all of them are.
pub(super) fn check<'n>(
    root: &'n Node,
    checker: &mut Checker<'_, '_>,
) -> Option<ProjectDocument<'n>> {
    let fields = checker.fields(root, &DOCUMENT)?;
    let version = checker.required(&fields, "apiVersion");
    let version = version.and_then(|it| checker.word(it, "`apiVersion`", &[("seaway.dev/v1", ())]));
    let metadata = checker.required(&fields, "metadata");
    let metadata = metadata.and_then(|it| checker.fields(it, &METADATA));
    let name = metadata.and_then(|it| checker.required(&it, "name"));
    let name = name.and_then(|it| self::name(checker, it));
    let mut document = ProjectDocument {
        name: name?,
        shipyard: None,
        services: Services { auto: true, names: BTreeSet::new() },
    };
    if let Some(spec) = fields.get("spec") {
        let spec = checker.fields(spec, &SPEC)?;
        document.shipyard = pipeline(checker, &spec);
        document.services = declared(checker, &spec)?;
    }
    version.map(|()| document)
}

fn pipeline<'n>(checker: &mut Checker<'_, '_>, spec: &Fields<'n>) -> Option<Pipeline<'n>> {
    let node = spec.get("shipyard")?;
    if matches!(node.value, Value::Map(_)) {
        return Some(Pipeline::Inline(node));
    }
    let file = node.text().map(Pipeline::File);
    if file.is_none() {
        let message = format!("`shipyard` has to be a file or a mapping, not {}", node.what());
        let draft = Draft::error(Code::WrongType, node.place, message);
        checker.push(draft.hint("name the file of the shipyard, or write its `stages` here"));
    }
    file
}

/// Those that are listed. Others are welcome where none are, or where the document says so.
fn declared(checker: &mut Checker<'_, '_>, spec: &Fields<'_>) -> Option<Services> {
    let names = spec.get("services").map(|node| services(checker, node));
    let auto = spec
        .get("autoServices")
        .map(|node| checker.word(node, "`autoServices`", &[("true", true), ("false", false)]));
    let auto = auto.unwrap_or(Some(names.is_none()))?;
    Some(Services { auto, names: names.unwrap_or_else(|| Some(BTreeSet::new()))? })
}

fn services(checker: &mut Checker<'_, '_>, node: &Node) -> Option<BTreeSet<Name>> {
    let items = checker.items(node, "services", (MAX_SERVICES, "services"))?;
    let mut given = Given::new();
    let mut needed: Vec<(&Node, Name)> = Vec::new();
    for item in items {
        let mut named = item;
        if item.text().is_none() {
            let Some(fields) = checker.fields(item, &SERVICE) else { continue };
            if let Some(list) = fields.get("dependsOn") {
                let list = checker.items(list, "dependsOn", (MAX_SERVICES, "services"));
                let list = list.unwrap_or_default().iter();
                needed.extend(list.filter_map(|it| Some((it, name(checker, it)?))));
            }
            let Some(node) = checker.required(&fields, "name") else { continue };
            named = node;
        }
        if let Some(name) = name(checker, named) {
            checker.unique(&mut given, &name, named.place, "a service");
        }
    }
    for (node, missing) in needed.iter().filter(|(_, it)| !given.contains_key(it)) {
        let message = format!("`dependsOn` names `{missing}`, which is no service of the project");
        checker.push(Draft::error(Code::WrongValue, node.place, message));
    }
    Some(given.into_keys().collect())
}

fn name(checker: &mut Checker<'_, '_>, node: &Node) -> Option<Name> {
    let text = checker.text(node, "a name")?;
    match Name::new(text) {
        Ok(name) => Some(name),
        Err(error) => {
            checker.push(Draft::error(Code::InvalidName, node.place, error.to_string()));
            None
        }
    }
}
