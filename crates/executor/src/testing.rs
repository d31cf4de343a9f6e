use seaway_api::Task;
use serde_json::{Value, json};
use uuid::Uuid;

/// A task with this data in its message.
pub(crate) fn task(name: &str, data: Value) -> Task {
    let task = json!({
        "id": "t-1", "task": name, "deployment": Uuid::from_u128(7),
        "target": format!("shop/beta/delivery#1/{name}"), "key": "k", "attempt": 1, "lease": 2,
        "leaseSeconds": 60,
        "event": {
            "specversion": "1.0", "id": "t-1", "source": "seaway",
            "type": format!("sh.keptn.event.{name}.triggered"), "data": data,
        },
    });
    serde_json::from_value(task).expect("it has the shape of a task")
}
