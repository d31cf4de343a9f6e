use seaway_model::Name;
use seaway_shipyard::Code;
use seaway_shipyard::reading::{Draft, Fields, Node, shown};

use super::reader::Reader;
use crate::document::Ship;

impl Reader<'_, '_> {
    /// The deployment that a step starts, or goes on with.
    pub(super) fn ship(&mut self, fields: &Fields<'_>) -> Option<usize> {
        if let Some(node) = fields.get("in") {
            for key in ["as", "service", "version"] {
                if let Some(other) = fields.get(key) {
                    let message = format!("`in` goes on with a deployment, whose `{key}` is known");
                    let draft = Draft::error(Code::WrongValue, other.place, message);
                    self.check.push(draft.hint(format!("remove `{key}`, or `in`")));
                    return None;
                }
            }
            return self.known_ship(node);
        }
        let number = self.ships.len() + 1;
        let service = match fields.get("service") {
            Some(node) => self.check.plain_name(node, "the name of a service")?,
            None => self.service.clone().or_else(|| Name::new("app").ok())?,
        };
        let version = match fields.get("version") {
            Some(node) => self.check.text(node, "`version`")?.to_owned(),
            None => format!("{number}.0"),
        };
        let name = match fields.get("as") {
            Some(node) => {
                let name = self.check.plain_name(node, "the name of a deployment")?.to_string();
                if self.ships.iter().any(|ship| ship.name == name) {
                    let message = format!("there is already a deployment {}", shown(&name));
                    let draft = Draft::error(Code::DuplicateName, node.place, message);
                    self.check.push(draft.hint("write `in` to go on with it"));
                    return None;
                }
                name
            }
            None => self.free_name(number),
        };
        self.ships.push(Ship { name, service, version });
        Some(number - 1)
    }

    /// `d1`, `d2` and so on; the next one where somebody gave that name by hand.
    fn free_name(&self, number: usize) -> String {
        let mut names = (number..).map(|number| format!("d{number}"));
        let free = |name: &String| !self.ships.iter().any(|ship| ship.name == *name);
        names.find(free).unwrap_or_default()
    }

    pub(super) fn known_ship(&mut self, node: &Node) -> Option<usize> {
        let text = self.check.text(node, "the name of a deployment")?;
        let found = self.ships.iter().position(|ship| ship.name == text);
        if found.is_none() {
            let known: Vec<String> = self.ships.iter().map(|ship| ship.name.clone()).collect();
            self.unknown("deployment", text, node.place, &known);
        }
        found
    }

    /// The deployment that `in` names, or the last one.
    pub(super) fn this_ship(&mut self, fields: &Fields<'_>) -> Option<usize> {
        if let Some(node) = fields.get("in") {
            return self.known_ship(node);
        }
        if self.ships.is_empty() {
            let message = "nothing was deployed before this step";
            let draft = Draft::error(Code::WrongValue, fields.place, message);
            self.check.push(draft.hint("begin with `trigger: <stage>.<sequence>`"));
        }
        self.ships.len().checked_sub(1)
    }
}
