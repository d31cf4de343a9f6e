use std::collections::BTreeSet;
use std::{env, fs};

use serde_json::Value;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/shipyard.json");

#[test]
fn the_schema_in_the_repository_is_current() {
    let mut current = serde_json::to_string_pretty(&seaway_shipyard::schema()).expect("it is JSON");
    current.push('\n');
    if env::var_os("UPDATE_SCHEMAS").is_some() {
        fs::write(PATH, &current).expect("it can be written");
    }
    let stored = fs::read_to_string(PATH).unwrap_or_default();
    assert!(stored == current, "run the tests with UPDATE_SCHEMAS=1 to write {PATH}");
}

/// The file that uses everything uses every key of the schema, and no other.
#[test]
fn the_schema_has_the_keys_of_the_language() {
    let schema = seaway_shipyard::schema();
    let mut known = BTreeSet::new();
    keys(&schema, &mut known);
    let wrong = "apiVersion: seaway.dev/v1\nx: 1\nmetadata: {x: 1}\nspec: {x: 1, stages: [{x: 1, \
                 batch: {x: 1}, sequences: [{x: 1, batch: {x: 1}, tasks: [{x: 1, name: a, \
                 retries: {x: 1}}], triggeredOn: [{x: 1, event: a.b, selector: {x: 1}}]}]}]}\n";
    let wrong = wrong.replace("tasks: [{x: 1, name: a, ", "tasks: [{name: a}, {x: 1, name: b, ");
    let problems = seaway_shipyard::parse(&wrong, "x.yaml").expect_err("it is wrong");
    let hints = problems.all().iter().filter_map(|it| it.hint.strip_prefix("the keys here are "));
    let named = hints.flat_map(|hint| hint.split(", ").map(str::to_owned));
    // The schema does not offer what cannot be carried out.
    let named: BTreeSet<String> = named.filter(|key| key != "ref").collect();
    assert_eq!(known, named);
}

fn keys(schema: &Value, known: &mut BTreeSet<String>) {
    let children = |key: &str| {
        let children = schema.get(key).and_then(Value::as_object);
        children.into_iter().flatten().map(|(name, schema)| (name.clone(), schema.clone()))
    };
    for (name, schema) in children("properties") {
        keys(&schema, known);
        known.insert(name);
    }
    children("$defs").for_each(|(_, schema)| keys(&schema, known));
}
