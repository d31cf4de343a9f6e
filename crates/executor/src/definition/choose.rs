use std::cmp::Reverse;

use seaway_api::{Expression, Operator, Subscription, Task};
use serde_json::Value;

use crate::definition::model::Definition;

/// The definition that carries out a task: of those that are for it, the most specific one.
///
/// One that names services goes before one that does not, then one that names stages, then the one
/// with more expressions; among equals the first in the order of the files counts.
pub(super) fn choose<'d>(definitions: &'d [Definition], task: &Task) -> Option<&'d Definition> {
    let all = definitions.iter().filter(|it| wants(&it.subscription, task));
    all.min_by_key(|it| Reverse(specificity(&it.subscription)))
}

fn specificity(subscription: &Subscription) -> (bool, bool, usize) {
    let Subscription { services, stages, match_expressions, .. } = subscription;
    (!services.is_empty(), !stages.is_empty(), match_expressions.len())
}

/// The same as the server decides, which knows only all definitions of a worker together.
fn wants(subscription: &Subscription, task: &Task) -> bool {
    let data = &task.event.data;
    let within = |names: &[String], key: &str| {
        let name = data.get(key).and_then(Value::as_str);
        names.is_empty() || name.is_some_and(|name| names.iter().any(|it| it == name))
    };
    let space = data.get(&task.task).unwrap_or(&Value::Null);
    subscription.task == task.task
        && within(&subscription.stages, "stage")
        && within(&subscription.services, "service")
        && subscription.match_expressions.iter().all(|it| holds(it, space))
}

fn holds(expression: &Expression, space: &Value) -> bool {
    let Expression { key, operator, values } = expression;
    let text = text_at(space, key);
    let listed = || text.as_ref().is_some_and(|text| values.contains(text));
    let there = || space.get(key).is_some() || text.is_some();
    match operator {
        Operator::In => listed(),
        Operator::NotIn => !listed(),
        Operator::Exists => there(),
        Operator::DoesNotExist => !there(),
    }
}

/// What stands at a dotted path, as text. A key may itself have dots.
fn text_at(space: &Value, path: &str) -> Option<String> {
    if let Some(value) = space.get(path) {
        return match value {
            Value::String(text) => Some(text.clone()),
            Value::Object(_) | Value::Array(_) | Value::Null => None,
            other => Some(other.to_string()),
        };
    }
    let mut dots = path.match_indices('.');
    dots.find_map(|(at, _)| text_at(space.get(&path[..at])?, &path[at + 1..]))
}

#[cfg(test)]
mod tests {
    use crate::definition::loading::Definitions;
    use crate::testing::task;
    use serde_json::json;

    const ALL: &str = "
{apiVersion: seaway.dev/v1, kind: TaskDefinition, metadata: {name: any},
 spec: {task: test, command: [sh]}}
---
{apiVersion: seaway.dev/v1, kind: TaskDefinition, metadata: {name: smoke},
 spec: {task: test, command: [sh],
        matchExpressions: [{key: suite.name, operator: In, values: [smoke, '1']}]}}
---
{apiVersion: seaway.dev/v1, kind: TaskDefinition, metadata: {name: slow},
 spec: {task: test, command: [sh], stages: [beta],
        matchExpressions: [{key: fast, operator: DoesNotExist}]}}
---
{apiVersion: seaway.dev/v1, kind: TaskDefinition, metadata: {name: cart},
 spec: {task: test, command: [sh], services: [cart]}}
---
{apiVersion: seaway.dev/v1, kind: TaskDefinition, metadata: {name: cart-again},
 spec: {task: test, command: [sh], services: [cart]}}
";

    #[test]
    fn the_most_specific_definition_that_matches_is_chosen() {
        let definitions = Definitions::parse(ALL, "all.yaml").unwrap();
        let chosen = |name: &str, data: serde_json::Value| {
            definitions.choose(&task(name, data)).map(|it| it.name.as_str().to_owned())
        };
        let of = |stage: &str, service: &str, space: serde_json::Value| {
            let data = json!({"stage": stage, "service": service, "test": space});
            chosen("test", data).unwrap()
        };
        assert_eq!(of("dev", "web", json!({})), "any");
        assert_eq!(of("dev", "web", json!({"suite": {"name": "smoke"}})), "smoke");
        assert_eq!(of("dev", "web", json!({"suite.name": 1})), "smoke");
        assert_eq!(of("dev", "web", json!({"suite": {"name": "load"}})), "any");
        assert_eq!(of("beta", "web", json!({"suite": {"name": "smoke"}})), "slow");
        assert_eq!(of("beta", "web", json!({"fast": null})), "any");
        assert_eq!(of("beta", "cart", json!(null)), "cart", "the first of two equals");
        assert_eq!(chosen("deployment", json!({})), None);
    }
}
