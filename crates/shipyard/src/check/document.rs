use crate::check::checker::{Checker, shown};
use crate::check::fields::{Fields, Shape};
use crate::check::header::dialect;
use crate::check::index::Index;
use crate::check::stage::EVALUATION;
use crate::code::Code;
use crate::document::{Dialect, Promotion, Shipyard};
use crate::limits;
use crate::report::{Draft, Report};
use crate::yaml::{Node, Value};

const DOCUMENT: Shape = Shape {
    what: "a shipyard",
    keys: &["apiVersion", "kind", "metadata", "spec"],
    old: &[("version", "apiVersion")],
};

const METADATA: Shape = Shape { what: "`metadata`", keys: &["name"], old: &[] };

const SPEC: Shape = Shape { what: "`spec`", keys: &["promotionStrategy", "stages"], old: &[] };

const UNSUPPORTED: &str = "snapshot promotion is not supported by this version";

/// Checks a document that was read, and tells what is wrong with it to the report.
pub fn check(root: &Node, file: &str, report: &mut Report<'_>) -> Option<Shipyard> {
    if !matches!(root.value, Value::Map(_)) {
        let message = format!("a shipyard has to be a mapping, not {}", root.what());
        let draft = Draft::error(Code::WrongType, root.place, message);
        report.push(draft.hint("begin with `apiVersion: seaway.dev/v1`"));
        return None;
    }
    let dialect = dialect(root, file, report)?;
    Checker::new(report, dialect).document(root)
}

impl Checker<'_, '_> {
    fn document(&mut self, root: &Node) -> Option<Shipyard> {
        let fields = self.fields(root, &DOCUMENT)?;
        self.document_kind(&fields);
        let name = self.title(&fields);
        let spec = self.required(&fields, "spec")?;
        let spec = self.fields(spec, &SPEC)?;
        let promotion = match spec.get("promotionStrategy") {
            Some(node) => {
                self.service_only(node, "`promotionStrategy`").map(|()| Promotion::Service)
            }
            None => Some(Promotion::Service),
        };
        let stages = self.required(&spec, "stages")?;
        let stages = self.items(stages, "stages", (limits::STAGES, "stages"))?;
        if stages.is_empty() {
            let place = spec.get("stages").map_or(spec.place, |it| it.place);
            self.push(Draft::error(Code::Empty, place, "a shipyard needs at least one stage"));
        }
        let implicit = (self.dialect == Dialect::Keptn).then_some(EVALUATION);
        self.index = Index::of(stages, implicit);
        let stages = self.stages(stages);
        self.loops();
        Some(Shipyard {
            name: name?,
            dialect: self.dialect,
            promotion: promotion?,
            stages: stages?,
        })
    }

    fn document_kind(&mut self, fields: &Fields<'_>) {
        let (place, message) = match fields.get("kind") {
            None => (fields.place, "the file needs `kind: Shipyard`".to_owned()),
            Some(node) => match node.text() {
                Some("Shipyard") => return,
                Some(other) => {
                    let other = shown(other);
                    (node.place, format!("the file is a {other}, not a `Shipyard`"))
                }
                None => (node.place, "`kind` has to be `Shipyard`".to_owned()),
            },
        };
        let draft = self.oddity(Code::DocumentKind, place, message).hint("write `kind: Shipyard`");
        self.push(draft);
    }

    /// The name of the whole. Keptn never looked at it.
    fn title(&mut self, fields: &Fields<'_>) -> Option<String> {
        let metadata = match (fields.get("metadata"), self.dialect) {
            (Some(metadata), _) => metadata,
            (None, Dialect::Keptn) => return Some(String::new()),
            (None, Dialect::Seaway) => self.required(fields, "metadata")?,
        };
        let metadata = self.fields(metadata, &METADATA)?;
        let name = match (metadata.get("name"), self.dialect) {
            (Some(name), _) => name,
            (None, Dialect::Keptn) => return Some(String::new()),
            (None, Dialect::Seaway) => self.required(&metadata, "name")?,
        };
        let text = self.text(name, "`name`")?;
        let most = limits::TITLE_CHARS;
        if text.is_empty() || text.chars().count() > most {
            let message = format!("the name of a shipyard has 1 to {most} characters");
            self.push(Draft::error(Code::InvalidName, name.place, message));
            return None;
        }
        Some(text.to_owned())
    }

    /// Where `snapshot` could stand, but cannot be carried out.
    pub(super) fn service_only(&mut self, node: &Node, what: &str) -> Option<()> {
        let snapshot = self.word(node, what, &[("service", false), ("snapshot", true)])?;
        if snapshot {
            let draft = Draft::error(Code::Unsupported, node.place, UNSUPPORTED);
            self.push(draft.hint("write `service`, or leave it out"));
            return None;
        }
        Some(())
    }

    pub(super) fn no_reference(&mut self, node: &Node) {
        let draft = Draft::error(Code::Unsupported, node.place, UNSUPPORTED);
        let hint = "`ref` runs a sequence for every service of a snapshot; list the tasks instead";
        self.push(draft.hint(hint));
    }
}
