use seaway_api::Resource;
use seaway_model::{Digest, Seq};

use super::documents::Known;
use crate::documents::{Level, RESOURCE};

pub(crate) fn resource(level: &Level, path: &str, digest: Digest, since: Seq) -> Resource {
    Resource {
        path: path.to_owned(),
        stage: level.stage.as_ref().map(ToString::to_string),
        service: level.service.as_ref().map(ToString::to_string),
        digest: digest.to_string(),
        since: since.0,
    }
}

/// The resources after the one with a name, each with its own. What the level does not name does
/// not restrict the list. `known` is in the order of kinds and names.
pub(crate) fn list<'a>(
    known: impl Iterator<Item = Known<'a>>,
    of: &Level,
    after: Option<&str>,
    limit: usize,
) -> Vec<(String, Resource)> {
    let found = known
        .filter(|(kind, name, ..)| *kind == RESOURCE && after.is_none_or(|after| *name > after))
        .filter_map(|(_, name, digest, since)| {
            let (level, path) = Level::of(name)?;
            let stage = of.stage.is_none() || of.stage == level.stage;
            let service = of.service.is_none() || of.service == level.service;
            let resource = resource(&level, path, digest, since);
            (stage && service).then(|| (name.to_owned(), resource))
        });
    found.take(limit).collect()
}

#[cfg(test)]
mod tests {
    use seaway_model::Name;

    use super::*;

    #[test]
    fn a_list_is_of_a_stage_and_of_a_service_where_they_are_named() {
        let all = ["-/-/a", "-/cart/b", "beta/-/c", "beta/cart/d", "prod/cart/e"];
        let names = |stage: Option<&str>, service: Option<&str>, after| {
            let name = |text: Option<&str>| text.map(|it| Name::new(it).unwrap());
            let of = Level { stage: name(stage), service: name(service) };
            let known = [("Project", "shop")].into_iter().chain(all.map(|it| (RESOURCE, it)));
            let known = known.map(|(kind, name)| (kind, name, Digest([1; 32]), Seq(3)));
            let found = list(known, &of, after, 2);
            found.into_iter().map(|(_, it)| it.path).collect::<Vec<_>>()
        };
        assert_eq!(names(None, None, None), ["a", "b"]);
        assert_eq!(names(None, None, Some("-/cart/b")), ["c", "d"]);
        assert_eq!(names(Some("beta"), None, None), ["c", "d"]);
        assert_eq!(names(None, Some("cart"), Some("beta/-/c")), ["d", "e"]);
        assert_eq!(names(Some("prod"), Some("cart"), None), ["e"]);
    }
}
