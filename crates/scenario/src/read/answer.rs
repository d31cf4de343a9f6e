use seaway_model::{Outcome, Span};
use seaway_shipyard::Code;
use seaway_shipyard::reading::{Draft, Entry, Node, Shape, Value, shown};

use super::address::address;
use super::reader::{MANY, Reader};
use crate::document::{Answer, Answers, Conduct, TaskAddress};

const ANSWER: Shape =
    Shape { what: "an answer", keys: &["result", "data", "takes", "delay", "stalls"], old: &[] };

/// What an executor can do, in one word.
const WORDS: [(&str, Conduct); 9] = [
    ("pass", ends(Outcome::Pass, false, 1)),
    ("warning", ends(Outcome::Warning, false, 1)),
    ("fail", ends(Outcome::Fail, false, 1)),
    ("failed", ends(Outcome::Fail, false, 1)),
    ("errored", ends(Outcome::Fail, true, 1)),
    ("twice", ends(Outcome::Pass, false, 2)),
    ("silent", Conduct::Silent),
    ("dies", Conduct::Dies),
    ("ignores", Conduct::Ignores),
];

const fn ends(outcome: Outcome, errored: bool, times: u32) -> Conduct {
    Conduct::Answers { outcome, errored, times }
}

impl Reader<'_, '_> {
    pub(super) fn answers(&mut self, node: &Node) -> Option<Answers> {
        match &node.value {
            Value::Map(entries) if !is_answer(entries) => {
                let by_task = entries.iter().map(|Entry { key, value }| {
                    let address = self.answered(&key.text, value);
                    let answers = self.answer_list(value)?;
                    let mut address = address?;
                    address.place = key.place;
                    Some((address, answers))
                });
                by_task.collect::<Vec<_>>().into_iter().collect::<Option<_>>().map(Answers::ByTask)
            }
            _ => self.answer_list(node).map(Answers::InOrder),
        }
    }

    /// `[deployment/]task`.
    fn answered(&mut self, text: &str, node: &Node) -> Option<TaskAddress> {
        let (ship, task) = match text.split_once('/') {
            Some((ship, task)) => (Some(ship), task),
            None => (None, text),
        };
        let ship = match ship {
            Some(name) => {
                let found = self.ships.iter().position(|ship| ship.name == name);
                if found.is_none() {
                    let known: Vec<String> = self.ships.iter().map(|it| it.name.clone()).collect();
                    self.unknown("deployment", name, node.place, &known);
                }
                Some(found?)
            }
            None => None,
        };
        let Some(address) = address(task, node) else {
            let message = format!("answers are given to tasks, and {} is none", shown(text));
            let draft = Draft::error(Code::WrongValue, node.place, message);
            self.check.push(draft.hint("write `test`, `dev.test` or `<deployment>/dev.test`"));
            return None;
        };
        Some(TaskAddress { ship, ..address })
    }

    fn answer_list(&mut self, node: &Node) -> Option<Vec<Answer>> {
        let Value::List(_) = &node.value else { return Some(vec![self.answer(node)?]) };
        let items = self.check.items(node, "answers", (MANY, "answers"))?;
        let answers: Vec<Option<Answer>> = items.iter().map(|node| self.answer(node)).collect();
        if answers.is_empty() {
            let message = "there is no answer in this list";
            let draft = Draft::error(Code::Empty, node.place, message);
            self.check.push(draft.hint("write `pass`, or leave it out, which means the same"));
            return None;
        }
        answers.into_iter().collect()
    }

    fn answer(&mut self, node: &Node) -> Option<Answer> {
        let Value::Map(_) = &node.value else {
            let conduct = self.check.word(node, "an answer", &WORDS)?;
            return Some(Answer { conduct, ..Answer::pass() });
        };
        let fields = self.check.fields(node, &ANSWER)?;
        let conduct = match fields.get("result") {
            Some(node) => self.check.word(node, "`result`", &WORDS)?,
            None => ends(Outcome::Pass, false, 1),
        };
        let conduct = match fields.get("stalls") {
            Some(node) => {
                let span = self.check.duration(node, "`stalls`", Span(0))?;
                let Conduct::Answers { outcome, .. } = conduct else {
                    let message = "only who answers can stall before it does";
                    self.check.push(Draft::error(Code::WrongValue, node.place, message));
                    return None;
                };
                Conduct::Stalls { outcome, span }
            }
            None => conduct,
        };
        let mut span = |key: &str| match fields.get(key) {
            Some(node) => self.check.duration(node, &format!("`{key}`"), Span(0)).map(Some),
            None => Some(None),
        };
        let (takes, delay) = (span("takes")?, span("delay")?);
        Some(Answer { conduct, delay, takes, data: self.data(&fields)? })
    }
}

/// One answer for everything, rather than answers by task.
fn is_answer(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| ANSWER.keys.contains(&&*entry.key.text))
}
