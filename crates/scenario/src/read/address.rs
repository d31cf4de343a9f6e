use seaway_model::Name;
use seaway_shipyard::Code;
use seaway_shipyard::reading::{Draft, Node, shown};

use super::reader::Reader;
use crate::document::{Ran, TaskAddress};

impl Reader<'_, '_> {
    /// `<stage>.<sequence>`.
    pub(super) fn sequence(&mut self, node: &Node, what: &str) -> Option<(Name, Name)> {
        let text = self.check.text(node, what)?;
        let parts: Vec<&str> = text.split('.').collect();
        let names = match parts[..] {
            [stage, sequence] => Name::new(stage).ok().zip(Name::new(sequence).ok()),
            _ => None,
        };
        if names.is_none() {
            let message = format!("{what} has to name a sequence, which {} does not", shown(text));
            let draft = Draft::error(Code::WrongValue, node.place, message);
            self.check.push(draft.hint("write `<stage>.<sequence>`, such as `dev.delivery`"));
        }
        names
    }

    /// `[stage.[sequence[#run].]]task[:n]`.
    pub(super) fn task(&mut self, node: &Node, what: &str) -> Option<TaskAddress> {
        let text = self.check.text(node, what)?;
        let address = address(text, node);
        if address.is_none() {
            let message = format!("{what} has to name a task, which {} does not", shown(text));
            let draft = Draft::error(Code::WrongValue, node.place, message);
            let hint = "write `<stage>.<task>`, such as `dev.test`; `dev.delivery#2.test:2` is the \
                        second task of that name in the second run of the sequence";
            self.check.push(draft.hint(hint));
        }
        address
    }

    /// A sequence or one of its tasks.
    pub(super) fn ran(&mut self, node: &Node, what: &str) -> Option<Ran> {
        let text = self.check.text(node, what)?;
        let parts: Option<Vec<Name>> = text.split('.').map(|part| Name::new(part).ok()).collect();
        let ran = match parts.as_deref() {
            Some([stage, sequence]) => Some((stage, sequence, None)),
            Some([stage, sequence, task]) => Some((stage, sequence, Some(task.clone()))),
            _ => None,
        };
        let Some((stage, sequence, task)) = ran else {
            let message = format!("{what} cannot be {}", shown(text));
            let draft = Draft::error(Code::WrongValue, node.place, message);
            self.check
                .push(draft.hint("write `<stage>.<sequence>` or `<stage>.<sequence>.<task>`"));
            return None;
        };
        let (stage, sequence) = (stage.clone(), sequence.clone());
        Some(Ran { stage, sequence, task, place: node.place })
    }
}

pub(super) fn address(text: &str, node: &Node) -> Option<TaskAddress> {
    let (text, occurrence) = numbered(text, ':')?;
    let parts: Vec<&str> = text.split('.').collect();
    let name = |text: &str| Name::new(text).ok();
    let (stage, sequence, task) = match parts[..] {
        [task] => (None, None, task),
        [stage, task] => (Some(name(stage)?), None, task),
        [stage, sequence, task] => (Some(name(stage)?), Some(sequence), task),
        _ => return None,
    };
    let (sequence, run) = match sequence.map(|text| numbered(text, '#')) {
        Some(Some((sequence, run))) => (Some(name(sequence)?), run),
        Some(None) => return None,
        None => (None, None),
    };
    let task = name(task)?;
    Some(TaskAddress { ship: None, stage, sequence, run, task, occurrence, place: node.place })
}

/// A text and the number behind a mark, if there is one.
fn numbered(text: &str, mark: char) -> Option<(&str, Option<u32>)> {
    match text.split_once(mark) {
        None => Some((text, None)),
        Some((text, number)) => Some((text, Some(number.parse().ok()?))),
    }
}
