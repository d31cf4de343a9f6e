use seaway_model::Span;
use seaway_shipyard::Code;
use seaway_shipyard::reading::{Draft, Fields, Node, Shape, one_of};

use super::reader::{MANY, Reader};
use crate::document::{Action, Step};

const ACTIONS: [&str; 11] = [
    "trigger", "event", "pause", "resume", "abort", "retry", "skip", "shipyard", "joins", "leaves",
    "dies",
];

const STEP: Shape = Shape {
    what: "a step",
    keys: &[
        "at", "trigger", "event", "pause", "resume", "abort", "retry", "skip", "shipyard", "joins",
        "leaves", "dies", "as", "in", "service", "version", "stage", "data", "reason", "refused",
    ],
    old: &[],
};

/// What may stand beside an action.
const BESIDE: [(&str, &[&str]); 11] = [
    ("trigger", &["as", "in", "service", "version", "data"]),
    ("event", &["as", "in", "service", "version", "stage", "data"]),
    ("pause", &[]),
    ("resume", &[]),
    ("abort", &[]),
    ("retry", &["in", "data"]),
    ("skip", &["in", "reason"]),
    ("shipyard", &[]),
    ("joins", &[]),
    ("leaves", &[]),
    ("dies", &[]),
];

impl Reader<'_, '_> {
    pub(super) fn steps(&mut self, node: &Node) -> Option<Vec<Step>> {
        let items = self.check.items(node, "steps", (MANY, "steps"))?;
        if items.is_empty() {
            let draft = Draft::error(Code::Empty, node.place, "a scenario needs at least one step");
            self.check.push(draft.hint("begin with `- trigger: <stage>.<sequence>`"));
        }
        let mut last = Span(0);
        let mut steps = Some(Vec::new());
        for node in items {
            let step = self.step(node, last);
            last = step.as_ref().map_or(last, |step| step.at);
            steps = steps.zip(step).map(|(mut steps, step)| {
                steps.push(step);
                steps
            });
        }
        steps
    }

    fn step(&mut self, node: &Node, last: Span) -> Option<Step> {
        let fields = self.check.fields(node, &STEP)?;
        let at = match fields.get("at") {
            Some(node) => self.time(node, last),
            None => Some(last),
        };
        let mut actions = ACTIONS.iter().filter_map(|key| Some((*key, fields.get(key)?)));
        let (Some((key, value)), None) = (actions.next(), actions.next()) else {
            let message = "a step does exactly one thing";
            let draft = Draft::error(Code::MissingKey, fields.place, message);
            self.check.push(draft.hint(format!("write one of {}", one_of(&ACTIONS))));
            return None;
        };
        let beside = BESIDE.iter().find(|(action, _)| *action == key).map_or(&[][..], |it| it.1);
        self.check_beside(&fields, key, beside);
        let action = self.action(&fields, key, value);
        let refused = match fields.get("refused") {
            Some(node) => Some(self.check.text(node, "`refused`")?.to_owned()),
            None => None,
        };
        Some(Step { at: at?, action: action?, refused, place: value.place })
    }

    /// From the start, or with a `+` from the step before.
    fn time(&mut self, node: &Node, last: Span) -> Option<Span> {
        let span = self.check.duration(node, "`at`", Span(0))?;
        if node.text().is_some_and(|text| text.starts_with('+')) {
            return Some(Span(last.0.saturating_add(span.0)));
        }
        if span < last {
            let message = "the step before this one comes later";
            let draft = Draft::error(Code::OutOfRange, node.place, message);
            self.check.push(draft.hint("write the steps in the order of their times"));
        }
        Some(span)
    }

    fn action(&mut self, fields: &Fields<'_>, key: &str, value: &Node) -> Option<Action> {
        Some(match key {
            "trigger" => {
                let named = self.sequence(value, "`trigger`");
                let (ship, data) = (self.ship(fields), self.data(fields));
                let (stage, sequence) = named?;
                Action::Trigger { ship: ship?, stage, sequence, data: data? }
            }
            "event" => {
                let (ship, data) = (self.ship(fields), self.data(fields));
                let event = self.check.text(value, "`event`")?;
                let event = event.strip_prefix("sh.keptn.event.").unwrap_or(event).to_owned();
                let stage = match fields.get("stage") {
                    Some(node) => Some((self.check.stage_name(node)?, node.place)),
                    None => None,
                };
                Action::Happen { ship: ship?, event, stage, data: data? }
            }
            "pause" => Action::Pause { ship: self.known_ship(value)? },
            "resume" => Action::Resume { ship: self.known_ship(value)? },
            "abort" => Action::Abort { ship: self.known_ship(value)? },
            "retry" => {
                let task = self.task(value, "`retry`");
                let data = match fields.get("data") {
                    Some(node) => Some(self.object(node, "`data`")?),
                    None => None,
                };
                Action::Retry { ship: self.this_ship(fields)?, task: task?, data }
            }
            "skip" => {
                let task = self.task(value, "`skip`");
                let reason = self.check.required(fields, "reason");
                let reason = reason.and_then(|node| self.check.text(node, "`reason`"));
                let ship = self.this_ship(fields)?;
                Action::Skip { ship, task: task?, reason: reason?.to_owned() }
            }
            "shipyard" => Action::Apply { file: self.check.text(value, "`shipyard`")?.to_owned() },
            "joins" => Action::Joins { executor: self.known_executor(value)? },
            "leaves" => Action::Leaves { executor: self.known_executor(value)? },
            _ => Action::Dies { executor: self.known_executor(value)? },
        })
    }

    fn known_executor(&mut self, node: &Node) -> Option<usize> {
        let text = self.check.text(node, "the name of an executor")?;
        let found = self.executors.iter().position(|name| name == text);
        if found.is_none() {
            let known = self.executors.clone();
            self.unknown("executor", text, node.place, &known);
        }
        found
    }
}
