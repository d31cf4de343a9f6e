use std::collections::BTreeMap;
use std::ffi::OsString;

use seaway_api::Task;
use serde_json::Value;

use crate::command::room::Room;
use crate::definition::{Definition, Fill};

/// What the worker tells every command.
pub const RESERVED: [&str; 11] = [
    "SEAWAY_MESSAGE",
    "SEAWAY_RESULT",
    "SEAWAY_PROJECT",
    "SEAWAY_STAGE",
    "SEAWAY_SERVICE",
    "SEAWAY_VERSION",
    "SEAWAY_TASK",
    "SEAWAY_TARGET",
    "SEAWAY_DEPLOYMENT",
    "SEAWAY_ATTEMPT",
    "SEAWAY_KEY",
];

/// What a command has of the worker's environment unless it is to have all of it.
const KEPT: [&str; 3] = ["PATH", "HOME", "LANG"];

/// What no command gets: with it, it could do whatever the worker may.
const SECRET: &str = "SEAWAY_TOKEN";

/// The environment of the worker.
pub type Outer = BTreeMap<OsString, OsString>;

/// The whole environment of a command.
pub(super) fn environment(
    definition: &Definition,
    task: &Task,
    room: &Room,
    outer: &Outer,
) -> Result<Outer, Fill> {
    let kept = |name: &OsString| match definition.inherit_env {
        true => name != SECRET,
        false => KEPT.iter().any(|it| name == it),
    };
    let mut all: Outer =
        outer.iter().filter(|(name, _)| kept(name)).map(|(a, b)| (a.clone(), b.clone())).collect();
    all.insert("TMPDIR".into(), room.scratch().into());
    for (name, value) in &definition.env {
        all.insert(name.into(), value.fill(&task.event.data)?.into());
    }
    let data = |key: &str| match task.event.data.get(key) {
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    };
    let told: [OsString; 11] = [
        room.message().into(),
        room.result().into(),
        data("project").into(),
        data("stage").into(),
        data("service").into(),
        data("version").into(),
        task.task.clone().into(),
        task.target.clone().into(),
        task.deployment.to_string().into(),
        task.attempt.to_string().into(),
        task.key.clone().into(),
    ];
    all.extend(RESERVED.iter().map(OsString::from).zip(told));
    Ok(all)
}
