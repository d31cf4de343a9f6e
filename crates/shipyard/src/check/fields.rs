use crate::check::checker::{Checker, joined, shown};
use crate::code::Code;
use crate::report::{Draft, Place};
use crate::yaml::{Entry, Key, Node, Value};

/// A kind of mapping: how a sentence calls it, and the keys it may have.
#[derive(Debug)]
pub struct Shape {
    pub what: &'static str,
    pub keys: &'static [&'static str],
    /// Other spellings that were in use, each with the right one.
    pub old: &'static [(&'static str, &'static str)],
}

/// The entries of a mapping whose keys were checked.
#[derive(Clone, Debug)]
pub struct Fields<'n> {
    pub what: &'static str,
    pub place: Place,
    found: Vec<(&'static str, &'n Node)>,
}

impl<'n> Fields<'n> {
    /// A key without a value is like no key.
    pub fn get(&self, key: &str) -> Option<&'n Node> {
        let found = self.found.iter().find(|(name, _)| *name == key);
        found.map(|(_, node)| *node).filter(|node| !node.is_null())
    }
}

impl Checker<'_, '_> {
    pub fn fields<'n>(&mut self, node: &'n Node, shape: &Shape) -> Option<Fields<'n>> {
        let what = shape.what;
        let Value::Map(entries) = &node.value else {
            let message = format!("{what} has to be a mapping, not {}", node.what());
            let hint = format!("its keys are {}", shape.keys.join(", "));
            self.push(Draft::error(Code::WrongType, node.place, message).hint(hint));
            return None;
        };
        let mut fields = Fields { what, place: node.place, found: Vec::new() };
        for Entry { key, value } in entries {
            let Some(name) = self.known(key, shape) else { continue };
            if fields.found.iter().any(|(before, _)| *before == name) {
                let message = format!("`{}` means `{name}`, which is there as well", key.text);
                self.push(Draft::error(Code::DuplicateKey, key.place, message));
                continue;
            }
            fields.found.push((name, value));
        }
        Some(fields)
    }

    fn known(&mut self, key: &Key, shape: &Shape) -> Option<&'static str> {
        if let Some(name) = shape.keys.iter().find(|it| **it == key.text) {
            return Some(name);
        }
        let what = shape.what;
        if let Some((_, name)) = shape.old.iter().find(|(old, _)| *old == key.text) {
            let message = format!("`{}` is an old spelling of `{name}`", key.text);
            let draft = Draft::warning(Code::OldKey, key.place, message);
            self.push(draft.hint(format!("write `{name}`")));
            return Some(name);
        }
        let message = format!("{} is not a key of {what}", shown(&key.text));
        let near = self.did_you_mean(&key.text, shape.keys.iter().copied());
        let hint = joined(near, format!("the keys here are {}", shape.keys.join(", ")));
        let draft = self.oddity(Code::UnknownKey, key.place, message).hint(hint);
        self.push(draft);
        None
    }

    pub fn required<'n>(&mut self, fields: &Fields<'n>, key: &str) -> Option<&'n Node> {
        let found = fields.get(key);
        if found.is_none() {
            let message = format!("{} needs a `{key}`", fields.what);
            self.push(Draft::error(Code::MissingKey, fields.place, message));
        }
        found
    }

    /// The items of a list, or a problem; those behind the limit are left out with a problem.
    pub fn items<'n>(
        &mut self,
        node: &'n Node,
        key: &str,
        (limit, what): (usize, &str),
    ) -> Option<&'n [Node]> {
        let Value::List(items) = &node.value else {
            let message = format!("`{key}` has to be a list, not {}", node.what());
            let hint = "write each item on a line of its own that begins with `- `";
            self.push(Draft::error(Code::WrongType, node.place, message).hint(hint));
            return None;
        };
        if let Some(first) = items.get(limit) {
            let message = format!("there are {} {what}; {limit} are the most", items.len());
            self.push(Draft::error(Code::TooLarge, first.place, message));
        }
        Some(&items[..items.len().min(limit)])
    }
}
