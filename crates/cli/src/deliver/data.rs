use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use seaway_shipyard::Problems;
use seaway_shipyard::reading::{Report, Subject, read};
use serde_json::{Map, Value};

use crate::failure::WrongUsage;
use crate::shipyard::read_text;

const SUBJECT: Subject = Subject { what: "data", begin: "key: value" };

/// What a person gives to tasks.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// Data for the tasks: key=value, a.b=value, or @FILE with YAML; may be repeated
    #[arg(long, value_name = "KEY=VALUE|@FILE")]
    data: Vec<String>,
}

impl DataArgs {
    /// Put together in the order in which it was given; `None` where nothing was.
    pub(crate) fn read(&self) -> Result<Option<Map<String, Value>>> {
        if self.data.is_empty() {
            return Ok(None);
        }
        let mut data = Map::new();
        for given in &self.data {
            match given.strip_prefix('@') {
                Some(file) => merge(&mut data, of_file(&PathBuf::from(file))?),
                None => put(&mut data, given)?,
            }
        }
        Ok(Some(data))
    }
}

fn put(data: &mut Map<String, Value>, given: &str) -> Result<()> {
    let wrong = |why: &str| WrongUsage(format!("--data {given:?}: {why}"));
    let Some((path, text)) = given.split_once('=') else {
        return Err(wrong("write key=value, or @FILE").into());
    };
    let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    let mut keys: Vec<&str> = path.split('.').collect();
    if keys.iter().any(|key| key.is_empty()) {
        return Err(wrong("a key is missing before, after or between the dots").into());
    }
    let last = keys.pop().expect("a split text has a last part");
    let mut at = data;
    for key in keys {
        let inner = at.entry(key).or_insert_with(|| Value::Object(Map::new()));
        at = match inner {
            Value::Object(inner) => inner,
            _ => return Err(wrong(&format!("{key} has a value already")).into()),
        };
    }
    at.insert(last.to_owned(), value);
    Ok(())
}

fn of_file(file: &Path) -> Result<Map<String, Value>> {
    let shown = file.display().to_string();
    let text = read_text(file)?;
    let mut report = Report::new(&text);
    // JSON is YAML, too.
    let root = read(&text, SUBJECT, &mut report);
    if report.has_errors() {
        return Err(Problems::new(&text, &shown, report.into_problems()).into());
    }
    match root.map(|root| root.json()) {
        Some(Ok(Value::Object(data))) => Ok(data),
        Some(Err(_)) => bail!("{shown} has a number that JSON has no form for"),
        _ => bail!("{shown} has to hold a mapping"),
    }
}

/// Mappings go together; everything else is replaced.
fn merge(data: &mut Map<String, Value>, more: Map<String, Value>) {
    for (key, value) in more {
        match (data.get_mut(&key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            (_, value) => {
                data.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn read_all(given: &[&str]) -> Result<Option<Map<String, Value>>> {
        DataArgs { data: given.iter().map(ToString::to_string).collect() }.read()
    }

    #[test]
    fn values_are_json_where_they_can_be() {
        let given = ["a=1", "b=1.0.0", "c.d=true", "c.e=[1]", "f=x=y", "g=", "h=\"1\""];
        let expected = json!({
            "a": 1, "b": "1.0.0", "c": {"d": true, "e": [1]}, "f": "x=y", "g": "", "h": "1"
        });
        assert_eq!(read_all(&given).expect("it is data").map(Value::Object), Some(expected));
        assert_eq!(read_all(&[]).expect("it is nothing"), None);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for bad in [&["a"][..], &["=1"], &["a.=1"], &[".a=1"], &["a=1", "a.b=2"], &["@/nowhere"]] {
            assert!(read_all(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn files_and_values_go_together() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("data.yaml");
        fs::write(&file, "test: {users: 10, url: http://a}\n").expect("it is written");
        let given = format!("@{}", file.display());
        let data = read_all(&[&given, "test.users=20"]).expect("it is data");
        let expected = json!({"test": {"users": 20, "url": "http://a"}});
        assert_eq!(data.map(Value::Object), Some(expected));
        fs::write(&file, "- a\n").expect("it is written");
        assert!(read_all(&[&given]).is_err());
    }
}
