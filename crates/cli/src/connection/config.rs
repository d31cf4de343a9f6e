use std::collections::BTreeMap;
use std::path::PathBuf;

use seaway_shipyard::reading::{Checker, Draft, Entry, Node, Report, Shape, Subject, Value, read};
use seaway_shipyard::{Code, Problems};
use serde_json::json;

use crate::connection::secret::Secret;
use crate::print::Yaml;

const SUBJECT: Subject = Subject { what: "configuration", begin: "contexts:" };
const CONFIG: Shape = Shape { what: "a configuration", keys: &["current", "contexts"], old: &[] };
const CONTEXT: Shape =
    Shape { what: "a context", keys: &["url", "token", "tokenFile", "project"], old: &[] };

/// The servers that a person works with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    /// The context that counts where none is named.
    pub(crate) current: Option<String>,
    pub(crate) contexts: BTreeMap<String, Context>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) url: String,
    pub(crate) token: Option<ContextToken>,
    pub(crate) project: Option<String>,
}

/// Where the token of a context is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ContextToken {
    Here(Secret),
    File(PathBuf),
}

impl Config {
    /// Reads a configuration. `file` is how messages name it.
    pub(super) fn parse(text: &str, file: &str) -> Result<Self, Problems> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let mut report = Report::new(text);
        let root = read(text, SUBJECT, &mut report);
        let config = root.and_then(|root| config(&mut Checker::strict(&mut report), &root));
        match config {
            Some(config) if !report.has_errors() => Ok(config),
            _ => Err(Problems::new(text, file, report.into_problems())),
        }
    }

    pub(super) fn text(&self) -> String {
        let contexts: BTreeMap<_, _> =
            self.contexts.iter().map(|(name, it)| (name, it.json())).collect();
        let mut root = json!({ "contexts": contexts });
        if let Some(current) = &self.current {
            root["current"] = json!(current);
        }
        format!("{}\n", Yaml(&root))
    }
}

impl Context {
    fn json(&self) -> serde_json::Value {
        let mut json = json!({ "url": self.url });
        match &self.token {
            Some(ContextToken::Here(token)) => json["token"] = json!(token.told()),
            Some(ContextToken::File(file)) => json["tokenFile"] = json!(file),
            None => {}
        }
        if let Some(project) = &self.project {
            json["project"] = json!(project);
        }
        json
    }
}

fn config(check: &mut Checker<'_, '_>, root: &Node) -> Option<Config> {
    let fields = check.fields(root, &CONFIG)?;
    let current = match fields.get("current") {
        Some(node) => Some(check.text(node, "`current`")?.to_owned()),
        None => None,
    };
    let mut contexts = BTreeMap::new();
    for Entry { key, value } in entries(check, fields.get("contexts"))? {
        contexts.insert(key.text.clone(), context(check, value)?);
    }
    if let (Some(name), Some(node)) = (&current, fields.get("current"))
        && !contexts.contains_key(name)
    {
        let message = format!("there is no context `{name}`");
        let hint = "name one of `contexts`, or remove this line";
        check.push(Draft::error(Code::WrongValue, node.place, message).hint(hint));
    }
    Some(Config { current, contexts })
}

fn entries<'a>(check: &mut Checker<'_, '_>, node: Option<&'a Node>) -> Option<&'a [Entry]> {
    match node.map(|node| (&node.value, node)) {
        None => Some(&[]),
        Some((Value::Map(entries), _)) => Some(entries),
        Some((_, node)) if node.is_null() => Some(&[]),
        Some((_, node)) => {
            let message = format!("`contexts` has to be a mapping, not {}", node.what());
            check.push(Draft::error(Code::WrongType, node.place, message));
            None
        }
    }
}

fn context(check: &mut Checker<'_, '_>, node: &Node) -> Option<Context> {
    let fields = check.fields(node, &CONTEXT)?;
    let mut text = |key: &str| match fields.get(key) {
        Some(node) => check.text(node, &format!("`{key}`")).map(|it| Some(it.to_owned())),
        None => Some(None),
    };
    let (url, token, file, project) =
        (text("url")?, text("token")?, text("tokenFile")?, text("project")?);
    let token = match (token, file) {
        (Some(_), Some(_)) => {
            let message = "a context has a `token` or a `tokenFile`, not both";
            check.push(Draft::error(Code::WrongValue, node.place, message));
            return None;
        }
        (Some(token), None) => Some(ContextToken::Here(Secret::new(token))),
        (None, file) => file.map(|file| ContextToken::File(file.into())),
    };
    match url {
        Some(url) => Some(Context { url, token, project }),
        None => {
            check.required(&fields, "url");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_survives_being_written() {
        let text = "current: prod\ncontexts:\n  prod: {url: https://a, tokenFile: ./t, project: \
                    shop}\n  home: {url: http://b, token: swy_1}\n";
        let config = Config::parse(text, "config.yaml").expect("it is right");
        assert_eq!(config.current.as_deref(), Some("prod"));
        assert_eq!(config.contexts["prod"].token, Some(ContextToken::File("./t".into())));
        assert_eq!(Config::parse(&config.text(), "config.yaml").expect("it is ours"), config);
        assert_eq!(Config::parse("\n", "config.yaml").expect("it is empty"), Config::default());
        assert!(!format!("{config:?}").contains("swy_1"));
    }

    #[test]
    fn mistakes_in_a_configuration_have_a_place() {
        for (text, part) in [
            ("contexts: {a: {ulr: x}}", "config.yaml:1:16"),
            ("contexts: {a: {}}", "`url`"),
            ("current: b\ncontexts: {a: {url: x}}", "no context `b`"),
            ("contexts: {a: {url: x, token: t, tokenFile: f}}", "not both"),
            ("contexts: [a]", "not a list"),
            ("contexts: {a: {url: [x]}}", "`url` has to be a text"),
        ] {
            let problems = Config::parse(text, "config.yaml").expect_err(text).to_string();
            assert!(problems.contains(part), "{text}: {problems}");
        }
    }
}
