use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use seaway_model::Outcome;
use serde::Deserialize;
use serde_json::{Map, Value};

const BYTES: usize = 1 << 20;

/// What a command wrote about how it went. What it leaves out is told by its exit code.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Written {
    #[serde(deserialize_with = "outcome")]
    pub(super) result: Option<Outcome>,
    pub(super) message: Option<String>,
    pub(super) data: Map<String, Value>,
}

/// Why the result file counts as a failure.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("$SEAWAY_RESULT {0}")]
pub(super) struct Unusable(pub(super) String);

/// Nothing when there is no file, or an empty one.
pub(super) fn read(path: &Path) -> Result<Option<Written>, Unusable> {
    // Opening anything else than a file could wait for ever.
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Unusable(format!("cannot be read: {error}"))),
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(Unusable("is not a file; write a JSON object into one".to_owned())),
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|it| it.take(BYTES as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|error| Unusable(format!("cannot be read: {error}")))?;
    if bytes.len() > BYTES {
        let most = BYTES >> 20;
        let why = format!("is larger than {most} MiB; keep the rest elsewhere and write a link");
        return Err(Unusable(why));
    }
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> Result<Option<Written>, Unusable> {
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(Unusable("is not a JSON object; write {\"result\": \"pass\"}".to_owned()));
    }
    let parsed = serde_json::from_slice(bytes);
    parsed.map(Some).map_err(|error| Unusable(format!("cannot be used: {error}")))
}

fn outcome<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Outcome>, D::Error> {
    let Some(word) = Option::<String>::deserialize(from)? else { return Ok(None) };
    match &*word {
        "pass" => Ok(Some(Outcome::Pass)),
        "warning" => Ok(Some(Outcome::Warning)),
        "fail" => Ok(Some(Outcome::Fail)),
        _ => Err(serde::de::Error::custom(format_args!(
            "result {word:?} is not known; write pass, warning or fail"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_says_how_it_went_or_is_refused() {
        let full = br#" {"result": "warning", "message": "slow", "data": {"test": {"p99": 7}}}"#;
        let written = parse(full).unwrap().unwrap();
        assert_eq!(written.result, Some(Outcome::Warning));
        assert_eq!(written.message.as_deref(), Some("slow"));
        assert_eq!(written.data["test"]["p99"], 7);
        assert_eq!(parse(b"{}").unwrap(), Some(Written::default()));
        assert_eq!(parse(b" \n").unwrap(), None);
        for (text, why) in [
            ("[1]", "not a JSON object"),
            ("pass", "not a JSON object"),
            ("{\"result\": \"ok\"}", "write pass, warning or fail"),
            ("{\"reslut\": \"pass\"}", "unknown field `reslut`"),
            ("{\"data\": [1]}", "expected a map"),
            ("{\"result\": ", "EOF"),
        ] {
            let Unusable(told) = parse(text.as_bytes()).unwrap_err();
            assert!(told.contains(why), "{text}: {told}");
        }
    }
}
