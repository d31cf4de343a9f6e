use std::collections::BTreeSet;

use serde_json::Value;

/// Lays newer data over older: maps deeply, lists with the newest first and nothing twice, of
/// everything else the newer. An explicit null takes nothing away.
pub fn merge(old: &mut Value, new: Value) {
    match (old, new) {
        (_, Value::Null) => {}
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in new {
                match old.get_mut(&key) {
                    Some(known) => merge(known, value),
                    None => {
                        old.insert(key, value);
                    }
                }
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            // By their text: comparing each with all others takes for ever with long lists.
            let mut seen = BTreeSet::new();
            let mut all = new;
            all.append(old);
            all.retain(|value| seen.insert(value.to_string()));
            *old = all;
        }
        (old, new) => *old = new,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_merge_deeply_scalars_take_the_latest_and_lists_put_the_newest_first() {
        let mut data = json!({"a": {"x": 1, "y": [1, 2]}, "b": "old", "n": 1, "keep": true});
        let new = json!({"a": {"y": [3, 2], "z": 0}, "b": {"now": "a map"}, "n": 2, "keep": null});
        merge(&mut data, new);
        let expected = json!({
            "a": {"x": 1, "y": [3, 2, 1], "z": 0}, "b": {"now": "a map"}, "n": 2, "keep": true
        });
        assert_eq!(data, expected);
    }
}
