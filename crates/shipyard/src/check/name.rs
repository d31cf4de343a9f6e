use std::collections::BTreeMap;

use seaway_model::Name;

use crate::check::checker::{Checker, shown};
use crate::code::Code;
use crate::report::{Draft, Place};
use crate::yaml::Node;

/// Names that were given so far, and where.
pub type Given = BTreeMap<Name, Place>;

impl Checker<'_, '_> {
    pub fn stage_name(&mut self, node: &Node) -> Option<Name> {
        let text = self.text(node, "the name of a stage")?;
        let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        let valid = text.starts_with(|c: char| c.is_ascii_lowercase()) && text.bytes().all(inner);
        // A Name ends in a letter or digit, and bounds the length.
        let name = Name::new(text).ok().filter(|_| valid);
        if name.is_none() {
            let message = format!("{} is not a valid name of a stage", shown(text));
            let hint = "begin with a lower-case letter, go on with lower-case letters, digits and \
                        `-`, do not end with `-`, and stay within 63 characters";
            self.push(Draft::error(Code::InvalidName, node.place, message).hint(hint));
        }
        name
    }

    /// The name of a sequence or a task. A dot would make the names of events ambiguous.
    pub fn plain_name(&mut self, node: &Node, what: &str) -> Option<Name> {
        let text = self.text(node, what)?;
        let name = Name::new(text).ok().filter(|_| !text.contains('.'));
        if name.is_none() {
            let message = format!("{} cannot be {what}", shown(text));
            let hint = "use up to 63 letters and digits, with `-` or `_` between them";
            let hint = match text.contains('.') {
                true => format!("a dot separates the parts of an event's name; {hint}"),
                false => hint.to_owned(),
            };
            self.push(Draft::error(Code::InvalidName, node.place, message).hint(hint));
        }
        name
    }

    /// Reports a name that was given before.
    pub fn unique(&mut self, given: &mut Given, name: &Name, place: Place, what: &str) {
        let Some(first) = given.get(name) else {
            given.insert(name.clone(), place);
            return;
        };
        let message = format!("there is already {what} `{name}`");
        let draft = Draft::error(Code::DuplicateName, place, message);
        self.push(draft.also(*first, "the first is here"));
    }
}
