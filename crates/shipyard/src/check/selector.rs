use seaway_model::{Name, Outcome};

use crate::check::checker::{Checker, shown};
use crate::check::fields::Shape;
use crate::code::Code;
use crate::document::{On, Selector};
use crate::limits;
use crate::report::Draft;
use crate::yaml::{Entry, Key, Node, Value};

const SELECTOR: Shape = Shape { what: "a selector", keys: &["match"], old: &[] };

/// `failed` is what the examples of Keptn's specification say for `fail`.
const OUTCOMES: [(&str, Outcome); 4] = [
    ("pass", Outcome::Pass),
    ("warning", Outcome::Warning),
    ("fail", Outcome::Fail),
    ("failed", Outcome::Fail),
];

impl Checker<'_, '_> {
    /// `on` is missing where the event of the entry is wrong.
    pub(super) fn selector(&mut self, node: &Node, on: Option<&On>) -> Option<Selector> {
        let fields = self.fields(node, &SELECTOR)?;
        let matched = self.required(&fields, "match")?;
        let Value::Map(entries) = &matched.value else {
            let message = format!("`match` has to be a mapping, not {}", matched.what());
            let draft = Draft::error(Code::WrongType, matched.place, message);
            self.push(draft.hint("write something like `match: {result: fail}`"));
            return None;
        };
        if entries.is_empty() {
            let message = "the selector says nothing, and counts as none";
            let draft = Draft::warning(Code::Selector, matched.place, message);
            self.push(draft.hint("remove it, or write something like `result: fail`"));
        }
        let mut selector = Selector::default();
        let mut complete = true;
        for Entry { key, value } in entries {
            complete &= self.condition(&mut selector, key, value, on).is_some();
        }
        complete.then_some(selector)
    }

    fn condition(
        &mut self,
        selector: &mut Selector,
        key: &Key,
        value: &Node,
        on: Option<&On>,
    ) -> Option<()> {
        let alternatives: Vec<&Node> = match &value.value {
            Value::List(items) => items.iter().collect(),
            Value::Scalar(_) | Value::Map(_) => vec![value],
        };
        if alternatives.is_empty() {
            let message = format!("{} can never match an empty list", shown(&key.text));
            self.push(Draft::error(Code::Selector, value.place, message));
            return None;
        }
        if let Some(task) = self.result_of(key, on)? {
            let what = format!("`{}`", key.text);
            for node in alternatives {
                let outcome = self.word(node, &what, &OUTCOMES)?;
                if let Some(task) = &task {
                    self.last_to_run(task, outcome, (key.place, on));
                }
                selector.results.push((task.clone(), outcome));
            }
            return Some(());
        }
        if !is_path(&key.text) {
            let message = format!("{} is not a path into the data of an event", shown(&key.text));
            let most = limits::PATH_CHARS;
            let hint = format!("write names with dots between them, {most} characters at most");
            self.push(Draft::error(Code::Selector, key.place, message).hint(hint));
            return None;
        }
        for node in alternatives {
            let text = self.text(node, &format!("`{}`", key.text))?;
            selector.data.push((key.text.clone(), text.to_owned()));
        }
        Some(())
    }

    /// Whose result a key is about: of the sequence, of a task, or nobody's because it is a path.
    fn result_of(&mut self, key: &Key, on: Option<&On>) -> Option<Option<Option<Name>>> {
        if key.text == "result" {
            return Some(Some(None));
        }
        if matches!(on, Some(On::All(_))) {
            let message = format!("{} cannot be matched in an entry with `all`", shown(&key.text));
            let draft = Draft::error(Code::Selector, key.place, message);
            self.push(draft.hint("only `result` is known of every one of several events"));
            return None;
        }
        let task = key.text.strip_suffix(".result").filter(|task| !task.contains('.'));
        let Some(task) = task.and_then(|task| Name::new(task).ok()) else { return Some(None) };
        Some(Some(Some(task)))
    }
}

fn is_path(text: &str) -> bool {
    let part = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
    text.chars().count() <= limits::PATH_CHARS && text.split('.').all(part)
}
