use seaway_model::Name;

use crate::problem::Failure;

/// The kind under which resources are kept.
pub(crate) const RESOURCE: &str = "Resource";

/// Whose file a resource is. A dash is no name, so that it can stand for none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) stage: Option<Name>,
    pub(crate) service: Option<Name>,
}

impl Level {
    /// The name of the document that a resource is.
    pub(crate) fn document(&self, path: &str) -> String {
        let part = |name: &Option<Name>| name.as_ref().map_or("-".to_owned(), Name::to_string);
        format!("{}/{}/{path}", part(&self.stage), part(&self.service))
    }

    /// The level and the path of such a document.
    pub(crate) fn of(document: &str) -> Option<(Self, &str)> {
        let (stage, rest) = document.split_once('/')?;
        let (service, path) = rest.split_once('/')?;
        let name = |text: &str| (text != "-").then(|| Name::new(text).ok()).flatten();
        Some((Self { stage: name(stage), service: name(service) }, path))
    }

    /// Where a resource is looked for: here, at the stage, at the service, at the project.
    pub(crate) fn wider(self) -> Vec<Self> {
        let stage = Self { stage: self.stage.clone(), service: None };
        let service = Self { stage: None, service: self.service.clone() };
        let project = Self::default();
        let mut levels = Vec::with_capacity(4);
        for level in [self, stage, service] {
            if level != project && !levels.contains(&level) {
                levels.push(level);
            }
        }
        levels.push(project);
        levels
    }

    pub(crate) fn read(stage: Option<&str>, service: Option<&str>) -> Result<Self, Failure> {
        let name = |text: Option<&str>| {
            let named = text.map(Name::new).transpose();
            named.map_err(|error| Failure::bad_request("bad-name", error.to_string()))
        };
        Ok(Self { stage: name(stage)?, service: name(service)? })
    }
}

/// A path that means the same everywhere.
pub(crate) fn check_path(path: &str) -> Result<(), Failure> {
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    let fits = !path.is_empty() && path.len() <= 150 && !path.contains(char::is_control);
    if fits && !path.contains('\\') && path.split('/').all(plain) {
        return Ok(());
    }
    let detail = format!(
        "{path:?} cannot be the path of a resource; use up to 150 characters, with single slashes \
         between names, none of which is . or .."
    );
    Err(Failure::bad_request("bad-path", detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_read_back() {
        let name = |text| Some(Name::new(text).unwrap());
        for (stage, service) in
            [(None, None), (name("beta"), None), (None, name("cart")), (name("b"), name("c"))]
        {
            let level = Level { stage, service };
            let document = level.document("a/slo.yaml");
            assert_eq!(Level::of(&document), Some((level, "a/slo.yaml")));
        }
    }

    #[test]
    fn what_is_nearer_is_found_first() {
        let wider = |stage, service| {
            let level = Level::read(stage, service).unwrap();
            level.wider().iter().map(|it| it.document("f")).collect::<Vec<_>>()
        };
        let all = ["beta/cart/f", "beta/-/f", "-/cart/f", "-/-/f"];
        assert_eq!(wider(Some("beta"), Some("cart")), all);
        assert_eq!(wider(Some("beta"), None), ["beta/-/f", "-/-/f"]);
        assert_eq!(wider(None, Some("cart")), ["-/cart/f", "-/-/f"]);
        assert_eq!(wider(None, None), ["-/-/f"]);
    }

    #[test]
    fn paths_stay_inside() {
        for bad in ["", "/a", "a/", "a//b", "../a", "a/../b", ".", "a\\b", "a\nb"] {
            assert!(check_path(bad).is_err(), "{bad}");
        }
        assert!(check_path("jmeter/load.jmx").is_ok());
    }
}
