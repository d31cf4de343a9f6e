use seaway_shipyard::Code;
use seaway_shipyard::reading::{Draft, Fields, Node, Shape};

use super::reader::{MANY, Reader};
use crate::document::{Expectation, TaskAddress, Times, Verdict};

const EXPECTATION: Shape = Shape {
    what: "an expectation",
    keys: &["deployment", "result", "because", "ran", "notRan", "times", "data", "in"],
    old: &[("not-ran", "notRan")],
};

impl Reader<'_, '_> {
    pub(super) fn expectations(&mut self, node: &Node) -> Option<Vec<Expectation>> {
        let items = self.check.items(node, "expect", (MANY, "expectations"))?;
        let all: Vec<_> = items.iter().map(|node| self.expectation(node)).collect();
        all.into_iter().collect()
    }

    fn expectation(&mut self, node: &Node) -> Option<Expectation> {
        let fields = self.check.fields(node, &EXPECTATION)?;
        let asked = ["deployment", "ran", "notRan"].into_iter();
        let asked: Vec<(&str, &Node)> =
            asked.filter_map(|key| Some((key, fields.get(key)?))).collect();
        let [(key, value)] = asked[..] else {
            let message = "an expectation is about exactly one thing";
            let draft = Draft::error(Code::MissingKey, fields.place, message);
            self.check.push(draft.hint("write one of `deployment`, `ran` and `notRan`"));
            return None;
        };
        let beside: &[&str] = match key {
            "deployment" => &["result", "because"],
            "ran" => &["in", "times", "data"],
            _ => &["in"],
        };
        self.check_beside(&fields, key, beside);
        if key == "deployment" {
            return self.ends(&fields, value);
        }
        let ship = match fields.get("in") {
            Some(node) => Some(self.known_ship(node)?),
            None => None,
        };
        let what = self.ran(value, &format!("`{key}`"))?;
        let times = match (key, fields.get("times")) {
            ("notRan", _) => Times::Never,
            (_, Some(node)) => Times::Exactly(self.check.count(node, "`times`", (0, 1_000))?),
            (_, None) => Times::Some,
        };
        let Some(node) = fields.get("data") else {
            return Some(Expectation::Ran { what, ship, times });
        };
        let data = self.object(node, "`data`")?;
        let Some(task) = what.task else {
            let message = "only a task receives data";
            let draft = Draft::error(Code::WrongValue, node.place, message);
            self.check.push(draft.hint("write `<stage>.<sequence>.<task>` in `ran`"));
            return None;
        };
        let task = TaskAddress {
            ship: None,
            stage: Some(what.stage),
            sequence: Some(what.sequence),
            run: None,
            task,
            occurrence: None,
            place: what.place,
        };
        Some(Expectation::Received { task, ship, data })
    }

    fn ends(&mut self, fields: &Fields<'_>, value: &Node) -> Option<Expectation> {
        let ship = self.known_ship(value);
        let result = self.check.required(fields, "result");
        let verdict = result.and_then(|it| self.check.word(it, "`result`", &Verdict::ALL));
        let because = match fields.get("because") {
            Some(node) => Some(self.check.text(node, "`because`")?.to_owned()),
            None => None,
        };
        Some(Expectation::Ends { ship: ship?, verdict: verdict?, because })
    }
}
