use std::collections::BTreeMap;

use seaway_shipyard::Code;
use seaway_shipyard::reading::{Draft, Entry, Node, Value, shown};

use crate::command::RESERVED;
use crate::definition::check::{PARTS, Reader};
use crate::definition::template::Template;

impl Reader<'_, '_> {
    pub(super) fn env(&mut self, node: &Node) -> Option<BTreeMap<String, Template>> {
        let Value::Map(entries) = &node.value else {
            let message = format!("`env` has to be a mapping, not {}", node.what());
            let draft = Draft::error(Code::WrongType, node.place, message);
            self.check.push(draft.hint("write something like `env: {LEVEL: debug}`"));
            return None;
        };
        if let Some(Entry { key, .. }) = entries.get(PARTS) {
            let message = format!("there are {} variables; {PARTS} are the most", entries.len());
            self.check.push(Draft::error(Code::TooLarge, key.place, message));
            return None;
        }
        let all: Vec<Option<(String, Template)>> =
            entries.iter().map(|entry| self.variable(entry)).collect();
        all.into_iter().collect()
    }

    fn variable(&mut self, Entry { key, value }: &Entry) -> Option<(String, Template)> {
        let name = &key.text;
        let inner = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !valid || !name.chars().all(inner) {
            let message = format!("{} cannot be the name of a variable", shown(name));
            let draft = Draft::error(Code::InvalidName, key.place, message);
            self.check.push(draft.hint("use letters, digits and `_`, and no digit at its start"));
            return None;
        }
        if RESERVED.contains(&&**name) {
            let message = format!("`{name}` is set by the worker");
            let draft = Draft::error(Code::WrongValue, key.place, message);
            self.check.push(draft.hint("use another name"));
            return None;
        }
        Some((name.clone(), self.template(value, "the value of a variable")?))
    }
}
