use serde_json::{Map, Value};

/// A text with places for values of a message: `--users={{ test.users }}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Path(String),
}

/// Why a template cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unclear {
    #[error("`{{{{` is never closed")]
    Open,
    #[error("`{0}` is not a path into the data of a message")]
    Path(String),
}

/// Why a template cannot be filled in with the values of a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fill {
    #[error("the message has no value at `{0}`, which the command needs; add it to its data")]
    Missing(String),
    #[error("the value at `{0}` holds a zero byte, which no argument can; change it")]
    ZeroByte(String),
}

const OPEN: &str = "{{";
const CLOSE: &str = "}}";
const PATH_CHARS: usize = 200;

impl Template {
    /// `{{ path }}` stands for a value, and `{{ "text" }}` for the text, which may hold braces.
    pub fn parse(text: &str) -> Result<Self, Unclear> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, inside)) = rest.split_once(OPEN) {
            push_text(&mut parts, before);
            let inside = inside.trim_start();
            rest = match inside.strip_prefix('"') {
                Some(quoted) => {
                    let (literal, after) = quoted.split_once('"').ok_or(Unclear::Open)?;
                    push_text(&mut parts, literal);
                    after.trim_start().strip_prefix(CLOSE).ok_or(Unclear::Open)?
                }
                None => {
                    let (path, after) = inside.split_once(CLOSE).ok_or(Unclear::Open)?;
                    let path = path.trim_end();
                    if !is_path(path) {
                        return Err(Unclear::Path(path.to_owned()));
                    }
                    parts.push(Part::Path(path.to_owned()));
                    after
                }
            };
        }
        push_text(&mut parts, rest);
        Ok(Self { parts })
    }

    /// The text where nothing of it comes from a message.
    #[must_use]
    pub fn literal(&self) -> Option<String> {
        let texts = self.parts.iter().map(|part| match part {
            Part::Text(text) => Some(&**text),
            Part::Path(_) => None,
        });
        texts.collect()
    }

    /// One text, whatever the values hold: nothing in them is taken apart or looked at again.
    pub fn fill(&self, data: &Map<String, Value>) -> Result<String, Fill> {
        let mut filled = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Path(path) => {
                    let value = at(data, path).ok_or_else(|| Fill::Missing(path.clone()))?;
                    let text = match value {
                        Value::String(text) => text.clone(),
                        other => other.to_string(),
                    };
                    if text.contains('\0') {
                        return Err(Fill::ZeroByte(path.clone()));
                    }
                    filled.push_str(&text);
                }
            }
        }
        Ok(filled)
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Text(before)) => before.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

fn is_path(text: &str) -> bool {
    let part = |part: &str| {
        let plain = |c: char| !c.is_whitespace() && !c.is_control() && !"{}\"'|()".contains(c);
        !part.is_empty() && part.chars().all(plain)
    };
    text.chars().count() <= PATH_CHARS && text.split('.').all(part)
}

/// What stands at a dotted path. A number picks an item of a list, and `null` is like nothing.
fn at<'v>(data: &'v Map<String, Value>, path: &str) -> Option<&'v Value> {
    let mut parts = path.split('.');
    let first = data.get(parts.next()?)?;
    let found = parts.try_fold(first, |value, part| match value {
        Value::Object(object) => object.get(part),
        Value::Array(items) => part.parse::<usize>().ok().and_then(|index| items.get(index)),
        _ => None,
    })?;
    (!found.is_null()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(template: &str) -> Result<String, Fill> {
        let Value::Object(data) = json!({
            "version": "1.0; rm -rf /",
            "test": {"users": 50, "fast": true, "none": null, "urls": ["a", "b"], "zero": "a\0b",
                     "again": "{{ version }}"},
        }) else {
            unreachable!("it is an object")
        };
        Template::parse(template).unwrap().fill(&data)
    }

    #[test]
    fn values_become_the_text_of_one_argument_and_are_not_looked_at_again() {
        for (template, text) in [
            ("plain", "plain"),
            ("", ""),
            ("{{version}}", "1.0; rm -rf /"),
            ("--users={{ test.users }},{{ test.fast }}", "--users=50,true"),
            ("{{ test.urls.1 }}", "b"),
            ("{{ test.urls }}", r#"["a","b"]"#),
            ("{{ test.again }}", "{{ version }}"),
            (r#"{{ "{{.State}}" }} }}"#, "{{.State}} }}"),
        ] {
            assert_eq!(filled(template).as_deref(), Ok(text), "{template}");
        }
    }

    #[test]
    fn a_value_that_is_not_there_is_named() {
        for path in ["nothing", "test.none", "test.urls.2", "test.urls.b", "version.more"] {
            let missing = Err(Fill::Missing(path.to_owned()));
            assert_eq!(filled(&format!("a{{{{ {path} }}}}")), missing, "{path}");
        }
        assert_eq!(filled("{{ test.zero }}"), Err(Fill::ZeroByte("test.zero".to_owned())));
    }

    #[test]
    fn what_is_no_template_is_refused() {
        for text in ["{{", "{{ a", "{{ a }", r#"{{ "a }}"#, r#"{{ "a" b }}"#] {
            assert_eq!(Template::parse(text), Err(Unclear::Open), "{text}");
        }
        for text in ["{{ }}", "{{.State}}", "{{ a b }}", "{{ a | upper }}", "{{ a..b }}"] {
            assert!(matches!(Template::parse(text), Err(Unclear::Path(_))), "{text}");
        }
    }
}
